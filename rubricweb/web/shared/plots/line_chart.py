"""Values in the order of versions or runs: columns with names, and lines of points with their intervals."""

import math
from dataclasses import dataclass, field
from functools import cached_property

from rubricweb.engine.agreement import Figure
from rubricweb.engine.number_format import from_to, value_of
from rubricweb.web.shared.plots import Kind, is_few, kappa_axis

ROOM_NARROW, ROOM_WIDE = 250, 450
"""Pixels between the first and the last column on the smallest phone and beside other cards."""

CHARACTER, WIDE_CHARACTER, GAP, BEFORE = 6.6, 11.0, 8, 20
"""Pixels of a character of a name, of a capital or one that is not of ASCII, between two names, and free
before the first column."""

OTHERS_NAMED = 2
"""Of so many lines that are none of the judge in use the legend has the names; of more only how many."""

NAME_CHARACTERS = 12
"""Longer names lose their middle below the chart; hovering and the table have them whole."""


@dataclass(frozen=True)
class ChartColumn:
    """A place on the x axis: a version or a run, and a second line, as its date."""

    name: str
    below: str = ""

    @property
    def short(self) -> str:
        """Its beginning and its end, which is what tells runs of every night apart."""
        return self.name if len(self.name) <= NAME_CHARACTERS else f"{self.name[:6]}…{self.name[-5:]}"


@dataclass(frozen=True)
class ChartPoint:
    """One value at the column with that index; `name` and `url` say what it is of and where it leads.

    `is_joined`: the line goes through it. Where not, it stands beside the line, as what rests on other cases.
    `items` it rests on where its figure counts something else, as labels.
    """

    column: int
    figure: Figure
    name: str
    url: str
    is_joined: bool = True
    items: int | None = None

    @property
    def hollow(self) -> bool:
        return is_few(self.figure.n if self.items is None else self.items)

    @property
    def words(self) -> str:
        """Its name, value and interval, as hovering and a screen reader tell them."""
        between = from_to(self.figure.low, self.figure.high)
        return f"{self.name}: {value_of(self.figure)}{f', {between}' if between else ''}"


@dataclass(frozen=True)
class ChartLine:
    """Points of one kind, in the order of their columns. Without `joined` no line goes through any."""

    label: str
    kind: Kind
    points: tuple[ChartPoint, ...]
    joined: bool = True

    @property
    def path(self) -> list[ChartPoint]:
        """The points a line goes through: of several at one place the last."""
        if not self.joined:
            return []
        known = (point for point in self.points if point.is_joined and point.figure.value is not None)
        last = {point.column: point for point in known}
        return [last[column] for column in sorted(last)]


@dataclass(frozen=True)
class LineChart:
    """What is drawn from 0 to 1, or from the lowest to the highest value where these lie outside.

    `by_version`: columns are versions of a system, in their order; else runs in order of time. `band` is what
    all points are held against, a value with its interval. With `kappa` ticks are those of `kappa_axis`.
    """

    columns: tuple[ChartColumn, ...]
    lines: tuple[ChartLine, ...] = field(repr=False)
    by_version: bool = False
    band: Figure | None = None
    kappa: bool = False

    @cached_property
    def ticks(self) -> tuple[float, ...]:
        """Round numbers from the lowest end to the highest: at most seven."""
        figures = [point.figure for line in self.lines for point in line.points]
        if self.kappa:
            axis = kappa_axis([*figures, *([self.band] if self.band else [])], with_words=True)
            return (*((axis.low,) if axis.low < 0 else ()), *(tick.at for tick in axis.ticks))
        values = [one for figure in figures for one in (figure.low, figure.value, figure.high)]
        known = [one for one in values if one is not None]
        low, high = min([0.0, *known]), max([1.0, *known])
        wanted = (high - low) / 5
        power = 10.0 ** math.floor(math.log10(wanted))
        step = next(power * one for one in (1, 2, 2.5, 5, 10) if power * one >= wanted - 1e-9)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return tuple(step * number for number in range(first, last + 1))

    @property
    def ends(self) -> tuple[float, float]:
        return self.ticks[0], self.ticks[-1]

    @property
    def is_empty(self) -> bool:
        return not self.marks

    @property
    def legend(self) -> list[tuple[Kind, str]]:
        """Kind and label of each line; of more than two others than people and the judge only how many."""
        old = [line for line in self.lines if line.kind == "old"]
        told = [(line.kind, line.label) for line in self.lines if line not in old or len(old) <= OTHERS_NAMED]
        return told if len(old) <= OTHERS_NAMED else [*told, ("old", f"{len(old)} other series")]

    @property
    def marks(self) -> list[tuple[ChartLine, ChartPoint]]:
        """Every point that has a value with its line, from left to right, as keys reach them."""
        pairs = [(line, point) for line in self.lines for point in line.points]
        known = [(line, point) for line, point in pairs if point.figure.value is not None]
        return sorted(known, key=lambda pair: pair[1].column)

    def shown_names(self, room: float) -> tuple[tuple[int, str], ...]:
        """The columns whose names are written within so many pixels, from the last, and where each is held.

        They are evenly spread so that none lies over another. Where not all have room the last ends at its
        column, and one that would stick out at the beginning is left out.
        """
        count = len(self.columns)
        longest = max((_width(name) for one in self.columns for name in (one.short, one.below)), default=0.0)
        share = count * (longest + GAP) / room
        if share <= 1:
            return tuple((at, "middle") for at in range(count - 1, -1, -1))
        step = math.ceil(1.5 * share)
        spread = range(count - 1, -1, -step)
        shown = [at for at in spread if (at + 0.5) * room / count + BEFORE >= longest / 2]
        return tuple((at, "middle" if at < count - 1 else "end") for at in shown)


def _width(name: str) -> float:
    """About how many pixels a name takes: more rather than fewer."""
    wide = [one for one in name if one.isupper() or one in "mw@%" or not one.isascii()]
    return len(wide) * WIDE_CHARACTER + (len(name) - len(wide)) * CHARACTER
