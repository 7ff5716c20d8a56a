"""Figures and notices whose words take several cases; `words.py` of a room makes them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tile:
    """A figure under its name, with a note below; "" where there is none.

    `limit` is what the figure is held against, "of $5.00". `level` is "", "warning" or "danger". `may_grow`:
    the note is one that becomes longer while the page is open, so it keeps room for a second line.
    """

    label: str
    value: str
    note: str = ""
    limit: str = ""
    level: str = ""
    is_muted: bool = False
    may_grow: bool = False


@dataclass(frozen=True)
class PageNotice:
    """A notice at the top of a part of a page. `level` is info, warning or error; `icon` names a drawing."""

    level: str
    icon: str
    title: str
    text: str


def sentence(*parts: str, between: str = "; ") -> str:
    """The parts that say something, one after the other."""
    return between.join(filter(None, parts))
