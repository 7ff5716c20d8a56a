"""The first so many rows of a list that selectors give out page by page."""

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from rubricweb.management.terminal.actor import note
from rubricweb.models import Team
from rubricweb.selectors.shared.left_out import LeftOutItems

Row = TypeVar("Row")
OneRow = TypeVar("OneRow", covariant=True)
PAGE = 500
"""The most a selector gives out at once."""


class CursorPage(Protocol[OneRow]):
    """A page of a selector: its rows, and what opens the following page."""

    @property
    def rows(self) -> tuple[OneRow, ...]: ...

    @property
    def next_cursor(self) -> str | None: ...


@dataclass(frozen=True)
class FirstRows(Generic[Row]):
    """The first rows of a list, and whether there are more."""

    rows: tuple[Row, ...]
    more: bool


def first(limit: int, page: Callable[[str | None, int], CursorPage[Row]]) -> FirstRows[Row]:
    """The first `limit` rows; `page(cursor, size)` is asked as often as that takes."""
    rows: list[Row] = []
    cursor: str | None = None
    while len(rows) < limit:
        found = page(cursor, min(PAGE, limit - len(rows)))
        rows += found.rows
        cursor = found.next_cursor
        if cursor is None:
            break
    return FirstRows(tuple(rows), cursor is not None)


def first_found(
    options: argparse.Namespace, team: Team, rows: Callable[..., CursorPage[Row]]
) -> FirstRows[Row]:
    """The first rows of what the team has, for a command that takes --search, --archived and --limit."""
    search, archived = options.search, options.archived
    return first(
        options.limit,
        lambda cursor, size: rows(team, search=search, archived=archived, cursor=cursor, size=size),
    )


def note_more(page: FirstRows[Row], limit: int) -> None:
    """Says that there are more rows than the limit, and how to see them."""
    if page.more:
        note(f"There are more: --limit says how many are shown, now {limit:,}.")


def note_left_out(left_out: Iterable[LeftOutItems], shown_by: str = "") -> None:
    """Says what the list leaves out and why, and by which option it is shown, where there is one."""
    for one in left_out:
        note(f"Left out: {one.says}{f'; {shown_by} lists them' if shown_by else ''}.")
