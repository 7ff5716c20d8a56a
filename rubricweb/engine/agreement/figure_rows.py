"""A figure of agreement is a row: what it is called, how it is computed, and where it is shown.

Compare, the agreement board, the API, the terminal, CSV, bundles, `METRICS` and the docs walk through
`PAIR_FIGURES` (`judge/pair_figures.py`) and `RATER_FIGURES` (`raters/rater_figures.py`): a new row is in all
of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

Scale = Literal["binary", "nominal", "ordinal", "score"]
Place = Literal["compare", "board", "terminal"]

BINARY: frozenset[Scale] = frozenset({"binary"})
ORDINAL: frozenset[Scale] = frozenset({"ordinal"})
NOMINAL: frozenset[Scale] = frozenset({"binary", "nominal"})
OPTIONS: frozenset[Scale] = frozenset({"nominal", "ordinal"})
LABELS: frozenset[Scale] = frozenset({"binary", "nominal", "ordinal"})
NUMBERS: frozenset[Scale] = frozenset({"binary", "ordinal", "score"})

COMPARED: frozenset[Place] = frozenset({"compare", "terminal"})
BOARD: frozenset[Place] = frozenset({"board", "terminal"})

INFINITY = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRow:
    """What is said of a figure wherever it stands.

    `name` is what it is exported and documented under, `title` what people read, `short` what heads a narrow
    column. It makes sense on the scales of `applies_to` and lies in `low` … `high`. `about` is where pages
    explain it, "" where the docs alone do, `unit` what it counts, "" of most. `shows` are the tables and
    tiles that have it.
    """

    name: str
    title: str
    short: str
    applies_to: frozenset[Scale]
    low: float = -1
    high: float = 1
    about: str = ""
    unit: str = ""
    shows: frozenset[Place] = frozenset()

    @property
    def is_of_steps(self) -> bool:
        """Whether it takes options that are steps."""
        return self.applies_to == ORDINAL

    @property
    def drawn(self) -> bool:
        """Whether there is a scale to draw it on: 1 is perfect."""
        return self.high == 1


Row = TypeVar("Row", bound=FigureRow)


def shown_in(place: Place, rows: Iterable[Row]) -> list[Row]:
    """Those of the rows that have a place there."""
    return [row for row in rows if place in row.shows]
