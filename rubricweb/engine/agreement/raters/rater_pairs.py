"""Every rater against every other: agreement of each pair, for boards and for their mean."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rubricweb.engine.agreement.intervals import (
    Figure,
    Floats,
    bootstrap_figure,
    bracketed,
    divide,
    few_per_stratum,
    interval_of_few,
    percentile_interval,
    resampled_sums,
    share_figure,
    spread_over_strata,
    table_grouping,
    unseen_cells,
    within,
)
from rubricweb.engine.agreement.jackknife import jackknife_sums
from rubricweb.engine.agreement.judge.kappa import Weighting, kappa_of, kappa_within
from rubricweb.engine.agreement.ratings import GAP, Ratings, cluster_codes

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
    ratings: Ratings,
    *,
    weighting: Weighting = "identity",
    strata: Sequence[Hashable] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> RaterMatrix:
    """Raw agreement and Cohen's κ of every pair of raters, with n and 95 % intervals over items.

    `weighting` is for ordered options (`kappa.weighted_kappa`). With `strata`, which name the criterion of
    each of the ratings' units, chance is counted within each (`kappa_within`), without weights. Work grows
    with the number of pairs. Raises ValueError unless every unit has a stratum.

    Worked: ann MET MET UNMET –, rae MET UNMET UNMET MET → n 3, raw 2/3, κ = (2/3 − 4/9) / (5/9) = 0.4.
    """
    full = ratings.on_full_scale()
    levels, raters = len(full.labels), len(full.raters)
    equal = np.eye(levels).ravel()
    counts = (full.codes != GAP).astype(np.int64)
    shared = counts @ counts.T
    raw: list[list[Figure | None]] = [[None] * raters for _ in range(raters)]
    kappa: list[list[Figure | None]] = [[None] * raters for _ in range(raters)]
    pairs = _Pairs(full, weighting, strata)
    for (one, other), cells, sums, left_out in pairs.cells(resamples=resamples, seed=seed):
        labelled = cells.any(axis=1)
        n = int(cells.sum())
        enough = labelled.sum() > 1
        of_label = cells.reshape(len(cells), -1, levels * levels).sum(axis=1)
        raw[one][other] = raw[other][one] = share_figure(of_label @ equal, of_label.sum(axis=1))
        figure = bootstrap_figure(cells[labelled], sums if enough else sums[:0], pairs.kappa, n=n)
        if enough and len(left_out):
            figure = within(interval_of_few(figure, pairs.kappa(left_out), len(cells)), -1, 1)
        kappa[one][other] = kappa[other][one] = figure
    return RaterMatrix(
        raters=full.raters,
        n=tuple(tuple(int(count) for count in row) for row in shared),
        raw=tuple(map(tuple, raw)),
        kappa=tuple(map(tuple, kappa)),
    )


def mean_pair_kappa(
    ratings: Ratings,
    *,
    weighting: Weighting = "identity",
    strata: Sequence[Hashable] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Mean of Cohen's κ over pairs of raters, weighted by the units they share, at most 1.

    Light's (1971) mean of pairwise κ, weighted because with gaps some pairs share a handful of units only.
    Pairs with an undefined κ are left out, in every resample anew; None when all are. `n` counts the units
    with at least two labels. With `strata` κ is that of `rater_matrix`.

    Worked: three raters MET MET UNMET, MET MET UNMET, UNMET MET UNMET over three units: κ 1, 0.4 and 0.4,
    mean 0.6.
    """
    full = ratings.on_full_scale()
    pairable = (full.codes != GAP).sum(axis=0) >= 2
    n = int(pairable.sum())
    items = len(np.unique(full.clusters[pairable]))
    pairs = _Pairs(full, weighting, strata)
    whole, resampled, jackknifed = _Mean(), _Mean(), _Mean()
    for _, cells, sums, left_out in pairs.cells(resamples=resamples, seed=seed):
        for mean, tables_of_pair in ((whole, cells.sum(axis=0)[None, :]), (resampled, sums)):
            mean.add(pairs.kappa(tables_of_pair), tables_of_pair.sum(axis=1))
        jackknifed.add(pairs.kappa(left_out), left_out.sum(axis=1))
    [value] = whole.values().tolist() or [np.nan]
    if not np.isfinite(value):
        return Figure(None, None, None, n)
    if items < 2:
        return Figure(value, None, None, n)
    figure = bracketed(value, percentile_interval(resampled.values(), items), n, items)
    if pairs.few:
        return within(interval_of_few(figure, jackknifed.values(), items), -1, 1)
    return figure


