"""Where the mean of some items might lie if other people had rated them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.distributions import t_quantile
from rubricweb.engine.agreement.intervals import FEW_APART, Floats, wilson

Ints = NDArray[np.int64]
Given = Sequence[Mapping[Any, float]]
"""What the raters of each item gave it, by rater."""

LEAST_PEOPLE = 2.5
"""As many people of equal parts must have rated: three, of whom one may have done half as much again."""

ONE_RATER = "with one rater an item is unknown"
TOO_FEW = "cannot be told: it takes three people or more who rated about as many items each"
SAME = "did not show: they never differed"

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class OtherRaters:
    """The standard error of a mean that comes from who was asked, and its interval.

    `error` is None where that cannot be told, `low` and `high` are too where it is 0: `reason` says why, as
    the end of a sentence about what other raters would say.
    """

    error: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


def other_raters(mean: float, weights: Floats, given: Given, confidence: float) -> OtherRaters:
    """The interval of the `mean` of items that people rated from 0 to 1, over who those people are.

    `weights` (items,) is what each item counts in it. The raters are taken as drawn from all who could have
    been asked, independently of each other. The error is the larger of two.

    *By person*: who is lenient is so on every item. u_r is what r's distances from the means of r's items add
    to the mean, c_r the part of it that r's answers make up. V = Σu²·Σc²/‖L‖², where ‖L‖² is what raters who
    differ by constants of variance 1 leave in Σu²: a variance by clusters of ratings, unbiased for such
    raters. Of the same R people on every item it is the variance of their means over R. Student's t has
    (Σc²)²/Σc⁴ − 1 degrees of freedom, R − 1 of equal parts; of less than LEAST_PEOPLE there is no interval.

    *By item*: V = Σ(weight²·s²/R)/(Σ weight)², t with items − 1. With fewer than ten items on which raters
    differ one more counts, on which one rater stands at the other end of the scale.

    The interval is t's, or Wilson's of as many units as have that error where it reaches further (Korn &
    Graubard 1998): near an end of the scale the means of raters are skewed.

    Worked: three people on the same four items give 1, ¾ and ½ of them: mean ¾, by person √(1/16/3) = 0.1443,
    t of 2 degrees 4.3027, so 0.129 … 1.
    """
    if any(len(one) < 2 for one in given):
        return OtherRaters(None, reason=ONE_RATER)
    ratings = _Ratings.read(weights, given)
    if not ratings.differ:
        return OtherRaters(0.0, reason=SAME)
    if ratings.people < LEAST_PEOPLE:
        return OtherRaters(None, reason=TOO_FEW)
    tail = 0.5 + confidence / 2
    by_person, by_item = ratings.error_by_person, ratings.error_by_item
    half = max(
        t_quantile(tail, ratings.people - 1) * by_person,
        t_quantile(tail, max(1, len(given) - 1)) * by_item,
    )
    units = mean * (1 - mean) * (NormalDist().inv_cdf(tail) / half) ** 2
    low, high = wilson(mean * units, units, confidence) or (mean, mean)
    low, high = max(0.0, min(low, mean - half)), min(1.0, max(high, mean + half))
    return OtherRaters(max(by_person, by_item), low, high)


@dataclass(frozen=True, slots=True)
class PersonsPart:
    """The variance of a mean that comes from who was asked, with its degrees of freedom.

    `raters` people gave the labels; `people` is how many of equal parts tell as much of how people differ,
    and below LEAST_PEOPLE the variance tells nothing.
    """

    raters: int
    people: float
    variance: float
    df: float


def persons_part(weights: Floats, given: Given) -> PersonsPart:
    """V = s²(raters' own means)·Σc², the part of people in the variance of a mean (Brennan 2001).

    People who label are drawn too: one who is lenient is so on every item, and no number of cases makes up
    for it. Of cases *and* people, with leniency of standard deviation .05 to .1, intervals without this part
    hold the truth in 33 to 90 %. `weights` (items,) is what each item counts in the mean, 0 without a label;
    c is the share of the mean that comes from the labels of each rater, s² = Σc(m − m̄)²/(1 − Σc²), which for
    equal shares is the variance of their own means m over R − 1: somebody who labelled few items moves it
    little. Its degrees of freedom are (Σc²)²/Σc⁴ − 1, R − 1 of equal shares. Items of which nobody is known
    to have labelled the whole do not count.

    Worked: three people give 1, ¾ and ½ of the same items: s² = 1/16, Σc² = ⅓, V = 1/48 with 2 degrees.
    """
    counted = [(weight, one) for weight, one in zip(weights.tolist(), given, strict=True) if weight and one]
    parts: dict[Hashable, float] = {}
    sums: dict[Hashable, float] = {}
    for weight, one in counted:
        for rater, value in one.items():
            parts[rater] = parts.get(rater, 0.0) + weight / len(one)
            sums[rater] = sums.get(rater, 0.0) + weight / len(one) * value
    if not parts:
        return PersonsPart(0, 0.0, 0.0, 0.0)
    own = np.array([sums[rater] / part for rater, part in parts.items()])
    c = np.array([*parts.values()]) / sum(parts.values())
    shares = float((c**2).sum())
    people = shares**2 / float((c**4).sum())
    if len(own) == 1:
        return PersonsPart(1, people, 0.0, 0.0)
    spread = float((c * (own - (c * own).sum()) ** 2).sum()) / (1 - shares)
    return PersonsPart(len(own), people, spread * shares, max(1.0, people - 1))


@dataclass(frozen=True, eq=False)
class _Ratings:
    """One place per rating: its `item`, its `rater`, what it adds to the mean (`part`) and how far it is from
    the mean of its item (`apart`); per item its number of raters (`sizes`) and its share of the mean.
    """

    item: Ints
    rater: Ints
    part: Floats
    apart: Floats
    sizes: Ints
    shares: Floats

    @classmethod
    def read(cls, weights: Floats, given: Given) -> _Ratings:
        sizes = np.array([len(one) for one in given], dtype=np.int64)
        names: dict[Hashable, int] = {}
        rater = np.array([names.setdefault(one, len(names)) for of in given for one in of], dtype=np.int64)
        values = np.array([value for of in given for value in of.values()], dtype=np.float64)
        item, shares = np.repeat(np.arange(len(given)), sizes), weights / weights.sum()
        means = np.bincount(item, weights=values) / sizes
        return cls(item, rater, (shares / sizes)[item], values - means[item], sizes, shares)

    @property
    def differ(self) -> int:
        """On how many items raters differ."""
        return len(np.unique(self.item[np.abs(self.apart) > _SAME]))

    @property
    def parts(self) -> Floats:
        """(raters,): the part of the mean that comes from each, 1 in all."""
        return np.asarray(np.bincount(self.rater, weights=self.part))

    @property
    def people(self) -> float:
        """How many people of equal parts tell as much of how people differ."""
        squares = self.parts**2
        return float(squares.sum() ** 2 / (squares**2).sum())

    @property
    def error_by_person(self) -> float:
        moved = np.bincount(self.rater, weights=self.part * self.apart)
        return sqrt(float((moved**2).sum() * (self.parts**2).sum()) / self._left_of_constants)

    @property
    def error_by_item(self) -> float:
        squares = np.bincount(self.item, weights=self.apart**2)
        variances = squares / (self.sizes - 1) / self.sizes
        error = float((self.shares**2 * variances).sum())
        if self.differ < FEW_APART:
            error += float((self.shares**2 / self.sizes**2).mean())
        return sqrt(error)

    @property
    def _left_of_constants(self) -> float:
        """‖L‖²: of raters who differ by constants their items' means take a part away.

        L is the diagonal of `parts` less K, K_rq the sum of part/R over the items that r and q both rated.
        """
        count = int(self.rater.max()) + 1
        starts = np.cumsum(self.sizes) - self.sizes
        pairs, together = [], []
        for size in np.unique(self.sizes):
            places = starts[self.sizes == size][:, None] + np.arange(size)
            raters = self.rater[places]
            pairs.append((raters[:, :, None] * count + raters[:, None, :]).ravel())
            together.append(np.repeat(self.part[places[:, 0]] / size, size * size))
        codes, at = np.unique(np.concatenate(pairs), return_inverse=True)
        laplacian = -np.bincount(at, weights=np.concatenate(together))
        own = codes // count == codes % count
        laplacian[own] += self.parts[codes[own] // count]
        return float((laplacian**2).sum())
