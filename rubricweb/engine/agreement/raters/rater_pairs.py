"""Every rater against every other: agreement of each pair, for boards and for their mean."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rubricweb.engine.agreement.intervals import (
    Figure,
    Floats,
    bootstrap_figure,
    bracketed,
    percentile_interval,
    resampled_sums,
    share_figure,
    table_grouping,
    unseen_cells,
)
from rubricweb.engine.agreement.judge import tables
from rubricweb.engine.agreement.judge.kappa import Weighting
from rubricweb.engine.agreement.judge.options import kappa_of
from rubricweb.engine.agreement.ratings import GAP, Ratings

_CELLS_AT_ONCE = 512  # columns of one block of (clusters × pairs · levels²)

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RaterMatrix:
    """Agreement of each pair of raters, (raters × raters), symmetric; the diagonal holds None.

    `n[i][j]` counts the units both labelled, on the diagonal those that the rater labelled. `raw` is the
    share of equal labels, `kappa` Cohen's κ; a pair without shared units has figures of None.
    """

    raters: tuple[Hashable, ...]
    n: tuple[tuple[int, ...], ...]
    raw: tuple[tuple[Figure | None, ...], ...]
    kappa: tuple[tuple[Figure | None, ...], ...]


def rater_matrix(
    ratings: Ratings, *, weighting: Weighting = "identity", resamples: int = 1000, seed: int = 0
) -> RaterMatrix:
    """Raw agreement and Cohen's κ of every pair of raters, with n and 95 % intervals over items.

    `weighting` is for ordered options (`kappa.weighted_kappa`). Work grows with the number of pairs.

    Worked: ann MET MET UNMET –, rae MET UNMET UNMET MET → n 3, raw 2/3, κ = (2/3 − 4/9) / (5/9) = 0.4.
    """
    full = ratings.on_full_scale()
    levels, raters = len(full.labels), len(full.raters)
    statistic = kappa_of(weighting)
    equal = np.eye(levels).ravel()
    counts = (full.codes != GAP).astype(np.int64)
    shared = counts @ counts.T
    raw: list[list[Figure | None]] = [[None] * raters for _ in range(raters)]
    kappa: list[list[Figure | None]] = [[None] * raters for _ in range(raters)]
    for (one, other), cells, sums in _pair_cells(full, resamples=resamples, seed=seed):
        labelled = cells.any(axis=1)
        n = int(cells.sum())
        enough = sums if labelled.sum() > 1 else sums[:0]
        raw[one][other] = raw[other][one] = share_figure(cells @ equal, cells.sum(axis=1))
        kappa[one][other] = kappa[other][one] = bootstrap_figure(
            cells[labelled], enough, lambda some: statistic(tables.square(some)), n=n
        )
    return RaterMatrix(
        raters=full.raters,
        n=tuple(tuple(int(count) for count in row) for row in shared),
        raw=tuple(map(tuple, raw)),
        kappa=tuple(map(tuple, kappa)),
    )


def mean_pair_kappa(
    ratings: Ratings, *, weighting: Weighting = "identity", resamples: int = 1000, seed: int = 0
) -> Figure:
    """Mean of Cohen's κ over pairs of raters, weighted by the units they share, at most 1.

    Light's (1971) mean of pairwise κ, weighted because with gaps some pairs share a handful of units only.
    Pairs with an undefined κ are left out, in every resample anew; None when all are. `n` counts the units
    with at least two labels.

    Worked: three raters MET MET UNMET, MET MET UNMET, UNMET MET UNMET over three units: κ 1, 0.4 and 0.4,
    mean 0.6.
    """
    full = ratings.on_full_scale()
    pairable = (full.codes != GAP).sum(axis=0) >= 2
    n = int(pairable.sum())
    statistic = kappa_of(weighting)
    total, weight = 0.0, 0.0
    totals, weights = np.zeros(0), np.zeros(0)
    for _, cells, sums in _pair_cells(full, resamples=resamples, seed=seed):
        if len(totals) != len(sums):
            totals, weights = np.zeros(len(sums)), np.zeros(len(sums))
        table = cells.sum(axis=0)
        kappa = float(statistic(tables.square(table)))
        if np.isfinite(kappa):
            total += kappa * float(table.sum())
            weight += float(table.sum())
        resampled = statistic(tables.square(sums))
        units = np.where(np.isfinite(resampled), sums.sum(axis=1), 0)
        totals += np.where(np.isfinite(resampled), resampled, 0) * units
        weights += units
    if weight == 0:
        return Figure(None, None, None, n)
    mean = total / weight
    items = np.unique(full.clusters[pairable])
    if len(items) < 2:
        return Figure(mean, None, None, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = percentile_interval(np.where(weights == 0, np.nan, totals / weights), len(items))
    return bracketed(mean, bounds, n, len(items))


def _pair_cells(ratings: Ratings, *, resamples: int, seed: int) -> Iterator[tuple[Pair, Floats, Floats]]:
    """For each pair of raters: (clusters × levels²) counts and their (resamples × levels²) sums.

    All pairs see the same resamples of the same items, those where any two raters met.
    """
    pairable = (ratings.codes != GAP).sum(axis=0) >= 2
    codes = ratings.codes[:, pairable]
    kept, clusters = np.unique(ratings.clusters[pairable], return_inverse=True)
    levels = len(ratings.labels)
    cells = levels * levels
    pairs = list(combinations(range(len(codes)), 2))
    at_once = max(1, _CELLS_AT_ONCE // max(1, cells))
    drawn = resamples if len(kept) > 1 else 0
    for start in range(0, len(pairs), at_once):
        some = pairs[start : start + at_once]
        contributions = np.zeros((len(kept), len(some) * cells))
        for place, (one, other) in enumerate(some):
            both = (codes[one] != GAP) & (codes[other] != GAP)
            columns = place * cells + codes[one, both] * levels + codes[other, both]
            np.add.at(contributions, (clusters[both], columns), 1)
        # Every pair meets the unseen in the same resamples, each with clusters of its own size.
        sizes = np.array([_unseen_size(block) for block in np.split(contributions, len(some), axis=1)])
        unseen = np.kron(sizes[None, :], unseen_cells(levels))
        sums = resampled_sums(contributions, resamples=drawn, seed=seed, unseen=unseen)
        for place, pair in enumerate(some):
            block = slice(place * cells, (place + 1) * cells)
            yield pair, contributions[:, block], sums[:, block]


def _unseen_size(counts: Floats) -> float:
    """Units of a pair that come with an unseen cluster: fewer where the pair met in some clusters only."""
    met = counts[counts.any(axis=1)]
    return table_grouping(met) * len(met) / max(1, len(counts))
