"""Labels by several raters as files: one verdict per line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.errors import FaultList, InvalidFile, InvalidText, join_place, shown
from rubricweb.engine.formats.formulas import restored
from rubricweb.engine.formats.records import (
    MAX_FILE_BYTES,
    PlacedRecord,
    csv_records,
    format_of,
    jsonl_records,
)
from rubricweb.engine.parsers.plain_text import decode, unstorable
from rubricweb.engine.rubric import MAX_NAME
from rubricweb.engine.verdict import ALLOWED_VERDICTS, Verdict

KEY_FIELDS = {"item_id": 200, "criterion": MAX_NAME, "rater": 120}
"""What names a label, with the characters each may have."""

FIELDS = (*KEY_FIELDS, "verdict", "reason")


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """One rater's verdict on one criterion of one item; ``reason`` is empty when none was given."""

    line: int
    item_id: str
    criterion: str
    rater: str
    verdict: Verdict
    reason: str = ""


def read_labels(data: bytes, *, filename: str, max_bytes: int = MAX_FILE_BYTES) -> tuple[LabelRecord, ...]:
    """Read a CSV or JSONL file with item_id, criterion, rater, verdict and optionally reason.

    Further columns are ignored. Raises InvalidFile with all faults at once, each placed by line: empty
    keys, unknown verdicts, two verdicts of one rater on the same criterion of the same item.
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
    lines_by_key: dict[tuple[str, str, str], int] = {}
    labels = tuple(label for record in records if (label := _label(record, lines_by_key, faults)) is not None)
    if not labels and not faults:
        faults.add("", "no labels", f"lines with {', '.join(FIELDS)}")
    faults.raise_as(InvalidFile)
    return labels


def _restored(records: Iterator[PlacedRecord]) -> Iterator[PlacedRecord]:
    for record in records:
        cells = {name.casefold(): restored(cell) for name, cell in record.data.items()}
        yield PlacedRecord(record.place, cells)


def _label(
    record: PlacedRecord, lines_by_key: dict[tuple[str, str, str], int], faults: FaultList
) -> LabelRecord | None:
    line = int(record.place.removeprefix("line "))
    keys = [_key(record, name, faults) for name in KEY_FIELDS]
    verdict = _verdict(record.data.get("verdict"), join_place(record.place, "verdict"), faults)
    reason = _reason(record.data.get("reason"), join_place(record.place, "reason"), faults)
    if verdict is None or reason is None:
        return None
    item_id, criterion, rater = keys
    if item_id is None or criterion is None or rater is None:
        return None
    key = (item_id, criterion.casefold(), rater)
    if key in lines_by_key:
        found = f"a second verdict by {rater!r} on {criterion!r} of {item_id!r} (as line {lines_by_key[key]})"
        faults.add(record.place, found, "one verdict per item, criterion and rater")
        return None
    lines_by_key[key] = line
    return LabelRecord(line, item_id, criterion, rater, verdict, reason)


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
