"""Verdicts and ground truth as tables with one column per criterion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from rubricweb.engine.formats.result_files import (
    DatasetHead,
    GroundTruthItem,
    VerdictRow,
    csv_header,
    csv_line,
    rubric_of,
)
from rubricweb.engine.verdict import Label

RATER_COLUMNS = ("item_id", "rater", "rater_kind", "run")
"""What comes before the criteria in a table of verdicts."""


def verdicts_wide(rows: Iterable[VerdictRow], head: DatasetHead) -> Iterator[str]:
    """A header, then one line per item and rater: the label under its criterion, the number under a check.

    A run is one rater, with what its checks found. An answer a rater did not give, or gave with an error, is
    an empty cell. A second answer of the same rater to the same criterion, such as in another queue, goes to
    a further line. ``rows`` of one item stand together. Behind the criteria stands ``name (final)`` for each
    of ``head.changed``: what was said after the reveal. A criterion named like another column is called
    ``name (criterion)``. Raises ValueError for a criterion that is none of ``head.columns``.
    """
    finals = [f"{name} (final)" for name in head.changed]
    yield csv_header([*RATER_COLUMNS, *_titles(head.columns, (*RATER_COLUMNS, *finals)), *finals])
    for _, of_item in groupby(rows, key=attrgetter("item_id")):
        lines: dict[tuple[str | None, ...], list[list[VerdictRow]]] = {}
        for row in of_item:
            key: tuple[str | None, ...] = (row.run,) if row.run else (None, row.rater, row.rater_kind)
            found = lines.setdefault(key, [])
            fitting = (one for one in found if all(other.criterion != row.criterion for other in one))
            line = next(fitting, None)
            if line is None:
                found.append(line := [])
            line.append(row)
        for found in lines.values():
            for line in found:
                yield csv_line(_line(line, head))


def _line(rows: Sequence[VerdictRow], head: DatasetHead) -> list[Label | float | None]:
    """One line of answers; the checks of a run stand in the line of its judge."""
    first = next((row for row in rows if row.kind != "check"), rows[0])
    labels = {row.criterion: row.value if row.verdict is None else row.verdict for row in rows}
    final = {row.criterion: row.final_verdict for row in rows}
    cells = [*_cells(labels, head.columns, first.item_id), *map(final.get, head.changed)]
    return [first.item_id, first.rater, first.rater_kind, first.run, *cells]


def ground_truth_wide(items: Iterable[GroundTruthItem], head: DatasetHead) -> Iterator[str]:
    """A header, then one line per item with its settled labels; empty where none is.

    Titles and errors as in ``verdicts_wide``; further errors as ``ground_truth_jsonl`` has them.
    """
    yield csv_header(["item_id", *_titles(head.columns, ("item_id",))])
    for item in items:
        names = [str(name) for name in rubric_of(item, head).names]
        labels = dict(zip(names, item.ground_truth or (None,) * len(names), strict=True))
        yield csv_line([item.id, *_cells(labels, head.columns, item.id)])


def _titles(criteria: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Titles of columns; a criterion named like a fixed column gets " (criterion)" added."""
    return [f"{name} (criterion)" if name in taken else name for name in criteria]


def _cells(
    line: Mapping[str, Label | float | None], columns: Sequence[str], item_id: str
) -> list[Label | float | None]:
    for name in line:
        if name not in columns:
            raise ValueError(f"item {item_id!r} has the criterion {name!r}, which has no column")
    return [line.get(name) for name in columns]
