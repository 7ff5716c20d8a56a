"""Ids that follow from what an item says."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable

from rubricweb.engine.formats.dataset_values import Prompt
from rubricweb.engine.formats.field_values import canonical
from rubricweb.engine.rubric import Rubric


def content_id(
    submission: str,
    thinking: str | None,
    prompt: Prompt | None,
    reference: str | None,
    rubric: Rubric | None,
) -> str:
    """An id that only depends on what is graded, the same on every machine: ``auto-`` and 16 hex digits.

    The first 64 bits of the SHA-256 of the five values as canonical JSON; prompt, reference and rubric are
    the item's own.
    """
    content = [submission, thinking, prompt, reference, None if rubric is None else rubric.to_dict(ids=False)]
    return "auto-" + hashlib.sha256(canonical(content).encode()).hexdigest()[:16]


# Also numbered, of a system, an attempt, or as files call what is retired: "auto-… (until version 2)".
_MADE = re.compile(r"auto-[0-9a-f]{16}(?:-[0-9]+)?(?:@.*)?(?:#[0-9]+)?(?: \(.*\))?\Z", re.DOTALL)


def given_key(key: str | None) -> str:
    """The key of an item or a case where somebody gave it one; "" for one that was made from its content."""
    return "" if key is None or _MADE.match(key) else key


def name_of(key: str | None, words: str = "", *, id: int | None = None) -> str:
    """What people call an item or a case: the key somebody gave it, else its first ``words`` in quotes, else
    id:N, as commands take it.

    ``key`` is None for somebody from whom it is kept; ``words`` are such as they may read.
    """
    if given := given_key(key):
        return given
    if words:
        return f"“{words}”"
    return "one without an id" if id is None else f"id:{id}"


def numbered_ids(base: str, *, after: int = 0) -> Iterable[tuple[int, str]]:
    """(1, ``base``), (2, ``base-2``), (3, ``base-3``) …: items of equal content are numbered in file order.

    With ``after`` the first so many are left out.
    """
    return ((n, base if n == 1 else f"{base}-{n}") for n in itertools.count(after + 1))
