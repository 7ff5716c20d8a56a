"""Scores of a judge against a reference, and scores of one run against another."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.correlation import Scores, kendall, paired_scores, pearson, spearman
from rubricweb.engine.agreement.intervals import (
    Figure,
    Floats,
    Statistic,
    cluster_figure,
    divide,
    mean_of_sums,
)
from rubricweb.engine.agreement.paired_tests import PairedT, Wilcoxon, paired_t, wilcoxon
from rubricweb.engine.agreement.shared_draws import Later, SharedDraws


@dataclass(frozen=True, slots=True)
class ScoreAgreement:
    """How far a judge's scores agree with a reference's, over the units where both have one.

    `n` counts those units and every figure rests on them; `missing` counts the others. `bias` is the mean of
    judge − reference, and `bias_t` asks whether it could be 0.
    """

    n: int
    missing: int
    pearson: Figure
    spearman: Figure
    kendall: Figure
    rmse: Figure
    mae: Figure
    bias: Figure
    bias_t: PairedT


@dataclass(frozen=True, slots=True)
class RunComparison:
    """How two runs score the same units: `difference` and `cohen_d` are of other − one.

    `n` counts units that both scored, `missing` the others; the means are over the `n`.
    """

    n: int
    missing: int
    mean_one: Figure
    mean_other: Figure
    difference: Figure
    cohen_d: Figure
    t: PairedT
    wilcoxon: Wilcoxon


def compare_scores(
    reference: Scores,
    judged: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> ScoreAgreement:
    """Compare two columns of scores over the same units; None on either side leaves a unit out.

    `clusters` gives each unit's item; without it every unit is its own. Intervals are a 95 % percentile
    bootstrap over items. Raises ValueError on unequal lengths and infinite scores.

    Worked: reference 0.2, 0.4, 0.9 and judged 0.3, 0.6, 0.7 → differences 0.1, 0.2, −0.2: bias 0.0333, MAE
    0.1667, RMSE √0.03 = 0.1732, Spearman 1, t = 0.0333 / (0.2082 / √3) = 0.2774.
    """
    x, _, _ = paired_scores(reference, judged, clusters)
    options = {"resamples": resamples, "seed": seed}
    return ScoreAgreement(
        n=len(x),
        missing=len(reference) - len(x),
        pearson=pearson(reference, judged, clusters, **options),
        spearman=spearman(reference, judged, clusters, **options),
        kendall=kendall(reference, judged, clusters, **options),
        rmse=rmse(reference, judged, clusters, **options),
        mae=mae(reference, judged, clusters, **options),
        bias=mean_difference(reference, judged, clusters, **options),
        bias_t=paired_t(reference, judged, clusters),
    )


def compare_runs(
    one: Scores,
    other: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> RunComparison:
    """Compare the scores of two runs over the same units; None on either side leaves a unit out.

    Arguments, intervals and errors as for `compare_scores`.

    Worked: 0.2, 0.4, 0.9 and 0.3, 0.6, 0.7 → means 0.5 and 0.5333, difference 0.0333, d = 0.0333 / 0.2082 =
    0.1601.
    """
    return compare_runs_later(one, other, SharedDraws(resamples=resamples, seed=seed), clusters)()


def compare_runs_later(
    one: Scores, other: Scores, draws: SharedDraws, clusters: Sequence[Hashable] | None = None
) -> Later[RunComparison]:
    """`compare_runs`, worked out when it is called."""
    x, y, items = paired_scores(one, other, clusters)
    mean_one, mean_other, difference = (
        draws.figure(_with_ones(values), items, mean_of_sums) for values in (x, y, y - x)
    )
    d = draws.figure(*_cohen_d(x, y, items))

    def comparison() -> RunComparison:
        return RunComparison(
            n=len(x),
            missing=len(one) - len(x),
            mean_one=mean_one(),
            mean_other=mean_other(),
            difference=difference(),
            cohen_d=d(),
            t=paired_t(one, other, clusters),
            wilcoxon=wilcoxon(one, other),
        )

    return comparison


def rmse(
    reference: Scores,
    judged: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Root of the mean squared difference, ≥ 0, in the unit of the scores; None without units.

    Arguments as for `compare_scores`. Differences 0.1, 0.2, −0.2: √(0.09 / 3) = 0.1732.
    """
    x, y, items = paired_scores(reference, judged, clusters)
    return cluster_figure(
        _with_ones((y - x) ** 2),
        items,
        lambda sums: np.sqrt(mean_of_sums(sums)),
        resamples=resamples,
        seed=seed,
    )


def mae(
    reference: Scores,
    judged: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Mean absolute difference, ≥ 0, in the unit of the scores; None without units.

    Arguments as for `compare_scores`. Differences 0.1, 0.2, −0.2: 0.5 / 3 = 0.1667.
    """
    x, y, items = paired_scores(reference, judged, clusters)
    return cluster_figure(_with_ones(np.abs(y - x)), items, mean_of_sums, resamples=resamples, seed=seed)


def mean_difference(
    one: Scores,
    other: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Mean of other − one: the bias of a judge, or the difference of two runs; None without units.

    Arguments as for `compare_scores`; the interval is the paired bootstrap over items. Differences 0.1, 0.2,
    −0.2: 0.0333.
    """
    return mean_difference_later(one, other, SharedDraws(resamples=resamples, seed=seed), clusters)()


def mean_difference_later(
    one: Scores, other: Scores, draws: SharedDraws, clusters: Sequence[Hashable] | None = None
) -> Later[Figure]:
    """`mean_difference`, worked out when it is called."""
    x, y, items = paired_scores(one, other, clusters)
    return draws.figure(_with_ones(y - x), items, mean_of_sums)


def cohen_d(
    one: Scores,
    other: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Cohen's d of paired scores: the mean difference in standard deviations of the differences (d_z).

    Cohen (1988): mean(other − one) / s with s over n − 1. None below two units and when all differences are
    the same: a constant shift has no spread to be measured in, however large it is. Arguments as for
    `compare_scores`. Differences 1, 2, 3: d = 2 / 1 = 2.
    """
    return cluster_figure(*_cohen_d(*paired_scores(one, other, clusters)), resamples=resamples, seed=seed)


def _cohen_d(x: Floats, y: Floats, items: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64], Statistic]:
    """Terms, clusters and statistic."""
    differences = y - x
    largest = max((float(np.abs(side).max()) for side in (x, y) if len(side)), default=0.0) or 1.0
    middle = float(differences.mean()) if len(differences) else 0.0
    # Spread around the observed mean, in units of the largest score: rounding stays far below 1e-24.
    centred = (differences - middle) / largest
    terms = np.stack([np.ones(len(centred)), centred, centred**2], axis=1)

    def d(sums: Floats) -> Floats:
        n, total, squares = (sums[..., place] for place in range(3))
        variance = divide(squares - divide(total * total, n), n - 1)
        spread = np.sqrt(np.where(variance > 1e-24, variance, 0))
        return divide(total / np.maximum(n, 1) + middle / largest, spread)

    return terms, items, d


def _with_ones(values: Floats) -> Floats:
    return np.stack([values, np.ones(len(values))], axis=1)
