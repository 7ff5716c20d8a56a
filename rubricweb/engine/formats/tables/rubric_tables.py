"""Rubrics as tables: a criterion a row, and perhaps a column for each rating, as teachers' grids have it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from rubricweb.engine.errors import Fault, FaultList, InvalidRubric, InvalidText, shortened
from rubricweb.engine.formats.formulas import restored
from rubricweb.engine.formats.tables.csv_rows import csv_rows
from rubricweb.engine.parsers.plain_text import composed, decode
from rubricweb.engine.rubric import MAX_NAME, MAX_SOURCE_BYTES, Rubric, check_rubric

ROLES: dict[str, tuple[str, ...]] = {
    "name": (
        "criterion", "criteria", "criterion name", "criteria name", "name", "dimension", "trait", "skill",
    ),
    "requirement": (
        "requirement", "description", "criterion description", "criteria description", "question",
        "definition",
    ),
    "weight": ("weight", "max points", "maximum points", "max", "total points"),
    "group": ("group", "section", "category"),
    "guidance": ("guidance", "notes", "note", "comment", "comments"),
    "id": ("id", "criterion id"),
    "title": ("rubric name", "rubric", "title"),
    "": ("criteria enable range", "criterion enable range", "total"),
}  # fmt: skip
"""Per field of a criterion the names its column may have; those of "" are passed over."""

FIRST_ROWS = 10
"""So many rows are shown beside what the columns were read as."""
CELL_CHARACTERS = 280

_POINTS = ("points", "pts", "point", "score", "marks", "value", "rating points")
_LABELS = ("rating name", "rating", "option", "level")
_DESCRIPTIONS = ("rating description", "option description", "level description")
_IN_NAME = re.compile(
    r"(.*?)\s*\(\s*(-?\d+(?:[.,]\d+)?)\s*(?:pts?|points?|marks?)?\.?\s*\)\s*\Z", re.IGNORECASE
)
"""A rating with its points: ``Excellent (4 pts)``."""
_RANGE = re.compile(r"[\[(]?\s*(\d+(?:\.\d+)?)\s*(?:,|-|–|to)\s*(\d+(?:\.\d+)?)\s*[\])]?\s*%?\Z")

ALLOWED = "a header with criterion, description, weight or points, and ratings, each with a column of points"
NO_POINTS = (
    "points for each rating: in a column behind it, in its name, as in Excellent (4), or in a row below the "
    "header; or no such column"
)


@dataclass(slots=True)
class _Rating:
    """One rating: the column of its descriptions, and where its label and its points stand."""

    column: int
    label: str = ""
    label_column: int | None = None
    points_column: int | None = None
    points: float | None = None


@dataclass(frozen=True, slots=True)
class RubricTable:
    """What the columns of a table were read as, column by column and in words, and its first rows."""

    columns: tuple[str, ...]
    read_as: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: str

    def __str__(self) -> str:
        """``name ← Criterion, weight ← points; ratings: Excellent, Fair``."""
        return self.words


@dataclass(slots=True)
class _Columns:
    """What the columns of a table are; with ``shares`` the points of ratings are shares of the most."""

    fields: dict[str, int] = field(default_factory=dict)
    ratings: list[_Rating] = field(default_factory=list)
    shares: bool = False


def read_rubric_table(data: bytes | str) -> tuple[Rubric, RubricTable]:
    """The rubric in a CSV file, and what its columns were read as.

    Without ratings a row is a criterion that is met or not, with its weight or points. With ratings it is a
    choice: a rating counts its points in relation to the most a rating of the row has, which is the weight
    where no column says it. What a cell says of a rating becomes guidance; in a row that describes some of
    them, an empty cell is no option. A row below the header without a criterion may hold the points, also as
    ranges, which count as their middle: 0.3 for ``[0, 60)`` where the highest ends at 100.

    A row that names no ratings, where rows name their own, is met or not.

    Raises InvalidRubric with every fault, by its line.
    """
    rows = list(_rows(data))
    if len(rows) < 2:
        _refuse("", "a table without rows", ALLOWED)
    columns = _columns(rows[0][1])
    if not {"name", "requirement"} & columns.fields.keys():
        named = ", ".join(shortened(cell) or "(empty)" for cell in rows[0][1][:20])
        _refuse(f"line {rows[0][0]}", f"the columns {named}", ALLOWED)
    below = rows[1:]
    if columns.ratings and not _cell(
        below[0][1], columns.fields.get("name", columns.fields.get("requirement"))
    ):
        _take_points(columns, *below.pop(0))
    faults = FaultList()
    entries = [_entry(columns, number, row, faults) for number, row in below]
    inside = FaultList()
    title = _cell(below[0][1], columns.fields.get("title")) if below else ""
    rubric = check_rubric({"title": title, "criteria": entries}, inside)
    for fault in inside:
        faults.add(_by_line(fault.place, [number for number, _ in below]), fault.found, fault.allowed)
    faults.raise_as(InvalidRubric)
    assert rubric is not None, "it has no faults"
    header, shown = rows[0][1], [row for _, row in rows[1 : 1 + FIRST_ROWS]]
    table = RubricTable(
        columns=tuple(shortened(name, CELL_CHARACTERS) for name in header),
        read_as=_read_as(columns, len(header)),
        rows=tuple(
            tuple(shortened(_cell(row, place), CELL_CHARACTERS) for place in range(len(header)))
            for row in shown
        ),
        words=_in_words(columns, header),
    )
    return rubric, table


def _rows(data: bytes | str) -> Iterator[tuple[int, list[str]]]:
    try:
        text = decode(data, max_bytes=MAX_SOURCE_BYTES)
        for number, row in csv_rows(io.StringIO(text, newline="")):
            yield number, [composed(restored(cell.strip())) for cell in row]
    except InvalidText as error:
        raise InvalidRubric(error.faults) from None
    except csv.Error as error:
        words, number = error.args
        _refuse(f"line {number}", f"a broken row ({words})", "cells in double quotes that are closed again")


def _columns(header: list[str]) -> _Columns:
    """What each column is by its name; any other is a rating, behind which its points may stand."""
    found = _Columns()
    roles = {name: role for role, names in ROLES.items() for name in names}
    for number, written in enumerate(header):
        name = re.sub(r"[\s_\-]+", " ", written).casefold()
        last = found.ratings[-1] if found.ratings else None
        if name in _POINTS and last is not None and last.points_column is None:
            last.points_column = number
        elif name in _POINTS and last is None:
            found.fields.setdefault("weight", number)
        elif name in _LABELS:
            found.ratings.append(_Rating(-1, label_column=number))
        elif name in _DESCRIPTIONS and last is not None and last.label_column is not None:
            last.column = number
        elif name in roles and roles[name] not in found.fields:
            found.fields[roles[name]] = number
        elif not name and "name" not in found.fields and number == 0:
            found.fields["name"] = number
        elif name and roles.get(name) != "":
            points = _IN_NAME.match(written)
            label = points[1] if points else written
            found.ratings.append(_Rating(number, label, points=_number(points[2]) if points else None))
    return found


def _take_points(columns: _Columns, number: int, row: list[str]) -> None:
    """Points of every rating from the row below the header: numbers, or ranges that count as their middle."""
    ranges = [_RANGE.match(_cell(row, one.column)) for one in columns.ratings]
    top = max((float(found[2]) for found in ranges if found), default=1.0) or 1.0
    for rating, found in zip(columns.ratings, ranges, strict=True):
        cell = _cell(row, rating.column)
        points = (float(found[1]) + float(found[2])) / 2 / top if found else _number(cell)
        if points is None:
            _refuse(f"line {number}: {rating.label}", cell or "nothing", "points, or a range of them")
        rating.points = points
    columns.shares = any(ranges)


def _entry(columns: _Columns, number: int, row: list[str], faults: FaultList) -> dict[str, Any]:
    """The criterion of a row, as plain data."""
    given = {name: _cell(row, place) for name, place in columns.fields.items() if name not in ("", "title")}
    entry: dict[str, Any] = {name: text for name, text in given.items() if text}
    name = entry.get("name", "")
    entry.setdefault("requirement", name)
    if len(name) > MAX_NAME or "\n" in name:
        del entry["name"]  # it is the requirement, and there is no shorter one
    if "weight" in entry:
        weight = _number(entry["weight"])
        if weight is None:
            faults.add(f"line {number}: weight", repr(entry["weight"]), "a number")
        entry["weight"] = weight or 0
    if columns.ratings:
        _add_options(entry, columns, number, row, faults)
    return entry


def _add_options(
    entry: dict[str, Any], columns: _Columns, number: int, row: list[str], faults: FaultList
) -> None:
    described = any(_cell(row, one.column) for one in columns.ratings)
    read: list[tuple[str, float, str]] = []
    for rating in columns.ratings:
        words = _cell(row, rating.column)
        label = _cell(row, rating.label_column) if rating.label_column is not None else rating.label
        if not label or (described and not words and rating.label_column is None):
            continue
        points = rating.points
        if rating.points_column is not None and (cell := _cell(row, rating.points_column)):
            points = _number(cell)
        if points is None or points < 0:
            faults.add(f"line {number}: {label}", "no points" if points is None else f"{points:g}", NO_POINTS)
            return
        read.append((label, points, words))
    if not read and all(rating.label_column is not None for rating in columns.ratings):
        return  # in a table where each row names its ratings, one without any is met or not
    if len(read) < 2:
        faults.add(f"line {number}", f"{len(read)} ratings", "at least two, with their points")
        return
    most = max(points for _, points, _ in read)
    if most == 0:
        faults.add(f"line {number}", "ratings that are all worth 0 points", NO_POINTS)
        return
    top = 1.0 if columns.shares else most
    read.sort(key=lambda one: one[1])
    entry["options"] = [{"label": label, "value": points / top} for label, points, _ in read]
    entry["scale_type"] = "ordinal"
    entry.setdefault("weight", top)
    levels = "\n".join(f"{label}: {words}" for label, _, words in read if words)
    entry["guidance"] = "\n".join(filter(None, (entry.get("guidance"), levels))) or None


def _read_as(columns: _Columns, width: int) -> tuple[str, ...]:
    """Of each column the field it was read as, or what it says of a rating."""
    found = ["not read"] * width
    for name, place in columns.fields.items():
        found[place] = name or "not read"
    for rating in columns.ratings:
        if rating.label_column is not None:
            found[rating.label_column] = "rating"
        if rating.column >= 0:
            found[rating.column] = "rating" if rating.label_column is None else "what the rating means"
        if rating.points_column is not None:
            found[rating.points_column] = "points"
    return tuple(found)


def _in_words(columns: _Columns, header: list[str]) -> str:
    """``name ← Criterion, weight ← points; ratings: Excellent, Fair``."""
    fields = [
        f"{name} ← {header[place] or '(the first column)'}" for name, place in columns.fields.items() if name
    ]
    ratings = list(dict.fromkeys(one.label or header[one.label_column or 0] for one in columns.ratings))
    return ", ".join(fields) + (f"; ratings: {', '.join(ratings)}" if ratings else "")


def _cell(row: list[str], place: int | None) -> str:
    return row[place] if place is not None and 0 <= place < len(row) else ""


def _number(text: str) -> float | None:
    """A number as people write it: ``4``, ``2,5``, ``10 %``, ``4 pts``."""
    found = re.fullmatch(r"([-+]?\d{1,9}(?:[.,]\d+)?)\s*(?:%|pts?|points?)?", text.strip(), re.IGNORECASE)
    return None if found is None else float(found[1].replace(",", "."))


def _by_line(place: str, numbers: list[int]) -> str:
    found = re.match(r"criteria\[(\d+)\]\.?", place)
    if found is None:
        return place
    rest = place[found.end() :]
    line = f"line {numbers[int(found[1])]}"
    return f"{line}: {rest}" if rest else line


def _refuse(place: str, found: str, allowed: str) -> NoReturn:
    raise InvalidRubric([Fault(place, found, allowed)])
