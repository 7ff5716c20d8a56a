"""Files of several formats as one stream of records, each knowing its place in the file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TextIO, TypeAlias

from rubricweb.engine.errors import FaultList, Invalid, InvalidText, shown
from rubricweb.engine.parsers.json_text import parse_json

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

# The csv module refuses cells beyond 128 KiB unless told otherwise; submissions are longer, and the size
# of a whole file is capped before it gets here.
csv.field_size_limit(2**31 - 1)

_FIRST_ROWS = 100
"""So many rows tell by which mark a table is parted, where its header holds several."""

_QUOTED = re.compile(r'(?<![^\t;,])"[^"]*(?:""[^"]*)*+"?')
"""A cell in double quotes, perhaps without its end on this line."""


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
        yield PlacedRecord(f"line {number}", value)


def csv_records(text: str | TextIO, faults: FaultList, error: type[Invalid]) -> Iterator[PlacedRecord]:
    """One record per row under a header; empty cells are left out, empty rows skipped.

    A file is opened with ``newline=""``.

    The delimiter is a comma, a semicolon or a tab: of those in the header the one that gives rows as many
    cells as there are names. Raises ``error`` at once for a header with an empty or repeated name: nothing
    below it could be trusted.
    """
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    reader = csv.reader(lines, delimiter=_delimiter(lines), strict=True)
    header: list[str] | None = None
    while True:
        place = f"line {reader.line_num + 1}"  # where this row begins: a quoted cell may span several
        try:
            row = next(reader, None)
        except csv.Error as problem:
            faults.add(place, f"a broken row ({problem})", "cells in double quotes that are closed again")
            return
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        if header is None:
            header = _header(row, place, error)
        elif len(row) != len(header):
            faults.add(place, f"{len(row)} cells", f"{len(header)}, one per column of the header")
        else:
            yield PlacedRecord(
                place, {name: cell for name, cell in zip(header, row, strict=True) if cell.strip()}
            )


def _header(row: list[str], place: str, error: type[Invalid]) -> list[str]:
    names = [cell.strip() for cell in row]
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


def _delimiter(lines: TextIO) -> str:
    """By the first line that is not empty, and by the rows; the file is then at its beginning again."""
    first = next((line for line in iter(lines.readline, "") if line.strip("\r\n")), "")
    lines.seek(0)
    names = _QUOTED.sub("", first)  # what is quoted is part of a name
    marks = [mark for mark in ",;\t" if mark in names]
    if len(marks) < 2:
        return marks[0] if marks else ","

    def likely(mark: str) -> tuple[float, bool, int, int]:
        # Where rows fit under several: a tab is seldom part of a name, and a mark inside one has a blank
        # behind it.
        parting = names.count(mark) - names.count(f"{mark} ")
        return _fit(lines, mark), mark == "\t" and mark in names.strip(), parting, names.count(mark)

    delimiter = max(marks, key=likely)
    lines.seek(0)
    return delimiter


def _fit(lines: TextIO, mark: str) -> float:
    """The share of the first rows that have as many cells as the header, were the mark the delimiter."""
    lines.seek(0)
    widths: list[int] = []
    try:
        for row in csv.reader(lines, delimiter=mark, strict=True):
            if any(cell.strip() for cell in row):
                widths.append(len(row))
            if len(widths) > _FIRST_ROWS:
                break
    except csv.Error:
        widths.append(0)  # a broken row fits no header
    header, *rows = widths or [0]
    return rows.count(header) / len(rows) if rows else 0.0
