"""People's mean, from their labels on a random sample and a judge's answers on all items."""

# Long because one estimate is told from its sample to its words.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rubricweb.engine.agreement.distributions import t_quantile
from rubricweb.engine.agreement.intervals import CONFIDENCE, Floats, wilson
from rubricweb.engine.agreement.scores.means import at, to_the_ends
from rubricweb.engine.agreement.scores.other_raters import (
    LEAST_PEOPLE,
    Given,
    PersonsPart,
    other_raters,
    persons_part,
)
from rubricweb.engine.number_format import counted

Population = Literal["these items", "cases like these"]
Method = Literal["census", "post-stratified", "weighted difference", "none"]
Bools = NDArray[np.bool_]

FEW_RESIDUALS = 10
"""Below so many labels that differ from the rest, spread that was not seen is allowed for."""

LEAST_PILOT = 20
"""Labels from which a spread can be told well enough to say how many more are needed."""

ONE_CASE = "All items answer one case: that does not tell how cases differ."

MOST_MISSING = 0.10
"""The share of drawn items without a label above which the two extremes are given."""

_SAME = 1e-9  # of the scale, which is from 0 to 1: less is rounding


@dataclass(frozen=True, slots=True)
class PeopleMean:
    """The mean that people would give to a population, with a 95 % interval.

    `n` items (cases) of `population_size` are labelled. `population` says of what the interval tells: of
    "these items" only, or of "cases like these", which adds the spread of the `cases` there are. `lam` is how
    far the judge is relied on: 0 not at all, 1 fully corrected by the labels; None where it answered
    everything alike or everything is labelled. `effective_n` is (Σw)²/Σw² of the labels' weights.
    `residual_variance` and `case_variance` are s²ᵣ and s²ᵧ, what `labels_needed` starts from; None without
    enough labels. `design_effect` is by how much more labels it takes where cases have unequal numbers of
    answers, N·Σshare²/(Σshare)². `rater_error` is the standard error of the mean that comes from which people
    were asked; None where that cannot be told (see `other_raters`) or not everything is labelled. `missing`
    counts items that were drawn and have no label; above 10 % of the draw `worst` and `best` are the ends the
    interval would have if each were at that end of the scale. `reason` says why there is no value, or no
    interval.

    `raters` people gave the labels, 0 where that is not known. The interval of cases like these
    `tells_of_other_raters` where enough of them did so to tell how others would differ, see `persons_part`;
    else it is of these raters, and says nothing of other people.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    population_size: int
    population: Population
    method: Method
    cases: int
    lam: float | None = None
    effective_n: float = 0.0
    residual_variance: float | None = None
    case_variance: float | None = None
    design_effect: float = 1.0
    rater_error: float | None = None
    missing: int = 0
    worst: float | None = None
    best: float | None = None
    reason: str = ""
    raters: int = 0
    tells_of_other_raters: bool = False

    @property
    def of_raters(self) -> str:
        """ "of these 2 raters" where their labels do not tell how other people would differ, else empty."""
        if not self.raters or self.tells_of_other_raters:
            return ""
        return "of this one rater" if self.raters == 1 else f"of these {self.raters} raters"

    @property
    def other_raters_words(self) -> str:
        """Why it is of these raters alone, as a sentence; empty where it is not."""
        if not self.of_raters:
            return ""
        return (
            f"The interval is {self.of_raters}: to tell how other people would differ takes three or more "
            "who label about as many items each."
        )


@dataclass(frozen=True, slots=True)
class Labelling:
    """What is known of labels beside their values; arrays are (N,), one place per item of the population.

    `cases` groups items that stand and fall together: each case enters once, with its mean, and is labelled
    once all its items are. Items that enter one by one and are answers to the same cases are told by
    `answered`, the case of each: every case weighs the same, its answers share the weight, and since they may
    be all alike the spread of cases shrinks with the cases and not with the items. `drawn` says which items
    were drawn, labelled or not; without it the labelled ones. `scale` is (lowest, highest) possible value,
    widened to what was seen. `by_rater` is what each rater gave an item as a whole, by rater,
    empty where nobody did: it tells how far other raters would differ.
    """

    cases: ArrayLike | None = None
    answered: ArrayLike | None = None
    drawn: ArrayLike | None = None
    scale: tuple[float, float] = (0.0, 1.0)
    by_rater: Given | None = None


NOTHING_KNOWN = Labelling()


@dataclass(frozen=True, slots=True)
class LabelsNeeded:
    """How many labels a margin takes in all: `labels`, or None; then `cases` says how many cases it takes.

    `reason` is a sentence for people, empty when `labels` is there and a pilot was large enough.
    """

    labels: int | None
    cases: int | None = None
    reason: str = ""


def estimate_people_mean(
    judged: ArrayLike,
    people: ArrayLike,
    inclusion: ArrayLike,
    labelling: Labelling = NOTHING_KNOWN,
    *,
    population: Population = "cases like these",
    binary: bool | None = None,
    confidence: float = CONFIDENCE,
) -> PeopleMean:
    """The mean that people would give, from `people`'s labels on a random sample and `judged` on all.

    All arrays are (N,), one place per item of the population. `judged` is the judge's value, NaN where it has
    none; `people` the mean of the raters' values (never their majority), NaN where nobody labelled;
    `inclusion` the probability, above 0 to 1, with which an item came into the sample. `binary` is found from
    the values.

    Binary: post-stratified on the judge's answer, θ = Σ W_k p̂_k with Wilson's interval of each p̂_k, n_k =
    (Σw)²/Σw² (times (z/t)² where weights differ, Korn & Graubard 1998) and the finite population's share
    taken off; a stratum nobody labelled is ½ with [0, 1]. The distances to the ends are added as squares (Zou
    & Donner 2008). Otherwise PPI++ (Angelopoulos, Duchi & Zrnic 2023) with Hájek's weights: θ = λ·f̄ +
    Σ(r/π)/Σ(1/π), r = y − λf, λ = Cov_w(y, f)/Var_w(f) in 0 … 1, t with n − 2 degrees of freedom; with fewer
    than ten labels off the commonest residual, one residual at each end of the scale is added. V = (1 −
    n/N)·s²ᵣ/n, for cases like these + s²ᵧ/C of C cases + s²(raters' own means)·Σc², the people who labelled
    being drawn too (`persons_part`), with Satterthwaite's degrees of freedom. Where it is wider the interval
    has a label at each end of the scale appended, as `mean_interval`. What the labels or the scale exclude is
    cut: an end, and of these items the mean. Everything labelled: the plain mean; of these items only the
    choice of raters is uncertain, see `other_raters`, and cases like these are never told more surely. Raises
    ValueError for unequal lengths, infinite values, π outside 0 … 1.

    Worked: N 12, f = 1 1 1 0 | 1 0 1 0 0 0 1 0, y = 1 1 0 0 on the first four, π 1/3: p̂₁ = 2/3 and p̂₀ = 0,
    W = 1/2 each, θ = 1/3.
    """
    data = _Data.read(judged, people, inclusion, labelling)
    if population not in get_args(Population):
        raise ValueError(f"population is {population!r}; allowed are {' and '.join(get_args(Population))}")
    if binary is None:
        binary = data.is_binary
    mean = _estimate(data, population, binary, confidence)
    missing = int((data.drawn & np.isnan(data.y)).sum())
    if missing > MOST_MISSING * int(data.drawn.sum()):
        ends = [_estimate(data.with_missing_at(end), population, binary, confidence) for end in (0.0, 1.0)]
        worst, best = _end(ends[0], ends[0].low), _end(ends[1], ends[1].high)
        mean = replace(mean, worst=worst, best=best)
    return _on_scale(replace(mean, missing=missing), *data.scale)


def _on_scale(mean: PeopleMean, low: float, high: float) -> PeopleMean:
    """What was found from 0 to 1, from `low` to `high`."""
    length = high - low
    return replace(
        mean,
        value=at(mean.value, low, high),
        low=at(mean.low, low, high),
        high=at(mean.high, low, high),
        worst=at(mean.worst, low, high),
        best=at(mean.best, low, high),
        residual_variance=at(mean.residual_variance, 0.0, length**2),
        case_variance=at(mean.case_variance, 0.0, length**2),
        rater_error=at(mean.rater_error, 0.0, length),
    )


def _end(filled: PeopleMean, end: float | None) -> float | None:
    """An end of the interval; with nothing left to sample and no second raters, the mean itself."""
    is_exact = filled.method == "census" and filled.population == "these items"
    return filled.value if end is None and is_exact else end


def labels_needed(
    pilot: PeopleMean, margin: float, *, alpha: float = 0.05, power: float = 0.8
) -> LabelsNeeded:
    """How many random labels, those there are included, tell a mean from one `margin` away.

    SE* = margin / (z₁₋α/₂ + z_power); n = s²ᵣ / (SE*² − s²ᵧ/C + s²ᵣ/N), without s²ᵧ/C for these items, from a
    pilot of at least 20 labels; s²ᵣ counts `design_effect` times. Where SE*² ≤ s²ᵧ/C the C cases there are
    cannot do it, however many are labelled. Raises ValueError for a margin of 0 or less.

    Worked: s²ᵣ 0.1, s²ᵧ 0.2, N = C = 1,000, margin 0.1: SE* = 0.1 / 2.8016 = 0.0357, SE*² 0.001274; n = 0.1 /
    (0.001274 − 0.0002 + 0.0001) = 85.2, so 86.
    """
    if not margin > 0:
        raise ValueError(f"margin is {margin}; right is a difference above 0")
    if _is_one_case(pilot):
        return LabelsNeeded(None, reason=ONE_CASE)
    if pilot.n < LEAST_PILOT or pilot.residual_variance is None or pilot.case_variance is None:
        least = min(LEAST_PILOT, pilot.population_size)
        return LabelsNeeded(
            least, reason=f"Label {least} random items first: fewer tell too little of the spread."
        )
    normal = NormalDist()
    error = margin / (normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power))
    of_cases = pilot.case_variance if pilot.population == "cases like these" else 0.0
    total = pilot.population_size
    left = error**2 - of_cases / pilot.cases
    if left <= 0:
        cases = ceil(of_cases / error**2)
        return LabelsNeeded(
            None,
            cases,
            f"To tell the mean of such cases from one {margin:g} away takes about {cases:,} cases: the "
            f"{pilot.cases:,} there are do not do, however many are labelled.",
        )
    of_labels = pilot.design_effect * pilot.residual_variance
    needed = ceil(of_labels / (left + of_labels / total))
    return LabelsNeeded(min(total, max(needed, LEAST_PILOT)))


# ── What was handed over ─────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Data:
    """One place per item that enters: the judge `f`, people `y`, the probability `pi` and the `share` of the
    population it stands for (1 on average). `f` and `y` are from 0 to 1, the ends of the `scale`.

    `given` and `counts` have one place per item as it was handed over: what its raters gave it, on the scale
    itself, what it counts in the mean, and by how much more where it was drawn (1/π; 0 without a label).
    """

    f: Floats
    y: Floats
    pi: Floats
    share: Floats
    drawn: Bools
    scale: tuple[float, float]
    given: Given
    counts: Floats
    counted_by: Floats
    cases: int

    @classmethod
    def read(cls, judged: ArrayLike, people: ArrayLike, inclusion: ArrayLike, known: Labelling) -> _Data:
        f, y, pi = (np.asarray(one, dtype=np.float64) for one in (judged, people, inclusion))
        count = len(f)
        given: Given = [{}] * count if known.by_rater is None else known.by_rater
        chosen = ~np.isnan(y) if known.drawn is None else np.asarray(known.drawn, np.bool_)
        groups = np.arange(count)
        if known.cases is not None:
            groups = np.unique(np.asarray(known.cases), return_inverse=True)[1]
        lengths = {"people": y, "inclusion": pi, "cases": groups, "drawn": chosen, "by_rater": given}
        for name, column in lengths.items():
            if len(column) != count:
                raise ValueError(f"{name} must have one value per item: {count}; found {len(column)}")
        for name, column in {"judged": f, "people": y}.items():
            if np.isinf(column).any():
                raise ValueError(f"{name}[{int(np.flatnonzero(np.isinf(column))[0])}] is infinite")
        bad = np.flatnonzero(~((pi > 0) & (pi <= 1)))
        if len(bad):
            raise ValueError(f"inclusion[{bad[0]}] is {pi[bad[0]]}; right is a probability above 0, up to 1")
        seen = np.concatenate([f[~np.isnan(f)], y[~np.isnan(y)], known.scale])
        low, high = scale = float(seen.min()), float(seen.max())
        length = high - low or 1.0
        answered = np.arange(count) if known.answered is None else np.asarray(known.answered)
        if len(answered) != count:
            raise ValueError(f"answered must have one value per item: {count}; found {len(answered)}")
        cases, case, answers = np.unique(answered, return_inverse=True, return_counts=True)
        share = count / (len(cases) * answers[case]) if count else np.ones(0)
        asked = chosen | ~np.isnan(y)
        f, y = (to_the_ends((values - low) / length) for values in (f, y))
        by = np.where(np.isnan(y), 0.0, 1 / pi)
        whole = cls(f, y, pi, share, asked, scale, given, share, by, len(cases))
        return whole if known.cases is None else whole._of_cases(groups)

    def _of_cases(self, groups: NDArray[np.int64]) -> _Data:
        sizes = np.bincount(groups)

        def mean(values: Floats) -> Floats:
            return np.asarray(np.bincount(groups, weights=values) / sizes)

        answered = ~np.isnan(self.f)
        answers = np.bincount(groups, weights=answered)
        sums = np.bincount(groups, weights=np.where(answered, self.f, 0))
        with np.errstate(invalid="ignore"):
            judged = np.where(answers > 0, sums / np.where(answers > 0, answers, 1), np.nan)
        return replace(
            self,
            f=judged,
            y=mean(self.y),
            pi=1 / mean(1 / self.pi),
            share=np.ones(len(sizes)),
            cases=len(sizes),
            drawn=mean(self.drawn.astype(np.float64)) > 0,
            counts=1 / sizes[groups],
        )

    def with_missing_at(self, end: float) -> _Data:
        return replace(self, y=np.where(self.drawn & np.isnan(self.y), end, self.y))

    @property
    def labelled(self) -> Bools:
        return np.asarray(~np.isnan(self.y))

    @property
    def w(self) -> Floats:
        """The weight of a label: what its item stands for, by 1/π."""
        return self.share / self.pi

    def mean(self, values: Floats) -> float:
        """The mean of the population of values with a place for every item."""
        return float((self.share * values).sum() / self.share.sum())

    @property
    def given_places(self) -> Given:
        """What raters gave, from 0 to 1."""
        low, high = self.scale
        length = high - low or 1.0
        return [{rater: (value - low) / length for rater, value in one.items()} for one in self.given]

    @property
    def persons(self) -> PersonsPart:
        """What the choice of raters adds to the variance, by the labels of the sample."""
        return persons_part(self.counts * self.counted_by, self.given_places)

    @property
    def is_binary(self) -> bool:
        values = np.concatenate([self.y[self.labelled], self.f[~np.isnan(self.f)]])
        return bool(np.isin(values, (0.0, 1.0)).all())


def _estimate(data: _Data, population: Population, binary: bool, confidence: float) -> PeopleMean:
    n, total = int(data.labelled.sum()), len(data.y)
    if n == 0:
        reason = "No item of the sample is labelled." if total else "There are no items."
        return PeopleMean(None, None, None, 0, total, population, "none", data.cases, reason=reason)
    persons = data.persons
    drawn = persons if population == "cases like these" and persons.people >= LEAST_PEOPLE else None
    mean = (_binary if binary else _scores)(data, population, drawn, confidence)
    weights = data.w[data.labelled]
    mean = replace(
        mean,
        raters=persons.raters,
        tells_of_other_raters=drawn is not None,
        effective_n=_effective(weights),
        design_effect=total / _effective(data.share),
        reason=mean.reason or _few(n) * (mean.low is None),
    )
    if _is_one_case(mean):
        return replace(mean, low=None, high=None, reason=ONE_CASE)
    return _census(mean, data, confidence) if n == total else mean


def _is_one_case(mean: PeopleMean) -> bool:
    """Whether it would tell of cases like these from several answers to a single one."""
    return mean.population == "cases like these" and mean.cases == 1 < mean.population_size


def _few(n: int) -> str:
    return f"{counted(n, 'labelled item')}: too few for an interval."


def _census(mean: PeopleMean, data: _Data, confidence: float) -> PeopleMean:
    """Everything is labelled: of these very items nothing is left to sample but their raters."""
    assert mean.value is not None
    others = other_raters(mean.value, data.counts, data.given_places, confidence)
    mean = replace(mean, method="census", lam=None, rater_error=others.error)
    if mean.population == "cases like these":
        if mean.low is None or mean.high is None or others.low is None or others.high is None:
            return mean
        return replace(mean, low=min(mean.low, others.low), high=max(mean.high, others.high))
    reason = ""
    if others.reason:
        unknown = f"What other raters would say {others.reason}."
        reason = f"Every item is labelled: nothing is left to sample. {unknown}"
    return replace(mean, low=others.low, high=others.high, reason=reason)


# ── Binary: post-stratified on the judge's answer ────────────────────────────────────────────────


def _binary(
    data: _Data, population: Population, persons: PersonsPart | None, confidence: float
) -> PeopleMean:
    known, total = data.labelled, len(data.y)
    below, above, value, spread = [], [], 0.0, 0.0
    answers = np.where(np.isnan(data.f), 2.0, data.f)  # those without an answer are a stratum of their own
    rates: dict[float, float] = {}
    for answer in np.unique(answers):
        stratum = answers == answer
        rate, low, high, guess = _stratum(data, stratum, confidence)
        rates[float(answer)] = rate
        share = data.mean(stratum.astype(np.float64))
        value += share * rate
        below.append(share * (rate - low))
        above.append(share * (high - rate))
        spread += share * guess * (1 - guess)
    n = int(known.sum())
    cases_low, cases_high = _wilson(value, float(data.cases), confidence)
    centre = (value * data.cases + 2) / (data.cases + 4)
    if population == "cases like these":
        below.append(value - cases_low)
        above.append(cases_high - value)
        least, most = 0.0, 1.0
        by = _stretched(sqrt(_squares(below)) + sqrt(_squares(above)), persons, data.cases - 1, confidence)
        below, above = [by * one for one in below], [by * one for one in above]
    else:
        least, most = (data.mean(np.where(known, data.y, end)) for end in (0.0, 1.0))
        value = min(most, max(least, value))  # weights of unequal draws can carry it past what is known
    return PeopleMean(
        value=value,
        low=max(least, value - sqrt(_squares(below))),
        high=min(most, value + sqrt(_squares(above))),
        n=n,
        population_size=total,
        population=population,
        method="post-stratified",
        cases=data.cases,
        lam=rates[1.0] - rates[0.0] if {0.0, 1.0} <= set(rates) else None,
        residual_variance=spread,
        case_variance=centre * (1 - centre),
    )


def _squares(values: Sequence[float]) -> float:
    return sum(one**2 for one in values)


def _stretched(length: float, persons: PersonsPart | None, df: int, confidence: float) -> float:
    """By how much the choice of raters stretches an interval of this length on a normal scale."""
    if persons is None or persons.variance == 0:
        return 1.0
    tail = 0.5 + confidence / 2
    reach = NormalDist().inv_cdf(tail)
    parts = [((length / 2 / reach) ** 2, float(max(1, df))), (persons.variance, persons.df)]
    variance, df_of_both = _satterthwaite(parts)
    return max(1.0, t_quantile(tail, df_of_both) * sqrt(variance) / (length / 2))


def _satterthwaite(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The sum of variances, each with its degrees of freedom, and those of the sum (Satterthwaite 1946)."""
    variance = sum(one for one, _ in parts)
    below = sum(one**2 / df for one, df in parts)
    return variance, variance**2 / below if below else parts[0][1]


def _stratum(data: _Data, stratum: Bools, confidence: float) -> tuple[float, float, float, float]:
    """Rate of MET, its two ends, and the rate moved towards ½ that its spread is counted from."""
    known = stratum & data.labelled
    if not known.any():
        return 0.5, 0.0, 1.0, 0.5
    w, y = data.w[known], data.y[known]
    rate, n = float((w * y).sum() / w.sum()), _effective(w)
    guess = (rate * n + 2) / (n + 4)
    if n < len(y) - _SAME:  # a spread told from few effective labels: Korn & Graubard (1998)
        tail = 0.5 + confidence / 2
        n *= (NormalDist().inv_cdf(tail) / t_quantile(tail, max(1.0, n - 1))) ** 2
    left = float(_uncertain(data, stratum, known).sum() / (w**2).sum())  # 1 − n/N where π is one
    return rate, *(_wilson(rate, n / left, confidence) if left > 0 else (rate, rate)), guess


def _wilson(share: float, n: float, confidence: float) -> tuple[float, float]:
    bounds = wilson(share * n, n, confidence)
    assert bounds is not None
    return bounds


# ── Scores: the weighted difference ──────────────────────────────────────────────────────────────


def _scores(
    data: _Data, population: Population, persons: PersonsPart | None, confidence: float
) -> PeopleMean:
    known, total = data.labelled, len(data.y)
    answered = ~np.isnan(data.f)
    # An item without an answer is as good as one answered by the mean: any fixed f is allowed.
    middle = float(np.average(data.f[answered], weights=data.share[answered])) if answered.any() else 0.0
    filled = np.where(answered, data.f, middle)
    y, f, w = data.y[known], filled[known], data.w[known]
    n = len(y)
    lam = _lambda(y, f, w)
    residuals = y - (lam or 0.0) * f
    value = (lam or 0.0) * data.mean(filled) + float((w * residuals).sum() / w.sum())
    least, most = 0.0, 1.0
    if population == "these items":
        least, most = (data.mean(np.where(known, data.y, end)) for end in (0.0, 1.0))
    value = min(most, max(least, value))
    plain = PeopleMean(
        value=value,
        low=None,
        high=None,
        n=n,
        population_size=total,
        population=population,
        method="weighted difference",
        cases=data.cases,
        lam=lam,
    )
    if n < 3:
        return plain
    rest = _Spread.of(residuals, w, w, (y - f, y))
    cases = _Spread.of(y, w, w, (y,))
    # Plain t, and with a label at each end of the scale appended: their middle, variance and freedom.
    middles, variances, dfs = [value, value], [0.0, 0.0], [rest.n - 2, rest.n]
    uncertain = _uncertain(data, np.ones(total, np.bool_), known)
    if uncertain.any():
        # What a label adds to the error is by (1 − π)w²: none, where everything of its kind is labelled.
        error = _Spread.of(residuals, w, uncertain, (y - f, y))
        scale = float(uncertain.sum()) / float(w.sum()) ** 2
        typical = float((w * (y - residuals)).sum() / w.sum())
        shift, appended = error.appended(-typical, 1 - typical)
        middles[1] += shift * float(uncertain.sum() / (w**2).sum())
        for place, one in enumerate((error.variance, appended * error.n / (error.n + 2))):
            variances[place] += one * scale
        dfs = [min(dfs[0], error.n - 2), min(dfs[1], error.n)]
    if population == "cases like these":
        by_case = _Spread(float(data.cases), cases.middle, cases.seen, cases.seen)
        shift, appended = by_case.appended(0.0, 1.0)
        middles[1] += shift
        for place, one in enumerate((cases.seen / data.cases, appended / (data.cases + 2))):
            variances[place] += one
        dfs = [min(dfs[0], data.cases - 1), min(dfs[1], data.cases + 1)]
    low, high = _wider(middles, variances, dfs, persons, confidence)
    return replace(
        plain,
        low=max(least, min(value, low)),
        high=min(most, max(value, high)),
        residual_variance=rest.variance,
        case_variance=cases.variance,
    )


def _wider(
    middles: Sequence[float],
    variances: Sequence[float],
    dfs: Sequence[float],
    persons: PersonsPart | None,
    confidence: float,
) -> tuple[float, float]:
    """The wider of some intervals, each with what the choice of raters adds to its variance."""
    ends = []
    for middle, own, own_df in zip(middles, variances, dfs, strict=True):
        parts = [(own, max(1.0, own_df))] + [(one.variance, one.df) for one in (persons,) if one is not None]
        variance, df = _satterthwaite(parts)
        half = t_quantile(0.5 + confidence / 2, df) * sqrt(variance)
        ends.append((middle - half, middle + half))
    return max(ends, key=lambda one: one[1] - one[0])


def _lambda(y: Floats, f: Floats, w: Floats) -> float | None:
    """Weighted Cov(y, f)/Var(f) of the labelled, in 0 … 1; None where the judge answered them all alike."""
    if len(f) == 0 or np.ptp(f) == 0:
        return None
    apart = f - (w * f).sum() / w.sum()
    covariance = float((w * apart * (y - (w * y).sum() / w.sum())).sum())
    return min(1.0, max(0.0, covariance / float((w * apart * apart).sum())))


@dataclass(frozen=True)
class _Spread:
    """The weighted mean and spread of `n` values, n = (Σw)²/Σw² of the weights: as it was `seen`, and the
    `variance` with what was not seen put in.
    """

    n: float
    middle: float
    seen: float
    variance: float

    @classmethod
    def of(cls, values: Floats, w: Floats, by: Floats, raw: Sequence[Floats]) -> _Spread:
        """s² over n − 1 of distances to the mean weighted `w`, themselves weighted `by`.

        Fewer than ten labels off the commonest in one of `raw`, and one at each end of the scale is added.
        """
        n = _effective(by)
        middle = float((w * values).sum() / w.sum())
        squares = n * float((by * (values - middle) ** 2).sum() / by.sum())
        commonest = max(_commonest(one, by) for one in raw)
        seen = squares / (n - 1) if n > 1 else 0.0
        if n * (1 - commonest) < FEW_RESIDUALS:
            return cls(n, middle, seen, (squares + 2) / (n + 1))
        return cls(n, middle, seen, seen)

    def appended(self, low: float, high: float) -> tuple[float, float]:
        """By how much these two values more move the mean, and the variance of them all."""
        moved = (self.n * self.middle + low + high) / (self.n + 2)
        squares = (self.n - 1) * self.seen + self.n * (self.middle - moved) ** 2
        squares += (low - moved) ** 2 + (high - moved) ** 2
        return moved - self.middle, squares / (self.n + 1)


def _commonest(values: Floats, w: Floats) -> float:
    """The weight of the commonest value, as a share of all."""
    _, places = np.unique(np.round(values / _SAME), return_inverse=True)
    return float(np.bincount(places, weights=w).max() / w.sum())


def _effective(w: Floats) -> float:
    """How many labels of one weight carry as much: (Σw)²/Σw²."""
    return float(w.sum() ** 2 / (w**2).sum())


def _uncertain(data: _Data, among: Bools, known: Bools) -> Floats:
    """(known,): (1 − π)w², by which a label adds to the error of a weighted mean in a finite population.

    π is less what was drawn and never labelled, so that nothing is left in a census and nowhere else.
    """
    response = int(known.sum()) / float(data.pi[among].sum())
    return np.asarray((1 - np.minimum(1, response * data.pi[known])) * data.w[known] ** 2)
