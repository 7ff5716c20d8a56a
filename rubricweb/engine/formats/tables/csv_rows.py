"""Rows of a CSV file: by which mark it is parted, and which quotation marks are text."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator
from typing import TextIO

# The csv module refuses cells beyond 128 KiB unless told otherwise; submissions are longer, and the size
# of a whole file is capped before it gets here.
csv.field_size_limit(2**31 - 1)

_FIRST_ROWS = 100
"""So many rows tell by which mark a table is parted, where its header holds several."""

_QUOTED = re.compile(r'(?<![^\t;,])"[^"]*(?:""[^"]*)*+"?')
"""A cell in double quotes, perhaps without its end on this line."""

_SAID = re.compile(r'"?sep=([^\w\s"]|\t)"?[\t;,]*\s*', re.IGNORECASE)
"""The line by which spreadsheets say the separator; some fill it up with empty cells."""

_SPAN = 1_000
"""A cell of so many lines, each a whole row, is none: its quotation mark is text."""


def csv_rows(lines: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Each row with the number of the line it begins at, from 1; empty rows are left out.

    The delimiter is what a first line ``sep=;`` says, else a comma, a semicolon or a tab: of those in the
    header the one that gives rows as many cells as there are names. Between tabs a quotation mark that opens
    no cell is text. Raises csv.Error, whose second argument is the line, for a row that cannot be read.
    """
    said, before = _said_delimiter(lines)
    delimiter = said or _delimiter(lines)
    rows = _tabbed_rows(lines) if delimiter == "\t" else _plain_rows(lines, delimiter)
    for number, row in rows:
        if any(cell.strip() for cell in row):
            yield number + before, row


def _plain_rows(lines: TextIO, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        number = reader.line_num + 1  # where this row begins: a quoted cell may span several
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise csv.Error(str(error), number) from None
        if row is None:
            return
        yield number, row


def _tabbed_rows(lines: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Rows between tabs, which some programs write without quoting: ``2<tab>"And then<tab>major``.

    Read as the beginning of a quoted cell, such a mark would swallow the rows below it. It is text where its
    line has as many cells as the header and so has every line it would swallow, or where no mark closes it.
    """
    source = _Lines(lines)
    reader = csv.reader(source, delimiter="\t", strict=True)
    width = 0
    while True:
        number = source.begin()
        try:
            row = next(reader, None)
            broken = None
        except csv.Error as error:
            row, broken = None, error
        if row is None and broken is None:
            return
        taken = source.taken
        first = taken[0].rstrip("\r\n").split("\t")
        swallows = len(taken) > 1 and all(line.count("\t") == width - 1 for line in taken)
        if width > 1 and len(first) == width and (broken is not None or swallows):
            source.give_back(len(taken) - 1)
            row, broken = first, None
        if row is None:
            raise csv.Error(str(broken), number)
        if not width and any(cell.strip() for cell in row):
            width = source.width = len(row)
        yield number, row


class _Lines:
    """The lines of a file one by one; ``taken`` are those of the row at hand, which may be given back."""

    def __init__(self, lines: TextIO) -> None:
        self._lines = lines
        self._ahead: deque[str] = deque()
        self._number = 0
        self.taken: list[str] = []
        self.width = 0

    def begin(self) -> int:
        """Begins a row; the number of its first line."""
        self.taken = []
        return self._number + 1

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if len(self.taken) >= _SPAN and all(line.count("\t") == self.width - 1 for line in self.taken):
            raise csv.Error("a quotation mark that is not closed")
        line = self._ahead.popleft() if self._ahead else self._lines.readline()
        if not line:
            raise StopIteration
        self._number += 1
        self.taken.append(line)
        return line

    def give_back(self, count: int) -> None:
        """The last so many lines come again."""
        if count:
            self._ahead.extendleft(reversed(self.taken[-count:]))
            self._number -= count


def _said_delimiter(lines: TextIO) -> tuple[str, int]:
    """What the first line says the delimiter is, and that it is one line before the header; else "" and 0."""
    said = _SAID.fullmatch(lines.readline(20))
    if said is None:
        lines.seek(0)
        return "", 0
    return said[1], 1


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
    rows = _tabbed_rows(lines) if mark == "\t" else _plain_rows(lines, mark)
    try:
        for _, row in rows:
            if any(cell.strip() for cell in row):
                widths.append(len(row))
            if len(widths) > _FIRST_ROWS:
                break
    except csv.Error:
        widths.append(0)  # a broken row fits no header
    header, *others = widths or [0]
    return others.count(header) / len(others) if others else 0.0
