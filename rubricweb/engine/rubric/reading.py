"""Plain data read as the parts of a rubric: its head, its sections, its criteria."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from rubricweb.engine.errors import FaultList, join_place, nearest, shown
from rubricweb.engine.rubric.criterion import Criterion, Option, contradictions, filled_in
from rubricweb.engine.rubric.field_types import Guidelines, LongText, Name, Title
from rubricweb.engine.rubric.rules import LengthPenalty, PassRule
from rubricweb.engine.rubric.sections import ReadSection, Section

MAX_CRITERIA = 1_000
OWN_PREFIX = "uid-"

Entry: TypeAlias = tuple[str, Any]
"""What stands for a criterion, with its place."""

RUBRIC_KEYS = (
    "title",
    "id",
    "description",
    "guidelines",
    "criteria",
    "sections",
    "pass_rule",
    "length_penalty",
)
_SECTION_KEYS = ("title", "name", "id", "description", "criteria")
_TEXTS: dict[str, Any] = {
    "title": Title,
    "id": Name,
    "description": LongText,
    "guidelines": Guidelines,
}
_RULES: dict[str, type[PassRule] | type[LengthPenalty]] = {
    "pass_rule": PassRule,
    "length_penalty": LengthPenalty,
}


def read_head(data: Mapping[Any, Any], faults: FaultList, place: str) -> dict[str, Any]:
    """Everything a rubric says beside its criteria, as keywords for Rubric."""
    for key in data:
        if key not in RUBRIC_KEYS:
            faults.add(join_place(place, str(key)), "an unknown key", nearest(str(key), RUBRIC_KEYS))
    head: dict[str, Any] = {}
    for field, kind in _TEXTS.items():
        if data.get(field) is not None:
            value = _id_text(data[field]) if field == "id" else data[field]
            head[field] = _fitted(TypeAdapter(kind), value, faults, join_place(place, field), ())
    for field, rule in _RULES.items():
        if data.get(field) is not None:
            here = join_place(place, field)
            head[field] = _fitted(TypeAdapter(rule), data[field], faults, here, tuple(rule.model_fields))
    return head


def opened(data: Any, faults: FaultList, place: str) -> tuple[Any, str, dict[str, Any]]:
    """What a rubric wrapped in the key ``rubric`` holds, its place, and what is said beside it.

    Anything else is given back as it is, with nothing beside it.
    """
    if not isinstance(data, Mapping) or "rubric" not in data:
        return data, place, {}
    for key in ("criteria", "sections"):
        if key in data:
            faults.add(join_place(place, key), f"{key} beside rubric", "one of the two")
    beside = {key: value for key, value in data.items() if key not in ("rubric", "criteria", "sections")}
    return data["rubric"], join_place(place, "rubric"), read_head(beside, faults, place)


def _fitted(
    adapter: TypeAdapter[Any], value: Any, faults: FaultList, place: str, known: Sequence[str]
) -> Any:
    if known and not isinstance(value, Mapping | BaseModel):
        faults.add(place, shown(value), f"an object with {', '.join(known)}")
        return None
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        add_faults(faults, error, place, known)
        return None


def read_entries(
    data: Mapping[Any, Any], faults: FaultList, place: str, sections: list[ReadSection]
) -> list[Entry] | None:
    """The criteria of an object with ``criteria``, ``sections`` or both, those of ``sections`` last.

    What the sections say of themselves goes to ``sections``.
    """
    has_sections = data.get("sections") is not None
    if "criteria" not in data and not has_sections:
        faults.add(join_place(place, "criteria"), "nothing", "a list of criteria")
        return None
    entries: list[Entry] | None = []
    if not has_sections or data.get("criteria") is not None:
        entries = read_list(data.get("criteria"), faults, join_place(place, "criteria"), sections)
    if not has_sections:
        return entries
    given, here = data["sections"], join_place(place, "sections")
    if not isinstance(given, list | tuple):
        faults.add(here, shown(given), "a list of sections, each with title and criteria")
        return None
    read = [_section(section, faults, f"{here}[{i}]", sections) for i, section in enumerate(given)]
    if entries is None or any(part is None for part in read):
        return None
    return entries + [entry for part in read if part is not None for entry in part]


def read_list(
    value: Any,
    faults: FaultList,
    place: str,
    sections: list[ReadSection],
    *,
    allowed: str = "a list of criteria",
) -> list[Entry] | None:
    """The criteria of a list that may hold sections (objects with ``criteria``) among them, in order.

    What the sections say of themselves goes to ``sections``.
    """
    members = _listed(value, faults, place, allowed=allowed)
    if members is None:
        return None
    read = [
        _section(entry, faults, where, sections)
        if isinstance(entry, Mapping) and "criteria" in entry
        else [(where, entry)]
        for where, entry in members
    ]
    if any(part is None for part in read):
        return None
    return [entry for part in read if part is not None for entry in part]


def _section(section: Any, faults: FaultList, place: str, sections: list[ReadSection]) -> list[Entry] | None:
    """A section's criteria, each with the section's title as its group where it has one.

    It may have none. One that has criteria and a description, but neither title nor id, is called by its
    place, Section 2: so its criteria belong to it.
    """
    if not isinstance(section, Mapping):
        faults.add(place, shown(section), "an object with title and criteria")
        return None
    unknown = [key for key in section if key not in _SECTION_KEYS]
    for key in unknown:
        faults.add(join_place(place, str(key)), "an unknown key", nearest(str(key), _SECTION_KEYS))
    titles = [key for key in ("title", "name") if section.get(key) is not None]
    section = {**section, "id": _id_text(section.get("id"))}
    if not titles and section["id"] is not None:
        titles = ["id"]
    if len(titles) > 1:
        allowed = "a title (or a name), which becomes the group"
        faults.add(join_place(place, "title"), "both title and name", allowed)
        return None
    group = None
    for title in titles:
        group = _fitted(TypeAdapter(Name), section[title], faults, join_place(place, title), ())
        if group is None and isinstance(section[title], str) and not section[title].strip():
            faults.add(join_place(place, title), "an empty text", "a title, which becomes the group")
    id = group if titles == ["id"] else _text_of(section, "id", faults, place)
    description = _text_of(section, "description", faults, place)
    entries: list[Entry] | None = []
    # An unknown key may be a misspelt "criteria": then their lack is a fault.
    if unknown or section.get("criteria") is not None:
        entries = _listed(section.get("criteria"), faults, join_place(place, "criteria"))
    if entries is None:
        return None
    if group is None and description and entries:
        group = f"Section {len(sections) + 1}"
    own = Section(title=group, id=id, description=description)
    sections.append(ReadSection(place, own, bool(entries)))
    return [(where, _grouped(entry, group, faults, where)) for where, entry in entries]


def _text_of(section: Mapping[Any, Any], field: str, faults: FaultList, place: str) -> str | None:
    if section.get(field) is None:
        return None
    text = _fitted(TypeAdapter(_TEXTS[field]), section[field], faults, join_place(place, field), ())
    return text or None


def _grouped(entry: Any, group: str | None, faults: FaultList, place: str) -> Any:
    if not isinstance(entry, Mapping) or group is None:
        return entry
    own = entry.get("group")
    if own is not None and not (isinstance(own, str) and own.strip() == group):
        faults.add(join_place(place, "group"), shown(own), f"no group, or the section's own: {group}")
    return {**entry, "group": group}


def _listed(
    value: Any, faults: FaultList, place: str, *, allowed: str = "a list of criteria"
) -> list[Entry] | None:
    if not isinstance(value, list | tuple):
        faults.add(place, shown(value), allowed)
        return None
    return [(f"{place}[{i}]", entry) for i, entry in enumerate(value)]


def groups_of(entries: Iterable[Entry]) -> set[str | None]:
    """The groups that the entries name."""
    return {_text_in(entry, "group") for _, entry in entries}


def named_by_ids(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with each ``id`` as text, which also names a criterion that has no ``name``.

    That is so where no two of the rubric would be called the same. Numbers that start anew in every section
    are no ids and name nothing: those criteria become C1, C2, … . Nor does an id given here, see ``new_id``.
    """
    given = [_id_text(entry["id"]).strip() if _has_id(entry) else None for _, entry in entries]
    numbers = [own for own in given if own and own.isdecimal()]
    if len(set(numbers)) < len(numbers):
        entries = [
            (place, _without_id(entry) if own and own.isdecimal() else entry)
            for (place, entry), own in zip(entries, given, strict=True)
        ]
        given = [None if own and own.isdecimal() else own for own in given]
    names = [
        str(entry.get("name") or _name_of(own) or "").strip().casefold() if isinstance(entry, Mapping) else ""
        for (_, entry), own in zip(entries, given, strict=True)
    ]
    clash = len(set(filter(None, names))) < len(list(filter(None, names)))
    return [
        (place, entry if own is None else _with_id(entry, own, None if clash else _name_of(own)))
        for (place, entry), own in zip(entries, given, strict=True)
    ]


