"""Labels by several raters as files: one label per line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rubricweb.engine.errors import FaultList, InvalidFile, InvalidText, join_place, nearest, shown
from rubricweb.engine.formats.formulas import restored
from rubricweb.engine.formats.records import (
    MAX_FILE_BYTES,
    PlacedRecord,
    csv_records,
    format_of,
    jsonl_records,
)
from rubricweb.engine.parsers.plain_text import decode, unstorable
from rubricweb.engine.rubric import MAX_NAME, Criterion, Rubric
from rubricweb.engine.verdict import ALLOWED_VERDICTS, Label, Verdict

KEY_FIELDS = {"item_id": 200, "criterion": MAX_NAME, "rater": 120}
"""What names a label, with the characters each may have."""

FIELDS = (*KEY_FIELDS, "verdict", "reason")

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


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """One rater's label on one criterion of one item; ``reason`` is empty when none was given.

    ``verdict`` is a Verdict, or an option's own label where the rubric has a choice. A person and a machine
    of the same name are two raters.
    """

    line: int
    item_id: str
    criterion: str
    rater: str
    verdict: Label
    reason: str = ""
    rater_kind: RaterKind = "human"


def read_labels(
    data: bytes,
    *,
    filename: str,
    max_bytes: int = MAX_FILE_BYTES,
    rubric: Rubric | None = None,
    own_rubrics: Mapping[str, Rubric] | None = None,
    rater_kind: RaterKind = "human",
) -> tuple[LabelRecord, ...]:
    """Read a CSV or JSONL file with item_id, criterion, rater, verdict and optionally reason, rater_kind.

    ``rater_kind`` is what the raters are where a line does not say so in its own column (see RATER_KINDS).
    With a ``rubric`` (or ``own_rubrics`` by item id, which come first) the criterion has to be in it, and
    the verdict column holds an option's label where that criterion is a choice; without one only verdicts
    are taken. Further columns are ignored. Raises InvalidFile with all faults at once, each placed by line:
    empty keys, unknown criteria and labels, two labels of one rater on the same criterion of the same item,
    labels for a check, which nobody but the check answers.
    """
    try:
        text = decode(data, max_bytes=max_bytes)
    except InvalidText as error:
        raise InvalidFile(error.faults) from None
    faults = FaultList()
    format = format_of(filename)
    if format not in ("csv", "jsonl"):
        faults.add("", f"a file named {filename!r}", "a name ending in .csv, .tsv, .jsonl or .ndjson")
        faults.raise_as(InvalidFile)
    if format == "csv":
        records = _restored(csv_records(text, faults, InvalidFile))
    else:
        records = jsonl_records(text, faults)
    lines_by_key: dict[tuple[str, ...], int] = {}
    rubrics = _Rubrics(rubric, own_rubrics or {})
    labels = tuple(
        label
        for record in records
        if (label := _label(record, lines_by_key, rubrics, faults, rater_kind)) is not None
    )
    if not labels and not faults:
        faults.add("", "no labels", f"lines with {', '.join(FIELDS)}")
    faults.raise_as(InvalidFile)
    return labels


def _restored(records: Iterator[PlacedRecord]) -> Iterator[PlacedRecord]:
    for record in records:
        cells = {name.casefold(): restored(cell) for name, cell in record.data.items()}
        yield PlacedRecord(record.place, cells)


class _Rubrics:
    """The criteria in force for an item, by casefolded name; None when no rubric is known."""

    def __init__(self, rubric: Rubric | None, own: Mapping[str, Rubric]) -> None:
        self._shared = None if rubric is None else _by_name(rubric)
        self._own = own
        self._read: dict[str, dict[str, Criterion]] = {}

    def criteria(self, item_id: str) -> dict[str, Criterion] | None:
        if item_id not in self._own:
            return self._shared
        if item_id not in self._read:
            self._read[item_id] = _by_name(self._own[item_id])
        return self._read[item_id]


def _by_name(rubric: Rubric) -> dict[str, Criterion]:
    return {name.casefold(): criterion for name, criterion in zip(rubric.names, rubric.criteria, strict=True)}


def _label(
    record: PlacedRecord,
    lines_by_key: dict[tuple[str, ...], int],
    rubrics: _Rubrics,
    faults: FaultList,
    rater_kind: RaterKind,
) -> LabelRecord | None:
    line = int(record.place.removeprefix("line "))
    keys = [_key(record, name, faults) for name in KEY_FIELDS]
    verdict = _answer(record, keys[0], keys[1], rubrics, faults)
    reason = _reason(record.data.get("reason"), join_place(record.place, "reason"), faults)
    kind = _kind(record, rater_kind, faults)
    if verdict is None or reason is None or kind is None:
        return None
    item_id, criterion, rater = keys
    if item_id is None or criterion is None or rater is None:
        return None
    key = (item_id, criterion.casefold(), rater, kind)
    if key in lines_by_key:
        found = f"a second verdict by {rater!r} on {criterion!r} of {item_id!r} (as line {lines_by_key[key]})"
        faults.add(record.place, found, "one verdict per item, criterion and rater")
        return None
    lines_by_key[key] = line
    return LabelRecord(line, item_id, criterion, rater, verdict, reason, kind)


def _kind(record: PlacedRecord, otherwise: RaterKind, faults: FaultList) -> RaterKind | None:
    value = record.data.get("rater_kind")
    if value is None or value == "":
        return otherwise
    kind = RATER_KINDS.get(str(value).strip().casefold())
    if kind is None:
        faults.add(join_place(record.place, "rater_kind"), shown(value), ", ".join(RATER_KINDS))
    return kind


def _key(record: PlacedRecord, name: str, faults: FaultList) -> str | None:
    value = record.data.get(name)
    place = join_place(record.place, name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None:
        faults.add(place, "nothing", "a text")
        return None
    if not isinstance(value, str) or not value.strip():
        faults.add(place, shown(value), "a text")
        return None
    text = value.strip()
    limit = KEY_FIELDS[name]
    if len(text) > limit or unstorable(text):
        faults.add(place, unstorable(text) or f"{len(text):,} characters", f"a text of at most {limit}")
        return None
    return text


def _answer(
    record: PlacedRecord, item_id: str | None, name: str | None, rubrics: _Rubrics, faults: FaultList
) -> Label | None:
    """The label in the verdict column, as the criterion itself writes it."""
    value, place = record.data.get("verdict"), join_place(record.place, "verdict")
    criteria = None if item_id is None else rubrics.criteria(item_id)
    if criteria is None:
        return _verdict(value, place, faults)
    if name is None:
        return None
    criterion = criteria.get(name.casefold())
    if criterion is None:
        names = [str(one.name) for one in criteria.values()]
        faults.add(join_place(record.place, "criterion"), shown(name), nearest(name, names))
        return None
    if criterion.is_check:
        faults.add(place, f"a label for the check {criterion.name}", "no line: a check answers for itself")
        return None
    if criterion.is_binary:
        return _verdict(value, place, faults)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    allowed = [option.label for option in criterion.options]
    if isinstance(value, str) and value.strip().casefold() in map(str.casefold, allowed):
        return allowed[criterion.find_option_by_label(value)]
    faults.add(place, "nothing" if value is None else shown(value), ", ".join(allowed))
    return None


def _verdict(value: Any, place: str, faults: FaultList) -> Verdict | None:
    try:
        return Verdict.parse(value)
    except (ValueError, AttributeError):  # what is no text has no strip()
        faults.add(place, "nothing" if value is None else shown(value), ALLOWED_VERDICTS)
        return None


def _reason(value: Any, place: str, faults: FaultList) -> str | None:
    if value is None:
        return ""
    if not isinstance(value, str) or unstorable(value):
        faults.add(place, shown(value) if not isinstance(value, str) else str(unstorable(value)), "text")
        return None
    return value
