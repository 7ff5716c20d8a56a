"""Labels as a file says them, before their values are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.errors import Fault, join_place
from rubricweb.engine.formats.label_files import RaterKind
from rubricweb.engine.formats.label_provenance import NOT_COUNTED
from rubricweb.engine.formats.labels.left_out import RowProblem, line_number
from rubricweb.engine.rubric import Criterion


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
