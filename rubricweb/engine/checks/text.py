"""Checks of what a text says: keywords, forbidden phrases, its length."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rubricweb.engine.checks.base import Check, CheckParams, CheckResult, Phrase, listed
from rubricweb.engine.checks.phrases import Match, contains, folded
from rubricweb.engine.submission import Submission

Phrases = Annotated[tuple[Phrase, ...], Field(min_length=1, max_length=100, strict=False)]
Length = Annotated[int, Field(ge=0, le=10_000_000)]


class ContainsKeywordsParams(CheckParams):
    """Which keywords, and how many of them are enough."""

    keywords: Phrases = Field(description="The words or phrases to look for")
    mode: Literal["all", "any", "fraction"] = Field(
        "all", description="all: every keyword; any: at least one; fraction: the share that is found"
    )
    match: Match = Field("substring", description="substring: anywhere; word: not inside a longer word")
    case_sensitive: bool = Field(False, description="Whether capitals matter")


def run_contains_keywords(submission: Submission, params: ContainsKeywordsParams) -> CheckResult:
    """1 or 0 for ``all`` and ``any``; for ``fraction`` the share found: 2 of 3 keywords are 0.667."""
    found, missing = _sorted_out(submission.output, params.keywords, params.match, params.case_sensitive)
    reason = "; ".join(
        f"{word}: {listed(phrases)}" for word, phrases in (("found", found), ("missing", missing)) if phrases
    )
    if params.mode == "fraction":
        return CheckResult(len(found) / len(params.keywords), reason)
    met = bool(found) if params.mode == "any" else not missing
    return CheckResult(float(met), reason)


def describe_contains_keywords(params: ContainsKeywordsParams) -> str:
    """Contains at least one of: summary, key points."""
    how_many = {"all": "all of", "any": "at least one of", "fraction": "as many as possible of"}[params.mode]
    return f"Contains {how_many}: {listed(params.keywords)}"


class NoForbiddenPhrasesParams(CheckParams):
    """Which phrases must not appear."""

    phrases: Phrases = Field(description="The words or phrases that must not appear")
    match: Match = Field("substring", description="substring: anywhere; word: not inside a longer word")
    case_sensitive: bool = Field(False, description="Whether capitals matter")


def run_no_forbidden_phrases(submission: Submission, params: NoForbiddenPhrasesParams) -> CheckResult:
    """1 when none of the phrases appears, 0 as soon as one does."""
    found, _ = _sorted_out(submission.output, params.phrases, params.match, params.case_sensitive)
    if found:
        return CheckResult(0.0, f"found: {listed(found)}")
    return CheckResult(1.0, "none of the phrases found")


def describe_no_forbidden_phrases(params: NoForbiddenPhrasesParams) -> str:
    """Contains none of: as an AI, I cannot."""
    return f"Contains none of: {listed(params.phrases)}"


class LengthBetweenParams(CheckParams):
    """The bounds of a length; at least one of them, both included."""

    unit: Literal["characters", "words"] = Field("characters", description="What is counted")
    min: Length | None = Field(None, description="The least that is allowed; empty for no lower bound")
    max: Length | None = Field(None, description="The most that is allowed; empty for no upper bound")

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"a min ({self.min}) that is not above max ({self.max})")
        return self


def run_length_between(submission: Submission, params: LengthBetweenParams) -> CheckResult:
    """1 when the length lies between the bounds, bounds included, else 0.

    Characters are Unicode code points, words are what white space separates.
    """
    text = submission.output
    length = len(text) if params.unit == "characters" else len(text.split())
    counted = f"{length:,} {params.unit if length != 1 else params.unit[:-1]}"
    if params.min is not None and length < params.min:
        return CheckResult(0.0, f"{counted}; at least {params.min:,} asked for")
    if params.max is not None and length > params.max:
        return CheckResult(0.0, f"{counted}; at most {params.max:,} allowed")
    return CheckResult(1.0, counted)


def describe_length_between(params: LengthBetweenParams) -> str:
    """Has 50 to 500 characters."""
    if params.max is None:
        return f"Has at least {params.min:,} {params.unit}"
    if params.min is None:
        return f"Has at most {params.max:,} {params.unit}"
    return f"Has {params.min:,} to {params.max:,} {params.unit}"


def _sorted_out(
    text: str, phrases: tuple[str, ...], match: Match, case_sensitive: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The phrases that stand in the text, and those that do not, each in the order given."""
    searched = folded(text, case_sensitive=case_sensitive)
    present = {
        phrase: contains(searched, folded(phrase, case_sensitive=case_sensitive), match) for phrase in phrases
    }
    found = tuple(phrase for phrase in phrases if present[phrase])
    return found, tuple(phrase for phrase in phrases if not present[phrase])


CONTAINS_KEYWORDS = Check(
    name="contains_keywords",
    title="Contains keywords",
    description="The text contains all, any or a share of the given words or phrases.",
    params=ContainsKeywordsParams,
    run=run_contains_keywords,
    describe=describe_contains_keywords,
)
NO_FORBIDDEN_PHRASES = Check(
    name="no_forbidden_phrases",
    title="No forbidden phrases",
    description="The text contains none of the given words or phrases.",
    params=NoForbiddenPhrasesParams,
    run=run_no_forbidden_phrases,
    describe=describe_no_forbidden_phrases,
)
LENGTH_BETWEEN = Check(
    name="length_between",
    title="Length between",
    description="The number of characters or words lies between two bounds.",
    params=LengthBetweenParams,
    run=run_length_between,
    describe=describe_length_between,
)
