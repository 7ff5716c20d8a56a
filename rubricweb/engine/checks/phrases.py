"""Finding words and phrases in a text as a reader would: whatever the case, in any alphabet."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, TypeAlias

Match: TypeAlias = Literal["word", "substring"]
"""``word``: not inside a longer word; ``substring``: anywhere."""

_NOT_A_LETTER = re.compile(r"\W")


def folded(text: str, *, case_sensitive: bool) -> str:
    """The text in the form phrases are compared in: composed accents, one space for any white space.

    Without ``case_sensitive`` also case-folded, so that ``STRASSE`` equals ``straße``.
    """
    if not case_sensitive:
        text = unicodedata.normalize("NFD", text).casefold()
    return " ".join(unicodedata.normalize("NFC", text).split())


def contains(text: str, phrase: str, match: Match) -> bool:
    """Whether the phrase stands in the text; both already folded.

    With ``word`` the phrase may not continue into a longer word on either side: ``art`` is not in
    ``party``, ``C++`` is in ``C++.``. Accents and vowel signs belong to their word in every script.
    Languages written without spaces need ``substring``.
    """
    if not phrase:
        return False
    if match == "substring":
        return phrase in text
    bound_left, bound_right = _in_word(phrase[0]), _in_word(phrase[-1])
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        free_left = not bound_left or at == 0 or not _in_word(text[at - 1])
        free_right = not bound_right or end == len(text) or not _in_word(text[end])
        if free_left and free_right:
            return True
        start = at + 1
        if bound_left:
            # The next word can only begin after the end of this one; stepping letter by letter would be
            # quadratic in a text of one endless word.
            gap = _NOT_A_LETTER.search(text, start)
            if gap is None:
                return False
            start = gap.end()
        at = text.find(phrase, start)
    return False


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