class _Mean:
    """A weighted mean of κ over pairs, in each of several resamples; undefined ones weigh nothing."""

    def __init__(self) -> None:
        self._totals = np.zeros(0)
        self._weights = np.zeros(0)

    def add(self, kappas: Floats, units: Floats) -> None:
        if len(self._totals) != len(kappas):
            self._totals, self._weights = np.zeros(len(kappas)), np.zeros(len(kappas))
        defined = np.isfinite(kappas)
        self._totals += np.where(defined, kappas, 0) * np.where(defined, units, 0)
        self._weights += np.where(defined, units, 0)

    def values(self) -> Floats:
        return divide(self._totals, self._weights)


class _Pairs:
    """The tables of every pair of raters, of all units or of each stratum apart, and κ of them."""

    def __init__(self, full: Ratings, weighting: Weighting, strata: Sequence[Hashable] | None) -> None:
        if strata is not None and len(strata) != len(full.units):
            raise ValueError(f"strata must name one of each unit: {len(full.units)}; found {len(strata)}")
        pairable = (full.codes != GAP).sum(axis=0) >= 2
        self._codes = full.codes[:, pairable]
        self._kept, self._clusters = np.unique(full.clusters[pairable], return_inverse=True)
        self._levels = len(full.labels)
        of_unit = [None] * len(full.units) if strata is None else strata
        _, self._strata = np.unique(cluster_codes(of_unit)[pairable], return_inverse=True)
        self._units = np.bincount(self._strata, minlength=1)
        self._kappa = kappa_of(weighting) if strata is None else kappa_within
        self._apart = strata is not None
        self.few = self._apart and few_per_stratum(self._units, len(self._kept))

    def kappa(self, sums: Floats) -> Floats:
        """(…,) from (… × strata·levels²)."""
        levels = self._levels
        shape = (len(self._units), levels, levels) if self._apart else (levels, levels)
        return self._kappa(sums.reshape(*sums.shape[:-1], *shape))

    def cells(self, *, resamples: int, seed: int) -> Iterator[tuple[Pair, Floats, Floats, Floats]]:
        """For each pair of raters: (clusters × strata·levels²) counts, their sums in each of the resamples,
        and those of `jackknife_sums`, none unless strata have `few` units.

        All pairs see the same resamples of the same items, those where any two raters met.
        """
        codes, clusters, levels = self._codes, self._clusters, self._levels
        cells = levels * levels
        width = len(self._units) * cells
        pairs = list(combinations(range(len(codes)), 2))
        at_once = max(1, _CELLS_AT_ONCE // max(1, width))
        drawn = resamples if len(self._kept) > 1 else 0
        for start in range(0, len(pairs), at_once):
            some = pairs[start : start + at_once]
            contributions = np.zeros((len(self._kept), len(some) * width))
            for place, (one, other) in enumerate(some):
                both = (codes[one] != GAP) & (codes[other] != GAP)
                of_cell = self._strata[both] * cells + codes[one, both] * levels + codes[other, both]
                np.add.at(contributions, (clusters[both], place * width + of_cell), 1)
            # Every pair meets the unseen in the same resamples, each with clusters of its own size.
            blocks = np.split(contributions, len(some), axis=1)
            unseen = np.concatenate([self._unseen(block) for block in blocks], axis=1)
            sums = resampled_sums(contributions, resamples=drawn, seed=seed, unseen=unseen)
            left_out = jackknife_sums(contributions, unseen) if self.few and drawn else sums[:0]
            for place, pair in enumerate(some):
                block = slice(place * width, (place + 1) * width)
                yield pair, contributions[:, block], sums[:, block], left_out[:, block]

    def _unseen(self, counts: Floats) -> Floats:
        """What an unseen cluster of each kind would add to the tables of a pair."""
        of_stratum = counts.reshape(len(counts), len(self._units), self._levels**2)
        units = of_stratum.sum(axis=(0, 2))
        cells = unseen_cells(self._levels, _unseen_size(of_stratum.sum(axis=1)))
        return spread_over_strata(cells, units.astype(np.int64))


def _unseen_size(counts: Floats) -> float:
    """Units of a pair that come with an unseen cluster: fewer where the pair met in some clusters only."""
    met = counts[counts.any(axis=1)]
    return table_grouping(met) * len(met) / max(1, len(counts))
