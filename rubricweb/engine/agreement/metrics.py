"""Every measure of agreement by the name it is stored and documented under."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from rubricweb.engine.agreement.intervals import Figure, Floats, Statistic, share_figure
from rubricweb.engine.agreement.judge import accuracy, tables
from rubricweb.engine.agreement.judge.options import kappa_of, table_figure, table_share, two_rater_counts
from rubricweb.engine.agreement.raters.ceiling import human_ceiling
from rubricweb.engine.agreement.raters.krippendorff import alpha_interval, alpha_nominal, alpha_ordinal
from rubricweb.engine.agreement.raters.leniency import rater_leniency
from rubricweb.engine.agreement.raters.many_raters import fleiss_kappa, gwet_ac1, gwet_ac2, raw_agreement
from rubricweb.engine.agreement.raters.rater_pairs import mean_pair_kappa, rater_matrix
from rubricweb.engine.agreement.raters.repeats import flip_rate, panel_agreement, vote_entropy
from rubricweb.engine.agreement.ratings import Ratings, cluster_codes
from rubricweb.engine.agreement.scores.correlation import Scores, kendall, pearson, score_column, spearman
from rubricweb.engine.agreement.scores.paired_tests import cochran_q, mcnemar, paired_t, wilcoxon
from rubricweb.engine.agreement.scores.people_mean import Labelling, estimate_people_mean
from rubricweb.engine.agreement.scores.scores import cohen_d, mae, mean_difference, rmse

Scale = Literal["binary", "nominal", "ordinal", "score"]
Between = Literal["raters", "pair", "scores", "runs", "repeats", "panel", "labels"]

BINARY: frozenset[Scale] = frozenset({"binary"})
ORDINAL: frozenset[Scale] = frozenset({"ordinal"})
LABELS: frozenset[Scale] = frozenset({"binary", "nominal", "ordinal"})
SCORES: frozenset[Scale] = frozenset({"score"})
NUMBERS: frozenset[Scale] = frozenset({"binary", "ordinal", "score"})

INFINITY = float("inf")


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


def _of_met(statistic: Statistic) -> Callable[..., Figure]:
    """A function of two raters' verdicts from one of counts in the order of `Confusion`."""

    def figure(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> Figure:
        full = ratings.on_full_scale()
        verdicts = _verdicts(full)
        order = [verdicts.index("met"), verdicts.index("unmet")]

        def of_tables(some: Floats) -> Floats:
            return statistic(some[..., order, :][..., order].reshape(*some.shape[:-2], 4))

        return table_figure(full, of_tables, resamples=resamples, seed=seed)

    return figure


def _undrawn(figure: Callable[..., Figure]) -> Callable[..., Figure]:
    """A measure whose interval is a formula; what others draw with may be passed and changes nothing."""

    def measured(*data: Any, resamples: int = 0, seed: int = 0) -> Figure:
        return figure(*data)

    return measured


def _share_of_met(axis: int) -> Callable[..., Figure]:
    """Of the units a side calls MET (0 the reference, 1 the judge), the share both do."""

    def share(ratings: Ratings) -> Figure:
        full = ratings.on_full_scale()
        met = _verdicts(full).index("met")
        counts = tables.square(two_rater_counts(full))
        return share_figure(counts[:, met, met], counts.take(met, axis=axis + 1).sum(axis=1))

    return _undrawn(share)


def _verdicts(ratings: Ratings) -> list[str]:
    verdicts = [label.strip().casefold() for label in ratings.labels]
    if sorted(verdicts) != ["met", "unmet"]:
        raise ValueError(
            f"this measure is of MET against UNMET; found {', '.join(map(repr, ratings.labels))}"
        )
    return verdicts


def _of_table(statistic: Statistic) -> Callable[..., Figure]:
    return partial(table_figure, statistic=statistic)


def _ceiling(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> Figure:
    return human_ceiling(ratings, resamples=resamples, seed=seed).accuracy


def _ceiling_kappa(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> Figure:
    return human_ceiling(ratings, resamples=resamples, seed=seed).kappa


def _people_mean(labels: Scores, judged: Scores, clusters: Sequence[Hashable] | None = None) -> Figure:
    """`estimate_people_mean` where the labelled units are a simple random sample."""
    y, f = score_column("labels", labels), score_column("judged", judged)
    labelled = int((~np.isnan(y)).sum())
    share = np.full(len(y), labelled / len(y) if labelled else 1.0)
    cases = None if clusters is None else cluster_codes(clusters)
    mean = estimate_people_mean(f, y, share, Labelling(cases=cases))
    return Figure(mean.value, mean.low, mean.high, mean.population_size, reason=mean.reason)


_adjacent = _undrawn(partial(table_share, within=1))

_ALL = (
    Metric("raw_agreement", "Raw agreement", LABELS, "raters", _undrawn(raw_agreement), 0, 1),
    Metric("fleiss_kappa", "Fleiss κ", LABELS, "raters", fleiss_kappa, -INFINITY, 1),
    Metric("alpha_nominal", "Krippendorff α, nominal", LABELS, "raters", alpha_nominal, -1, 1),
    Metric("alpha_ordinal", "Krippendorff α, ordinal", ORDINAL, "raters", alpha_ordinal, -1, 1),
    Metric("alpha_interval", "Krippendorff α, interval", NUMBERS, "raters", alpha_interval, -1, 1),
    Metric("gwet_ac1", "Gwet AC1", LABELS, "raters", gwet_ac1, -1, 1),
    Metric("gwet_ac2", "Gwet AC2, quadratic", ORDINAL, "raters", gwet_ac2, -INFINITY, 1),
    Metric("pairwise_kappa", "Mean pairwise κ", LABELS, "raters", mean_pair_kappa, -1, 1),
    Metric("human_ceiling", "Human ceiling, accuracy", LABELS, "raters", _ceiling, 0, 1),
    Metric("human_ceiling_kappa", "Human ceiling, κ", LABELS, "raters", _ceiling_kappa, -1, 1),
    Metric("rater_matrix", "Rater by rater", LABELS, "raters", rater_matrix, -1, 1, "table"),
    Metric("rater_leniency", "Leniency of raters", NUMBERS, "raters", rater_leniency, -1, 1, "table"),
    Metric("accuracy", "Accuracy", LABELS, "pair", _undrawn(table_share), 0, 1),
    Metric(
        "balanced_accuracy", "Balanced accuracy", LABELS, "pair", _of_table(tables.balanced_accuracy), 0, 1
    ),
    Metric("precision", "Precision of MET", BINARY, "pair", _share_of_met(1), 0, 1),
    Metric("recall", "Recall of MET", BINARY, "pair", _share_of_met(0), 0, 1),
    Metric("f1", "F1 of MET", BINARY, "pair", _of_met(accuracy.f1), 0, 1),
    Metric("macro_precision", "Macro precision", LABELS, "pair", _of_table(tables.macro_precision), 0, 1),
    Metric("macro_recall", "Macro recall", LABELS, "pair", _of_table(tables.macro_recall), 0, 1),
    Metric("macro_f1", "Macro F1", LABELS, "pair", _of_table(tables.macro_f1), 0, 1),
    Metric("mcc", "Matthews correlation", LABELS, "pair", _of_table(tables.mcc), -1, 1),
    Metric("cohen_kappa", "Cohen κ", LABELS, "pair", _of_table(kappa_of("identity")), -1, 1),
    Metric("linear_kappa", "Cohen κ, linear weights", ORDINAL, "pair", _of_table(kappa_of("linear")), -1, 1),
    Metric(
        "quadratic_kappa",
        "Cohen κ, quadratic weights",
        ORDINAL,
        "pair",
        _of_table(kappa_of("quadratic")),
        -1,
        1,
    ),
    Metric("adjacent_accuracy", "Adjacent accuracy", ORDINAL, "pair", _adjacent, 0, 1),
    Metric(
        "steps_apart", "Mean steps apart", ORDINAL, "pair", _of_table(tables.mean_steps_apart), 0, INFINITY
    ),
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
