"""A figure with its interval: Wilson for plain shares, a seeded bootstrap clustered by item for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]

CONFIDENCE = 0.95
_DRAWS_AT_ONCE = 2_000_000  # bounds the memory of one block of resamples to about 32 MB
_DRAWS_IN_CACHE = 100_000  # a processor's, until they are counted
_TERMS_LOOKED_UP = 2  # so few are added up faster draw by draw than by how often each cluster is drawn
_DRAWS_KEPT = 10_000_000  # of one size, at two bytes each: a board asks for the same again and again
_DRAWS_KEPT_READY = 4_000_000  # at eight bytes each, as they are multiplied
_LEAST_DEFINED_SHARE = 0.5  # below this, the interval would describe the lucky resamples only


@dataclass(frozen=True, slots=True)
class Figure:
    """One statistic, its 95 % interval, and how many units it rests on.

    `value` is None when the statistic is undefined for the data, never a stand-in 0 or 1. `low` and `high`
    are both None when there is no interval: the value is undefined, fewer than two clusters were seen, or the
    statistic is undefined in most resamples. `n` counts units, not labels.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """Wilson score interval of a share, each end in [0, 1]; None when `n` is 0.

    Wilson (1927), as in Agresti & Coull (1998). 8 of 10 at 95 %: centre (0.8 + 0.19207) / 1.38415 = 0.7167,
    half-width 0.2265, so (0.4902, 0.9433).
    """
    if n == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / n
    spread = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / spread
    half = z * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / spread
    # At 0 and n the bound equals the share; rounding must not push it past the value it brackets.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def resampled_sums(contributions: Floats, *, resamples: int, seed: int) -> Floats:
    """Sums of cluster contributions over bootstrap resamples of the clusters.

    `contributions` is (clusters × terms): what each cluster adds to each term of a statistic. Returns
    (resamples × terms); row b is the column sum over as many clusters as there are, drawn with replacement.
    The same seed gives the same sums on every machine. Works for any statistic that is a function of sums,
    which is why the pair figures and alpha are written that way.
    """
    clusters, terms = contributions.shape
    if clusters == 0:
        return np.zeros((resamples, terms))
    sums = np.tile(contributions[0] * clusters, (resamples, 1))  # stays so where all clusters add the same
    varying = np.flatnonzero(np.ptp(contributions, axis=0))
    if len(varying) <= _TERMS_LOOKED_UP and clusters * resamples > _DRAWS_KEPT:
        columns = np.ascontiguousarray(contributions.T[varying])
        start = 0
        for drawn in _draws(clusters, resamples, seed) if len(varying) else ():
            for place, column in zip(varying, columns, strict=True):
                sums[start : start + len(drawn), place] = column[drawn].sum(axis=1)
            start += len(drawn)
    else:
        moving = contributions[:, varying]
        for start, times in resampled_times(clusters, resamples=resamples, seed=seed):
            sums[start : start + len(times), varying] = times @ moving
    return sums


