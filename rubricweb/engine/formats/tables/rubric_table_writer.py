"""Rubrics written as tables that ``read_rubric_table`` reads, and what such a table cannot hold."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from rubricweb.engine.errors import InvalidRubric
from rubricweb.engine.formats.formulas import neutralised
from rubricweb.engine.formats.tables.rubric_tables import read_rubric_table
from rubricweb.engine.rubric import Criterion, Rubric

COLUMNS = ("Criterion ID", "Criteria Name", "Criteria Description", "Weight", "Group", "Notes")
RATING = ("Rating Name", "Rating Points")

_WORDS = {
    "kind": "that it is a check",
    "options": "options that abstain, their order, or values whose best is not 1",
    "scale_type": "that its options are just different",
    "requirement": "its requirement",
    "met_example": "the example that meets it",
    "unmet_example": "the example that does not",
    "aggregation": "its vote rule",
    "check": "",
    "params": "",
}
_HEAD = {
    "guidelines": "the guidelines",
    "pass_rule": "the pass rule",
    "length_penalty": "the length penalty",
    "id": "the rubric's id",
    "description": "the rubric's description",
    "sections": "what sections say of themselves",
}


def write_rubric_table(rubric: Rubric) -> tuple[str, tuple[str, ...]]:
    """The rubric as CSV, and in words what it leaves out; nothing where reading it gives the same rubric.

    A row is a criterion; a choice has its ratings behind it, each with its points of the weight: of weight 4
    the option worth 0.5 has 2 points. An option that abstains has no place, nor a check, which becomes a
    criterion that is met or not. What is left out is found by reading the table again.

    ``write_rubric_table(Rubric.from_dict([{"weight": 1, "requirement": "Is kind.", "tags": ["tone"]}]))[1]``
    is ``("Criterion 1: tags",)``.
    """
    rows = [_row(place, criterion, rubric.title) for place, criterion in enumerate(rubric.criteria, 1)]
    width = max(map(len, rows), default=0)
    ratings = (width - len(COLUMNS) - 1) // 2
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(["Rubric Name", *COLUMNS, *RATING * ratings])
    writer.writerows([neutralised(cell) for cell in row] + [""] * (width - len(row)) for row in rows)
    text = written.getvalue()
    return text, tuple(_left_out(rubric, text))


def _row(place: int, criterion: Criterion, title: str) -> list[str]:
    name = "" if criterion.name == f"C{place}" else criterion.name or ""
    given = (criterion.id, name, criterion.requirement, _number(criterion.weight))
    cells = [title, *(cell or "" for cell in given), criterion.group or "", criterion.guidance or ""]
    options = [option for option in criterion.options if not option.na]
    values = [option.value or 0.0 for option in options]
    if len(options) < 2 or not any(values):
        return cells
    top = abs(criterion.weight) or 1.0
    for option, value in zip(options, values, strict=True):
        cells += [option.label, _number(value * top)]
    return cells


def _number(value: float) -> str:
    """A number without an exponent: ``0.25``, ``10``."""
    return f"{value:.12f}".rstrip("0").rstrip(".")


def _left_out(rubric: Rubric, text: str) -> list[str]:
    try:
        held = read_rubric_table(text)[0].to_dict()
    except InvalidRubric as error:
        return [f"the table cannot be read again: {error.faults[0]}"]
    whole = rubric.to_dict()
    left_out = [words for key, words in _HEAD.items() if whole.get(key)]
    for place, (mine, its) in enumerate(zip(_entries(rubric), _entries_of(held), strict=True), 1):
        lost = [key for key in mine if not _equals(mine[key], its.get(key))]
        words = [_WORDS.get(key, key) for key in lost]
        if words := list(dict.fromkeys(filter(None, words))):
            left_out.append(f"{mine.get('name') or f'Criterion {place}'}: {', '.join(words)}")
    return left_out


def _entries(rubric: Rubric) -> list[dict[str, Any]]:
    return _entries_of(rubric.to_dict())


def _entries_of(whole: Any) -> list[dict[str, Any]]:
    """The criteria of a rubric as plain data, whether it stands in sections or not, C1, C2, … left out."""
    criteria = Rubric.from_dict(whole).criteria
    entries = [criterion.to_dict() for criterion in criteria]
    for place, (entry, criterion) in enumerate(zip(entries, criteria, strict=True), 1):
        entry["kind"] = criterion.kind
        if entry.get("name") == f"C{place}":
            del entry["name"]
    return entries


def _equals(one: Any, other: Any) -> bool:
    """Whether two values are the same but for the last digits of numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equals(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equals, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)
