"""Pages of lists: how many rows, where the last page ended, where the next begins."""

import base64
import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field

from rubricweb.errors import Invalid
from rubricweb.selectors.pages import NOT_OURS, Page

Row = TypeVar("Row")


class ListQuery(BaseModel):
    """What every list understands."""

    limit: Annotated[int, Field(ge=1, le=200, description="How many items at most.")] = 50
    cursor: Annotated[
        str | None,
        Field(max_length=2000, description="`next_cursor` of the page before; absent for the first."),
    ] = None


def listed(page: Page[Any]) -> dict[str, Any]:
    """A page of a selector as every list answers it."""
    return {"items": page.rows, "next_cursor": page.next_cursor}


def cut(rows: Iterable[Row], asked: ListQuery, *, key: Callable[[Row], Sequence[Any]]) -> dict[str, Any]:
    """One page of a list that was worked out as a whole, `rows` ascending by `key` (numbers only).

    The cursor holds the key of the last row given out, so rows that come or go in between move nothing.
    """
    ordered = rows if isinstance(rows, Sequence) else list(rows)
    if asked.cursor:
        after = _opened(asked.cursor)
        ordered = ordered[bisect_right(ordered, after, key=lambda row: _comparable(key(row), after)) :]
    page, more = ordered[: asked.limit], len(ordered) > asked.limit
    return {"items": page, "next_cursor": _closed(key(page[-1])) if more else None}


def _comparable(place: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    if len(place) != len(after):
        raise Invalid(NOT_OURS)
    return list(place)


def _closed(place: Sequence[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(list(place)).encode()).decode().rstrip("=")


def _opened(cursor: str) -> list[Any]:
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError) as error:
        raise Invalid(NOT_OURS) from error
    if not isinstance(place, list) or not all(
        type(part) in (int, float) and isfinite(part) for part in place
    ):
        raise Invalid(NOT_OURS)
    return place
