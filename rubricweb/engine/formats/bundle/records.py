"""What people and judges said, as a bundle keeps it: one record per answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from rubricweb.engine.errors import FaultList, nearest, shown
from rubricweb.engine.formats.field_values import read_text
from rubricweb.engine.formats.records import jsonl_records
from rubricweb.engine.origin import Origin
from rubricweb.engine.verdict import ALLOWED_VERDICTS, Verdict


@dataclass(frozen=True, slots=True)
class BundledJudgement:
    """One rater's answer on one criterion of one item.

    At most one of ``verdict`` (binary), ``option`` (an option's label) and ``value`` (a check's) is set; none
    when the rater failed, ``error`` then says why and ``error_kind`` what sort of failure it was.
    ``rater_kind`` is human, machine, settled, judge or another word, ``imported`` whether it came in a file
    of labels, ``origin`` both in one of `origin.Origin`; ``run`` and ``judge`` name the run and model,
    ``judge_version`` the version of the judge (``support-judge@v3``); ``repeat`` counts from 0;
    ``confidence`` is a share; ``recorded_at`` an ISO 8601 time. ``rubric_version`` is the number of the
    version it was given to, ``counts_by`` as in VerdictRow. ``evidence`` holds words, or places with
    ``field``, ``start``, ``end`` and ``text``. ``final_verdict`` (a verdict or an option's label)
    and ``final_reason`` are what a person said after they saw the others' answers. What does not apply is
    None.
    """

    item_id: str
    criterion: str
    rater: str
    rater_kind: str | None = None
    verdict: Verdict | None = None
    option: str | None = None
    value: float | None = None
    reason: str = ""
    evidence: tuple[str | dict[str, Any], ...] = ()
    confidence: float | None = None
    error: str | None = None
    error_kind: str | None = None
    run: str | None = None
    judge: str | None = None
    repeat: int = 0
    recorded_at: str | None = None
    imported: bool | None = None
    rubric_version: int | None = None
    counts_by: str | None = None
    origin: str | None = None
    final_verdict: str | None = None
    final_reason: str | None = None
    judge_version: str | None = None


@dataclass(frozen=True, slots=True)
class BundledAdjudication:
    """What was settled on one criterion of one item, by whom and why; the answer as in BundledJudgement.

    ``cause`` is why the raters differed, "" where what all said was accepted, None where the file does not
    say it.
    """

    item_id: str
    criterion: str
    adjudicator: str | None = None
    verdict: Verdict | None = None
    option: str | None = None
    value: float | None = None
    reason: str = ""
    recorded_at: str | None = None
    rubric_version: int | None = None
    counts_by: str | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class BundledNote:
    """What a rater wrote on an item as a whole in one queue, and whether they flagged it."""

    item_id: str
    rater: str
    queue: str | None = None
    note: str = ""
    flagged: bool | None = None
    recorded_at: str | None = None


Row = TypeVar("Row", BundledJudgement, BundledAdjudication, BundledNote)

_REQUIRED = ("item_id", "criterion", "rater")
_NUMBERS = ("value", "confidence")
_WORDS: dict[str, tuple[type[Verdict] | type[Origin], str]] = {
    "verdict": (Verdict, ALLOWED_VERDICTS),
    "origin": (Origin, f"{', '.join(Origin)} or null"),
}


def read_rows(kind: type[Row], text: str, name: str, faults: FaultList) -> tuple[Row, ...]:
    """Rows of one kind from JSON lines; what is wrong goes to ``faults``, placed ``name line 3: verdict``."""
    inside = FaultList()
    known = [one.name for one in fields(kind)]
    rows: list[Row] = []
    for record in jsonl_records(text, inside):
        before = inside.total
        for key in record.data:
            if key not in known:
                inside.add(f"{record.place}: {key}", "an unknown key", nearest(key, known))
        values = {
            key: _value(key, value, f"{record.place}: {key}", inside)
            for key, value in record.data.items()
            if key in known
        }
        for key in _REQUIRED:
            if key in known and not values.get(key):
                inside.add(f"{record.place}: {key}", "nothing", "a text")
        answers = [key for key in ("verdict", "option", "value") if values.get(key) is not None]
        if len(answers) > 1:
            inside.add(record.place, f"{' and '.join(answers)}", "one of verdict, option and value")
        if inside.total == before:
            rows.append(kind(**values))
    for fault in inside:
        faults.add(f"{name} {fault.place}", fault.found, fault.allowed)
    faults.total += inside.total - len(list(inside))
    return tuple(rows)


def _value(key: str, value: Any, place: str, faults: FaultList) -> Any:
    if key in _WORDS and value is not None:
        word, allowed = _WORDS[key]
        try:
            return word(value)
        except ValueError:
            faults.add(place, shown(value), allowed)
            return None
    if key == "evidence":
        if not isinstance(value, list):
            faults.add(place, shown(value), "a list of texts or places")
            return ()
        return tuple(_quoted(one, f"{place}[{i}]", faults) for i, one in enumerate(value))
    if key in ("repeat", "rubric_version"):
        if key == "rubric_version" and value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1_000_000:
            faults.add(place, shown(value), "a whole number from 0 on")
            return 0
        return value
    if key in ("imported", "flagged"):
        if value is not None and not isinstance(value, bool):
            faults.add(place, shown(value), "true, false or null")
            return None
        return value
    if key in _NUMBERS:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            faults.add(place, shown(value), "a finite number")
            return None
        return float(value)
    if key in ("reason", "note") and value is None:
        faults.add(place, shown(value), "text")
    return read_text(value, place, faults)


def _quoted(value: Any, place: str, faults: FaultList) -> str | dict[str, Any]:
    """Words, or a place: its characters ``start`` to ``end`` of ``field``, and the ``text`` there."""
    if not isinstance(value, dict):
        return read_text(value, place, faults) or ""
    texts = all(isinstance(value.get(key), str) for key in ("field", "text"))
    numbers = all(type(value.get(key)) is int and value[key] >= 0 for key in ("start", "end"))
    if not texts or not numbers or len(value) != 4:
        faults.add(place, shown(value), "a text, or an object with field, start, end and text")
        return ""
    return {**value, **{key: read_text(value[key], f"{place}.{key}", faults) for key in ("field", "text")}}


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond what a float holds
        return False
