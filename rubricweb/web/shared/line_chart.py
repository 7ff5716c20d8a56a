"""Values in the order of versions or runs: columns with names, and lines of points with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rubricweb.engine.agreement import Figure
from rubricweb.engine.number_format import from_to, value_of
from rubricweb.web.shared.plots import FEW, Kind

NAMES_NARROW, NAMES_WIDE = 4, 8
"""So many names stand below a chart on a phone and on a wide screen: more would lie over each other."""

NAME_CHARACTERS = 12
"""Longer names end in an ellipsis below the chart; hovering and the table have them whole."""


@dataclass(frozen=True)
class ChartColumn:
    """A place on the x axis: a version or a run, and a second line, as its date."""

    name: str
    below: str = ""

    @property
    def short(self) -> str:
        return self.name if len(self.name) <= NAME_CHARACTERS else f"{self.name[: NAME_CHARACTERS - 1]}…"


@dataclass(frozen=True)
class ChartPoint:
    """One value at the column with that index; `name` and `url` say what it is of and where it leads.

    `is_joined`: the line goes through it. Where not, it stands beside the line, as what rests on other cases.
    """

    column: int
    figure: Figure
    name: str
    url: str
    is_joined: bool = True

    @property
    def hollow(self) -> bool:
        return self.figure.n < FEW

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
        last = {point.column: point for point in self.points if point.is_joined}
        return [last[column] for column in sorted(last)]


@dataclass(frozen=True)
class LineChart:
    """What is drawn from 0 to 1, or from the lowest to the highest value where these lie outside.

    `by_version`: columns are versions of a system, in their order; else runs in order of time.
    """

    columns: tuple[ChartColumn, ...]
    lines: tuple[ChartLine, ...] = field(repr=False)
    by_version: bool = False

    @cached_property
    def ends(self) -> tuple[float, float]:
        figures = [point.figure for line in self.lines for point in line.points]
        values = [
            one for figure in figures for one in (figure.low, figure.value, figure.high) if one is not None
        ]
        return min([0.0, *values]), max([1.0, *values])

    @property
    def is_empty(self) -> bool:
        return not any(line.points for line in self.lines)

    def shown_names(self, most: int) -> frozenset[int]:
        """The columns whose names are written: evenly spread, counted from the last, at most `most`."""
        step = max(1, -(-len(self.columns) // most))
        return frozenset(range(len(self.columns) - 1, -1, -step))


def merged_order(orders: Sequence[Sequence[str]]) -> list[str]:
    """All names of several orders in one: the longest as it is, what the others add behind it."""
    names: dict[str, None] = {}
    for order in sorted(orders, key=len, reverse=True):
        names |= dict.fromkeys(order)
    return list(names)
