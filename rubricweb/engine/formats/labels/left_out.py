"""What of a file of labels is not imported, and why, in groups rather than row by row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rubricweb.engine.errors import Fault, FaultList, encodable, shortened
from rubricweb.engine.number_format import counted

Why: TypeAlias = Literal[
    "no_item",
    "item",
    "no_rater",
    "criterion",
    "check",
    "empty",
    "value",
    "kind",
    "text",
    "twice",
    "contradiction",
    "uncounted",
    "broken",
    "known",
]

NAMES_SHOWN = 5
MAX_ROWS = 10_000
MAX_NAMES = 10_000
"""So many left-out rows, and so many different names in them, are kept; the others are counted."""

_SENTENCES: dict[str, tuple[str, str]] = {
    "no_item": ("row", "{rows}: no item id"),
    "item": ("item", "{rows} on {names} that {is_are} not in this dataset"),
    "no_rater": ("row", "{rows}: nobody who gave the label"),
    "criterion": ("criterion", "{rows} on {names} that {is_are} not in the rubric"),
    "check": ("check", "{rows} on {names}, which {is_are} computed and take{s} no labels"),
    "empty": ("row", "{rows} without a verdict"),
    "value": ("value", "{rows} with {names} that {is_are} no answer here"),
    "kind": ("kind", "{rows} with {names} of rater that {is_are} not known"),
    "text": ("row", "{rows}: a text that is too long or cannot be stored"),
    "twice": ("row", "{rows} that {are} there already"),
    "contradiction": ("row", "{rows} beside a different one by the same rater"),
    "uncounted": ("row", "{rows} that {do} not count beside another of the same rater"),
    "known": ("import", "{rows} that {was_were} imported before"),
    "broken": ("row", "{rows} that cannot be read"),
}
_OF_LABELS = frozenset(
    ("criterion", "check", "empty", "value", "twice", "contradiction", "uncounted", "known")
)
"""What is left out label by label: in a wide file others of the same row may be read."""
_PLURALS = {"criterion": "criteria"}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows (in wide files: labels) left out for one reason; ``names`` are the first of ``distinct`` ones."""

    why: Why
    rows: int
    names: tuple[str, ...] = ()
    distinct: int = 0

    def __str__(self) -> str:
        noun, sentence = _SENTENCES[self.why]
        said = sentence.format(
            rows=counted(self.rows, "label" if self.why in _OF_LABELS else "row"),
            names=f"{self.distinct:,} {_PLURALS.get(noun, noun + 's') if self.distinct != 1 else noun}",
            is_are="is" if self.distinct == 1 else "are",
            do="does" if self.rows == 1 else "do",
            are="is" if self.rows == 1 else "are",
            was_were="was" if self.rows == 1 else "were",
            s="s" if self.distinct == 1 else "",
        )
        if not self.names:
            return said
        more = " …" if self.distinct > len(self.names) else ""
        return f"{said}: {', '.join(shortened(name) for name in self.names)}{more}"


@dataclass(frozen=True, slots=True)
class RowProblem:
    """One thing wrong with a row: its fault by place, the group it belongs to, the name it is about."""

    why: Why
    fault: Fault
    name: str = ""

    def __post_init__(self) -> None:
        # As in faults: what is left out is shown and stored.
        object.__setattr__(self, "name", encodable(self.name))


class LeftOutRows:
    """Collects what is left out, grouped, and the faults of it by place."""

    def __init__(self) -> None:
        self.faults = FaultList()
        self.rows: list[Fault] = []
        self._counts: dict[Why, int] = {}
        self._names: dict[Why, dict[str, None]] = {}

    def add(self, problems: Sequence[RowProblem]) -> None:
        """A row with these problems: it counts once, by the first; all of them are faults."""
        first = problems[0]
        self.count(first.why, 1)
        if first.name:
            names = self._names.setdefault(first.why, {})
            if len(names) < MAX_NAMES:
                names[first.name] = None
        for problem in problems:
            self.faults.add(problem.fault.place, problem.fault.found, problem.fault.allowed)
        if len(self.rows) < MAX_ROWS:
            self.rows += [problem.fault for problem in problems]

    def unread(self, faults: Iterable[Fault], total: int) -> None:
        """Rows that could not be read at all."""
        kept = list(faults)
        if total:
            self.count("broken", total)
        for fault in kept:
            self.faults.add(fault.place, fault.found, fault.allowed)
        self.faults.total += total - len(kept)
        self.rows += kept

    def count(self, why: Why, rows: int) -> None:
        self._counts[why] = self._counts.get(why, 0) + rows

    def groups(self) -> tuple[LeftOut, ...]:
        """Largest first."""
        found = [
            LeftOut(why, rows, tuple(self._names.get(why, {}))[:NAMES_SHOWN], len(self._names.get(why, {})))
            for why, rows in self._counts.items()
        ]
        return tuple(sorted(found, key=lambda group: -group.rows))


def line_number(place: str) -> int:
    """The number of the line, or of the record, a place begins with."""
    match = re.match(r"(?:line |items\[)(\d+)", place)
    if match is None:
        return 0
    return int(match[1]) + (1 if place.startswith("items") else 0)
