"""Two texts compared word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

MAX_WORDS = 8_000
"""Words, blanks and signs of a text that are compared one by one; longer texts are shown as replaced."""

MAX_PAIRS = 500_000_000
"""Pairs of words that are compared on one page, about a second; texts for which nothing is left are shown as
wholly replaced."""

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text in a word diff: kept in both, only in the older, or only in the newer."""

    kind: Literal["same", "gone", "new"]
    text: str


def word_diff(before: str, after: str, *, word_by_word: bool = True) -> tuple[Segment, ...]:
    """Two texts as words that stayed, went and came; joining all but the "gone" ones gives `after` back, and
    all but the "new" ones `before`.

    "names the city" → "names a city": same "names ", gone "the", new "a", same " city". As many words stay as
    can (the longest common subsequence); what stays between two changes and is shorter than both belongs to
    them, so that a sentence that was rewritten is not cut up at each blank and "the". Without `word_by_word`
    the one is wholly gone and the other new: see `within_pairs`.
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if not word_by_word or max(len(old), len(new)) > MAX_WORDS:
        return tuple(_segments("", before, after))
    return tuple(_joined(_steps(old, new)))


def within_pairs(texts: Iterable[tuple[str, str]]) -> Iterator[bool]:
    """Whether each pair of texts of one page is compared word by word: none is after MAX_PAIRS."""
    left = MAX_PAIRS
    for before, after in texts:
        left -= len(_WORDS.findall(before)) * len(_WORDS.findall(after))
        yield left >= 0


def _segments(kept: str, gone: str, new: str) -> Iterator[Segment]:
    """What there is of a stretch that stayed and the change after it."""
    pieces = Segment("same", kept), Segment("gone", gone), Segment("new", new)
    return (piece for piece in pieces if piece.text)


def _joined(steps: Iterable[tuple[str, str]]) -> Iterator[Segment]:
    """The steps as segments, without what stays between two changes and is no longer than either."""
    kept = gone = new = ""  # a stretch that stayed, and the change after it
    for between, (left_out, put_in) in _stretches(steps):
        if (gone or new) and len(between) <= min(max(len(gone), len(new)), max(len(left_out), len(put_in))):
            gone, new = gone + between + left_out, new + between + put_in
            continue
        yield from _segments(kept, gone, new)
        kept, gone, new = between, left_out, put_in
    yield from _segments(kept, gone, new)


def _stretches(steps: Iterable[tuple[str, str]]) -> Iterator[tuple[str, tuple[str, str]]]:
    """What stayed, with what (was taken out, was put in) after it."""
    same: list[str] = []
    gone: list[str] = []
    new: list[str] = []
    for kind, word in steps:
        if kind == "same" and (gone or new):
            yield "".join(same), ("".join(gone), "".join(new))
            same, gone, new = [], [], []
        {"same": same, "gone": gone, "new": new}[kind].append(word)
    yield "".join(same), ("".join(gone), "".join(new))


def _steps(old: list[str], new: list[str]) -> list[tuple[str, str]]:
    """Each word with its kind, by the longest common subsequence of the two lists.

    Its table is kept as a row of bits for each new word (Hyyrö 2004, "Bit-parallel LCS-length computation
    revisited"), so that the time is the product of the lengths over the bits of a machine word, however
    much the words repeat. Bit i of row j is 0 where old[:i + 1] has one word more in common with new[:j]
    than old[:i] has.
    """
    places: dict[str, int] = {}
    for i, word in enumerate(old):
        places[word] = places.get(word, 0) | 1 << i
    everything = (1 << len(old)) - 1
    rows = [everything]
    for word in new:
        last = rows[-1]
        matches = last & places.get(word, 0)
        rows.append((last + matches | last - matches) & everything)
    steps: list[tuple[str, str]] = []
    i, j = len(old), len(new)
    while i or j:
        if not j or (i and rows[j] >> (i - 1) & 1):
            i -= 1
            steps.append(("gone", old[i]))
        elif not i or not rows[j - 1] >> (i - 1) & 1:
            j -= 1
            steps.append(("new", new[j]))
        else:
            i, j = i - 1, j - 1
            steps.append(("same", new[j]))
    return steps[::-1]
