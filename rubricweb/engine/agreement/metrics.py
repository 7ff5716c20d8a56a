"""Every measure of agreement by the name it is stored and documented under."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from rubricweb.engine.agreement.figure_rows import BINARY, INFINITY, LABELS, NUMBERS, Scale
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.judge.options import table_figure
from rubricweb.engine.agreement.judge.pair_figures import PAIR_FIGURES, PairFigure
from rubricweb.engine.agreement.raters.leniency import rater_leniency
from rubricweb.engine.agreement.raters.rater_figures import RATER_FIGURES, People, RaterFigure
from rubricweb.engine.agreement.raters.rater_pairs import rater_matrix
from rubricweb.engine.agreement.raters.repeats import flip_rate, panel_agreement, vote_entropy
from rubricweb.engine.agreement.ratings import Ratings, cluster_codes
from rubricweb.engine.agreement.scores.correlation import Scores, kendall, pearson, score_column, spearman
from rubricweb.engine.agreement.scores.paired_tests import cochran_q, mcnemar, paired_t, wilcoxon
from rubricweb.engine.agreement.scores.people_mean import Labelling, estimate_people_mean
from rubricweb.engine.agreement.scores.scores import cohen_d, mae, mean_difference, rmse

Between = Literal["raters", "pair", "scores", "runs", "repeats", "panel", "labels"]

SCORES: frozenset[Scale] = frozenset({"score"})


@dataclass(frozen=True, slots=True)
class Metric:
    """One measure: what it is called, what it is for and how to compute it.

    `applies_to` are the scales it makes sense for. `between` says what `function` takes before its keywords:

    - "raters": a `Ratings` of any number of raters
    - "pair": a `Ratings` of exactly two raters, the reference first
    - "scores": the reference's scores and the judge's, then optionally clusters
    - "runs": one run's column and the other's, then optionally clusters (Cochran's Q: a list of columns)
    - "repeats": a `Ratings` whose raters are the repeats of one judge
    - "panel": the votes per unit and the final verdicts (entropy: the number of options)
    - "labels": people's values, None where unlabelled, and the judge's, then optionally clusters

    `gives` is "figure" for one `Figure`, "test" for a result with a `p`, "table" for a result of several
    figures. `low` and `high` are the ends of its range.
    """

    name: str
    title: str
    applies_to: frozenset[Scale]
    between: Between
    function: Callable[..., Any]
    low: float
    high: float
    gives: Literal["figure", "test", "table"] = "figure"

    @property
    def anchor(self) -> str:
        """Where the docs explain it: "agreement.md#" and its name."""
        return f"agreement.md#{self.name}"


def _people_mean(labels: Scores, judged: Scores, clusters: Sequence[Hashable] | None = None) -> Figure:
    """`estimate_people_mean` where the labelled units are a simple random sample."""
    y, f = score_column("labels", labels), score_column("judged", judged)
    labelled = int((~np.isnan(y)).sum())
    share = np.full(len(y), labelled / len(y) if labelled else 1.0)
    cases = None if clusters is None else cluster_codes(clusters)
    mean = estimate_people_mean(f, y, share, Labelling(cases=cases))
    return Figure(mean.value, mean.low, mean.high, mean.population_size, reason=mean.reason)


def _of_pair(row: PairFigure) -> Metric:
    return Metric(row.name, row.title, row.applies_to, "pair", partial(table_figure, row), row.low, row.high)


def _of_raters(row: RaterFigure) -> Metric:
    def function(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> Figure:
        return row.of_ratings(People(ratings, resamples=resamples, seed=seed))

    return Metric(row.name, row.title, row.applies_to, "raters", function, row.low, row.high)


_ALL = (
    *map(_of_raters, RATER_FIGURES),
    Metric("rater_matrix", "Rater by rater", LABELS, "raters", rater_matrix, -1, 1, "table"),
    Metric("rater_leniency", "Leniency of raters", NUMBERS, "raters", rater_leniency, -1, 1, "table"),
    *map(_of_pair, PAIR_FIGURES),
    Metric("pearson", "Pearson r", SCORES, "scores", pearson, -1, 1),
    Metric("spearman", "Spearman ρ", SCORES, "scores", spearman, -1, 1),
    Metric("kendall", "Kendall τ-b", SCORES, "scores", kendall, -1, 1),
    Metric("rmse", "Root mean squared error", SCORES, "scores", rmse, 0, INFINITY),
    Metric("mae", "Mean absolute error", SCORES, "scores", mae, 0, INFINITY),
    Metric("bias", "Bias", SCORES, "scores", mean_difference, -INFINITY, INFINITY),
    Metric("paired_t", "Paired t test", SCORES, "scores", paired_t, 0, 1, "test"),
    Metric("score_difference", "Difference of runs", SCORES, "runs", mean_difference, -INFINITY, INFINITY),
    Metric("cohen_d", "Cohen d, paired", SCORES, "runs", cohen_d, -INFINITY, INFINITY),
    Metric("wilcoxon", "Wilcoxon signed-rank test", SCORES, "runs", wilcoxon, 0, 1, "test"),
    Metric("mcnemar", "McNemar test", BINARY, "runs", mcnemar, 0, 1, "test"),
    Metric("cochran_q", "Cochran Q", BINARY, "runs", cochran_q, 0, 1, "test"),
    Metric("flip_rate", "Flip rate", LABELS, "repeats", flip_rate, 0, 1),
    Metric("panel_agreement", "Panel agreement", LABELS, "panel", panel_agreement, 0, 1),
    Metric("vote_entropy", "Vote entropy", LABELS, "panel", vote_entropy, 0, 1),
    Metric("people_mean", "People's mean", NUMBERS, "labels", _people_mean, -INFINITY, INFINITY),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
