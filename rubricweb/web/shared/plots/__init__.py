"""What a drawing of figures shows: an axis with its ticks, and marks with their intervals on it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rubricweb.engine.agreement import Figure
from rubricweb.engine.number_format import from_to, value_of

FEW = 30
"""Items below which a mark is hollow: its interval says more than its place."""

EDGE = 3.0
"""Per cent of the width kept free at both ends, so that marks and words there are not cut off."""

Kind = Literal["people", "judge", "old", "better", "worse", "none"]


def is_few(items: int) -> bool:
    """Whether a mark of so many items is hollow."""
    return items < FEW


@dataclass(frozen=True)
class Tick:
    """A line of the grid at `at`; `label` is its number and `words` what it means, "" for no words."""

    at: float
    label: str
    words: str = ""


@dataclass(frozen=True)
class Axis:
    """From `low` to `high`; values outside stand at the end. From `good` on is shaded as good enough, and
    with `zero` the line at 0 is drawn darker than the others.
    """

    low: float
    high: float
    ticks: tuple[Tick, ...]
    good: float | None = None
    zero: bool = False

    def place(self, value: float) -> float:
        """Where a value stands, in per cent of the width of the drawing."""
        share = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return EDGE + (100 - 2 * EDGE) * share


@dataclass(frozen=True)
class Mark:
    """One figure of a drawing: people are a circle, judges a diamond. Hollow: it rests on few items."""

    kind: Kind
    figure: Figure
    hollow: bool = False

    @classmethod
    def of(cls, kind: Kind, figure: Figure, items: int | None = None) -> "Mark":
        """The mark of a figure that rests on so many items, on its own `n` where that counts them."""
        return cls(kind, figure, is_few(figure.n if items is None else items))

    @property
    def alone(self) -> "tuple[Mark]":
        """What a drawing of this mark only is made of."""
        return (self,)


@dataclass(frozen=True)
class PictureRow:
    """One line of the picture: who, on what, and their figure; `percent`: it is a share."""

    name: str
    about: str
    mark: Mark
    percent: bool
    signed: bool = False

    @property
    def value(self) -> str:
        return value_of(self.mark.figure, percent=self.percent, signed=self.signed)

    @property
    def between(self) -> str:
        return from_to(self.mark.figure.low, self.mark.figure.high, percent=self.percent)


@dataclass(frozen=True)
class Picture:
    """What shows the sentence: rows on one axis under a title, and a line below. Without a figure no rows."""

    title: str
    rows: tuple[PictureRow, ...]
    axis: Axis
    note: str


@dataclass(frozen=True)
class Dot:
    """One dot of a scatter: two shares from 0 to 1, what it says on hover and where it leads."""

    across: float
    up: float
    words: str
    url: str


def kappa_axis(figures: Iterable[Figure], *, with_words: bool) -> Axis:
    """κ from 0 to 1, or from the tenth below the lowest interval, −0.4 at most.

    Ticks are those of Landis & Koch (1977) and Krippendorff (2004) that people ask for: 0 is chance, 0.4
    fair, 0.67 good, 1 perfect.
    """
    lows = [low for figure in figures for low in (figure.value, figure.low) if low is not None]
    low = max(-0.4, min(0.0, math.floor(min(lows, default=0.0) * 10) / 10))
    words = ("chance", "fair", "good", "", "perfect") if with_words else ("",) * 5
    at = zip(
        (0.0, 0.4, 0.67, 0.8, 1.0), ("0", "0.4", "0.67", "0.8" if with_words else "", "1"), words, strict=True
    )
    return Axis(low, 1.0, tuple(Tick(*tick) for tick in at), good=0.67 if with_words else None)


SHARE_AXIS = Axis(0.0, 1.0, tuple(Tick(at / 100, f"{at}%") for at in (0, 25, 50, 75, 100)))
"""A share of labels, items or points."""


def difference_axis(figures: Iterable[Figure], unit: float = 0.01) -> Axis:
    """Differences with 0 in the middle, to a round number beyond every interval; ticks at 0 and half-way.

    `unit` is the least that makes sense as an end: 0.01 of a score, 1 point of a hundred. Of 0.02 to 0.08
    the ends are −0.1 and 0.1.
    """
    ends = [
        abs(end) for figure in figures for end in (figure.value, figure.low, figure.high) if end is not None
    ]
    most = max([*ends, unit])
    step = 10 ** math.floor(math.log10(most))
    end = next(times * step for times in (1, 2, 5, 10) if times * step >= most * (1 - 1e-9))
    half = end / 2
    labels = ((-half, f"\N{MINUS SIGN}{half:g}"), (0.0, "0"), (half, f"+{half:g}"))
    return Axis(-end, end, tuple(Tick(at, label) for at, label in labels), zero=True)


def bias_axis(figures: Iterable[Figure]) -> Axis:
    """From the largest value to its negative, one tick at 0: which side, and how far beside the others."""
    most = max([abs(figure.value or 0.0) for figure in figures] + [0.1])
    return Axis(-most, most, (Tick(0.0, "0"),))
