"""promptfoo assertions as criteria: text comparisons become checks, graded ones criteria for a judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from rubricweb.engine.errors import FaultList, join_place, shortened, shown

MAX_PHRASE = 200
"""Characters a keyword of a check may have; longer texts are looked for as an escaped pattern."""

_CODE = ("javascript", "python", "ruby", "webhook", "assert-set", "human", "skill-used")
_CODE_KEYS = ("transform", "contextTransform", "postprocess")
_NAME = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_.\-]*)\s*\}\}")

Fields = dict[str, Any]


def criteria_of(asserts: Any, variables: Mapping[str, Any], place: str, faults: FaultList) -> list[Fields]:
    """The criteria a test's assertions stand for, as plain data with unique names.

    ``not-`` is the forbidding check where there is one, otherwise the same criterion with a negative weight.
    Code (javascript, python, webhook, transforms), references to files and kinds without a counterpart are
    faults; nothing is run.
    """
    if asserts is None:
        return []
    if not isinstance(asserts, list):
        faults.add(place, shown(asserts), "a list of assertions")
        return []
    criteria: list[Fields] = []
    taken: set[str] = set()
    for i, given in enumerate(asserts):
        here = f"{place}[{i}]"
        if not isinstance(given, dict):
            faults.add(here, shown(given), "an object with type and value")
            continue
        criterion = _criterion(given, variables, here, faults)
        if criterion is not None:
            criterion["name"] = _unique(criterion["name"], taken)
            criteria.append(criterion)
    return criteria


def rendered(text: str, variables: Mapping[str, Any], place: str, faults: FaultList) -> str | None:
    """The text with every ``{{name}}`` replaced by that variable; anything cleverer is a fault."""
    if text.startswith(("file://", "exec:", "http://", "https://", "package:")) and " " not in text:
        faults.add(place, f"a reference ({shown(text)})", "the text itself: nothing is fetched or run")
        return None
    if "{%" in text or "{{" in _NAME.sub("", text):
        faults.add(place, "a template with logic or filters", "plain text, or {{name}} of a variable")
        return None
    for name in _NAME.findall(text):
        if not isinstance(variables.get(name), str | int | float):
            faults.add(place, f"{{{{{name}}}}}, which is no variable of this test", "names under vars")
            return None
    return _NAME.sub(lambda match: _written(variables[match.group(1)]), text)


def _written(value: str | int | float) -> str:
    """The value as JavaScript writes it, for which 5.0 is the whole number 5."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return str(value)


def _criterion(
    given: Mapping[Any, Any], variables: Mapping[str, Any], place: str, faults: FaultList
) -> Fields | None:
    kind = given.get("type")
    for key in _CODE_KEYS:
        if given.get(key):
            faults.add(join_place(place, key), "code", "assertions on the output as it is: nothing is run")
            return None
    if not isinstance(kind, str):
        faults.add(join_place(place, "type"), shown(kind), f"one of {', '.join(_KINDS)}")
        return None
    negated, base = kind.startswith("not-"), kind.removeprefix("not-")
    build = _KINDS.get(base)
    if build is None:
        what = "which runs code or other assertions" if base in _CODE else "which has no counterpart"
        faults.add(
            join_place(place, "type"),
            f"{shortened(kind)!r}, {what}",
            f"{', '.join(_KINDS)}, or not- before them",
        )
        return None
    weight = given.get("weight", 1)
    value = _value(given.get("value"), variables, join_place(place, "value"), faults)
    before = faults.total
    if value is _REFUSED:
        return None
    if negated and base in _FORBIDDING:
        criterion = _FORBIDDING[base](value, join_place(place, "value"), faults)
    else:
        criterion = build(value, join_place(place, "value"), faults)
        if negated:
            weight = -weight if isinstance(weight, int | float) and not isinstance(weight, bool) else weight
    if faults.total > before:
        return None
    metric = given.get("metric")
    label = metric if isinstance(metric, str) and metric.strip() else _described(kind, value)
    return {"name": label, "weight": weight} | criterion


_REFUSED = object()


def _value(value: Any, variables: Mapping[str, Any], place: str, faults: FaultList) -> Any:
    if isinstance(value, str):
        text = rendered(value, variables, place, faults)
        return _REFUSED if text is None else text
    if isinstance(value, list):
        values = [
            _value(inner, variables, f"{place}[{i}]", faults) if isinstance(inner, str) else inner
            for i, inner in enumerate(value)
        ]
        return _REFUSED if _REFUSED in values else values
    return value


def _text(value: Any, place: str, faults: FaultList) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        faults.add(place, shown(value), "a text")
        return "-"
    return _written(value)


