"""What a person says of a file of labels, held against what the file and the rubric have."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from rubricweb.engine.errors import FaultList, nearest
from rubricweb.engine.formats.label_files import SHAPES, LabelChoices
from rubricweb.engine.formats.labels.headers import CriterionNames
from rubricweb.engine.parsers.plain_text import composed, folded


def composed_choices(choices: LabelChoices) -> LabelChoices:
    """Choices whose columns are named as tables have them: composed."""
    columns = {field: composed(column) for field, column in choices.columns.items()}
    return replace(choices, columns=columns, unread=frozenset(map(composed, choices.unread)))


def check_choices(
    sample: Mapping[str, Sequence[str]],
    names: CriterionNames,
    answers: Collection[str],
    choices: LabelChoices,
    faults: FaultList,
) -> None:
    """Choices that name what the file or the rubric does not have."""
    fields: dict[str, str] = {}
    for field, column in choices.columns.items():
        if column and column not in sample:
            faults.add(f"columns.{field}", f"the column {column!r}", nearest(column, sample))
        elif column and column in fields:
            found = f"the column {column!r} again (as {fields[column]})"
            faults.add(f"columns.{field}", found, "one field for each column")
        fields.setdefault(column, field)
    if choices.shape is not None and choices.shape not in SHAPES:
        faults.add("shape", repr(choices.shape), nearest(choices.shape, SHAPES))
    if choices.criterion and names.find(choices.criterion) is None:
        faults.add("criterion", repr(choices.criterion), nearest(choices.criterion, names.names))
    for value, answer in choices.values.items():
        if folded(answer) not in answers:
            faults.add(f"values.{value}", repr(answer), "an answer to one of the criteria")
