"""Who is lenient: a judge beside people, and each rater beside the others, on the same units."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rubricweb.engine.agreement.intervals import (
    Figure,
    Floats,
    difference_interval,
    divide,
    mean_interval,
    within,
)
from rubricweb.engine.agreement.ratings import Ratings, cluster_codes
from rubricweb.engine.agreement.scores.means import known_numbers, mean_between


@dataclass(frozen=True, slots=True)
class RaterLeniency:
    """One rater beside the others.

    `mean` is the rater's mean value (the MET rate) over all `labelled` units. `leniency` is the mean of own
    value − mean of the others' values, over the units somebody else labelled too (its `n`): above 0 the rater
    gives more than the others do for the same work.
    """

    rater: Hashable
    labelled: int
    mean: Figure
    others: Figure
    leniency: Figure


def rater_leniency(ratings: Ratings) -> tuple[RaterLeniency, ...]:
    """Each rater's mean value and leniency, in the order of the ratings, with t over items.

    Values are those of the ratings, MET 1 and UNMET 0 without any. More of an error is not more lenient: give
    the units of negative criteria apart, or reverse their values. Figures are None without units. Raises
    ValueError when other labels have no values.

    Worked: ann MET MET UNMET, rae MET UNMET UNMET, bob UNMET – UNMET → ann: mean 2/3, others 1/2, 0, 0,
    leniency (1/2 + 1 + 0) / 3 = 0.5.
    """
    numbers = ratings.numbers()
    present = ~np.isnan(numbers)
    filled = np.where(present, numbers, 0.0)
    totals, labels = filled.sum(axis=0), present.sum(axis=0)

    def mean(values: Floats, units: Floats) -> Figure:
        return mean_interval(values[units], ratings.clusters[units], limits=(0.0, 1.0))

    most = max(ratings.values) - min(ratings.values) if ratings.values else 1.0

    found = []
    for row, rater in enumerate(ratings.raters):
        own = present[row]
        shared = own & (labels >= 2)
        others = divide(totals - filled[row], labels - own.astype(np.float64))
        apart = (filled[row] - others)[shared]
        found.append(
            RaterLeniency(
                rater=rater,
                labelled=int(own.sum()),
                mean=mean(filled[row], own),
                others=mean(others, shared),
                leniency=within(
                    difference_interval(apart, ratings.clusters[shared], length=most), -most, most
                ),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class MeanRates:
    """What people and a judge give the same units on average; of verdicts, how often each says MET."""

    people: Figure
    judge: Figure


def mean_rates(
    judged: Sequence[float],
    people: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    limits: tuple[float, float] = (0.0, 1.0),
) -> MeanRates:
    """The mean of each column over the same units, with t over items, or Wilson's of yes and no alone.

    `people[i]` is the mean of the values the raters of unit i gave it (MET is 1), never that of their
    majority: of three people who each say MET on 16 % the majority says it on 7 %. `limits` are the ends of
    the scale. Figures are None without units. Raises ValueError on columns of different lengths.

    Worked: MET UNMET UNMET on one unit and MET MET UNMET on another: people (1/3 + 2/3) / 2 = ½.
    """
    if not len(judged) == len(people) == len(clusters):
        lengths = [len(judged), len(people), len(clusters)]
        raise ValueError(f"the columns must cover the same units; found {lengths}")
    codes = cluster_codes(clusters)
    columns = (np.asarray(column, dtype=np.float64) for column in (people, judged))
    return MeanRates(*(mean_between(column, codes, limits) for column in columns))


def effect_bias(
    judged: Sequence[float],
    reference: Sequence[float],
    weights: Sequence[float],
    clusters: Sequence[Hashable],
) -> Figure:
    """How far a judge moves the score beside a reference, −1 to 1: Σ w·(judged − reference) / Σ|w|.

    Above 0 the judge is lenient, below 0 strict: an error it sees and people do not takes from the score. The
    columns hold values from 0 to 1 (MET is 1) and weights of the same units, which may be of several criteria
    and of both signs; `reference` is the mean of the values people gave a unit, never that of their majority.
    Of one criterion it is the difference of its MET rates, with the sign turned where it is a penalty. Where
    all weights are 0 they count alike. `clusters[i]` is the item of unit i; the interval is t over items.
    None without units; raises ValueError on columns of different lengths, and on NaN.

    Worked: on one item weights 6 and −2, judge MET MET, people UNMET UNMET: (6 − 2) / 8 = 0.5.
    """
    columns = (judged, reference, weights, clusters)
    if len({len(column) for column in columns}) > 1:
        raise ValueError(f"the columns must cover the same units; found {[len(one) for one in columns]}")
    weight = np.asarray(weights, dtype=np.float64)
    if not weight.any():
        weight = np.ones(len(weight))
    apart = known_numbers("judged", judged) - known_numbers("reference", reference)
    signed = np.where(weight < 0, -apart, apart)
    figure = difference_interval(signed, cluster_codes(clusters), weights=np.abs(weight))
    return within(figure, -1, 1)


def leaning(bias: Figure) -> Literal["lenient", "strict", ""]:
    """Which way a judge leans: only where the interval of its bias lies wholly on one side of 0."""
    if bias.low is None or bias.high is None:
        return ""
    return "lenient" if bias.low > 0 else "strict" if bias.high < 0 else ""
