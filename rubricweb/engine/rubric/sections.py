"""Sections of a rubric's file: what they say of themselves, beside the criteria they hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pydantic import BaseModel, ConfigDict

from rubricweb.engine.errors import FaultList, join_place
from rubricweb.engine.rubric.field_types import LongText, Name

MAX_SECTIONS = 1_000


class Section(BaseModel):
    """A section of a rubric's file. Its title is the group of its criteria.

    It may have no criteria, and then no title either. Neither judges nor raters nor scores know of its ``id``
    and its ``description``: they are kept for the programs that read the file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Name = None
    id: Name = None
    description: LongText = None

    def to_dict(self) -> dict[str, Any]:
        """The section as plain data, without its criteria."""
        return self.model_dump(exclude_none=True)


@dataclass(frozen=True, slots=True)
class ReadSection:
    """A section as it stood in a file, with its place there."""

    place: str
    section: Section
    has_criteria: bool


def kept_sections(
    read: Sequence[ReadSection], groups: Collection[Any], faults: FaultList, place: str
) -> tuple[Section, ...]:
    """The sections of a file, or none where they say no more than the ``groups`` of the criteria do.

    All of them are kept where one has an id, a description or no criteria, so that it keeps its place among
    the others. Two of one title are one section: an id or a description that both have must be the same.
    """
    if len(read) > MAX_SECTIONS:
        faults.add(place, f"{len(read):,} sections", f"at most {MAX_SECTIONS:,}")
        return ()
    found: dict[str, ReadSection] = {}
    for each in read:
        if each.section.title is None and each.has_criteria:
            continue
        key = each.section.title or f"\n{each.place}"
        found[key] = _merged(found[key], each, faults) if key in found else each
    sections = tuple(each.section for each in found.values())
    tells = any(one.id or one.description or one.title not in groups for one in sections)
    return sections if tells else ()


def _merged(first: ReadSection, again: ReadSection, faults: FaultList) -> ReadSection:
    told = again.section.model_dump(exclude_none=True)
    for field, value in told.items():
        if (getattr(first.section, field) or value) != value:
            found = f"another {field} for the title {first.section.title!r} (as {first.place})"
            faults.add(join_place(again.place, field), found, f"one {field} for each title")
    return ReadSection(first.place, first.section.model_copy(update=told), True)


def nested(data: Mapping[str, Any]) -> dict[str, Any]:
    """A rubric as plain data, ``Rubric.to_dict`` or a draft, with each section's criteria inside it.

    Criteria outside the sections, and those that come back to a section after another one, are in a section
    without a title, with their ``group``: the published packages read nothing beside ``sections``.
    """
    waiting = [
        {key: value for key, value in section.items() if value is not None}
        for section in data.get("sections") or ()
    ]
    if not waiting:
        return dict(data)
    entries = data.get("criteria") or []
    used = {_group(entry) for entry in entries}
    written: list[dict[str, Any]] = []
    for group, members in groupby(entries, key=_group):
        at = next((i for i, one in enumerate(waiting) if group and _title(one) == group), None)
        if at is not None:
            written += [_filled(one, ()) for one in waiting[:at] if _title(one) not in used]
            written.append(_filled(waiting[at], [_without_group(entry) for entry in members]))
            waiting = [one for one in waiting[:at] if _title(one) in used] + waiting[at + 1 :]
        elif written and _title(written[-1]) is None and written[-1]["criteria"]:
            written[-1]["criteria"] += members
        else:
            written.append({"criteria": list(members)})
    written += [_filled(one, ()) for one in waiting]
    parts = {key: value for key, value in data.items() if key not in ("criteria", "sections")}
    rules = {key: parts.pop(key) for key in ("pass_rule", "length_penalty") if key in parts}
    return parts | {"sections": written} | rules


def _filled(section: Mapping[str, Any], criteria: Sequence[Any]) -> dict[str, Any]:
    return {**section, "criteria": list(criteria)}


def _title(section: Mapping[str, Any]) -> str | None:
    return _stripped(section.get("title")) or _stripped(section.get("id"))


def _group(entry: Any) -> str | None:
    return _stripped(entry.get("group")) if isinstance(entry, Mapping) else None


def _stripped(value: Any) -> str | None:
    return (value.strip() or None) if isinstance(value, str) else None


def _without_group(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "group"}
