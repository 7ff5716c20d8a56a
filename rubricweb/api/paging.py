"""Pages of lists: how many rows, where the last page ended, where the next begins."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeVar

from django.db.models import Q
from pydantic import BaseModel, Field

from rubricweb.api.operations import TokenRequest
from rubricweb.selectors.shared.archived import Listed, archived_left_out
from rubricweb.selectors.shared.pages import Page, not_ours, number_cursor, numbers_in

Row = TypeVar("Row")


class ListQuery(BaseModel):
    """What every list understands."""

    limit: Annotated[int, Field(ge=1, le=200, description="How many items at most.")] = 50
    cursor: Annotated[
        str | None,
        Field(max_length=2000, description="`next_cursor` of the page before; absent for the first."),
    ] = None


Archived = Annotated[bool, Field(description="Those that are archived, instead of all others.")]


class ArchivableQuery(ListQuery):
    archived: Archived = False


class ArchivedQuery(BaseModel):
    """The same of a list that is all on one page."""

    archived: Archived = False


def listed(page: Page[Any]) -> dict[str, Any]:
    """A page of a selector as every list answers it."""
    return {"items": page.rows, "next_cursor": page.next_cursor}


def whole(rows: Iterable[Any]) -> dict[str, Any]:
    """The same of a list that is all on one page."""
    return {"items": list(rows), "next_cursor": None}


def leaving_out_archived(
    request: TokenRequest, model: type[Listed], *narrowed: Q, archived: bool = False
) -> dict[str, Any]:
    """What such a list says of archived rows; nothing where those are what was asked for."""
    return {"left_out": archived_left_out(request.auth.team, model, *narrowed, archived=archived)}


def cut(rows: Iterable[Row], asked: ListQuery, *, key: Callable[[Row], Sequence[Any]]) -> dict[str, Any]:
    """One page of a list that was worked out as a whole, `rows` ascending by `key` (numbers only).

    The cursor holds the key of the last row given out, so rows that come or go in between move nothing.
    """
    ordered = rows if isinstance(rows, Sequence) else list(rows)
    if asked.cursor:
        after = numbers_in(asked.cursor)
        ordered = ordered[bisect_right(ordered, after, key=lambda row: _comparable(key(row), after)) :]
    page, more = ordered[: asked.limit], len(ordered) > asked.limit
    return {"items": page, "next_cursor": number_cursor(key(page[-1])) if more else None}


def _comparable(place: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    if len(place) != len(after):
        raise not_ours()
    return list(place)
