"""Medians, with an interval that asks nothing of how the numbers are spread."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import NormalDist

import numpy as np

from rubricweb.engine.agreement.intervals import CONFIDENCE, Figure
from rubricweb.engine.agreement.scores.means import known_numbers

_EXACT_UP_TO = 200  # values; above, the normal limit of the binomial gives the same ranks or the next ones


def median_figure(values: Sequence[float]) -> Figure:
    """The median, with its 95 % interval from order statistics; None without values. NaN raises ValueError.

    The interval runs from the k-th smallest value to the k-th largest, k the largest rank for which fewer
    than k of n fair coins show heads with probability ≤ 2.5 % (Conover 1999, 3.2). Fewer than six values have
    no such k, and no interval.

    Worked: 1, 2, 3, 4, 5, 6: median 3.5; no heads in six has probability 1/64 = 1.6 %, at most one 7/64, so
    k = 1 and the interval is (1, 6).
    """
    ordered = np.sort(known_numbers("values", values))
    n = len(ordered)
    if n == 0:
        return Figure(None, None, None, 0)
    value = float(np.median(ordered))
    rank = _rank(n)
    if rank == 0:
        return Figure(value, None, None, n)
    return Figure(value, float(ordered[rank - 1]), float(ordered[n - rank]), n)


def _rank(n: int) -> int:
    tail = (1 - CONFIDENCE) / 2
    if n > _EXACT_UP_TO:
        return max(1, int(n / 2 - NormalDist().inv_cdf(1 - tail) * n**0.5 / 2))
    rank, below = 0, 0.0
    while True:
        below += comb(n, rank) / 2**n
        if below > tail:
            return rank
        rank += 1