def resampled_times(clusters: int, *, resamples: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """How often each of `clusters` clusters is drawn in each bootstrap resample, a block at a time.

    Yields (first resample of the block, (rows × clusters) counts, not to be written to); every row adds up to
    `clusters`. The same seed gives the same draws whatever is computed from them.
    """
    draw = _kept_times if 0 < clusters * resamples <= _DRAWS_KEPT else _drawn_times
    start = 0
    for times in draw(clusters, resamples, seed):
        yield start, times.astype(np.float64, copy=False)
        start += len(times)


@lru_cache(maxsize=1)
def _kept_times(clusters: int, resamples: int, seed: int) -> tuple[NDArray[np.uint16] | Floats, ...]:
    drawn = _drawn_times(clusters, resamples, seed)
    if clusters * resamples > _DRAWS_KEPT_READY:
        return tuple(drawn)
    ready = tuple(times.astype(np.float64) for times in drawn)
    for times in ready:
        times.flags.writeable = False
    return ready


def _drawn_times(clusters: int, resamples: int, seed: int) -> Iterator[NDArray[np.uint16]]:
    waiting: list[NDArray[np.uint16]] = []
    for drawn in _draws(clusters, resamples, seed):
        drawn += np.arange(len(drawn))[:, None] * clusters
        times = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        # One cluster is drawn 65,536 times or more in no resample that fits in here.
        waiting.append(times.astype(np.uint16))
        if (len(waiting) + 1) * drawn.size > _DRAWS_AT_ONCE:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _draws(clusters: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """(some resamples × clusters): the clusters that are drawn."""
    generator = np.random.default_rng(seed)
    rows = max(1, _DRAWS_IN_CACHE // max(1, clusters))
    for start in range(0, resamples, rows):
        yield generator.integers(0, clusters, size=(min(rows, resamples - start), clusters))


def cluster_sums(terms: Floats, clusters: NDArray[np.int64]) -> Floats:
    """(kept clusters × terms): the rows of `terms` (units × terms) added up within each cluster.

    `clusters` is (units,); clusters without a unit are left out. [[1.0], [2.0], [4.0]] in clusters 3, 5, 3
    give [[5.0], [2.0]].
    """
    kept, places = np.unique(clusters, return_inverse=True)
    sums = [np.bincount(places, weights=column, minlength=len(kept)) for column in terms.T]
    return np.stack(sums, axis=1)


def cluster_figure(
    terms: Floats,
    clusters: NDArray[np.int64],
    statistic: Statistic,
    *,
    n: int | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """A statistic of the column sums of `terms` (units × terms), with a bootstrap over the units' clusters.

    `statistic` maps (… × terms) to (…), NaN where undefined; `n` defaults to the number of units. Without
    units, or undefined: None. With one cluster: no interval.
    """
    n = len(terms) if n is None else n
    if len(terms) == 0:
        return Figure(None, None, None, n)
    contributions = cluster_sums(terms, clusters)
    drawn = resamples if len(contributions) > 1 else 0
    sums = resampled_sums(contributions, resamples=drawn, seed=seed)
    return bootstrap_figure(contributions, sums, statistic, n=n)


def percentile_interval(
    statistics: Floats, confidence: float = CONFIDENCE
) -> tuple[float, float] | tuple[None, None]:
    """Percentile bootstrap interval of one statistic's resampled values; NaN marks an undefined resample.

    (None, None) when no resample was drawn or fewer than half of them are defined. Efron & Tibshirani (1993),
    chapter 13. The values 0, 1 … 100 give (2.5, 97.5).
    """
    defined = statistics[np.isfinite(statistics)]
    if defined.size == 0 or defined.size < _LEAST_DEFINED_SHARE * statistics.size:
        return None, None
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def bootstrap_figure(contributions: Floats, sums: Floats, statistic: Statistic, *, n: int) -> Figure:
    """The statistic of the summed contributions, with its percentile interval over the resampled `sums`.

    `statistic` maps (… × terms) to (…), NaN where undefined. `sums` comes from `resampled_sums`, so several
    statistics of the same data share one set of resamples. With fewer than two clusters there is nothing to
    resample and the interval is None.
    """
    value = float(statistic(contributions.sum(axis=0)[None, :])[0])
    if not np.isfinite(value):
        return Figure(None, None, None, n)
    if contributions.shape[0] < 2:
        return Figure(value, None, None, n)
    low, high = percentile_interval(statistic(sums))
    return Figure(value, low, high, n)


def share_figure(successes: Floats, totals: Floats, sums: Floats) -> Figure:
    """A share with the interval that suits how its units are grouped.

    `successes` and `totals` are (clusters,): counts per cluster; `sums` is (resamples × 2), their resampled
    sums. One unit per cluster: Wilson. Several: the clustered bootstrap, because units of one item fall
    together. A share of exactly 0 or 1 would give the bootstrap no spread at all, so it gets Wilson over the
    clusters. Undefined (None) when there are no units.
    """
    n = int(totals.sum())
    if n == 0:
        return Figure(None, None, None, 0)
    value = float(successes.sum()) / n
    clusters = int(np.count_nonzero(totals))
    if n == clusters or value in (0.0, 1.0):
        bounds = wilson(round(value * clusters), clusters)
        low, high = bounds if bounds is not None else (None, None)
        return Figure(value, low, high, n)
    if clusters < 2:
        return Figure(value, None, None, n)
    with np.errstate(invalid="ignore"):
        low_high = percentile_interval(sums[:, 0] / sums[:, 1])
    return Figure(value, low_high[0], low_high[1], n)


def mean_share_figure(
    shares: Floats, clusters: NDArray[np.int64], *, resamples: int = 1000, seed: int = 0
) -> Figure:
    """Mean of one share per unit, each in [0, 1], with a bootstrap over the units' clusters.

    A mean of exactly 0 or 1 has no spread to resample and gets Wilson's interval over the clusters. Shares
    1, 0.5, 0 → 0.5. None without units.
    """
    terms = np.stack([shares, np.ones(len(shares))], axis=1)
    figure = cluster_figure(terms, clusters, mean_of_sums, resamples=resamples, seed=seed)
    return figure_of_shares(figure, clusters)


def figure_of_shares(figure: Figure, clusters: NDArray[np.int64]) -> Figure:
    """A bootstrapped mean share; exactly 0 or 1 with Wilson's interval over the clusters instead."""
    if figure.value is None or 0 < figure.value < 1:
        return figure
    count = len(np.unique(clusters))
    bounds = wilson(round(figure.value * count), count)
    return figure if bounds is None else Figure(figure.value, bounds[0], bounds[1], figure.n)


def mean_of_sums(sums: Floats) -> Floats:
    """(…,): the first of two sums divided by the second, NaN where the second is 0: [3, 4] → 0.75."""
    return divide(sums[..., 0], sums[..., 1])


def divide(top: Floats, bottom: Floats) -> Floats:
    """Elementwise quotient, NaN where `bottom` is 0: that is undefined here, never infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom == 0, np.nan, top / bottom)
