"""Two sides paired by unit: an item that both judged, or a case that both answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import Floats

Ints = NDArray[np.int64]

Unit = Literal["item", "case"]
"""What a figure counts: cases where a case has several answers, which then count as one; else items."""


@dataclass(frozen=True, slots=True, eq=False)
class PairedUnits:
    """The units of two sides: `keys` ascending, and where each row of a side has its unit there."""

    keys: Ints
    one: Ints
    other: Ints


def paired_units(one: Ints, other: Ints) -> PairedUnits:
    """Pairs two sides by the unit of each of their rows; a unit may have several rows on a side, or none.

    Worked: one 7, 7, 9 and other 9, 8 → keys 7, 8, 9 with one at 0, 0, 2 and other at 2, 1.
    """
    keys, places = np.unique(np.concatenate([one, other]), return_inverse=True)
    return PairedUnits(keys, places[: len(one)], places[len(one) :])


def unit_means(values: Floats, places: Ints, units: int) -> Floats:
    """(units,): the mean of the values at each place; NaN is a gap, and the mean of nothing but gaps.

    Worked: 1, 0, NaN, 0.5 at 0, 0, 0, 2 of three units → 0.5, NaN, 0.5.
    """
    there = ~np.isnan(values)
    counts = np.bincount(places[there], minlength=units)
    sums = np.bincount(places[there], weights=values[there], minlength=units)
    means = np.full(units, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def case_means(values: Floats, cases: Ints) -> Floats:
    """(cases,): the mean of each case's answers that have a value; NaN is a gap.

    Answers to one case are alike: counted one by one they would feign certainty. Where no case has several
    the values stay as they came. Worked: 1, 0, NaN, 0.5 of the cases 7, 7, 7, 9 → 0.5, 0.5.
    """
    there = ~np.isnan(values)
    values, cases = values[there], cases[there]
    units, places = np.unique(cases, return_inverse=True)
    return values if len(units) == len(values) else unit_means(values, places, len(units))
