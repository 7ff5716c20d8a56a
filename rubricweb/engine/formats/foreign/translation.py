"""What a translator of another program's files takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rubricweb.engine.errors import FaultList, join_place, shown
from rubricweb.engine.formats.dataset_values import DatasetHeader
from rubricweb.engine.formats.records import PlacedRecord


@dataclass(frozen=True, slots=True)
class Translation:
    """A foreign file in our own terms: what it says once, and records under the keys of our fields."""

    header: DatasetHeader = field(default_factory=DatasetHeader)
    records: tuple[PlacedRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignDocument:
    """A format whose file is one object: ``recognises`` looks at its keys only."""

    title: str
    recognises: Callable[[Mapping[Any, Any]], bool]
    translate: Callable[[Mapping[Any, Any], FaultList], Translation]


@dataclass(frozen=True, slots=True)
class ForeignRecords:
    """A format whose file is a list or lines of objects: ``recognises`` looks at the first one."""

    title: str
    recognises: Callable[[Mapping[str, Any]], bool]
    translate: Callable[[list[PlacedRecord], FaultList], Translation]


def is_our_own(record: Mapping[str, Any]) -> bool:
    """Whether a record has a rubric, labels or a case as only our own files have them.

    Lists and texts called ``labels`` and texts called ``rubric`` or ``ground_truth`` stand in other programs'
    files too.
    """
    return (
        any(isinstance(record.get(key), list | dict) for key in ("rubric", "ground_truth"))
        or isinstance(record.get("labels"), dict)
        or record.get("case_id") is not None
    )


def objects(value: Any, place: str, faults: FaultList) -> list[tuple[str, dict[str, Any]]]:
    """The objects of a list, each with its place; what is no list or no object is a fault."""
    if value is None:
        return []
    if not isinstance(value, list):
        faults.add(place, shown(value), "a list")
        return []
    found = []
    for i, entry in enumerate(value):
        if isinstance(entry, dict):
            found.append((f"{place}[{i}]", {str(key): inner for key, inner in entry.items()}))
        else:
            faults.add(f"{place}[{i}]", shown(entry), "an object")
    return found


def child(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under a key, or an empty one."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def one_reference(value: Any, place: str, faults: FaultList) -> str | None:
    """One accepted answer as it is, several one per line; empty is None."""
    answers = value if isinstance(value, list) else [] if value is None else [value]
    texts = []
    for i, answer in enumerate(answers):
        if isinstance(answer, bool) or not isinstance(answer, str | int | float):
            faults.add(join_place(place, f"[{i}]"), shown(answer), "a text, or a list of texts")
        elif str(answer).strip():
            texts.append(str(answer))
    return "\n".join(texts) or None


def spoken(content: Any) -> tuple[str, str]:
    """The text and the reasoning of a message's content, which is a text or a list of typed parts."""
    if isinstance(content, str):
        return content, ""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, dict) and isinstance(part.get("reasoning"), str):
            thoughts.append(part["reasoning"])
    return "\n".join(texts), "\n".join(thoughts)


def without_empty(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data without keys that say nothing: null, empty lists, empty objects."""
    return {key: value for key, value in data.items() if value is not None and value not in ([], {})}
