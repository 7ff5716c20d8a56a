"""A figure with its interval: Wilson for shares, t for means, a seeded bootstrap by item for the rest."""

# Long because every kind of interval stands here with its source and a worked value.

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.distributions import normal_two_sided, t_quantile, t_two_sided
from rubricweb.engine.agreement.jackknife import UNSEEN, jackknife_interval, jackknife_sums
from rubricweb.engine.number_format import counted

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]

CONFIDENCE = 0.95

FEW_OF_A_CLASS = 10
"""Units of a class in the reference below which κ, balanced accuracy and MCC tell little."""

FEW_PER_STRATUM = 20
"""Below so many units of a criterion on average, chance within criteria is told by a jackknife."""

FEW_APART = 10
"""Below so many clusters with a value off the commonest, spread that was not seen is allowed for."""

APPEND_BELOW = 120
"""So many clusters show rare large differences well enough for plain t."""

NOTHING_MEASURED = "nothing to measure"
UNDEFINED = "not defined for these answers"
"""Why a figure has no value, where whoever computed it says no more."""

_DRAWS_AT_ONCE = 2_000_000  # bounds the memory of one block of resamples to about 32 MB
_DRAWS_IN_CACHE = 100_000  # a processor's, until they are counted
_TERMS_LOOKED_UP = 2  # so few are added up faster draw by draw than by how often each cluster is drawn
_DRAWS_KEPT = 10_000_000  # of one size, at two bytes each: a board asks for the same again and again
_DRAWS_KEPT_READY = 4_000_000  # at eight bytes each, as they are multiplied
_MOST_KINDS = 1000
_ROUNDING = 1e-12
_LEAST_DEFINED_SHARE = 0.5  # below this, the interval would describe the lucky resamples only


@dataclass(frozen=True, slots=True)
class Strata:
    """Which stratum each unit is in, (units,) codes from 0 on; `of_difference` where the statistic of them is
    a difference of two figures.
    """

    codes: NDArray[np.int64]
    of_difference: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """One statistic, its 95 % interval, and how many units it rests on.

    `value` is None when the statistic is undefined for the data, never a stand-in 0 or 1. `low` and `high`
    are both None when there is no interval: the value is undefined, fewer than two clusters were seen, or the
    statistic is undefined in most resamples. `n` counts units, not labels. `small` is True where n is too
    small for the statistic to tell much, `reason` says why it has no value (never empty then) or is small.
    `df` are the degrees of freedom of Student's t by which `widened` stretches the interval, None where it
    does as on a normal scale.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    small: bool = field(default=False, compare=False)
    reason: str = field(default="", compare=False)
    df: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            object.__setattr__(self, "reason", UNDEFINED if self.n else NOTHING_MEASURED)


def simultaneous(intervals: int, confidence: float = CONFIDENCE) -> float:
    """The confidence of each of so many intervals with which all hold at once at this one (Bonferroni).

    Of 14 intervals at 95 % each, one is off 0 in half of all pairs of equal runs. Five: 0.99.
    """
    return 1 - (1 - confidence) / max(1, intervals)


def confidence_of_look(number: int) -> float:
    """The confidence of a claim at the so-many-th look at a test half, 1 for the first: 1 − 0.05/(k(k + 1)).

    Over however many looks, the chance that one of them claims what is not so stays within 5 %: the sum of
    1/(k(k + 1)) over all k is 1. First look 0.975, second 0.9917, third 0.9958.
    """
    return 1 - (1 - CONFIDENCE) / (number * (number + 1))


def widened(figure: Figure, confidence: float) -> Figure:
    """The figure with its 95 % interval stretched to another confidence, on either side alike.

    By Student's t with its `df`, else as on a normal scale: few items need more, the surer it is to be.
    0.5 with 0.3 … 0.6 at 99 %: z 2.5758 / 1.95996 = 1.3142, so 0.2372 … 0.6314; with 11 degrees of freedom t
    3.1058 / 2.2010 = 1.4111, so 0.2178 … 0.6411.
    """
    if figure.value is None or figure.low is None or figure.high is None or confidence == CONFIDENCE:
        return figure
    by = _quantile(confidence, figure.df) / _quantile(CONFIDENCE, figure.df)
    low, high = figure.low - figure.value, figure.high - figure.value
    return Figure(figure.value, figure.value + by * low, figure.value + by * high, figure.n)


def p_against(figure: Figure, value: float = 0.0) -> float | None:
    """Two-sided p of the figure's truth being `value`, read off its 95 % interval as `widened` stretches it.

    1 − p is the confidence at which the interval ends there. None without an interval. 0.5 with 0.3 … 0.6
    against 0.25: z = 1.95996·(0.25/0.2) = 2.45, p = 0.0143; with 11 degrees of freedom t = 2.2010·(0.25/0.2)
    = 2.7512, p = 0.0189; against 0.5: 1.
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return None
    apart = abs(figure.value - value)
    reach = figure.value - figure.low if figure.value > value else figure.high - figure.value
    if apart == 0 or reach == 0:
        return 1.0 if apart == 0 else 0.0
    errors = _quantile(CONFIDENCE, figure.df) * apart / reach
    return normal_two_sided(errors) if figure.df is None else t_two_sided(errors, figure.df)


