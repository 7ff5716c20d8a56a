"""Correlation of two columns of scores: Pearson, Spearman and Kendall, with a bootstrap clustered by item."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import (
    Figure,
    Floats,
    bracketed,
    cluster_figure,
    divide,
    percentile_interval,
    resampled_times,
)
from rubricweb.engine.agreement.jackknife import UNSEEN
from rubricweb.engine.agreement.ratings import cluster_codes

Scores = Sequence[float | None] | Floats
_SAME = 1e-24  # squared spread, of scores scaled to 1, that is rounding and not spread
_CORNERS = 4
_ROWS_AT_ONCE = 512  # rows of the (units × units) sign table held at a time


def pearson(
    one: Scores,
    other: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Pearson's r of two columns of scores over the same units, in [−1, 1].

    A unit with None (or NaN) on either side is left out; `n` counts the rest. `clusters` gives each unit's
    item; without it every unit is its own. Pearson (1895): Σ dx·dy / √(Σ dx² · Σ dy²) with deviations from
    the means. None when either side has no spread, so also below two units. Raises ValueError on unequal
    lengths and infinite scores.

    Worked: 1, 2, 3 and 1, 3, 2 → Σ dx·dy = 1, Σ dx² = Σ dy² = 2, r = 0.5.
    """
    x, y, items = paired_scores(one, other, clusters)
    x, y = _scaled(x), _scaled(y)
    corners = (np.array([-0.5, -0.5, 0.5, 0.5]), np.array([-0.5, 0.5, -0.5, 0.5]))

    def terms(x: Floats, y: Floats) -> Floats:
        return np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1)

    def correlation(sums: Floats) -> Floats:
        n, sx, sy, sxx, syy, sxy = (sums[..., place] for place in range(6))
        return _ratio(n * sxy - sx * sy, n * sxx - sx * sx, n * syy - sy * sy, n * n)

    return cluster_figure(
        terms(x, y),
        items,
        correlation,
        unseen=terms(*corners),
        agreement=-((x - y) ** 2),
        resamples=resamples,
        seed=seed,
    )


