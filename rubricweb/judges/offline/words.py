"""Words as the offline judge compares them: stems, phrases, sentences."""

from __future__ import annotations

import functools
import re

_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*\s?%?|[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n+")
# Longest first among those that end alike, so that "ations" is not left at "ation".
_SUFFIXES = (
    *("ations", "ation", "ingly", "edly", "ments", "ment", "ings", "ness", "ably", "ible", "able"),
    *("ance", "ence", "ing", "ied", "ies", "ed", "es", "ly", "s", "e"),
)
_STOP_WORDS = frozenset(
    """a about all also an and any are as at be been both but by can could did do does each either every few
    for from get give given has have he her his how if in into is it its just less like make many may might
    more most much must my no none not of off on one only or other our out over own per rather same shall she
    should so some such than that the their them then there these they this those through to too under up us
    use uses very via was we well were what when where which while who whom whose why will with within without
    would you your
    accurately answer appropriate appropriately assistant clear clearly contain contains correct correctly
    criterion describe describes discusses explain explains explicitly identifies include includes indicates
    mention mentioned mentioning mentions model name names note output point points present presents properly
    provide provides reply replies response say says show shows specific state states submission
    successfully text
    """.split()  # noqa: SIM905  a list of them takes a page
)


@functools.lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word's comparable form: lower case, without its commonest endings. "Policies" is "policy"."""
    lower = word.lower().replace("’", "'")
    if is_number(lower):
        return lower.replace(" ", "").replace(",", "").rstrip(".:/")
    lower = lower.removesuffix("'s")
    for suffix in _SUFFIXES:
        kept = len(lower) - len(suffix)
        if not lower.endswith(suffix) or kept < 3 or (suffix == "s" and lower.endswith(("ss", "us", "is"))):
            continue
        base = lower[:kept] + ("y" if suffix in ("ied", "ies") else "")
        doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouls"
        return base[:-1] if doubled else base
    return lower


def tokens(text: str) -> list[str]:
    """Words and numbers as written, in order."""
    return [found.strip() for found in _TOKEN.findall(text)]


def content_words(text: str) -> list[str]:
    """The tokens that carry content, as written, in order."""
    return [
        token
        for token in tokens(text)
        if token.lower() not in _STOP_WORDS and (is_number(token) or len(token) > 2 or token.isupper())
    ]


def is_number(token: str) -> bool:
    """Whether a token is a figure rather than a word."""
    return token[:1].isdigit()


def sentences(text: str) -> list[str]:
    """The sentences (and lines) of a text, without the empty ones."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip(" \t-*•#>_|")]


@functools.lru_cache(maxsize=1024)
def stems(text: str) -> frozenset[str]:
    """The stems of all tokens of a text; 7.5 % and 7.5% are one."""
    return frozenset(stem(token) for token in tokens(text))
