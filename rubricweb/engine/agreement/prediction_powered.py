"""A mean over all items from a judge's answers on all and people's on some: prediction-powered estimates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.correlation import Scores, score_column
from rubricweb.engine.agreement.intervals import CONFIDENCE, Figure, Floats
from rubricweb.engine.agreement.ratings import cluster_codes

_SAME = 1e-12  # share of the largest value that is rounding, not spread


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """A mean over all units, from labels on some and a judge on all.

    `estimate` is the prediction-powered mean, its `n` all units; `labelled_only` the plain mean of the labels
    and `judged_only` the plain mean of the judge over all units, for comparison (the judge's own bias is in
    it). `trust` is λ: 0 ignores the judge, 1 corrects the judge's mean by the labels' mean difference.
    `labelled` and `unlabelled` count units with a judge's answer.
    """

    estimate: Figure
    labelled_only: Figure
    judged_only: Figure
    trust: float
    labelled: int
    unlabelled: int


def prediction_powered_mean(
    labels: Scores,
    judged: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    trust: float | None = None,
) -> PredictionPowered:
    """PPI++ estimate of the labels' mean over all units, with a 95 % interval.

    `labels[i]` is people's value of unit i (MET 1, UNMET 0, an option's value, a score) or None, `judged[i]`
    the judge's on the same scale or None: a unit without a judge's answer is left out. The labelled units
    must be a random sample of all, or the correction corrects for the wrong ones.

    Angelopoulos, Duchi & Zrnic (2023): θ = mean(Y) + λ·(mean(f on unlabelled) − mean(f on labelled)), with n
    labelled and N unlabelled units. λ = Cov_n(Y, f) / ((1 + n/N)·Var_{n+N}(f)), over n − 1 and n + N − 1,
    clipped to 0 … 1; 0 when the judge does not vary or nothing is unlabelled, so that a useless judge costs
    nothing; `trust` fixes it instead. The variance, Var(Y − λf)/n + λ²·Var(f)/N, adds up residuals within
    each cluster first: units of one item fall together. That is the cluster-robust form, with the factor
    C/(C − 1) for the C clusters of each part, and the paper's own when each unit is its own cluster. λ is the
    paper's in both; the interval holds for any λ.

    The estimate is None without a labelled unit. It has no interval with fewer than two labelled (or, when
    λ > 0, unlabelled) clusters, or when the labels' residuals do not vary at all: two equal labels say
    nothing about the spread of a third. The ends are not clipped to the scale. Raises ValueError on unequal
    lengths, infinite values and a `trust` outside 0 … 1.

    Worked: labelled Y = 1, 1, 0, 0 with f = 1, 1, 1, 0, unlabelled f = 1, 0, 1, 0, 0, 0, 1, 0. Cov = 1/6; the
    mean f over all 12 is 1/2, Var = 3/11; λ = (1/6) / (1.5 · 3/11) = 0.4074. θ = 0.5 + 0.4074·(0.375 − 0.75)
    = 0.3472. Residuals 0.5926, 0.5926, −0.4074, 0 have variance 0.2390, over 4 0.0598; λ²·0.2679 / 8 =
    0.0056; standard error √0.0653 = 0.2556, interval −0.1537 … 0.8481.
    """
    items = range(len(labels)) if clusters is None else clusters
    if not len(labels) == len(judged) == len(items):
        raise ValueError(
            "labels, judged and clusters must cover the same units; "
            f"found {len(labels)}, {len(judged)} and {len(items)}"
        )
    if trust is not None and not 0 <= trust <= 1:
        raise ValueError(f"trust is {trust}; allowed are 0 … 1")
    people, judge = score_column("labels", labels), score_column("judged", judged)
    groups = cluster_codes(items)
    answered = ~np.isnan(judge)
    known, unknown = answered & ~np.isnan(people), answered & np.isnan(people)
    y, f, g = people[known], judge[known], judge[unknown]
    if trust is None:
        trust = _power_tuned(y, f, g)
    elif len(g) == 0:
        trust = 0.0
    correction = trust * (float(g.mean()) - float(f.mean())) if len(y) and len(g) else 0.0
    return PredictionPowered(
        estimate=_figure(
            float(y.mean()) + correction if len(y) else None,
            y - trust * f,
            groups[known],
            trust * g if trust else g[:0],
            groups[unknown],
            n=len(f) + len(g),
        ),
        labelled_only=_plain_mean(y, groups[known]),
        judged_only=_plain_mean(judge[answered], groups[answered]),
        trust=trust,
        labelled=len(y),
        unlabelled=len(g),
    )


def _power_tuned(y: Floats, f: Floats, g: Floats) -> float:
    if len(y) < 2 or len(g) == 0:
        return 0.0
    together = np.concatenate([f, g])
    if np.ptp(together) == 0:
        return 0.0
    covariance = float(np.cov(y, f)[0, 1])
    best = covariance / ((1 + len(y) / len(g)) * float(np.var(together, ddof=1)))
    return min(1.0, max(0.0, best))


def _plain_mean(values: Floats, clusters: NDArray[np.int64]) -> Figure:
    mean = float(values.mean()) if len(values) else None
    return _figure(mean, values, clusters, values[:0], clusters[:0], n=len(values))


def _figure(
    value: float | None,
    residuals: Floats,
    clusters: NDArray[np.int64],
    rest: Floats,
    rest_clusters: NDArray[np.int64],
    *,
    n: int,
) -> Figure:
    """The value with its normal interval, from the spread of labelled `residuals` and the unlabelled rest."""
    if value is None:
        return Figure(None, None, None, n)
    largest = float(np.abs(residuals).max())
    if float(np.ptp(residuals)) <= _SAME * largest or len(np.unique(clusters)) < 2:
        return Figure(value, None, None, n)
    if len(rest) and len(np.unique(rest_clusters)) < 2:
        return Figure(value, None, None, n)
    total = int(max(clusters.max(), rest_clusters.max(initial=0))) + 1
    known = _mean_residuals(residuals, clusters, total)
    unknown = _mean_residuals(rest, rest_clusters, total)
    # A cluster that holds both kinds of units ties the two parts together.
    variance = float((known * known).sum() + (unknown * unknown).sum() + 2 * (known * unknown).sum())
    half = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2) * max(0.0, variance) ** 0.5
    return Figure(value, value - half, value + half, n)


def _mean_residuals(values: Floats, clusters: NDArray[np.int64], total: int) -> Floats:
    """(total,): what each cluster adds to the error of the mean, widened by √(C / (C − 1))."""
    if len(values) == 0:
        return np.zeros(total)
    count = len(np.unique(clusters))
    sums = np.bincount(clusters, weights=values - values.mean(), minlength=total)
    parts: Floats = sums / len(values) * (count / (count - 1)) ** 0.5
    return parts
