"""Files of several formats as one stream of records, each knowing its place in the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TextIO, TypeAlias

from rubricweb.engine.errors import FaultList, Invalid, InvalidText, shown
from rubricweb.engine.formats.tables.csv_rows import csv_rows
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import composed

FileFormat: TypeAlias = Literal["json", "jsonl", "csv", "yaml", "parquet"]

MAX_FILE_BYTES = 100_000_000

SUFFIXES: dict[str, FileFormat] = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".parquet": "parquet",
}


@dataclass(frozen=True, slots=True)
class PlacedRecord:
    """One record: where it stands (``line 4``, ``items[3]``), its keys and values as written."""

    place: str
    data: dict[str, Any]


def format_of(filename: str) -> FileFormat | None:
    """The format a file's name stands for, or None."""
    name = filename.casefold()
    return next((format for suffix, format in SUFFIXES.items() if name.endswith(suffix)), None)


def jsonl_records(text: str | TextIO, faults: FaultList) -> Iterator[PlacedRecord]:
    """One object per line; empty lines are skipped, faulty ones go to ``faults`` and the rest is read on.

    A file is opened with "\\n" as the only end of a line.
    """
    # Only "\n" ends a line: JSON strings may hold the other line separators Unicode knows.
    lines = io.StringIO(text, newline="\n") if isinstance(text, str) else text
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = parse_json(line.rstrip("\r\n"), line=number)
        except InvalidText as error:
            faults.extend(error)
            continue
        if not isinstance(value, dict):
            faults.add(f"line {number}", shown(value), "one JSON object per line")
            continue
        yield PlacedRecord(f"line {number}", named(value))


def csv_records(text: str | TextIO, faults: FaultList, error: type[Invalid]) -> Iterator[PlacedRecord]:
    """One record per row under a header; empty cells are left out, empty rows skipped.

    A file is opened with ``newline=""``.

    Delimiters and quotation marks are as `csv_rows` has them. Raises ``error`` at once for a header with an
    empty or repeated name: nothing below it could be trusted.
    """
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    rows = csv_rows(lines)
    header: list[str] | None = None
    while True:
        try:
            number, row = next(rows, (0, None))
        except csv.Error as problem:
            words, number = problem.args
            allowed = "cells in double quotes that are closed again"
            faults.add(f"line {number}", f"a broken row ({words})", allowed)
            return
        if row is None:
            return
        place = f"line {number}"
        if header is None:
            header = _header(row, place, error)
        elif len(row) != len(header):
            faults.add(place, f"{len(row)} cells", f"{len(header)}, one per column of the header")
        else:
            yield PlacedRecord(
                place, {name: cell for name, cell in zip(header, row, strict=True) if cell.strip()}
            )


def named(record: dict[str, Any]) -> dict[str, Any]:
    """The record with its keys composed as the eye reads them, unless two of them then were one."""
    if all(key.isascii() for key in record):
        return record
    found = {composed(key): value for key, value in record.items()}
    return found if len(found) == len(record) else record


def _header(row: list[str], place: str, error: type[Invalid]) -> list[str]:
    names = [composed(cell.strip()) for cell in row]
    faults = FaultList()
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name:
            faults.add(place, f"no name for column {position}", "a name for every column")
        elif name.casefold() in seen:
            faults.add(place, f"the column {name!r} twice", "each name once")
        seen.add(name.casefold())
    faults.raise_as(error)
    return names
