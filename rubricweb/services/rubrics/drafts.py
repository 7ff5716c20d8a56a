"""What a draft may hold: a rubric's shape however incomplete, and nothing a form could not show."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from rubricweb.engine.errors import FaultList
from rubricweb.engine.parsers.plain_text import unstorable
from rubricweb.engine.rubric import MAX_CRITERIA
from rubricweb.engine.rubric.criterion import MAX_OPTIONS
from rubricweb.engine.rubric.reading import groups_of, opened, read_entries, read_list
from rubricweb.engine.rubric.sections import MAX_SECTIONS, ReadSection, kept_sections

MAX_PARAMS_DEPTH = 20


def as_one_list(data: Any) -> Mapping[Any, Any]:
    """Plain data of any form a rubric has, as an object with one list of criteria: what a form can show.

    Sections become groups, and what they say of themselves a list; a wrapping `rubric` goes. What is no such
    form comes back as it is, a list under `criteria`.
    """
    faults = FaultList()
    sections: list[ReadSection] = []
    content, place, _ = opened(data, faults, "")
    head = {key: value for key, value in data.items() if key != "rubric"} if place else {}
    if isinstance(content, Mapping):
        inside = {key: value for key, value in content.items() if key not in ("criteria", "sections")}
        entries = read_entries(content, faults, place, sections)
    else:
        inside, entries = {}, read_list(content, faults, place or "criteria", sections)
    kept = kept_sections(sections, groups_of(entries or ()), faults, "sections")
    if faults or entries is None or head.keys() & inside.keys():
        return data if isinstance(data, Mapping) else {"criteria": data}
    listed = {"sections": [section.to_dict() for section in kept]} if kept else {}
    return head | inside | {"criteria": [entry for _, entry in entries]} | listed


def is_draft(head: Mapping[Any, Any]) -> bool:
    """Whether plain data has a draft's shape: known keys, texts where texts belong, and so on down."""
    return _fits(head, _HEAD)


def as_draft(head: Mapping[Any, Any]) -> dict[str, Any]:
    """Plain data of a draft's shape as it is stored: what says nothing is left out, the rest as typed.

    A binary criterion does not name its kind; a choice without options yet does, to stay one.
    """
    draft: dict[str, Any] = {
        "title": head.get("title") or "",
        "guidelines": head.get("guidelines") or "",
        "criteria": [
            {key: value for key, value in entry.items() if value is not None and (key, value) != _BINARY}
            for entry in head.get("criteria") or []
        ],
    }
    draft |= {key: head[key] for key in ("id", "description") if head.get(key) is not None}
    if head.get("sections"):
        draft["sections"] = [
            {key: value for key, value in section.items() if value is not None}
            for section in head["sections"]
        ]
    return draft | {key: head[key] for key in ("pass_rule", "length_penalty") if head.get(key) is not None}


_BINARY = ("kind", "binary")

_Fits = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not unstorable(value))


def _is_number(value: Any) -> bool:
    """A number, or the text somebody typed where one belongs; NaN has no place in a JSON column."""
    if isinstance(value, bool):
        return False
    return abs(value) < math.inf if isinstance(value, int | float) else _is_text(value)


def _is_flag(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(_is_text(one) for one in value))


def _are_options(value: Any) -> bool:
    return _is_list_of(value, _OPTION, MAX_OPTIONS)


def _are_criteria(value: Any) -> bool:
    return _is_list_of(value, _CRITERION, MAX_CRITERIA)


def _are_sections(value: Any) -> bool:
    return _is_list_of(value, _SECTION, MAX_SECTIONS)


def _is_list_of(value: Any, fields: Mapping[str, _Fits], most: int) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and len(value) <= most and all(_fits(one, fields) for one in value)


def _are_params(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and _is_plain(value, MAX_PARAMS_DEPTH))


def _is_plain(value: Any, depth: int) -> bool:
    """Whether a JSON column holds the value: texts, numbers, flags, and lists and objects of them."""
    if depth == 0:
        return False
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_text(key) for key in value) and all(
            _is_plain(one, depth - 1) for one in value.values()
        )
    if isinstance(value, list):
        return all(_is_plain(one, depth - 1) for one in value)
    return _is_flag(value) or _is_number(value)


def _is_pass_rule(value: Any) -> bool:
    return value is None or _fits(value, _PASS_RULE)


def _is_length_penalty(value: Any) -> bool:
    return value is None or _fits(value, _LENGTH_PENALTY)


def _fits(value: Any, fields: Mapping[str, _Fits]) -> bool:
    return isinstance(value, Mapping) and all(
        key in fields and fields[key](one) for key, one in value.items()
    )


_SECTION: dict[str, _Fits] = {"title": _is_text, "id": _is_text, "description": _is_text}

_OPTION: dict[str, _Fits] = {"label": _is_text, "value": _is_number, "na": _is_flag}

_CRITERION: dict[str, _Fits] = {
    "id": _is_text,
    "description": _is_text,
    "weight": _is_number,
    "requirement": _is_text,
    "name": _is_text,
    "group": _is_text,
    "guidance": _is_text,
    "tags": _are_texts,
    "met_example": _is_text,
    "unmet_example": _is_text,
    "kind": _is_text,
    "options": _are_options,
    "scale_type": _is_text,
    "aggregation": _is_text,
    "check": _is_text,
    "params": _are_params,
}

_PASS_RULE: dict[str, _Fits] = {"min_score": _is_number, "min_criterion": _is_number}

_LENGTH_PENALTY: dict[str, _Fits] = {
    "free_budget": _is_number,
    "max_cap": _is_number,
    "penalty_at_cap": _is_number,
    "exponent": _is_number,
    "counts": _is_text,
    "penalty_type": _is_text,
}

_HEAD: dict[str, _Fits] = {
    "title": _is_text,
    "id": _is_text,
    "description": _is_text,
    "guidelines": _is_text,
    "criteria": _are_criteria,
    "sections": _are_sections,
    "pass_rule": _is_pass_rule,
    "length_penalty": _is_length_penalty,
}
