"""The texts of an item that can be quoted as evidence, by the name of their place.

A place is a field of the item, `submission`, `thinking`, `prompt` or `reference`; in a conversation one turn
of it, `submission[2]`, and one part of a turn that has several, `prompt[0][1]`.
"""

import re
from collections.abc import Mapping
from typing import Any

from rubricweb.engine.parsers.json_text import json_container
from rubricweb.models import Item

_PLACE = re.compile(r"(submission|thinking|prompt|reference)(?:\[(\d{1,6})\](?:\[(\d{1,6})\])?)?")


def quotable_texts(item: Item) -> dict[str, str]:
    """Place → text, for all a reviewer is shown: a conversation by its turns, all else as it is stored.

    A prompt that is JSON but no conversation has no text of its own and is left out.
    """
    found: dict[str, str] = {}
    for field, value in _fields(item).items():
        turns = _conversation(value)
        if turns is None:
            if isinstance(value, str) and value:
                found[field] = value
            continue
        for number, turn in enumerate(turns):
            content = turn.get("content")
            if isinstance(content, str):
                found[f"{field}[{number}]"] = content
            elif isinstance(content, list):
                for at, part in enumerate(content):
                    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
                        found[f"{field}[{number}][{at}]"] = part["text"]
    return found


def quotable_text(item: Item, place: str) -> str | None:
    """The text of one place, None where the item has none. A conversation's whole field counts as stored."""
    if _PLACE.fullmatch(place) is None:
        return None
    value = _fields(item).get(place)
    return value if isinstance(value, str) else quotable_texts(item).get(place)


def place_words(place: str) -> str:
    """A place for people: "prompt[0]" is "Prompt, turn 1"."""
    match = _PLACE.fullmatch(place)
    if match is None:
        return place
    field, turn, _ = match.groups()
    return field.capitalize() + (f", turn {int(turn) + 1}" if turn else "")


def _fields(item: Item) -> dict[str, Any]:
    said = item.to_engine()
    return {
        "prompt": said.query,
        "reference": said.reference,
        "thinking": said.thinking,
        "submission": said.output,
    }


def _conversation(value: Any) -> list[Mapping[str, Any]] | None:
    """The turns of a chat array, or of a text that holds one; None for anything else."""
    if isinstance(value, str):
        value = json_container(value)
    is_chat = isinstance(value, list) and bool(value)
    if not is_chat or not all(isinstance(one, Mapping) and isinstance(one.get("role"), str) for one in value):
        return None
    return list(value)
