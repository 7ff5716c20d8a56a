"""The one JSON object in a judge's reply, wherever the judge wrapped it."""

from __future__ import annotations

import json
import re
from typing import Any

from rubricweb.engine.errors import UnreadableReply, shortened
from rubricweb.engine.parsers.json_text import MAY_BE_HALF_A_PAIR
from rubricweb.engine.parsers.prose_beside import require_same_in_prose
from rubricweb.engine.parsers.think import without_thinking

_LOOKS_LIKE_OBJECT = re.compile(r"\{\s*[\"}]")
_BACKSLASH = re.compile(r"\\(?P<escape>[\"\\/bfnrt]|u[0-9a-fA-F]{4})?")


def read_json_reply(reply: str) -> dict[str, Any]:
    """Find the single JSON object in ``reply``, inside code fences or prose or after a ``<think>`` block.

    ``'Sure: ```json\\n{"a": 1}\\n```'`` gives ``{"a": 1}``. Raises UnreadableReply when there is none, when
    several differ, when a key is given twice, or when an object is broken off: what lies inside a broken
    object may be a quotation of the submission, and is never taken for the answer. For the same reason prose
    around the object that gives another answer makes the reply unreadable; see ``require_same_in_prose``.

    A backslash that begins no escape of JSON stands for itself: in ``"5\\% of \\(x\\)"`` models quote LaTeX.
    Half of a surrogate pair, which JSON can spell and UTF-8 cannot, becomes a question mark: what is read can
    be shown and stored.
    """
    text = _BACKSLASH.sub(_escaped, without_thinking(reply))
    if not text.strip():
        raise UnreadableReply("the reply is empty")
    found: dict[str, Any] | None = None
    at, began = 0, len(text)
    while (start := _LOOKS_LIKE_OBJECT.search(text, at)) is not None:
        value, at = _object_at(text, start.start())
        began = min(began, start.start())
        if found is not None and found != value:
            raise UnreadableReply("several different JSON objects in the reply; allowed: one")
        found = value
    if found is None:
        raise UnreadableReply(f"no JSON object in the reply {shortened(text.strip(), 120)!r}")
    require_same_in_prose(found, text[:began], text[at:])
    return _spellable(found) if MAY_BE_HALF_A_PAIR.search(text) else found


def _escaped(backslash: re.Match[str]) -> str:
    """A backslash with its escape, or one that is none, escaped."""
    return "\\\\" if backslash["escape"] is None else backslash.group()


def _spellable(value: dict[str, Any]) -> dict[str, Any]:
    try:
        spelled: dict[str, Any] = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise UnreadableReply(_TOO_DEEP) from None
    return spelled


def _object_at(text: str, start: int) -> tuple[dict[str, Any], int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise UnreadableReply(_TOO_DEEP) from None
    except ValueError as error:
        raise UnreadableReply(f"the JSON in the reply is broken: {error}") from None
    return value, end


_TOO_DEEP = "the JSON in the reply is nested too deeply"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key is given twice in one object")
    return dict(pairs)


# strict=False lets raw line breaks stand inside strings, which models write in explanations all the time.
_DECODER = json.JSONDecoder(object_pairs_hook=_once, strict=False)