def new_id() -> str:
    """An id for a criterion that came without: ``uid-`` and sixteen hexadecimal digits, chosen at random."""
    return f"{OWN_PREFIX}{secrets.token_hex(8)}"


def _name_of(id: str | None) -> str | None:
    """The name a criterion has by its id; none by one that was chosen at random."""
    return None if id is None or id.startswith(OWN_PREFIX) else id


def _has_id(entry: Any) -> bool:
    return isinstance(entry, Mapping) and isinstance(_id_text(entry.get("id")), str)


def _id_text(value: Any) -> Any:
    """Numbers are ids as well; anything else is left to be refused."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _without_id(entry: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: value for key, value in entry.items() if key != "id"}


def _with_id(entry: Mapping[Any, Any], id: str, name: str | None) -> dict[Any, Any]:
    fields = {**entry, "id": id}
    return fields if name is None or fields.get("name") is not None else {**fields, "name": name}


def check_criterion(entry: Any, faults: FaultList, place: str) -> Criterion | None:
    if isinstance(entry, Criterion):
        return entry
    if not isinstance(entry, Mapping):
        faults.add(place, shown(entry), "an object with weight and requirement")
        return None
    before = faults.total
    fields = filled_in(entry)
    criterion = None
    try:
        criterion = Criterion.model_validate(fields)
    except ValidationError as error:
        add_faults(faults, error, place, tuple(Criterion.model_fields))
    for fault in contradictions(fields):
        faults.add(join_place(place, fault.place), fault.found, fault.allowed)
    return criterion if faults.total == before else None


def check_together(
    criteria: Iterable[Criterion | None], faults: FaultList, place: str, entries: Sequence[Entry]
) -> None:
    """What only shows between criteria (None is an unreadable one): none, too many, a name or id twice.

    `entries` are what they were read from: an unreadable one has its name too.
    """
    criteria = list(criteria)
    if not criteria:
        faults.add(place, "an empty list", "at least one criterion")
    if len(criteria) > MAX_CRITERIA:
        faults.add(place, f"{len(criteria):,} criteria", f"at most {MAX_CRITERIA:,}")
    first: dict[tuple[str, str], int] = {}
    for i, criterion in enumerate(criteria):
        for field in ("name", "id"):
            where, entry = entries[i]
            value = getattr(criterion, field, None) if criterion else _text_in(entry, field)
            if value is None:
                continue
            key = (field, value.casefold() if field == "name" else value)
            if key in first:
                found = f"the {field} {value!r} again (as {entries[first[key]][0]})"
                faults.add(join_place(where, field), found, f"a different {field} for every criterion")
            first.setdefault(key, i)


def _text_in(entry: Any, field: str) -> str | None:
    value = entry.get(field) if isinstance(entry, Mapping) else None
    return (value.strip() or None) if isinstance(value, str) else None


def add_faults(faults: FaultList, error: ValidationError, place: str, known: Sequence[str]) -> None:
    """Pydantic's errors as faults; a criterion's contradictions are left to ``contradictions``."""
    for detail in error.errors(include_url=False):
        where = join_place(place, _path(detail))
        context = detail.get("ctx", {})
        if detail["type"] == "contradiction":
            continue
        if detail["type"] == "refused":
            faults.add(where, context["found"], context["allowed"])
        elif detail["type"] == "missing":
            what = "text that says what to look for" if detail["loc"][-1] == "requirement" else "a text"
            faults.add(where, "nothing", what)
        elif detail["type"] == "extra_forbidden":
            keys = Option.model_fields if "options" in detail["loc"][:-1] else known
            faults.add(where, "an unknown key", nearest(str(detail["loc"][-1]), keys))
        elif detail["type"] == "model_type":
            faults.add(where, shown(detail["input"]), "an object with label and value")
        else:
            faults.add(where, shown(detail["input"]), detail["msg"])


def _path(detail: ErrorDetails) -> str:
    path = ""
    for step in detail["loc"]:
        path = join_place(path, f"[{step}]" if isinstance(step, int) else step)
    return path
