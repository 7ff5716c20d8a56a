"""Words as the lexical judge compares them: stems, numbers, sentences."""

from __future__ import annotations

import functools
import importlib.resources
import re

_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*\s?%?|[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n+")
NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 1
    )
}
# Longest first among those that end alike, so that "ations" is not left at "ation".
_SUFFIXES = (
    *("ations", "ation", "ingly", "edly", "ments", "ment", "ings", "ness", "ably", "ible", "able"),
    *("ance", "ence", "ing", "ied", "ies", "ed", "es", "ly", "s", "e"),
)

STOP_WORDS = frozenset(
    importlib.resources.files(__package__).joinpath("stop_words.txt").read_text("utf-8").split()
)
"""Words that carry no content: function words, and the verbs and nouns in which requirements are phrased."""

_SAME_MEANING = (
    "refund reimburse repay",
    "deliver ship dispatch",
    "buy purchase",
    "bike bicycle",
    "fix repair mend",
    "price cost fee charge",
    "error bug crash mistake",
    "begin start",
    "fast quick rapid",
    "doctor physician",
    "danger risk hazard",
    "advise recommend suggest",
    "require need",
    "big large",
    "stop halt quit",
    "photo picture image",
    "sad unhappy",
    "happy glad",
)


@functools.lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word's comparable form: lower case, without its commonest endings, one stem for near-synonyms.

    "Shipped" and "shipping" are both "deliv" (through "ship"); "policies" is "policy", "two" is "2".
    """
    bare = _bare(word)
    return _SYNONYMS.get(bare, bare)


def _bare(word: str) -> str:
    lower = word.lower().replace("’", "'")
    if lower[:1].isdigit():
        return lower.replace(" ", "").replace(",", "").rstrip(".:/")
    lower = lower.removesuffix("'s")
    if NUMBER_WORDS.get(lower, 1) > 1:  # "one" is mostly an article
        return str(NUMBER_WORDS[lower])
    for suffix in _SUFFIXES:
        kept = len(lower) - len(suffix)
        if not lower.endswith(suffix) or kept < 3 or (suffix == "s" and lower.endswith(("ss", "us", "is"))):
            continue
        base = lower[:kept] + ("y" if suffix in ("ied", "ies") else "")
        if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouls":
            base = base[:-1]
        return base
    return lower


_SYNONYMS = {_bare(word): _bare(group.split()[0]) for group in _SAME_MEANING for word in group.split()}


def tokens(text: str) -> list[str]:
    """Words and numbers as written, in order."""
    return [found.strip() for found in _TOKEN.findall(text)]


def content_words(text: str) -> list[str]:
    """The tokens that carry content, as written, in order."""
    return [token for token in tokens(text) if token.lower() not in STOP_WORDS and _worth(token)]


def is_number(token: str) -> bool:
    """Whether a token is a figure rather than a word."""
    return token[:1].isdigit()


@functools.lru_cache(maxsize=256)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences (and lines) of a text, without the empty ones."""
    return tuple(part.strip() for part in _SENTENCE_END.split(text) if part.strip(" \t-*•#>_|"))


@functools.lru_cache(maxsize=1024)
def stems(text: str) -> frozenset[str]:
    """The stems of all tokens of a text; 7.5 % and 7.5% are one."""
    return frozenset(stem(token) for token in tokens(text))


def _worth(token: str) -> bool:
    return is_number(token) or len(token) > 2 or token.isupper()
