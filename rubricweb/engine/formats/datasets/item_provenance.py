"""Where the labels of an item come from, read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rubricweb.engine.errors import FaultList, join_place, nearest, shown
from rubricweb.engine.formats.dataset_values import LabelRow, ProvenanceRow
from rubricweb.engine.formats.field_values import read_text
from rubricweb.engine.formats.label_provenance import PROVENANCE_COLUMNS, LabelProvenance
from rubricweb.engine.ground_truth import RULES

_SAID = ("rater", "is_judge", "verdict")


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
    _refuse_unknown(value, PROVENANCE_COLUMNS, place, faults)
    rule = value.get("rule")
    if rule not in RULES:
        faults.add(join_place(place, "rule"), shown(rule), ", ".join(RULES))
    return LabelProvenance(
        rule=str(rule),
        decided_by=read_text(value.get("decided_by"), join_place(place, "decided_by"), faults),
        decided_at=_time(value.get("decided_at"), join_place(place, "decided_at"), faults),
        labels=_labels(value.get("labels"), join_place(place, "labels"), faults),
    )


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
    _refuse_unknown(value, _SAID, place, faults)
    for name in ("rater", "verdict"):
        if read_text(value.get(name), join_place(place, name), faults) is None and value.get(name) is None:
            faults.add(join_place(place, name), "nothing", "text")
    if not isinstance(value.get("is_judge"), bool):
        faults.add(join_place(place, "is_judge"), shown(value.get("is_judge")), "true or false")
    return {name: value.get(name) for name in _SAID}


def _refuse_unknown(value: Mapping[Any, Any], known: tuple[str, ...], place: str, faults: FaultList) -> None:
    for key in value:
        if key not in known:
            faults.add(join_place(place, str(key)), "an unknown key", nearest(str(key), known))
