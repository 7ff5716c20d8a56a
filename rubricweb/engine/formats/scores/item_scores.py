"""Scores of whole items as files: what a holistic judge gave, who answers no criterion."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from rubricweb.engine.formats.result_files import csv_line


@dataclass(frozen=True, slots=True)
class ItemScore:
    """What one item came to in one run or evaluation.

    ``score`` is 0 to 1 (the raw sum where it was not normalised), ``llm_raw_score`` the judge's own number
    from 0 to 100, ``coverage`` the share (0 to 1) of the weights that was judged, ``passed`` by the rubric's
    pass rule. ``error`` says why something of it failed; scores are then None unless checks were measured.
    ``checks`` holds what the rubric's checks found, by criterion. ``judge_version`` is the version of the
    judge, ``support-judge@v3``. What does not apply is None.
    """

    item_id: str
    rater: str
    score: float | None
    raw_score: float | None
    llm_raw_score: float | None
    coverage: float | None
    passed: bool | None = None
    length_penalty: float | None = None
    reason: str = ""
    error: str | None = None
    checks: Mapping[str, float | None] = field(default_factory=dict)
    run: str | None = None
    recorded_at: str | None = None
    case_id: str | None = None
    system: str | None = None
    attempt: int | None = None
    judge_version: str | None = None


SCORE_COLUMNS = tuple(one.name for one in fields(ItemScore))


def scores_csv(rows: Iterable[ItemScore]) -> Iterator[str]:
    """A header, then one line per item; missing is an empty cell, ``checks`` a JSON object."""
    yield csv_line(SCORE_COLUMNS)
    for row in rows:
        values = _values(row)
        checks = json.dumps(values["checks"], ensure_ascii=False) if values["checks"] else None
        yield csv_line(list((values | {"checks": checks}).values()))


def scores_jsonl(rows: Iterable[ItemScore]) -> Iterator[str]:
    """One JSON object per item, every field as it is."""
    for row in rows:
        yield json.dumps(_values(row), ensure_ascii=False, allow_nan=False) + "\n"


SCORE_WRITERS = {"csv": scores_csv, "jsonl": scores_jsonl}
"""By the name of the format."""


def _values(row: ItemScore) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in SCORE_COLUMNS}
    return values | {"checks": dict(row.checks)}
