"""Labels as a file says them, before their values are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.errors import Fault, join_place
from rubricweb.engine.formats.label_files import RaterKind
from rubricweb.engine.formats.label_provenance import NOT_COUNTED
from rubricweb.engine.formats.labels.answers import value_text
from rubricweb.engine.formats.labels.left_out import RowProblem, line_number
from rubricweb.engine.formats.records import PlacedRecord
from rubricweb.engine.rubric import Criterion

SAMPLE_CHARACTERS = 200
"""So many characters of a value are looked at, and shown."""


@dataclass(slots=True)
class SaidCell:
    """A label as the file says it, before its value is read."""

    place: str
    column: str
    item_id: str
    criterion: str
    rater: str
    kind: RaterKind
    value: Any
    reason: str
    known: Criterion | None
    problems: list[RowProblem]
    uncounted: bool = False
    final: SaidCell | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.item_id, self.criterion.casefold(), self.rater, self.kind)

    @property
    def named(self) -> tuple[int, str, str, str]:
        """What names the label, after its line."""
        return line_number(self.place), self.item_id, self.criterion, self.rater

    def second(self, place: str, *, is_other: bool) -> RowProblem:
        """Why it is left out where its rater's label stands at `place` as well, the same or another one."""
        unit = f"by {self.rater!r} on {self.criterion!r} of {self.item_id!r}"
        found = f"a second verdict {unit} (as {place})"
        if is_other:
            found = f"a verdict {unit} that differs from the one at {place}"
        fault = Fault(self.place, found, "one verdict per item, criterion and rater")
        return RowProblem("contradiction" if is_other else "twice", fault)


def leave_out_uncounted(cells: Sequence[SaidCell]) -> None:
    """Gives a problem to each label that was not counted where it was exported, if its rater gave one that
    was, or a later one. A label that stands alone is taken: it may count for another version of the rubric.
    """
    if not any(said.uncounted for said in cells):
        return
    stands = {said.key: said for said in cells if not said.uncounted and not said.problems}
    for said in reversed(cells):
        if said.uncounted and stands.setdefault(said.key, said) is not said:
            fault = Fault(join_place(said.place, "counts_by"), NOT_COUNTED, "one label of each rater")
            said.problems.append(RowProblem("uncounted", fault))


def sample_of(first: list[PlacedRecord], columns: tuple[str, ...]) -> dict[str, list[str]]:
    """The first values of every column, as texts."""
    values: dict[str, list[str]] = {column: [] for column in columns}
    for record in first:
        for column, value in record.data.items():
            text = value_text(value)
            if text:
                values[str(column)].append(text[:SAMPLE_CHARACTERS])
    return values
