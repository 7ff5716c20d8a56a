"""The check for a regular expression, in time linear in the text whatever the pattern."""

from __future__ import annotations

import functools
import re
from typing import Any, Literal

import re2
from pydantic import Field, field_validator

from rubricweb.engine.checks.base import CannotCheck, Check, CheckParams, CheckResult, quoted
from rubricweb.engine.submission import Submission

MAX_PATTERN = 1_000
"""Characters of a pattern."""
MAX_TEXT_CHARACTERS = 1_000_000
"""Longest text a pattern is tried on; a longer one is an error of the criterion."""
MAX_STEPS = 100_000_000
"""Compiled instructions times bytes of the text: about half a second of the slowest patterns."""
_MAX_PROGRAM_BYTES = 1_000_000
# Every pattern of the largest rubric, with and without capitals: with fewer, each reading of such a rubric
# would compile all of them again. The dearest take about 100 kB each.
_KEPT = 2_048

_NOT_LINEAR = (
    (r"\(\?=|\(\?!", "a lookahead, {found}"),
    (r"\(\?<=|\(\?<!", "a lookbehind, {found}"),
    (r"\\[1-9]|\\k[<{']|\(\?P=", "a backreference, {found}"),
    (r"\(\?>", "an atomic group, {found}"),
    (r"[*+?}]\+", "a possessive repetition, {found}"),
    (r"\(\?\(", "a conditional, {found}"),
    (r"\\Z", "{found}; RE2 writes the end of the text as \\z"),
)


class MatchesRegexParams(CheckParams):
    """The pattern, and how much of the text it must cover."""

    pattern: str = Field(
        min_length=1,
        max_length=MAX_PATTERN,
        description="A regular expression in RE2 syntax; no lookaround, no backreference",
    )
    mode: Literal["search", "fullmatch"] = Field(
        "search", description="search: a match anywhere; fullmatch: the whole text"
    )
    ignore_case: bool = Field(False, description="Whether capitals and small letters are the same")

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        compiled(pattern, False)
        return pattern


def run_matches_regex(submission: Submission, params: MatchesRegexParams) -> CheckResult:
    """1 when the pattern matches, else 0. Raises CannotCheck (``too_large``) for very long texts.

    The pattern is matched by RE2: ``\\d``, ``\\w`` and ``\\b`` mean ASCII, ``\\p{L}`` any letter;
    ``(?s)`` and ``(?m)`` at its beginning let ``.`` match line breaks and ``^ $`` match at lines.
    """
    pattern = compiled(params.pattern, params.ignore_case)
    text = submission.output.encode("utf-8", "replace")
    if len(submission.output) > MAX_TEXT_CHARACTERS or len(text) * pattern.programsize > MAX_STEPS:
        raise CannotCheck(
            "too_large",
            f"{len(submission.output):,} characters are too many for this pattern; "
            f"allowed: {min(MAX_TEXT_CHARACTERS, MAX_STEPS // pattern.programsize):,}",
        )
    match = (pattern.search if params.mode == "search" else pattern.fullmatch)(text)
    if match is None:
        return CheckResult(0.0, "no match" if params.mode == "search" else "the whole text does not match")
    return CheckResult(1.0, f"matched {quoted(match.group().decode('utf-8', 'replace'))}")


def describe_matches_regex(params: MatchesRegexParams) -> str:
    """Matches the pattern \\d{4}."""
    whole = "as a whole " if params.mode == "fullmatch" else ""
    return f"Matches {whole}the pattern {params.pattern}"


@functools.lru_cache(maxsize=_KEPT)
def compiled(pattern: str, ignore_case: bool) -> Any:
    """The compiled pattern. Raises ValueError saying which construct is allowed instead."""
    options = re2.Options()
    options.max_mem = _MAX_PROGRAM_BYTES
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(pattern, options)
    except UnicodeEncodeError:
        raise ValueError("a pattern without half of a surrogate pair") from None
    except re2.error as error:
        raise ValueError(f"an RE2 pattern; here: {_what_is_wrong(pattern, error)}") from None


def _what_is_wrong(pattern: str, error: Exception) -> str:
    # A character class may hold any of these as plain characters, and an escaped backslash starts nothing.
    bare = re.sub(r"\\\\|\[\^?\]?(?:\\.|[^\]\\])*\]", "", pattern)
    for construct, sentence in _NOT_LINEAR:
        match = re.search(construct, bare)
        if match:
            return sentence.format(found=match.group()) + " (RE2 answers in linear time and has none)"
    message = error.args[0] if error.args else error
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)


MATCHES_REGEX = Check(
    name="matches_regex",
    title="Matches a pattern",
    description="A regular expression (RE2) matches somewhere in the text, or the whole of it.",
    params=MatchesRegexParams,
    run=run_matches_regex,
    describe=describe_matches_regex,
)
