"""JSON as people write it into rubric and dataset files, and as texts hold it."""

from __future__ import annotations

import json
import re
from typing import Any

from rubricweb.engine.errors import Fault, InvalidText, shortened

MAY_BE_HALF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str, *, line: int | None = None) -> Any:
    """Parse one JSON value; NaN and Infinity literals come back as floats, to be refused where they stand.

    ``line`` is where the text begins in its file, when it is one line of many. Raises InvalidText with line
    and column for a syntax error, and for a key that appears twice in one object, numbers of thousands of
    digits or nesting that would exhaust the stack.
    """
    place = "" if line is None else f"line {line}"
    try:
        return json.loads(text, object_pairs_hook=_object_once)
    except json.JSONDecodeError as error:
        exactly = f"line {error.lineno + (line or 1) - 1}, column {error.colno}"
        raise InvalidText([Fault(exactly, _found(error), "valid JSON")]) from None
    except RecursionError:
        raise InvalidText([Fault(place, "JSON nested too deeply", "fewer levels of nesting")]) from None
    except _RepeatedKey as error:
        found = f"the key {json.dumps(shortened(error.key), ensure_ascii=False)} twice in one object"
        raise InvalidText([Fault(place, found, "each key once")]) from None
    except ValueError:  # the interpreter's own guard against absurdly long integers
        raise InvalidText([Fault(place, "a number with thousands of digits", "ordinary numbers")]) from None


def json_container(text: str) -> Any:
    """The array or object that ``text`` is, or None when it is anything else.

    None also for half of a surrogate pair, which JSON can spell and UTF-8 cannot: no page could show it.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        parsed = json.loads(text)
        if MAY_BE_HALF_A_PAIR.search(text):
            json.dumps(parsed, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, (dict, list)) else None


class _RepeatedKey(Exception):
    def __init__(self, key: str) -> None:
        self.key = key


def _object_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _RepeatedKey(key)
        seen.add(key)
    return found


def _found(error: json.JSONDecodeError) -> str:
    rest = error.doc[error.pos : error.pos + 20].split("\n")[0]
    return f"{rest!r} ({error.msg})" if rest else f"the end of the text ({error.msg})"
