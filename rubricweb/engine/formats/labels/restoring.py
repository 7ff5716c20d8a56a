"""Rows of CSV files of labels as they were before cells that look like formulas were neutralised."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from rubricweb.engine.errors import Fault, InvalidFile
from rubricweb.engine.formats.formulas import restored
from rubricweb.engine.formats.label_files import LabelChoices
from rubricweb.engine.formats.records import PlacedRecord
from rubricweb.engine.formats.result_files import VERDICT_COLUMNS

_OWN_HEADER = ",".join(VERDICT_COLUMNS[:7]) + ","
"""How the header of both exports begins that have reasons in them: verdicts, and ground truth."""


def is_own_export(data: bytes) -> bool:
    """Whether a CSV file is one of our exports with reasons, written anew with other delimiters or not."""
    header = data[:200].decode("utf-8-sig", errors="ignore").replace('"', "")
    return header.replace(";", ",").replace("\t", ",").startswith(_OWN_HEADER)


def restored_rows(rows: Iterable[PlacedRecord], *, but: Collection[str] = ()) -> Iterator[PlacedRecord]:
    """Rows with their cells and the names of their columns restored; the cells of `but` stay as they are.

    Raises InvalidFile for two columns that have one name then: one would hide the other.
    """
    names: dict[str, str] = {}
    written: dict[str, str] = {}
    for row in rows:
        for key in row.data.keys() - names.keys():
            names[key] = restored(key)
            other = written.setdefault(names[key].casefold(), key)
            if other != key:
                both = " and ".join(map(repr, sorted((key, other))))
                allowed = "names that differ in more than a ' before a formula"
                raise InvalidFile([Fault("", f"the columns {both}", allowed)])
        cells = {
            names[key]: restored(cell) if cell[0] == "'" and names[key] not in but else cell
            for key, cell in row.data.items()
        }
        yield PlacedRecord(row.place, cells)


def restored_choices(choices: LabelChoices, columns: Collection[str]) -> LabelChoices:
    """Choices that name columns as the rows have them; a person may say a name as the file writes it."""

    def name(column: str) -> str:
        was = restored(column)
        # What is there by this name is meant: restored again it would be another column.
        return was if column not in columns and was in columns else column

    said = {field: name(column) for field, column in choices.columns.items()}
    return replace(choices, columns=said, unread=frozenset(map(name, choices.unread)))
