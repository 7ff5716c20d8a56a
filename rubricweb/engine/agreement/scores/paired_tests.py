"""Tests of two or more runs over the same units: could the difference be chance?"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.distributions import (
    chi_square_tail,
    fair_coin_two_sided,
    normal_two_sided,
    t_two_sided,
)
from rubricweb.engine.agreement.intervals import CONFIDENCE, Figure, Floats, paired_share_difference
from rubricweb.engine.agreement.ratings import label_texts
from rubricweb.engine.agreement.scores.correlation import Scores, paired_scores

EXACT_BELOW_DISCORDANT = 25
EXACT_UP_TO_DIFFERENCES = 50

YesNo = Sequence[bool | None] | Floats


@dataclass(frozen=True, slots=True)
class McNemar:
    """Whether two runs say MET equally often on one binary criterion.

    `n` units have a verdict in both: `both`, `only_one`, `only_other` and `neither` say in which it is true.
    `difference` is the other's share minus the first's. `exact` tells the binomial test (then `statistic` is
    None) from χ². `p` is None without units.
    """

    n: int
    both: int
    only_one: int
    only_other: int
    neither: int
    difference: Figure
    statistic: float | None
    p: float | None
    exact: bool


@dataclass(frozen=True, slots=True)
class Wilcoxon:
    """Signed-rank test of paired scores.

    `n` differences are not zero and `zeros` are; `above` is the rank sum of the positive differences (other
    minus one), `below` that of the negative ones, `statistic` the smaller. `exact` tells the exact
    distribution from the normal approximation. `statistic` and `p` are None when no difference is left.
    """

    n: int
    zeros: int
    above: float
    below: float
    statistic: float | None
    p: float | None
    exact: bool


@dataclass(frozen=True, slots=True)
class PairedT:
    """Paired t test: `t`, its degrees of freedom and two-sided `p`, None below two items.

    `n` counts items: with several units per item, each item enters once with its mean difference. `exact`
    tells that all differences are the same: then there is no `t`, and `p` is that of sign flips.
    """

    n: int
    t: float | None
    df: int | None
    p: float | None
    exact: bool


@dataclass(frozen=True, slots=True)
class CochranQ:
    """Whether several runs say MET equally often: `q`, degrees of freedom, `p`; None when undefined."""

    n: int
    q: float | None
    df: int | None
    p: float | None


def mcnemar(
    one: YesNo,
    other: YesNo,
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> McNemar:
    """McNemar's test of two yes/no columns over the same units: both MET, or both right against a reference.

    None on either side leaves a unit out. McNemar (1947): of b + c units where the two differ, half should go
    each way. Below 25 of them the exact binomial test, else χ² = (|b − c| − 1)² / (b + c) with one degree of
    freedom (Edwards 1948). Without any, p is 1. The units should be independent, one per item: test one
    criterion at a time and adjust with `holm`. The difference has Bonett & Price's (2012) interval,
    see `paired_share_difference`. Numbers count as yes where they are not 0, NaN is a gap.
    Raises ValueError on unequal lengths.

    Worked: 1 and 4 discordant → p = 2·(1 + 5) / 32 = 0.375; 10 and 30 → (20 − 1)² / 40 = 9.025, p = 0.00266.
    """
    x, y, items = paired_scores(one, other, clusters)
    first, second = x != 0, y != 0
    difference = paired_share_difference(second.astype(np.float64) - first, items, confidence)
    return _mcnemar(first, second, difference)


def _mcnemar(first: NDArray[np.bool_], second: NDArray[np.bool_], difference: Figure) -> McNemar:
    only_one, only_other = int((first & ~second).sum()), int((~first & second).sum())
    discordant = only_one + only_other
    exact = discordant < EXACT_BELOW_DISCORDANT
    statistic = None if exact else (abs(only_one - only_other) - 1) ** 2 / discordant
    if len(first) == 0:
        p = None
    elif statistic is None:
        p = fair_coin_two_sided(only_one, discordant)
    else:
        p = chi_square_tail(statistic, 1)
    return McNemar(
        n=len(first),
        both=int((first & second).sum()),
        only_one=only_one,
        only_other=only_other,
        neither=int((~first & ~second).sum()),
        difference=difference,
        statistic=statistic,
        p=p,
        exact=exact,
    )


def wilcoxon(one: Scores, other: Scores) -> Wilcoxon:
    """Wilcoxon's signed-rank test of the differences other − one, two-sided.

    None on either side leaves a unit out. Wilcoxon (1945): zero differences are set aside (and counted), the
    others ranked by size, ties sharing their mean rank. Up to 50 differences that are not zero p is exact:
    it counts the sign patterns of these very ranks, tied or not. With more it is normal, with the variance
    corrected for ties and no continuity correction. Differences within 1e-12 of the largest score are equal:
    scores are sums of weights, and 0.3 is not more than 0.1 + 0.2. Raises ValueError on unequal lengths.

    Worked: differences 1, 2, 3, −4, 5 → above 11, below 4; 7 of the 32 sign patterns give 4 or less,
    p = 2·7 / 32 = 0.4375. Five differences of 2 → below 0; 1 of the 32 gives 0, p = 2·1 / 32 = 0.0625.
    """
    first, second, _ = paired_scores(one, other, None)
    differences = _without_rounding(second - first, first, second)
    moved = differences[differences != 0]
    n, zeros = len(moved), len(differences) - len(moved)
    if n == 0:
        return Wilcoxon(0, zeros, 0.0, 0.0, None, None, False)
    _, place, tied = np.unique(np.abs(moved), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(tied) - (tied - 1) / 2)[place]
    above, below = float(ranks[moved > 0].sum()), float(ranks[moved < 0].sum())
    statistic = min(above, below)
    exact = n <= EXACT_UP_TO_DIFFERENCES
    if exact:
        # A mean rank ends in ½ at most: doubled, all of them are whole numbers.
        doubled = [round(2 * rank) for rank in ranks.tolist()]
        p = min(1.0, 2 * _sign_patterns_up_to(round(2 * statistic), doubled) / 2**n)
    else:
        correction = float((tied**3 - tied).sum()) / 2
        spread = math.sqrt((n * (n + 1) * (2 * n + 1) - correction) / 24)
        p = normal_two_sided((statistic - n * (n + 1) / 4) / spread)
    return Wilcoxon(n, zeros, above, below, statistic, p, exact)


def paired_t(one: Scores, other: Scores, clusters: Sequence[Hashable] | None = None) -> PairedT:
    """Student's paired t test of the differences other − one, two-sided.

    None on either side leaves a unit out; with several units per item each item counts once, with its mean
    difference. Student (1908): t = mean / (s / √n), n − 1 degrees of freedom. Undefined below two items. When
    all differences are the same there is no s to divide by: p is then exact, over the signs each of them
    could have had (Fisher 1935), 2 / 2ⁿ, and 1 where nothing differs. Raises ValueError on unequal lengths.

    Worked: differences 1, 2, 3 → t = 2 / (1 / √3) = 3.4641, df 2, p = 0.0742. Five of −0.2: 2 of the 32 sign
    patterns are as far from 0, p = 0.0625.
    """
    first, second, items = paired_scores(one, other, clusters)
    differences = _without_rounding(_item_means(second - first, items), first, second)
    n = len(differences)
    if n < 2:
        return PairedT(n, None, None, None, False)
    if np.ptp(differences) == 0:
        return PairedT(n, None, None, fair_coin_two_sided(0, n) if differences[0] else 1.0, True)
    t = float(differences.mean() / (differences.std(ddof=1) / math.sqrt(n)))
    return PairedT(n, t, n - 1, t_two_sided(t, n - 1), False)


def cochran_q(columns: Sequence[Sequence[bool | None]]) -> CochranQ:
    """Cochran's Q: whether several yes/no columns over the same units are true equally often.

    Units with a gap in any column are left out. Cochran (1950): Q = (k − 1)(k Σ G² − (Σ G)²) /
    (k Σ L − Σ L²) for k columns with G and units with L trues, χ² with k − 1 degrees of freedom. Undefined
    below two columns and when on every unit all columns say the same. Raises ValueError when the lengths
    differ.

    Worked: columns 1 1 1 0, 1 0 1 0, 0 0 1 0 → G = 3, 2, 1, L = 2, 1, 3, 0; Q = 2·(3·14 − 36) /
    (18 − 14) = 3, df 2, p = e^−1.5 = 0.2231.
    """
    if len({len(column) for column in columns}) > 1:
        raise ValueError(
            f"all columns must cover the same units; found lengths {sorted({len(one) for one in columns})}"
        )
    rows = [row for row in zip(*columns, strict=True) if None not in label_texts(row)]
    runs = len(columns)
    table = np.array(rows, dtype=np.int64).reshape(len(rows), runs)
    per_run, per_unit = table.sum(axis=0), table.sum(axis=1)
    bottom = int(runs * per_unit.sum() - (per_unit**2).sum())
    if runs < 2 or bottom == 0:
        return CochranQ(len(rows), None, None, None)
    q = (runs - 1) * int(runs * (per_run**2).sum() - per_run.sum() ** 2) / bottom
    return CochranQ(len(rows), q, runs - 1, chi_square_tail(q, runs - 1))


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjusted p values, in the given order, that keep the chance of any false alarm below the level.

    Holm (1979): the i-th smallest of m is multiplied by m − i + 1, never falls below the one before it and
    never exceeds 1. None stays None and is no test: it does not count in m. Raises ValueError outside [0, 1].

    Worked: 0.01, 0.04, 0.03, None → 0.03, 0.06, 0.06, None.
    """
    for place, p in enumerate(p_values):
        if p is not None and not 0 <= p <= 1:
            raise ValueError(f"p_values[{place}] is {p}; allowed are 0 … 1 and None")
    tests = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for done, (p, place) in enumerate(tests):
        highest = min(1.0, max(highest, p * (len(tests) - done)))
        adjusted[place] = highest
    return tuple(adjusted)


def _sign_patterns_up_to(rank_sum: int, ranks: Sequence[int]) -> int:
    """How many of the 2ⁿ sets of these n ranks add up to at most `rank_sum`."""
    ways = [1] + [0] * rank_sum
    for rank in ranks:
        for total in range(rank_sum, rank - 1, -1):
            ways[total] += ways[total - rank]
    return sum(ways)


def _without_rounding(differences: Floats, first: Floats, second: Floats) -> Floats:
    """The differences, those that are equal but for rounding made equal and those that are nothing made 0."""
    if len(differences) == 0:
        return differences
    step = 1e-12 * max(1e-300, float(np.abs(first).max()), float(np.abs(second).max()))
    rounded: Floats = np.round(differences / step) * step
    return rounded


def _item_means(differences: Floats, items: NDArray[np.int64]) -> Floats:
    _, places, units = np.unique(items, return_inverse=True, return_counts=True)
    means: Floats = np.bincount(places, weights=differences) / units
    return means