def _quantile(confidence: float, df: int | None) -> float:
    """How many standard errors an interval reaches to either side."""
    tail = 0.5 + confidence / 2
    return NormalDist().inv_cdf(tail) if df is None else t_quantile(tail, df)


def wilson(successes: float, n: float, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """Wilson score interval of a share, each end in [0, 1]; None when `n` is 0.

    Both may be fractions, where weights or grouping make units count for less than one. Wilson (1927), as in
    Agresti & Coull (1998). 8 of 10 at 95 %: centre (0.8 + 0.19207) / 1.38415 = 0.7167,
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


def resampled_sums(
    contributions: Floats, *, resamples: int, seed: int, unseen: Floats | None = None
) -> Floats:
    """Sums of cluster contributions over bootstrap resamples of the clusters.

    `contributions` is (clusters × terms): what each cluster adds to each term of a statistic. Returns
    (resamples × terms); row b is the column sum over as many clusters as there are, drawn with replacement.
    The same seed gives the same sums on every machine. Works for any statistic that is a function of sums,
    which is why the pair figures and alpha are written that way.

    `unseen` is (kinds × terms): what a cluster of each kind would add. They are drawn from too, all kinds
    alike, and together weigh as much as two clusters: a table's draws then come from its counts with ½ added
    to each of four cells (Agresti & Coull's two successes and two failures), so that a disagreement which
    happened not to be among thirty units is not taken for impossible.
    """
    clusters, terms = contributions.shape
    if clusters == 0:
        return np.zeros((resamples, terms))
    extra = 0 if unseen is None else UNSEEN
    seen = np.full(resamples, clusters, dtype=np.int64)
    sums = np.zeros((resamples, terms))
    varying = np.flatnonzero(np.ptp(contributions, axis=0))
    looked_up = len(varying) <= _TERMS_LOOKED_UP and clusters * resamples > _DRAWS_KEPT
    if looked_up:
        start = 0
        columns = np.concatenate([contributions, np.zeros((extra, terms))]).T[varying]
        for drawn in _draws(clusters, resamples, seed, extra):
            rows = slice(start, start + len(drawn))
            seen[rows] = (drawn < clusters).sum(axis=1)
            for place, column in zip(varying, columns, strict=True):
                sums[rows, place] = column[drawn].sum(axis=1)
            start += len(drawn)
    else:
        moving = contributions[:, varying]
        for start, times in resampled_times(clusters, resamples=resamples, seed=seed, unseen=extra):
            rows = slice(start, start + len(times))
            seen[rows] = np.rint(clusters - times[:, clusters:].sum(axis=1))
            sums[rows, varying] = times[:, :clusters] @ moving
    fixed = np.setdiff1d(np.arange(terms), varying)
    sums[:, fixed] = seen[:, None] * contributions[0, fixed]
    if unseen is not None:
        owners = np.repeat(np.arange(resamples), clusters - seen)
        kinds = np.random.default_rng([seed, UNSEEN]).integers(0, len(unseen), size=len(owners))
        np.add.at(sums, owners, unseen[kinds])
    return sums


def unseen_pairs(levels: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of labels that two raters may have given a unit nobody saw: (kinds,) of the one and of the other.

    Half of them are equal, so that of two units that were not seen one is a disagreement, however many labels
    there are: with two labels each cell of their table once. Of very many labels some pairs are picked.
    """
    one, other = np.divmod(np.arange(levels * levels), max(1, levels))
    places = np.repeat(np.arange(levels * levels), np.where(one == other, max(1, levels - 1), 1))
    if len(places) > _MOST_KINDS:
        places = np.random.default_rng(levels).choice(places, _MOST_KINDS, replace=False)
    return one[places], other[places]


def units_together(sums: Floats, totals: Floats, spread: float | None = None) -> float:
    """How many units of a cluster say what one alone would: the design effect of a share of agreement, ≥ 1.

    `sums` and `totals` are (clusters,): what agrees, and units; `spread` is the variance of one unit,
    p(1 − p) unless units agree in parts. Σ(sᵢ − p·nᵢ)² / (n·spread); where everything or nothing agrees, the
    mean size of a cluster: then nothing shows that its units differ.
    """
    n, clusters = float(totals.sum()), len(totals)
    if clusters < 2 or n <= clusters:
        return 1.0
    share = float(sums.sum()) / n
    spread = share * (1 - share) if spread is None else spread
    if spread <= _ROUNDING:
        return n / clusters
    return max(1.0, float(((sums - share * totals) ** 2).sum()) / (n * spread))


def table_grouping(counts: Floats) -> float:
    """`units_together` of (clusters × levels²) counts of a table: how far equal labels fall together."""
    levels = round(counts.shape[1] ** 0.5)
    return units_together(counts[:, :: levels + 1].sum(axis=1), counts.sum(axis=1))


def unseen_cells(levels: int, size: float = 1.0) -> Floats:
    """(kinds × levels²): what a cluster of `size` units with `unseen_pairs` would add to a table."""
    one, other = unseen_pairs(levels)
    cells = np.zeros((len(one), levels * levels))
    cells[np.arange(len(one)), one * levels + other] = size
    return cells


def resampled_times(
    clusters: int, *, resamples: int, seed: int, unseen: int = 0
) -> Iterator[tuple[int, Floats]]:
    """How often each of `clusters` clusters is drawn in each bootstrap resample, a block at a time.

    Yields (first resample of the block, (rows × clusters + unseen) counts, not to be written to); every row
    adds up to `clusters`. The same seed gives the same draws whatever is computed from them.
    """
    draw = _kept_times if 0 < clusters * resamples <= _DRAWS_KEPT else _drawn_times
    start = 0
    for times in draw(clusters, resamples, seed, unseen):
        yield start, times.astype(np.float64, copy=False)
        start += len(times)


@lru_cache(maxsize=1)
def _kept_times(
    clusters: int, resamples: int, seed: int, unseen: int
) -> tuple[NDArray[np.uint16] | Floats, ...]:
    drawn = _drawn_times(clusters, resamples, seed, unseen)
    if clusters * resamples > _DRAWS_KEPT_READY:
        return tuple(drawn)
    ready = tuple(times.astype(np.float64) for times in drawn)
    for times in ready:
        times.flags.writeable = False
    return ready


def _drawn_times(clusters: int, resamples: int, seed: int, unseen: int) -> Iterator[NDArray[np.uint16]]:
    waiting: list[NDArray[np.uint16]] = []
    width = clusters + unseen
    for drawn in _draws(clusters, resamples, seed, unseen):
        drawn += np.arange(len(drawn))[:, None] * width
        times = np.bincount(drawn.ravel(), minlength=len(drawn) * width).reshape(len(drawn), width)
        # One cluster is drawn 65,536 times or more in no resample that fits in here.
        waiting.append(times.astype(np.uint16))
        if (len(waiting) + 1) * drawn.size > _DRAWS_AT_ONCE:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _draws(clusters: int, resamples: int, seed: int, unseen: int) -> Iterator[NDArray[np.int64]]:
    """(some resamples × clusters): the clusters that are drawn; from `clusters` on, an unseen one."""
    generator = np.random.default_rng(seed)
    rows = max(1, _DRAWS_IN_CACHE // max(1, clusters))
    for start in range(0, resamples, rows):
        yield generator.integers(0, clusters + unseen, size=(min(rows, resamples - start), clusters))


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
    unseen: Floats,
    agreement: Floats,
    strata: Strata | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """A statistic of the column sums of `terms` (units × terms), with a bootstrap over the units' clusters.

    `statistic` maps (… × terms) to (…), NaN where undefined; `unseen` (kinds × terms) is what a unit of each
    kind would add, see `resampled_sums`; how many of them come at once is told by `agreement` (units,), how
    far each agrees; `n` of the figure is the number of units. With `strata` the terms are added up in each
    apart, and `statistic` maps (… × strata × terms) to (…). What is unseen is spread over them as the units
    are; of few units a stratum (`few_per_stratum`) the interval is `interval_of_few`. Without units, or
    undefined: None. With one cluster: no interval.
    """
    n = len(terms)
    if n == 0:
        return Figure(None, None, None, n)
    contributions, of_sums, few = cluster_sums(terms, clusters), statistic, False
    _, places = np.unique(clusters, return_inverse=True)
    together = units_together(
        np.bincount(places, weights=agreement).astype(np.float64),
        np.bincount(places).astype(np.float64),
        float(agreement.var()),
    )
    unseen = unseen * together
    if strata is not None:
        contributions = sums_by_stratum(terms, clusters, strata.codes)
        units, width = np.bincount(strata.codes), terms.shape[1]
        unseen = spread_over_strata(unseen, units)
        few = few_per_stratum(units, len(contributions))
        of_sums = _of_strata(statistic, len(units), width)
    drawn = resamples if len(contributions) > 1 else 0
    sums = resampled_sums(contributions, resamples=drawn, seed=seed, unseen=unseen)
    figure = bootstrap_figure(contributions, sums, of_sums, n=n)
    if strata is None or not few:
        return figure
    left_out = of_sums(jackknife_sums(contributions, unseen))
    return interval_of_few(figure, left_out, len(contributions), of_difference=strata.of_difference)


def _of_strata(statistic: Statistic, count: int, width: int) -> Statistic:
    """The same of (… × strata·terms), strata side by side."""
    return lambda sums: statistic(sums.reshape(*sums.shape[:-1], count, width))


def interval_of_few(
    bootstrapped: Figure, left_out: Floats, clusters: int, *, of_difference: bool = False
) -> Figure:
    """A figure within strata of few units each, with the interval of a jackknife in place of a bootstrap's.

    Chance counted from few units is too high, and what is beyond it too low; a bootstrap from those units is
    off twice as far, and misses the truth above it. `left_out` are the values of the statistic on
    `jackknife_sums`. Where a verdict is so rare that no item has it, agreement looks like chance and t, which
    reaches as far up as down, misses above too: there the end of the bootstrap, which draws what was not
    seen, is the higher one and counts. Of a difference of two figures neither side is the likelier.
    """
    value, highest = bootstrapped.value, bootstrapped.high
    low, high = jackknife_interval(left_out, clusters, CONFIDENCE)
    if value is None or highest is None or low is None or high is None:
        return bootstrapped
    high = high if of_difference else max(high, highest)
    return bracketed(value, (low, high), bootstrapped.n, clusters)


def few_per_stratum(units: NDArray[np.int64], clusters: int) -> bool:
    """Whether strata of so many units each, in so many clusters, have too few for a bootstrap of chance.

    Chance counted from n units is off by 1/n of what is beyond it, so that all strata together are off by one
    over their mean size, however large the largest is: 40 units of one and 4 of each of nine others are 7.6.
    Strata without units do not count. A single stratum has a chance of all units, and is none of few.
    """
    used = int((units > 0).sum())
    return used > 1 and min(clusters, int(units.sum()) / used) < FEW_PER_STRATUM


def spread_over_strata(unseen: Floats, units: NDArray[np.int64]) -> Floats:
    """(kinds × strata·terms) from (kinds × terms): each stratum has the part it has of the units."""
    parts = units / max(1, int(units.sum()))
    return np.asarray(np.kron(parts[None, :], unseen), dtype=np.float64)


def sums_by_stratum(terms: Floats, clusters: NDArray[np.int64], strata: NDArray[np.int64]) -> Floats:
    """(kept clusters × strata·terms): the rows of `terms` added up in each cluster, strata side by side."""
    kept, places = np.unique(clusters, return_inverse=True)
    count = int(strata.max()) + 1
    cells = places * count + strata
    sums = np.zeros((len(kept) * count, terms.shape[1]))
    np.add.at(sums, cells, terms)
    return sums.reshape(len(kept), count * terms.shape[1])


def percentile_interval(
    statistics: Floats, clusters: int, confidence: float = CONFIDENCE
) -> tuple[float, float] | tuple[None, None]:
    """Percentile bootstrap interval of one statistic's resampled values; NaN marks an undefined resample.

    The percentiles are widened for few clusters C as t is beside the normal, to Φ(−t·√(C/(C − 1))) with C − 1
    degrees of freedom (Hesterberg 2015): 1.6 % on either side of twenty. (None, None) when no resample was
    drawn, when fewer than half of them are defined and when all are the same. Efron & Tibshirani (1993),
    chapter 13. Of very many clusters the values 0, 1 … 100 give (2.5, 97.5).
    """
    defined = statistics[np.isfinite(statistics)]
    if defined.size == 0 or defined.size < _LEAST_DEFINED_SHARE * statistics.size:
        return None, None
    if clusters < 2:
        return None, None
    reach = t_quantile(0.5 + confidence / 2, clusters - 1) * sqrt(clusters / (clusters - 1))
    tail = NormalDist().cdf(-reach)
    low, high = np.quantile(defined, [tail, 1 - tail])
    return (float(low), float(high)) if low < high else (None, None)


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
    clusters = len(contributions)
    return bracketed(value, percentile_interval(statistic(sums), clusters), n, clusters)


def explained(figure: Figure, label: str, least: int) -> Figure:
    """A figure of a table with what a reader must know: why it is undefined, or that a class is small.

    `least` is the number of units of the rarest label in the reference; labels are called `label`.
    """
    one = f"an {label}" if label == "option" else f"a {label}"
    if figure.n == 0:
        return replace(figure, reason=f"there is no unit on which both sides gave {one}")
    if figure.value is None:
        return replace(figure, reason=f"a side gave one and the same {label} throughout")
    if least < FEW_OF_A_CLASS:
        few = counted(least, "unit")
        return replace(figure, small=True, reason=f"only {few} of {one}: too few to tell much")
    return figure


def bracketed(value: float, bounds: tuple[float, float] | tuple[None, None], n: int, clusters: int) -> Figure:
    """The value with its `percentile_interval` over so many clusters, which holds it: what was not seen pulls
    all resamples to one side.
    """
    low, high = bounds
    if low is None or high is None:
        return Figure(value, None, None, n)
    return Figure(value, min(low, value), max(high, value), n, df=clusters - 1)


def share_figure(successes: Floats, totals: Floats, confidence: float = CONFIDENCE) -> Figure:
    """A share with Wilson's interval, units that fall together counting for less.

    `successes` and `totals` are (clusters,): counts per cluster. With one unit per cluster n is the number of
    units. With several it is what is left of it by the design effect p(1 − p) / (n·V), V = C/(C − 1)·Σ(sᵢ −
    p·nᵢ)²/n² over C clusters, times (z/t)² with C − 1 degrees of freedom (Korn & Graubard 1998), at most n;
    at a share of 0 or 1, where V cannot be told, the number of clusters. None without units; no interval for
    several units of a single cluster.
    """
    totals, successes = totals[totals > 0], successes[totals > 0]
    n, clusters = float(totals.sum()), len(totals)
    if n == 0:
        return Figure(None, None, None, 0)
    share = float(successes.sum()) / n
    if clusters == 1 < n:
        return Figure(share, None, None, round(n))
    effective = n
    if n > clusters:
        effective = _effective_units(successes, totals, share, confidence)
    low, high = wilson(share * effective, effective, confidence) or (None, None)
    return Figure(share, low, high, round(n))


def _effective_units(successes: Floats, totals: Floats, share: float, confidence: float) -> float:
    n, clusters = float(totals.sum()), len(totals)
    if share in (0.0, 1.0):
        return float(clusters)
    tail = 0.5 + confidence / 2
    shrunk = (NormalDist().inv_cdf(tail) / t_quantile(tail, clusters - 1)) ** 2
    return min(n, n / units_together(successes, totals) * (clusters - 1) / clusters) * shrunk


def mean_interval(
    values: Floats,
    clusters: NDArray[np.int64],
    *,
    limits: tuple[float, float] | None,
    appended: tuple[float, float] | None = None,
    confidence: float = CONFIDENCE,
) -> Figure:
    """The mean of one number per unit on a scale with two ends, by Student's t over the units' clusters.

    A failure in twenty is often not among thirty units, and t then knows nothing of it: it covers 47 to 92 %
    where 3 to 5 % of scores of .9 ± .03 are 0. So one unit at each end of the scale is appended, a 0 and a 1:
    mean and standard error of the n + 2 values, t with n + 1 degrees of freedom, or plain t where that is
    wider. Simulated by `benchmarks.coverage`: 94 % or more with rare failures, skewed, even and full scores.

    `limits` are the ends of the scale, widened to what was seen, and cut the interval; with None a value may
    lie as far from the mean as the largest does from 0, and nothing is cut. `appended` are other values to
    append than the ends. Zeros and ones alone between limits 0 and 1 have Wilson's
    interval, see `share_figure`. With several units in a cluster see `_student`. None without units, no
    interval with one cluster.

    Worked: 0.2, 0.4, 0.6, 0.8, limits 0 … 1: mean 0.5; with 0 and 1 more Σ(x − ½)² = 0.7, SE √(0.7/5/6) =
    0.1528, t of 5 degrees 2.5706, half 0.393; plain t has 3.1824·0.1291 = 0.411 and is wider: 0.089 … 0.911.
    """
    n = len(values)
    if n == 0:
        return Figure(None, None, None, 0)
    _, places = np.unique(clusters, return_inverse=True)
    if limits == (0.0, 1.0) and bool(np.isin(values, (0.0, 1.0)).all()):
        totals = np.bincount(places).astype(np.float64)
        return share_figure(np.bincount(places, weights=values).astype(np.float64), totals, confidence)
    value = float(values.mean())
    if places.max() == 0:
        return Figure(value, None, None, n)
    largest = float(np.abs(values).max()) or 1.0
    least, most = limits or (value - largest, value + largest)
    least, most = min(least, float(values.min())), max(most, float(values.max()))
    weights = np.ones(n)
    low, high, df = max(
        _student(values, places, weights, confidence),
        _student(values, places, weights, confidence, appended=appended or (least, most)),
        key=lambda one: one[1] - one[0],
    )
    if limits is not None:
        low, high = max(low, least), min(high, most)
    return Figure(value, min(low, value), max(high, value), n, df=df)


def paired_share_difference(
    values: Floats, clusters: NDArray[np.int64], confidence: float = CONFIDENCE
) -> Figure:
    """The mean difference of paired yes and no, −1 … 1, with Bonett & Price's (2012) interval.

    `values` are (units,): each other − one, −1, 0 or 1, or parts of it where a side is a mean. One +1 and one
    −1 are added, whatever signs occur, and t over C clusters has C degrees of freedom: V = C/(C + 1)·(Σeᵢ² +
    2·size²)/n² with eᵢ the sum of (value − mean) in cluster i. With one unit per cluster `size` is 1. With
    several, the one that is added stands for as many units as fall together among the differences
    (`units_together`): a whole cluster of fourteen units would make the interval three times too wide.
    Where no two units differ nothing shows that they fall together, and it is 1. None without units, no
    interval with one cluster.

    Worked: of 36 pairs 10 differ one way and 2 the other: mean 8/36, Σe² = 12 − 36·(8/36)² = 10.2222, with
    the pair 12.2222, SE √(12.2222/(36·37)) = 0.0958, t of 36 degrees 2.0281: 0.028 … 0.416.
    """
    n = len(values)
    if n == 0:
        return Figure(None, None, None, 0)
    value = float(values.mean())
    _, places = np.unique(clusters, return_inverse=True)
    totals = np.bincount(places).astype(np.float64)
    count = len(totals)
    if count < 2:
        return Figure(value, None, None, n)
    size = 1.0
    if np.ptp(values) > _ROUNDING:
        sums = np.bincount(places, weights=values).astype(np.float64)
        size = units_together(sums, totals, float(values.var()))
    errors = np.bincount(places, weights=values - value)
    squares = float((errors**2).sum()) + 2 * size**2
    half = t_quantile(0.5 + confidence / 2, count) * sqrt(count * squares / (count + 1)) / n
    return within(Figure(value, value - half, value + half, n, df=count), -1, 1)


def difference_interval(
    values: Floats,
    clusters: NDArray[np.int64],
    *,
    length: float = 1.0,
    weights: Floats | None = None,
    confidence: float = CONFIDENCE,
) -> Figure:
    """The mean of one difference of two scores per unit, by Student's t over the units' clusters.

    `length` is that of the scale of the scores, widened to the largest difference seen. With fewer than
    APPEND_BELOW clusters, and where fewer than ten of them hold a value off the commonest, −½ and +½ of the
    scale are appended as by `mean_interval`, and the wider of that and plain t counts: fifty equal
    differences do not show that the next is the same. Whole scales, ±1, would leave half of the power.
    Where a case in twenty to thirty newly fails, such an interval can still miss it, see `unseen_failures`.

    `weights` (none below 0) make it Σwx/Σw; units of weight 0 are left out. Nothing is cut. None without
    units, no interval with one cluster.

    Worked: fifty zeros: with ±½ s² = 0.5/51, SE √(0.5/51/52) = 0.01373, t of 51 degrees 2.0076: ± 0.0276.
    """
    if weights is not None:
        values, clusters, weights = values[weights > 0], clusters[weights > 0], weights[weights > 0]
    n = len(values)
    if n == 0:
        return Figure(None, None, None, 0)
    w = np.ones(n) if weights is None else weights / weights.mean()
    value = float((w * values).mean())
    _, places = np.unique(clusters, return_inverse=True)
    count = int(places.max()) + 1
    if count < 2:
        return Figure(value, None, None, n)
    half = max(length, float(np.abs(values).max())) / 2
    intervals = [_student(values, places, w, confidence)]
    if count < APPEND_BELOW or _clusters_apart(values, places, half) < FEW_APART:
        intervals.append(_student(values, places, w, confidence, appended=(-half, half)))
    low, high, df = max(intervals, key=lambda one: one[1] - one[0])
    return Figure(value, min(low, value), max(high, value), n, df=df)


def unseen_failures(n: int) -> float | None:
    """The share of new outright failures of which n cases would have shown none, with 95 % or so: 3/n.

    (1 − p)ⁿ is 5 % at p = 3/n (Hanley & Lippman-Hand 1983). Of 60 cases 0.05; None without any, at most 1.
    """
    return min(1.0, 3 / n) if n else None


def _student(
    values: Floats,
    places: NDArray[np.int64],
    w: Floats,
    confidence: float,
    appended: tuple[float, float] | None = None,
) -> tuple[float, float, int]:
    """Both ends of t over clusters, and its degrees of freedom.

    m = Σwx/Σw, V = C/(C − 1)·Σeᵢ²/(Σw)² with eᵢ the sum of w(x − m) in cluster i of C: with one unit in each
    the t interval of the textbooks. V is at least that of units by themselves: equal sums of few clusters do
    not show that clusters are equal. The two units of `appended` are clusters of their own, and count for as
    many as fall together in the others (`units_together`): a whole cluster of many units would reach from one
    end of the scale to the other.
    """
    sums: Floats = np.bincount(places, weights=w * values).astype(np.float64)
    sizes: Floats = np.bincount(places, weights=w).astype(np.float64)
    n, of_units = len(values), float(np.average((values - np.average(values, weights=w)) ** 2, weights=w))
    if appended is not None:
        size = units_together(sums, sizes, of_units)
        sums = np.concatenate([sums, size * np.array(appended)])
        sizes = np.concatenate([sizes, [size, size]])
    count, total = len(sums), float(sizes.sum())
    mean = float(sums.sum()) / total
    variance = count / (count - 1) * float(((sums - mean * sizes) ** 2).sum()) / total**2
    if n > places.max() + 1:
        variance = max(variance, of_units / (n - 1))
    half = t_quantile(0.5 + confidence / 2, count - 1) * sqrt(variance)
    return mean - half, mean + half, count - 1


def _clusters_apart(values: Floats, places: NDArray[np.int64], reach: float) -> int:
    """How many clusters hold a value that is not the commonest."""
    _, same, times = np.unique(np.round(values / (1e-9 * reach)), return_inverse=True, return_counts=True)
    return len(np.unique(places[same != int(times.argmax())]))


def within(figure: Figure, low: float, high: float) -> Figure:
    """The figure with its interval cut at the ends of what is possible: −1.76 … 1.76 in −1 … 1 is −1 … 1."""
    if figure.low is None or figure.high is None:
        return figure
    return replace(figure, low=max(low, figure.low), high=min(high, figure.high))


def mean_of_sums(sums: Floats) -> Floats:
    """(…,): the first of two sums divided by the second, NaN where the second is 0: [3, 4] → 0.75."""
    return divide(sums[..., 0], sums[..., 1])


def divide(top: Floats, bottom: Floats) -> Floats:
    """Elementwise quotient, NaN where `bottom` is 0: that is undefined here, never infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom == 0, np.nan, top / bottom)
