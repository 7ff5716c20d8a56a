"""Whom a comment in Markdown speaks to."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rubricweb.engine.parsers.markdown import outside_code

# An e-mail address mentions nobody: before the @ stands nothing that could belong to one.
_USERNAME = re.compile(r"(?<![\w@.+/-])@(\w[\w@.+-]*)")
_SHOWN_NAME = re.compile(r"(?<![\w@.+/-])@(?:\"([^\"\n]+)\"|“([^“”\n]+)”)")


@dataclass(frozen=True, slots=True)
class Mentions:
    """User names and shown names after an @, folded as ``folded_name`` does."""

    usernames: frozenset[str]
    shown_names: frozenset[str]


def mentions(text: str) -> Mentions:
    """User names after an @, shown names in quotes after an @: ``ask @Ann or @"Rae Lee", mail b@c.org``.

    That is the user name "ann" and the shown name "rae lee". A user name may end in a full stop or not, so
    "@ann." is both "ann." and "ann". What Markdown shows as code mentions nobody.
    """
    usernames: set[str] = set()
    shown: set[str] = set()
    for spoken in outside_code(text):
        for found in _USERNAME.findall(spoken):
            name = folded_name(found)
            usernames |= {name, name.rstrip("@.+-")}
        shown |= {folded_name(straight or curly) for straight, curly in _SHOWN_NAME.findall(spoken)}
    return Mentions(frozenset(usernames - {""}), frozenset(shown - {""}))


def folded_name(name: str) -> str:
    """The name as names are compared: case and width of spaces make no difference."""
    return " ".join(name.split()).casefold()
