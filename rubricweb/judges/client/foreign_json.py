"""JSON that somebody else wrote, read so that no nesting, charset or half character can break the reader."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic_core import from_json

MAX_ERROR_BYTES = 256 * 1024
"""An error body is read to the end up to here; of a longer one only the beginning, as text."""
MAX_RESPELLED_BYTES = 1024 * 1024
"""Spelling two million brackets anew takes seconds in which the loop asks nobody else."""
SHOWN_CHARACTERS = 4000
_MAY_BE_HALF_A_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")


def decoded_object(body: bytes) -> dict[str, Any] | None:
    """The JSON object in this body as plain data whose texts UTF-8 can spell, None when it is none.

    pydantic-core goes about 200 levels deep, where Python's own recursion is far from its end: what is nested
    deeper is None as well, and what is returned can be compared, shown and written without a RecursionError.
    """
    try:
        decoded = from_json(body)
    except ValueError:
        try:
            decoded = from_json(respelled(body))
        except ValueError:
            return None
    return decoded if isinstance(decoded, dict) else None


def respelled(body: bytes) -> bytes:
    """The same JSON in plain UTF-8; b"" when it is none, too deep or too long, or was in plain ASCII.

    A byte order mark goes, what is no UTF-8 is marked as such, and half of a surrogate pair, which JSON can
    spell and UTF-8 cannot, becomes a question mark.
    """
    if len(body) > MAX_RESPELLED_BYTES:
        return b""
    if body.isascii() and not _MAY_BE_HALF_A_PAIR.search(body):
        return b""  # what could not be read of it is no JSON
    try:
        decoded = json.loads(body.decode("utf-8-sig", "replace"))
        return json.dumps(decoded, ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return b""


def error_body(body: bytes) -> object:
    """What an error status came with: a JSON object, or the beginning of whatever else as text.

    Always read as UTF-8: JSON is nothing else, and a charset is the endpoint's to name (`punycode` takes
    hours, `hex` raises).
    """
    decoded = decoded_object(body) if len(body) <= MAX_ERROR_BYTES else None
    return body[:SHOWN_CHARACTERS].decode("utf-8", "replace") if decoded is None else decoded
