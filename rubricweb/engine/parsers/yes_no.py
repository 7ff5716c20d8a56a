"""The yes or no that leads a judge's prose."""

from __future__ import annotations

import re

from rubricweb.engine.parsers.think import without_thinking

_WORD = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


def read_yes_no(text: str) -> bool | None:
    """The first standalone yes or no in ``text`` in any case, or None when there is neither.

    A leading ``<think>`` block does not count: what a model weighs there is not yet its answer.
    ``"No, but yes in part"`` is False; ``"Nothing notable"`` is None, because *no* must stand alone.
    """
    match = _WORD.search(without_thinking(text))
    return None if match is None else match.group().casefold() == "yes"