def spearman(
    one: Scores,
    other: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Spearman's ρ: Pearson's r of the midranks, in [−1, 1]; units, gaps, None and errors as for `pearson`.

    Spearman (1904). Ties share their mean rank, within every resample anew.

    Worked: 10, 20, 90 and 1, 3, 2 → ranks 1, 2, 3 and 1, 3, 2, ρ = 0.5.
    """
    x, y, items = paired_scores(one, other, clusters)
    x_rank, y_rank = _with_corners(x, y)

    def correlation(times: Floats) -> Floats:
        middle = (times.sum(axis=-1, keepdims=True) + 1) / 2  # the mean of midranks, exactly
        dx, dy = x_rank.midranks(times) - middle, y_rank.midranks(times) - middle
        covariance = (times * dx * dy).sum(axis=-1)
        return _ratio(covariance, (times * dx * dx).sum(axis=-1), (times * dy * dy).sum(axis=-1), 1.0)

    return _unit_figure(correlation, items, resamples=resamples, seed=seed)


def kendall(
    one: Scores,
    other: Scores,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Kendall's τ-b, corrected for ties, in [−1, 1]; units, gaps, None and errors as for `pearson`.

    Kendall (1945): (C − D) / √((P − T_x)(P − T_y)) with C concordant and D discordant of P pairs of units,
    T_x and T_y of them tied on a side. Work grows with the square of the number of different score pairs.

    Worked: 1, 2, 3 and 1, 3, 2 → C = 2, D = 1, τ = 1/3. 1, 1, 2 and 1, 2, 3 → C = 2, P − T_x = 2,
    P − T_y = 3, τ = 2 / √6 = 0.8165.
    """
    x, y, items = paired_scores(one, other, clusters)
    x_rank, y_rank = _with_corners(x, y)
    width = max(1, len(y_rank))
    pairs, place = np.unique(x_rank.codes * width + y_rank.codes, return_inverse=True)
    x_of, y_of = np.divmod(pairs, width)
    ranking = _Ranking(place.astype(np.float64))

    def correlation(times: Floats) -> Floats:
        units = times.sum(axis=-1)
        weights = ranking.per_value(times).astype(np.float32)
        concordance = np.zeros(len(times))
        for start in range(0, len(pairs), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            signs = np.sign(x_of[rows, None] - x_of[None, :]) * np.sign(y_of[rows, None] - y_of[None, :])
            # Whole numbers below 2²⁴ throughout, so single precision is exact here.
            lead = (weights @ signs.T.astype(np.float32)).astype(np.float64)
            concordance += (lead * weights[:, rows]).sum(axis=-1)
        all_pairs = units * (units - 1)
        return _ratio(concordance, all_pairs - x_rank.ties(times), all_pairs - y_rank.ties(times), 1.0)

    return _unit_figure(correlation, items, resamples=resamples, seed=seed)


def paired_scores(
    one: Scores, other: Scores, clusters: Sequence[Hashable] | None
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The scores that both sides have and the cluster of each: three arrays (n,).

    Raises ValueError when the lengths differ or a score is infinite.
    """
    items = range(len(one)) if clusters is None else clusters
    if not len(one) == len(other) == len(items):
        raise ValueError(
            "both columns and clusters must cover the same units; "
            f"found {len(one)}, {len(other)} and {len(items)}"
        )
    x, y = score_column("one", one), score_column("other", other)
    both = ~(np.isnan(x) | np.isnan(y))
    return x[both], y[both], cluster_codes(items)[both]


def score_column(side: str, scores: Scores) -> Floats:
    """(units,) of numbers, NaN for None; `side` names the column in the ValueError on an infinite score."""
    numbers = np.array(scores, dtype=np.float64)
    if np.isinf(numbers).any():
        place = int(np.flatnonzero(np.isinf(numbers))[0])
        raise ValueError(f"{side}[{place}] is {numbers[place]}; allowed are finite numbers and None")
    return numbers


def _with_corners(x: Floats, y: Floats) -> tuple[_Ranking, _Ranking]:
    """The ranks of the units and then of the four corners of what was seen, which a resample may draw."""
    if len(x) == 0:
        return _Ranking(x), _Ranking(y)
    ends = np.array([x.min(), x.max()]), np.array([y.min(), y.max()])
    return _Ranking(np.append(x, ends[0][[0, 0, 1, 1]])), _Ranking(np.append(y, ends[1][[0, 1, 0, 1]]))


def _scaled(scores: Floats) -> Floats:
    """Shifted and stretched to −0.5 … 0.5, which no correlation notices and sums of squares are exact in."""
    if len(scores) == 0:
        return scores
    lowest, highest = float(scores.min()), float(scores.max())
    scaled: Floats = (scores - lowest) / ((highest - lowest) or 1.0) - 0.5
    return scaled


def _ratio(top: Floats, one: Floats, other: Floats, scale: Floats | float) -> Floats:
    flat = (one <= _SAME * scale) | (other <= _SAME * scale)
    bottom = np.sqrt(np.where(flat, 0, one * other))
    return np.clip(divide(top, bottom), -1, 1)


class _Ranking:
    """A column of scores sorted once, for midranks and ties in any resample of its units."""

    def __init__(self, scores: Floats) -> None:
        _, codes = np.unique(scores, return_inverse=True)
        self.codes: NDArray[np.int64] = codes.astype(np.int64)
        self._order = np.argsort(self.codes, kind="stable")
        ordered = self.codes[self._order]
        self._starts = np.flatnonzero(np.diff(ordered, prepend=-1))

    def __len__(self) -> int:
        return len(self._starts)

    def per_value(self, times: Floats) -> Floats:
        """(resamples × different scores): how often each score was drawn."""
        return np.add.reduceat(times[:, self._order], self._starts, axis=1)

    def midranks(self, times: Floats) -> Floats:
        """(resamples × units): each unit's mean rank among all drawn, from 1."""
        drawn = self.per_value(times)
        ranks = np.cumsum(drawn, axis=1) - drawn + (drawn + 1) / 2
        return ranks[:, self.codes]

    def ties(self, times: Floats) -> Floats:
        """(resamples,): ordered pairs of drawn units with the same score."""
        drawn = self.per_value(times)
        pairs: Floats = (drawn * (drawn - 1)).sum(axis=1)
        return pairs


def _unit_figure(
    statistic: Callable[[Floats], Floats], clusters: NDArray[np.int64], *, resamples: int, seed: int
) -> Figure:
    """A statistic of how often each unit, then each corner was drawn, (resamples × n + 4) → (resamples,)."""
    n = len(clusters)
    if n == 0:
        return Figure(None, None, None, 0)
    value = float(statistic(np.append(np.ones((1, n)), np.zeros((1, _CORNERS)), axis=1))[0])
    if not np.isfinite(value):
        return Figure(None, None, None, n)
    kept, places = np.unique(clusters, return_inverse=True)
    if len(kept) < 2:
        return Figure(value, None, None, n)
    drawn, corner = [], np.random.default_rng([seed, UNSEEN])
    for _, times in resampled_times(len(kept), resamples=resamples, seed=seed, unseen=UNSEEN):
        unseen = times[:, len(kept) :].sum(axis=1).astype(np.int64)
        corners = corner.multinomial(unseen, [1 / _CORNERS] * _CORNERS) * round(n / len(kept))
        drawn.append(statistic(np.append(times[:, places], corners.astype(np.float64), axis=1)))
    bounds = percentile_interval(np.concatenate(drawn) if drawn else np.empty(0), len(kept))
    return bracketed(value, bounds, n, len(kept))
