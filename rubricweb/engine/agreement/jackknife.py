"""The jackknife: an interval from a statistic of all clusters but one, each left out in turn."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.distributions import t_quantile

Floats = NDArray[np.float64]

UNSEEN = 2
"""Clusters that are added to those seen: half of what they say is in disagreement."""


def jackknife_sums(contributions: Floats, unseen: Floats) -> Floats:
    """(1 + clusters + kinds × terms): the sums from which `jackknife_interval` reads how a statistic moves.

    `contributions` is (clusters × terms), `unseen` (kinds × terms) what a cluster that nobody saw would add,
    if it was of that kind. The first row has all clusters and two unseen ones, each kind an equal part of
    them; the next ones lack one cluster each; the last ones have one unseen cluster more, of one kind each.
    """
    everything = contributions.sum(axis=0) + UNSEEN * unseen.mean(axis=0)
    return np.concatenate([everything[None, :], everything - contributions, everything + unseen])


def jackknife_interval(
    statistics: Floats, clusters: int, confidence: float
) -> tuple[float, float] | tuple[None, None]:
    """The interval of a statistic from its values on the rows of `jackknife_sums`.

    Over C + 2 clusters, the two unseen among them: θ − (C + 1)·(mean of those left out − θ), which is free of
    bias that goes by 1/C, ± t·√((C + 1)/(C + 2)·Σ(left out − their mean)²) with C − 1 degrees of freedom
    (Efron & Tibshirani 1993, chapter 11). An unseen cluster that is left out moves θ as far as one more does,
    the other way. (None, None) with fewer than two clusters or where a value is undefined.
    """
    if clusters < 2 or not np.isfinite(statistics).all():
        return None, None
    whole, left_out, more = statistics[0], statistics[1 : clusters + 1], statistics[clusters + 1 :]
    count = clusters + UNSEEN
    mean = (left_out.sum() + UNSEEN * (2 * whole - more.mean())) / count
    squares = ((left_out - mean) ** 2).sum() + UNSEEN * ((more - whole) ** 2).mean()
    centre = count * whole - (count - 1) * mean
    half = t_quantile(0.5 + confidence / 2, clusters - 1) * sqrt((count - 1) / count * squares)
    return float(centre - half), float(centre + half)
