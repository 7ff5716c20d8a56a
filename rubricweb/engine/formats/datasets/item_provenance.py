"""Where the labels of an item come from, and the decisions they count by, read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from rubricweb.engine.errors import FaultList, join_place, nearest, shown
from rubricweb.engine.formats.dataset_values import LabelRow, ProvenanceRow
from rubricweb.engine.formats.field_values import read_text
from rubricweb.engine.formats.label_provenance import (
    LINEAGE_COLUMNS,
    PROVENANCE_COLUMNS,
    LabelProvenance,
    UsedDecision,
)
from rubricweb.engine.ground_truth import RULES
from rubricweb.engine.origin import Origin

_SAID = ("rater", "is_judge", "verdict")
_PINNED = ("rubric_version", "counts_by", "origin")
"""What is said of a label since; files of earlier releases say nothing of it."""
_DECISION = tuple(field.name for field in fields(UsedDecision))
_TEXTS = ("kind", "rubric", "criterion", "uid", "reason", "decided_by")


def read_provenance_row(
    value: Any, row: LabelRow | None, place: str, faults: FaultList
) -> ProvenanceRow | None:
    """The provenance beside the labels it is of: a list of the same length, None where a label has none.

    Faults are placed ``ground_truth_provenance[1].rule``.
    """
    if not isinstance(value, list):
        faults.add(place, shown(value), "a list of objects or null, one per label")
        return None
    if row is None:
        faults.add(place, "provenance without ground_truth", "provenance beside the labels it is of")
    elif len(value) != len(row):
        faults.add(place, f"{len(value)} entries", f"{len(row)}, one per label")
    return tuple(_provenance(entry, f"{place}[{i}]", faults) for i, entry in enumerate(value))


def _provenance(value: Any, place: str, faults: FaultList) -> LabelProvenance | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        faults.add(place, shown(value), f"an object with {', '.join(PROVENANCE_COLUMNS)}")
        return None
    _refuse_unknown(value, (*PROVENANCE_COLUMNS, *LINEAGE_COLUMNS), place, faults)
    rule = value.get("rule")
    if rule not in RULES:
        faults.add(join_place(place, "rule"), shown(rule), ", ".join(RULES))
    return LabelProvenance(
        rule=str(rule),
        decided_by=read_text(value.get("decided_by"), join_place(place, "decided_by"), faults),
        decided_at=_time(value.get("decided_at"), join_place(place, "decided_at"), faults),
        labels=_labels(value.get("labels"), join_place(place, "labels"), faults),
        rubric_versions=_versions(value.get("rubric_versions"), join_place(place, "rubric_versions"), faults),
        counts_by=_texts(value.get("counts_by"), join_place(place, "counts_by"), faults),
    )


def _versions(value: Any, place: str, faults: FaultList) -> tuple[int, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(_is_number(one) for one in value):
        faults.add(place, shown(value), "a list of whole numbers from 1 on")
        return ()
    return tuple(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**63


def _texts(value: Any, place: str, faults: FaultList) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        faults.add(place, shown(value), "a list of texts")
        return ()
    return tuple(read_text(one, f"{place}[{i}]", faults) or "" for i, one in enumerate(value))


def _time(value: Any, place: str, faults: FaultList) -> str | None:
    text = read_text(value, place, faults)
    if text is not None:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            faults.add(place, shown(text), "an ISO 8601 time")
    return text


def _labels(value: Any, place: str, faults: FaultList) -> tuple[dict[str, Any], ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        faults.add(place, shown(value), f"a list of objects with {', '.join(_SAID)}")
        return ()
    return tuple(_said(entry, f"{place}[{i}]", faults) for i, entry in enumerate(value))


def _said(value: Any, place: str, faults: FaultList) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        faults.add(place, shown(value), f"an object with {', '.join(_SAID)}")
        return {}
    _refuse_unknown(value, (*_SAID, *_PINNED), place, faults)
    for name in ("rater", "verdict"):
        if read_text(value.get(name), join_place(place, name), faults) is None and value.get(name) is None:
            faults.add(join_place(place, name), "nothing", "text")
    if not isinstance(value.get("is_judge"), bool):
        faults.add(join_place(place, "is_judge"), shown(value.get("is_judge")), "true or false")
    version = value.get("rubric_version")
    if version is not None and not _is_number(version):
        faults.add(join_place(place, "rubric_version"), shown(version), "a whole number from 1 on, or null")
    read_text(value.get("counts_by"), join_place(place, "counts_by"), faults)
    origin = value.get("origin")
    if origin is not None and origin not in [*Origin]:
        faults.add(join_place(place, "origin"), shown(origin), f"{', '.join(Origin)} or null")
    return {name: value.get(name) for name in _SAID} | {
        name: value[name] for name in _PINNED if name in value
    }


def read_decisions(value: Any, place: str, faults: FaultList) -> tuple[UsedDecision, ...]:
    """The decisions the labels of a file count by; faults are placed ``label_decisions[0].kind``."""
    if value is None:
        return ()
    if not isinstance(value, list):
        faults.add(place, shown(value), "a list of decisions")
        return ()
    found = [_decision(entry, f"{place}[{i}]", faults) for i, entry in enumerate(value)]
    return tuple(one for one in found if one is not None)


def _decision(value: Any, place: str, faults: FaultList) -> UsedDecision | None:
    if not isinstance(value, Mapping):
        faults.add(place, shown(value), f"an object with {', '.join(_DECISION)}")
        return None
    _refuse_unknown(value, _DECISION, place, faults)
    texts = {name: read_text(value.get(name), join_place(place, name), faults) for name in _TEXTS}
    for name in ("id", "to_version"):
        if not _is_number(value.get(name)):
            faults.add(join_place(place, name), shown(value.get(name)), "a whole number from 1 on")
    options = value.get("options")
    if options is not None and not _is_option_map(options):
        faults.add(join_place(place, "options"), shown(options), "an object of texts, null among them")
        options = None
    return UsedDecision(
        id=value.get("id") or 0,
        kind=texts.pop("kind") or "",
        to_version=value.get("to_version") or 0,
        rubric=texts.pop("rubric") or "",
        reason=texts.pop("reason") or "",
        options=options,
        decided_at=_time(value.get("decided_at"), join_place(place, "decided_at"), faults),
        **texts,
    )


def _is_option_map(value: Any) -> bool:
    return isinstance(value, Mapping) and all(one is None or isinstance(one, str) for one in value.values())


def _refuse_unknown(value: Mapping[Any, Any], known: tuple[str, ...], place: str, faults: FaultList) -> None:
    for key in value:
        if key not in known:
            faults.add(join_place(place, str(key)), "an unknown key", nearest(str(key), known))
