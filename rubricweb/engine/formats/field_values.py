"""Single values of an item, checked: texts, prompts, plain data."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from rubricweb.engine.errors import FaultList, InvalidText, join_place, shown
from rubricweb.engine.formats.dataset_values import MAX_ID, Prompt
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import unstorable

MAX_TEXT = 5_000_000
"""Characters of one text, or of a whole conversation: more than judges read, as much as browsers show."""

MAX_NESTING = 40
"""Levels of lists and objects in one value: deeper ones could be read as JSON and not be written as YAML."""


_NUMBER = re.compile(r"#[0-9]{1,9}\Z")
"""What tells items apart that repeat an id."""


def read_text(value: Any, place: str, faults: FaultList) -> str | None:
    """The text, or None when there is none or when it was refused into ``faults``."""
    if value is None:
        return None
    if not isinstance(value, str):
        faults.add(place, shown(value), "text")
        return None
    before = faults.total
    _check_text(value, place, faults)
    return value if faults.total == before else None


def _check_text(value: str, place: str, faults: FaultList) -> None:
    if broken := unstorable(value):
        faults.add(place, broken, "text")
    elif len(value) > MAX_TEXT:
        faults.add(place, f"a text of {len(value):,} characters", f"at most {MAX_TEXT:,}")


def read_id(value: Any, place: str, faults: FaultList) -> str | None:
    """An id as text: a text or whole number of at most MAX_ID characters, a numbered one of a few more."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        faults.add(place, shown(value), "a text or a whole number")
        return None
    if isinstance(value, int) and value.bit_length() > 128:
        faults.add(place, shown(value), "a text or a whole number")
        return None
    id = str(value).strip()
    if not id:
        faults.add(place, "an empty text", "a text or a whole number, or no id at all")
    elif len(_NUMBER.sub("", id)) > MAX_ID or len(id) > MAX_ID + 10:
        faults.add(place, f"{len(id):,} characters", f"at most {MAX_ID}")
    elif unstorable(id):
        faults.add(place, str(unstorable(id)), "text")
    return id or None


def read_prompt(value: Any, place: str, faults: FaultList) -> Prompt | None:
    """A prompt as text or as turns, each an object with ``role`` and ``content``; the rest is refused."""
    if not isinstance(value, list):
        return read_text(value, place, faults)
    if not value:
        faults.add(place, "an empty list", "a text, or a list of turns with role and content")
        return None
    before, turns = faults.total, list[dict[str, Any]]()
    for i, turn in enumerate(value):
        here = f"{place}[{i}]"
        if not isinstance(turn, dict):
            faults.add(here, shown(turn), "an object with role and content")
            continue
        role, content = turn.get("role"), turn.get("content")
        if not isinstance(role, str) or not role.strip():
            faults.add(join_place(here, "role"), shown(role), "who speaks, such as user or assistant")
        if not isinstance(content, str | list | None):
            faults.add(join_place(here, "content"), shown(content), "text, or a list of parts")
        turns.append(storable(turn, here, faults))
    length = len(str(turns)) if faults.total == before else 0
    if length > MAX_TEXT:
        faults.add(place, f"a conversation of {length:,} characters", f"at most {MAX_TEXT:,}")
    return turns


def storable(value: Any, place: str, faults: FaultList, depth: int = 0) -> Any:
    """The value with text keys throughout; what JSON columns refuse (NaN, infinities, NUL) is a fault."""
    if depth > MAX_NESTING:
        faults.add(place, f"more than {MAX_NESTING} levels of nesting", f"at most {MAX_NESTING}")
        return None
    if isinstance(value, dict):
        plain: dict[str, Any] = {}
        for key, inner in value.items():
            here = join_place(place, str(key))
            if str(key) in plain:
                faults.add(here, "this key twice", "each key once")
            if unstorable(str(key)):
                faults.add(place, f"a key with {unstorable(str(key))}", "keys of text")
            plain[str(key)] = storable(inner, here, faults, depth + 1)
        return plain
    if isinstance(value, list):
        return [storable(inner, f"{place}[{i}]", faults, depth + 1) for i, inner in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        faults.add(place, shown(value), "a finite number or null")
    elif isinstance(value, str):
        _check_text(value, place, faults)
    elif isinstance(value, int) and value.bit_length() > 1024:
        faults.add(place, shown(value), "an ordinary number")
    return value


def is_chat_text(text: str) -> bool:
    """Whether a text is a conversation written as JSON, as a CSV cell holds it."""
    if not text.lstrip().startswith("["):
        return False
    try:
        value = parse_json(text)
    except InvalidText:
        return False
    return isinstance(value, list) and all(isinstance(turn, dict) and "role" in turn for turn in value)


def canonical(value: Any) -> str:
    """Plain data as one text, the same for equal data on every machine: sorted keys, no spaces."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
