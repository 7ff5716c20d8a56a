"""What a file of labels says: single labels, who gave them, and how a person says what its columns are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from rubricweb.engine.rubric import MAX_NAME
from rubricweb.engine.verdict import Label

MAX_KEYS = {
    "item_id": 200,
    "criterion": MAX_NAME,
    "rater": 120,
    "case_id": 200,
    "system": 201,
    "attempt": 20,
}
"""What names a label, with the characters each may have."""

FIELDS = (
    "item_id",
    "criterion",
    "rater",
    "verdict",
    "reason",
    "rater_kind",
    "final_verdict",
    "final_reason",
    "case_id",
    "system",
    "attempt",
)
"""What a column can be; the columns of a wide file are those of criteria, raters or both as well.

An item is named by its ``item_id``, or by the case it answers with the system and the attempt that did.
"""

RaterKind: TypeAlias = Literal["human", "machine", "settled"]
"""Who gave a label: a person, a program or model, or nobody in particular: a file's ground truth."""

RATER_KINDS: dict[str, RaterKind] = {
    "human": "human",
    "person": "human",
    "machine": "machine",
    "judge": "machine",
    "model": "machine",
    "settled": "settled",
    "ground_truth": "settled",
    "adjudication": "settled",
}
"""What the column ``rater_kind`` may say; our exports of verdicts write human, machine, settled and judge."""

Shape: TypeAlias = Literal["long", "criteria", "raters", "both"]
"""One label a row; or a column for each criterion, for each rater, for each rater and criterion."""

SHAPES: tuple[Shape, ...] = get_args(Shape)


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """One rater's label on one criterion of one item; ``reason`` is empty when none was given.

    ``verdict`` is a Verdict, or an option's own label where the rubric has a choice. ``final_verdict`` is
    what the rater said after they saw the others' labels, the same or another; None for nothing. A person
    and a machine of the same name are two raters.
    """

    line: int
    item_id: str
    criterion: str
    rater: str
    verdict: Label
    reason: str = ""
    rater_kind: RaterKind = "human"
    final_verdict: Label | None = None
    final_reason: str = ""


@dataclass(frozen=True, slots=True)
class LabelChoices:
    """What a person says of a file of labels; what is left out is recognised.

    ``columns`` says field by field which column to read it from, an empty text that it is not in the file. A
    field is one of FIELDS, or what a header of a wide file would say: a criterion's name, a rater's name,
    ``ann: polite``, ``polite reason``. ``unread`` are columns that are not looked at. ``values`` says which
    answer a value stands for, for every criterion or, as ``polite: 2``, for one. ``rater`` gave the labels
    where no column says who did; ``criterion`` is what they are about where none does. ``rater_kind`` is
    what raters are where neither their line nor ``rater_kinds`` says so; None, where nobody said, for what
    ``known_kinds`` has them as, and for people. ``history``: they are labels of the past, whose disagreements
    nobody is to settle.
    """

    shape: Shape | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    values: Mapping[str, str] = field(default_factory=dict)
    rater: str = ""
    criterion: str = ""
    rater_kind: RaterKind | None = None
    rater_kinds: Mapping[str, RaterKind] = field(default_factory=dict)
    known_kinds: Mapping[str, RaterKind] = field(default_factory=dict)
    history: bool = False


@dataclass(frozen=True, slots=True)
class LabelCell:
    """A column that holds labels: of which criterion and rater, empty where the row says it; its reasons.

    ``final`` is the column of what raters said after they saw the others' labels, ``final_reason`` why.
    """

    column: str
    criterion: str = ""
    rater: str = ""
    reason: str = ""
    final: str = ""
    final_reason: str = ""

    def is_filled(self, row: Mapping[str, Any]) -> bool:
        """Whether the row holds a label in it, the first or the final one."""
        return says(row.get(self.column)) or bool(self.final and says(row.get(self.final)))

    def in_order(self, row: Mapping[str, Any]) -> tuple[LabelCell, ...]:
        """The cells this row fills: the first label, then the final one; a final label alone is the first."""
        if not (self.final and says(row.get(self.final))):
            return (self,)
        if says(row.get(self.column)):
            return self, replace(self, column=self.final, reason=self.final_reason)
        reason = self.final_reason if says(row.get(self.final_reason)) else self.reason
        return (replace(self, column=self.final, reason=reason),)


@dataclass(frozen=True, slots=True)
class LabelColumns:
    """What was recognised: the shape, the columns that name a label, and those that hold them.

    ``item_id`` is empty where ``case_id``, with ``system`` and ``attempt`` if they are there, names the item.
    """

    shape: Shape
    item_id: str
    cells: tuple[LabelCell, ...]
    criterion: str = ""
    rater: str = ""
    rater_kind: str = ""
    case_id: str = ""
    system: str = ""
    attempt: str = ""

    @property
    def used(self) -> frozenset[str]:
        """Every column that is read."""
        cells = self.cells
        held = {name for one in cells for name in (one.column, one.reason, one.final, one.final_reason)}
        asked = (self.case_id, self.system, self.attempt)
        named = (self.item_id, self.criterion, self.rater, self.rater_kind)
        return frozenset({*named, *asked, *held} - {""})

    @property
    def reasons(self) -> frozenset[str]:
        """Every column that holds reasons."""
        return frozenset(name for one in self.cells for name in (one.reason, one.final_reason))

    @property
    def fields(self) -> dict[str, str]:
        """Column → the field it is read as, in the words of ``LabelChoices.columns``."""
        fields = {
            "item_id": self.item_id,
            "criterion": self.criterion,
            "rater": self.rater,
            "rater_kind": self.rater_kind,
            "case_id": self.case_id,
            "system": self.system,
            "attempt": self.attempt,
        }
        found = {column: field for field, column in fields.items() if column}
        for cell in self.cells:
            about = "verdict" if self.shape == "long" else _said(cell, self.shape)
            found[cell.column] = about
            if cell.reason:
                found[cell.reason] = "reason" if self.shape == "long" else f"{about} reason"
            final = "final_verdict" if self.shape == "long" else f"{about} (final)"
            finals = {cell.final: final, cell.final_reason: "final_reason"}
            found |= {column: field for column, field in finals.items() if column}
        return found


def says(value: Any) -> bool:
    """Whether anything stands there: false and 0 are something, blanks are not."""
    return not (value is None or (isinstance(value, str) and not value.strip()))


def _said(cell: LabelCell, shape: Shape) -> str:
    """``polite``, ``ann``, ``ann: polite``: what a header would say of the column."""
    if shape == "raters":
        return cell.rater
    return f"{cell.rater}: {cell.criterion}" if cell.rater else cell.criterion
