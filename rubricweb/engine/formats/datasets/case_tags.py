"""Tags of cases, such as billing, german, hard: one word or a few that lists are narrowed by."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Any

from rubricweb.engine.errors import FaultList, InvalidText, shown
from rubricweb.engine.formats.datasets.cases import AnsweredCase
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import unstorable

MAX_TAG = 60
"""Characters of a tag."""

MAX_TAGS = 20
"""Tags of one case."""

_SEPARATORS = re.compile("[,;]")
_UNPRINTED = ("Cc", "Zl", "Zp")


def read_tags(value: Any, place: str, faults: FaultList) -> tuple[str, ...]:
    """The tags of a list, or of a text that separates them by commas or semicolons; in order, each once.

    A tag is lower case, so that Hard and hard are one, in NFC, so that it is the same however it was typed.
    What is no tag, and more than a case may have, goes to ``faults``.

    >>> read_tags("Hard; billing,hard", "tags", FaultList())
    ('billing', 'hard')
    """
    if value is None:
        return ()
    texts = _texts(value, place, faults) if isinstance(value, str) else value
    if not isinstance(texts, list):
        faults.add(place, shown(value), "a list of tags, or a text with commas between them")
        return ()
    found = {_read_tag(text, place, faults) for text in texts if text != "" and text is not None}
    found.discard("")
    if len(found) > MAX_TAGS:
        faults.add(place, f"{len(found)} tags", f"at most {MAX_TAGS} for a case")
    return tuple(sorted(found))


def split_tags(text: str) -> list[str]:
    """A text as what stands between its commas and semicolons."""
    return _SEPARATORS.split(text)


def _texts(text: str, place: str, faults: FaultList) -> Any:
    """The list that a text stands for: JSON, as cells of a table hold it, or with separators."""
    if not text.lstrip().startswith("["):
        return split_tags(text)
    try:
        return parse_json(text)
    except InvalidText as error:
        faults.add(place, error.faults[0].found, "a list of tags as JSON, or tags with commas between them")
        return []


def _read_tag(value: Any, place: str, faults: FaultList) -> str:
    """The tag as it is kept; "" where there is none, or it was refused."""
    if not isinstance(value, str):
        faults.add(place, shown(value), "a tag as a text")
        return ""
    if broken := unstorable(value):
        faults.add(place, broken, "text")
        return ""
    tag = unicodedata.normalize("NFC", value.strip().lower())
    if len(tag) > MAX_TAG:
        faults.add(place, f"a tag of {len(tag):,} characters", f"at most {MAX_TAG}")
    elif _SEPARATORS.search(tag):
        faults.add(place, shown(value), "a tag without comma and semicolon: they stand between tags")
    elif any(unicodedata.category(character) in _UNPRINTED for character in tag):
        faults.add(place, "a control character in a tag", "one line of text")
    else:
        return tag
    return ""


@dataclass
class CaseTagReader:
    """Reads the tags of items, and sees to it that no case has too many: it has those of all its answers."""

    faults: FaultList
    _of_case: dict[str, set[str]] = field(default_factory=dict)

    def read(self, value: Any, answered: AnsweredCase | None, place: str) -> tuple[str, ...]:
        """The tags at an item, which answers this case; None where something about it was refused."""
        tags = read_tags(value, place, self.faults)
        case_id = answered.case_id if answered is not None else ""
        if tags and case_id and len(tags) <= MAX_TAGS:
            together = self._of_case.setdefault(case_id, set())
            together.update(tags)
            if len(together) > MAX_TAGS:
                found = f"{len(together)} tags of case {case_id!r} in all its answers"
                self.faults.add(place, found, f"at most {MAX_TAGS} for a case")
        return tags
