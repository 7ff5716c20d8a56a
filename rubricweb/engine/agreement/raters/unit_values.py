"""What judge and people gave each unit as numbers, and the means these come to: never of a majority."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.raters.leniency import MeanRates, effect_bias, mean_rates


@dataclass(frozen=True)
class UnitValue:
    """One unit that the judge and somebody else gave a value, from 0 to 1: MET is 1, an option its value.

    `by_rater` has the value each of its raters gave it, at least one, without abstentions. `weight` is that
    of its criterion, `cluster` the item, or case, it falls together with.
    """

    judged: float
    by_rater: Mapping[Any, float]
    weight: float
    cluster: Hashable

    @cached_property
    def people(self) -> float:
        """The mean of its raters: a tie is ½, and a unit with five weighs no more than one with one."""
        return fmean(self.by_rater.values())


def bias_of(units: Sequence[UnitValue]) -> Figure:
    """How far the judge moves the score beside people, over these units: see `effect_bias`."""
    return effect_bias(
        [one.judged for one in units],
        [one.people for one in units],
        [one.weight for one in units],
        [one.cluster for one in units],
    )


def rates_of(units: Sequence[UnitValue], ends: tuple[float, float] = (0.0, 1.0)) -> MeanRates:
    """What people and judge give these units on average; `ends` are those of the scale of the values."""
    return mean_rates(
        [one.judged for one in units],
        [one.people for one in units],
        [one.cluster for one in units],
        limits=ends,
    )
