"""Scores of a judge against a reference, and scores of one run against another."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.distributions import t_quantile
from rubricweb.engine.agreement.intervals import (
    CONFIDENCE,
    Figure,
    Floats,
    difference_interval,
    mean_interval,
    unseen_failures,
    within,
)
from rubricweb.engine.agreement.scores.correlation import Scores, kendall, paired_scores, pearson, spearman
from rubricweb.engine.agreement.scores.means import Limits, mean_between, on_scale
from rubricweb.engine.agreement.scores.paired_tests import PairedT, Wilcoxon, paired_t, wilcoxon


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

    `n` counts units that both scored, `missing` the others; the means are over the `n`, and `lowest_one` and
    `lowest_other` the lowest scores among them.
    """

    n: int
    missing: int
    mean_one: Figure
    mean_other: Figure
    difference: Figure
    cohen_d: Figure
    t: PairedT
    wilcoxon: Wilcoxon
    lowest_one: float | None = None
    lowest_other: float | None = None

    @property
    def unseen_failures(self) -> float | None:
        """The share of new outright failures of which these units would have shown none, 3/n of independent
        ones; None without any.
        """
        return unseen_failures(self.n)


def compare_scores(
    reference: Scores,
    judged: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    limits: Limits = (0.0, 1.0),
    resamples: int = 1000,
    seed: int = 0,
) -> ScoreAgreement:
    """Compare two columns of scores over the same units; None on either side leaves a unit out.

    `clusters` gives each unit's item; without it every unit is its own. Intervals are 95 %: t over items for
    means (`mean_interval`), a percentile bootstrap over items for correlations. `limits` are the ends of the
    scale of the scores, see `mean_difference`. Raises ValueError on unequal lengths and infinite scores.

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
        rmse=rmse(reference, judged, clusters, limits=limits),
        mae=mae(reference, judged, clusters, limits=limits),
        bias=mean_difference(reference, judged, clusters, limits=limits),
        bias_t=paired_t(reference, judged, clusters),
    )


def compare_runs(
    one: Scores,
    other: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    limits: Limits = (0.0, 1.0),
    confidence: float = CONFIDENCE,
) -> RunComparison:
    """Compare the scores of two runs over the same units; None on either side leaves a unit out.

    `clusters` gives each unit's item; without it every unit is its own. Intervals are t over items. `limits`
    are those of `mean_difference`. Raises ValueError on unequal lengths and infinite scores.

    Worked: 0.2, 0.4, 0.9 and 0.3, 0.6, 0.7 → means 0.5 and 0.5333, difference 0.0333, d = 0.0333 / 0.2082 =
    0.1601.
    """
    x, y, items = paired_scores(one, other, clusters)
    return RunComparison(
        n=len(x),
        missing=len(one) - len(x),
        mean_one=mean_between(x, items, limits, confidence),
        mean_other=mean_between(y, items, limits, confidence),
        difference=_mean_difference(x, y, items, limits, confidence),
        cohen_d=_cohen_d(x, y, items, confidence),
        t=paired_t(one, other, clusters),
        wilcoxon=wilcoxon(one, other),
        lowest_one=float(x.min()) if len(x) else None,
        lowest_other=float(y.min()) if len(y) else None,
    )


def rmse(
    reference: Scores,
    judged: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    limits: Limits = (0.0, 1.0),
    confidence: float = CONFIDENCE,
) -> Figure:
    """Root of the mean squared difference, ≥ 0, in the unit of the scores; None without units.

    Arguments as for `compare_scores`. The ends are roots of those of the mean square: t over items, wider
    where squares of no difference and of one of half the scale are appended (`mean_interval`), the upper
    one at least t on its logarithm (Bonett 2006), as few squares seldom hold the large ones that carry the
    mean: with t alone 86 % of intervals of 20 skewed scores held the truth.
    Differences 0.1, 0.2, −0.2: √(0.09 / 3) = 0.1732.
    """
    x, y, items = paired_scores(reference, judged, clusters)
    most = _furthest(x, y, limits)
    squares = ((y - x) / most) ** 2
    ends = None if limits is None else (0.0, 1.0)
    mean = mean_interval(squares, items, limits=ends, appended=(0.0, 0.25), confidence=confidence)
    high = mean.high
    if high is not None:
        high = max(high, _upper_end_by_logarithm(squares, items, confidence))
    return on_scale(Figure(_root(mean.value), _root(mean.low), _root(high), mean.n), 0.0, most)


def _upper_end_by_logarithm(squares: Floats, items: NDArray[np.int64], confidence: float) -> float:
    """m·exp(t·SE/m) of the mean m of numbers ≥ 0, SE over items; at most 1 or the largest, 0 of zeros.

    One item tells nothing of how items differ: the end is then that most.
    Ten of 0.01 and ten of 0.09: m = 0.05, SE = 0.04/√19, t of 19 degrees 2.093, 0.05·exp(0.3841) = 0.0734.
    """
    mean = float(squares.mean())
    if mean == 0:
        return 0.0
    _, places = np.unique(items, return_inverse=True)
    errors = np.bincount(places, weights=squares - mean)
    count = len(errors)
    most = max(1.0, float(squares.max()))
    if count == 1:
        return most
    error = sqrt(count / (count - 1) * float((errors**2).sum())) / len(squares)
    grows = t_quantile(0.5 + confidence / 2, count - 1) * error / mean
    return most if grows >= log(most / mean) else mean * exp(grows)


def _root(end: float | None) -> float | None:
    return None if end is None else sqrt(max(0.0, end))


def mae(
    reference: Scores,
    judged: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    limits: Limits = (0.0, 1.0),
    confidence: float = CONFIDENCE,
) -> Figure:
    """Mean absolute difference, ≥ 0, in the unit of the scores; None without units.

    Arguments as for `compare_scores`; the interval is that of `mean_interval`, with no difference and one of
    half the scale appended. Differences 0.1, 0.2, −0.2: 0.5 / 3 = 0.1667.
    """
    x, y, items = paired_scores(reference, judged, clusters)
    most = _furthest(x, y, limits)
    ends = None if limits is None else (0.0, 1.0)
    apart = np.abs(y - x) / most
    figure = mean_interval(apart, items, limits=ends, appended=(0.0, 0.5), confidence=confidence)
    return within(on_scale(figure, 0.0, most), 0.0, inf)


def mean_difference(
    one: Scores,
    other: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    limits: Limits = (0.0, 1.0),
    confidence: float = CONFIDENCE,
) -> Figure:
    """Mean of other − one: the bias of a judge, or the difference of two runs; None without units.

    Arguments as for `compare_scores`; the interval is t over items. `limits` are the ends of the scale of the
    scores, widened to what was seen: no difference is larger than what lies between them, so that the
    interval is measured by it and cut there. None, for raw scores whose ends are not known, measures it by
    what was seen and cuts nothing. Differences 0.1, 0.2, −0.2 with −½ and ½ more: mean 0.02, s² 0.1467, SE
    0.1713, t of 4 degrees 2.7764, and plain t is wider: 4.3027·0.1202, so −0.484 … 0.551.
    """
    return _mean_difference(*paired_scores(one, other, clusters), limits, confidence)


def _mean_difference(
    x: Floats, y: Floats, items: NDArray[np.int64], limits: Limits, confidence: float
) -> Figure:
    most, apart = _furthest(x, y, limits), y - x
    figure = difference_interval(apart, items, length=most, confidence=confidence)
    return figure if limits is None else within(figure, -most, most)


def _furthest(x: Floats, y: Floats, limits: Limits) -> float:
    """How far two scores can lie apart; where the ends of their scale are not known, those seen and 0 do."""
    return float(np.ptp(np.concatenate([x, y, limits or [0.0]]))) or 1.0


def cohen_d(
    one: Scores,
    other: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> Figure:
    """Cohen's d of paired scores: the mean difference in standard deviations of the differences (d_z).

    Cohen (1988): mean(other − one) / s with s over n − 1. None below two units and when all differences are
    the same: a constant shift has no spread to be measured in, however large it is. Arguments as for
    `compare_scores`; the interval's error is √((1 + d²/2) / items) (Hedges & Olkin 1985).
    Differences 1, 2, 3: d = 2 / 1 = 2.
    """
    return _cohen_d(*paired_scores(one, other, clusters), confidence)


def _cohen_d(x: Floats, y: Floats, items: NDArray[np.int64], confidence: float) -> Figure:
    """d with the interval of its large-sample error √(1/C + d²/2C) over C items and t of C − 1 degrees."""
    differences, n = y - x, len(x)
    largest = max((float(np.abs(side).max()) for side in (x, y) if n), default=0.0) or 1.0
    spread = float(np.std(differences, ddof=1)) if n > 1 else 0.0
    if spread <= 1e-12 * largest:  # rounding, not spread
        return Figure(None, None, None, n)
    d, count = float(differences.mean()) / spread, len(np.unique(items))
    if count < 2:
        return Figure(d, None, None, n)
    half = t_quantile(0.5 + confidence / 2, count - 1) * sqrt((1 + d * d / 2) / count)
    return Figure(d, d - half, d + half, n)
