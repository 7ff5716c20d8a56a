"""Two requirements joined in one criterion."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rubricweb.engine.lint.base import Hit, LintInput, Rule, Span, criteria
from rubricweb.engine.lint.language import (
    DO_OTHER,
    DOES_OTHER,
    SAY,
    SAY_OR_NOUN,
    SAYS,
    SAYS_OR_NOUNS,
    SUBJECT,
)

_JOIN = r"\b(?:and/or|and\s+then|and|or|but|then)\s+"
_JOINING = re.compile(r"\s(?:and|or|but|then)(?:/or)?\s", re.IGNORECASE)
_BETWEEN = r"(?:(?:also|then|either|both|instead|not|never|[a-z]+ly)\s+){0,2}"
# A word that is a noun too is a verb when something it can act on follows.
_OBJECT = r"(?=\s+(?:the|a|an|that|how|why|what|whether|when|which|any|at|no|its|it|them|all|each|every|\d))"


def _joined(says: str, says_or_nouns: str, other: str) -> re.Pattern[str]:
    return re.compile(
        rf"{_JOIN}{_BETWEEN}(?:(?P<says>{says})\b|(?P<noun>{says_or_nouns}){_OBJECT}|(?P<other>{other})\b)",
        re.IGNORECASE,
    )


_NAMES_AND_EXPLAINS = _joined(SAYS, SAYS_OR_NOUNS, rf"{DOES_OTHER}|does\s+not")
_NAME_AND_EXPLAIN = _joined(SAY, SAY_OR_NOUN, rf"{DO_OTHER}|(?:must|should)(?:\s+not)?\s+\w+")
_TWO_QUESTIONS = re.compile(
    r"\b(?:and|or)\s+(?:(?:if|when)\b[^,?.]*,\s*)?(?P<says>does|do|is|are|has|have|it\s+relies)\s+"
    r"(?:it|its|they|their|the|there|this|not|on)\b",
    re.IGNORECASE,
)

_STARTS_QUESTION = re.compile(r"\s*(?:does|do|did|is|are|was|has|have|will|can)\b", re.IGNORECASE)
_STARTS_PLAIN_FORM = re.compile(
    rf"\s*(?:{SUBJECT}\s+)?(?:should|must|shall|needs\s+to|has\s+to|ought\s+to)\b"
    rf"|\s*(?:does|do|did|will|can)\s+{SUBJECT}\b|\s*(?:{SAY}|{SAY_OR_NOUN}|{DO_OTHER})\s+(?!of\b)",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"\b(?:that|which|who|whose|where|because|since|if|when|whether|how|why|what|as|while|so|unless|ensur\w+)\b",
    re.IGNORECASE,
)
_INFINITIVE = re.compile(r"(?<!needs)(?<!has)(?<!ought)\s+to\s+\w+", re.IGNORECASE)
_ONE_WORD = re.compile(r"\s*(?:[a-z]+ly\s+)?\S*\s*", re.IGNORECASE)
_ONE_OBJECT = re.compile(r"\b(?:on|upon|to|with|for|about|of|in|at|from)\s*\Z", re.IGNORECASE)
_SENTENCES = re.compile(r"(?:[^.!?;\n]|\n(?=[ \t]*[a-z])|\.(?=\w))+[.!?;]?")
_SECOND = re.compile(
    rf"\s+(?:{SUBJECT}\s+)?(?:also\s+)?(?P<verb>{SAYS}|{SAYS_OR_NOUNS}{_OBJECT})\b", re.IGNORECASE
)
_FIRST = re.compile(
    rf"\s*(?:{SUBJECT}\s+)?(?:[a-z]+ly\s+)?(?:{SAYS}|{SAYS_OR_NOUNS}|{DOES_OTHER})\b", re.IGNORECASE
)

_QUALITY = (
    r"(?:accurate|actionable|appropriate|balanced|believable|brief|clean|clear|coherent|complete|comprehensive"
    r"|concise|consistent|convincing|correct|creative|detailed|earned|empathetic|engaging|factual|fluent"
    r"|friendly|grammatical|helpful|honest|logical|natural|neutral|objective|organi[sz]ed|original|polite"
    r"|precise|professional|readable|relevant|respectful|satisfying|short|specific|structured|succinct"
    r"|surprising|thorough|truthful|understandable|up-to-date|unique|unified)"
)
_QUALITIES = re.compile(rf"\b{_QUALITY}(?:ly)?,?\s+and\s+(?:[a-z]+ly\s+)?{_QUALITY}(?:ly)?\b", re.IGNORECASE)


def _find(sight: LintInput) -> Iterator[Hit]:
    for criterion in sight.criteria:
        span = join_of(criterion.plain) if criterion.asks_a_judge else None
        if span is None:
            continue
        words = " ".join(criterion.requirement[slice(*span)].split())
        either = words.lower().startswith("or ")
        yield Hit(
            f"Asks about two things at once (“{words}”): "
            + (
                "MET does not say which of them was there."
                if either
                else "a submission with only one of them has no right verdict."
            ),
            "Make it two criteria, each with its own weight, or say that one of the two is enough.",
            criterion.index,
            span=span,
        )


def join_of(text: str) -> Span | None:
    """The first words that join a second requirement to the first, None for a single requirement.

    ``"Names the city and explains why."`` gives the span of ``and explains``; lists of nouns ("red and
    white"), and what a mentioned person should do ("tells the user to rest and drink"), are one requirement.
    """
    for sentence in _SENTENCES.finditer(text):
        start, body = sentence.start(), sentence.group()
        found = (_verbs(body) or _span(_QUALITIES.search(body))) if _JOINING.search(body) else None
        if found is not None:
            return start + found[0], start + found[1]
    return _second_sentence(text)


def _verbs(sentence: str) -> Span | None:
    if _STARTS_QUESTION.match(sentence):
        asked = _TWO_QUESTIONS.search(sentence)
        if asked:
            return _span(asked)
    plain_form = _STARTS_PLAIN_FORM.match(sentence)
    pattern = _NAME_AND_EXPLAIN if plain_form else _NAMES_AND_EXPLAINS
    from_here = plain_form.end() if plain_form else 0
    for match in pattern.finditer(sentence, from_here):
        before = sentence[from_here : match.start()]
        if _ONE_WORD.fullmatch(before) or _ONE_OBJECT.search(before):
            continue  # "explains or illustrates the rule", "relies on or repeats it": words for one act
        if match["says"] is None and _SUBORDINATE.search(before):
            continue
        if plain_form and (_INFINITIVE.search(before) or _SUBORDINATE.search(before)):
            continue
        return _span(match)
    return None


def _second_sentence(text: str) -> Span | None:
    if not _FIRST.match(text):
        return None
    sentences = list(_SENTENCES.finditer(text))
    for sentence in sentences[1:]:
        second = _SECOND.match(sentence.group())
        if second and sentence.group().strip()[:1].isupper():
            return sentence.start() + second.start("verb"), sentence.start() + second.end("verb")
    return None


def _span(match: re.Match[str] | None) -> Span | None:
    return match.span() if match else None


DOUBLE_BARRELLED = Rule(
    name="double_barrelled",
    title="Two requirements in one criterion",
    explanation=(
        "A criterion gets one verdict. When “and” or “or” joins two requirements, a submission that "
        "meets only one of them is MET for one reader and UNMET for the next. Found are a second verb "
        "of the response (“names the city and explains why”), two qualities (“accurate and concise”), "
        "two questions, and a second sentence that asks for more. Lists of nouns, brackets and "
        "quotations are left alone."
    ),
    severity="warning",
    find=_find,
    triggers=criteria("Names the capital and explains how it was chosen."),
    passes=criteria("Describes the black and white flag."),
)