def _texts(value: Any, place: str, faults: FaultList) -> list[str]:
    """A list, or a text with commas between."""
    values = (
        value if isinstance(value, list) else str(value).split(",") if isinstance(value, str) else [value]
    )
    return [_text(inner, place, faults).strip() for inner in values] or [_text(None, place, faults)]


def _contains(mode: str, *, case_sensitive: bool) -> Callable[[Any, str, FaultList], Fields]:
    def build(value: Any, place: str, faults: FaultList) -> Fields:
        texts = [_text(value, place, faults)] if mode == "one" else _texts(value, place, faults)
        if mode == "one" and len(texts[0]) > MAX_PHRASE:
            return _pattern(re.escape(texts[0]), ignore_case=not case_sensitive)
        params = {
            "keywords": texts,
            "mode": "all" if mode == "one" else mode,
            "match": "substring",
            "case_sensitive": case_sensitive,
        }
        return {"check": "contains_keywords", "params": params}

    return build


def _forbids(*, several: bool, case_sensitive: bool) -> Callable[[Any, str, FaultList], Fields]:
    def build(value: Any, place: str, faults: FaultList) -> Fields:
        phrases = _texts(value, place, faults) if several else [_text(value, place, faults)]
        params = {"phrases": phrases, "match": "substring", "case_sensitive": case_sensitive}
        return {"check": "no_forbidden_phrases", "params": params}

    return build


def _pattern(pattern: str, *, fullmatch: bool = False, ignore_case: bool = False) -> Fields:
    params: Fields = {"pattern": pattern, "mode": "fullmatch" if fullmatch else "search"}
    return {"check": "matches_regex", "params": params | ({"ignore_case": True} if ignore_case else {})}


def _equals(value: Any, place: str, faults: FaultList) -> Fields:
    return _pattern(re.escape(_text(value, place, faults)), fullmatch=True)


def _starts_with(value: Any, place: str, faults: FaultList) -> Fields:
    return _pattern(r"\A" + re.escape(_text(value, place, faults)))


def _regex(value: Any, place: str, faults: FaultList) -> Fields:
    return _pattern(_text(value, place, faults))


def _is_json(value: Any, place: str, faults: FaultList) -> Fields:
    if value is not None and not isinstance(value, dict):
        faults.add(place, shown(value), "a JSON schema as an object, or no value")
    return {"check": "json_schema", "params": {"schema": value or {}, "source": "whole"}}


def _word_count(value: Any, place: str, faults: FaultList) -> Fields:
    bounds = value if isinstance(value, dict) else {"min": value, "max": value}
    params = {key: bounds[key] for key in ("min", "max") if bounds.get(key) is not None}
    return {"check": "length_between", "params": {"unit": "words"} | params}


def _graded(value: Any, place: str, faults: FaultList) -> Fields:
    return {"requirement": _text(value, place, faults)}


def _factual(value: Any, place: str, faults: FaultList) -> Fields:
    return {"requirement": f"Agrees in its facts with: {_text(value, place, faults)}"}


_KINDS: dict[str, Callable[[Any, str, FaultList], Fields]] = {
    "equals": _equals,
    "contains": _contains("one", case_sensitive=True),
    "icontains": _contains("one", case_sensitive=False),
    "contains-all": _contains("all", case_sensitive=True),
    "contains-any": _contains("any", case_sensitive=True),
    "icontains-all": _contains("all", case_sensitive=False),
    "icontains-any": _contains("any", case_sensitive=False),
    "starts-with": _starts_with,
    "regex": _regex,
    "is-json": _is_json,
    "word-count": _word_count,
    "llm-rubric": _graded,
    "model-graded-closedqa": _graded,
    "g-eval": _graded,
    "factuality": _factual,
}

_FORBIDDING: dict[str, Callable[[Any, str, FaultList], Fields]] = {
    "contains": _forbids(several=False, case_sensitive=True),
    "icontains": _forbids(several=False, case_sensitive=False),
    "contains-any": _forbids(several=True, case_sensitive=True),
    "icontains-any": _forbids(several=True, case_sensitive=False),
}


def _described(kind: str, value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join(_written(inner) for inner in value if isinstance(inner, str | int | float))
    about = " ".join(_written(value).split()) if isinstance(value, str | int | float) else ""
    return shortened(f"{kind}: {about}" if about else kind, 100)


def _unique(name: str, taken: set[str]) -> str:
    name = shortened(" ".join(str(name).split()), 100)
    number, unique = 1, name
    while unique.casefold() in taken:
        number += 1
        unique = f"{name} ({number})"
    taken.add(unique.casefold())
    return unique
