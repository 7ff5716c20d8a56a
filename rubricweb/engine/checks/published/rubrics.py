"""The rubrics of the published prompt-eval-rubric: built-in checks called like functions of the text."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

from rubricweb.engine.checks.base import CheckResult
from rubricweb.engine.checks.criteria import as_number, check_params
from rubricweb.engine.checks.phrases import Match
from rubricweb.engine.checks.registry import BUILT_IN
from rubricweb.engine.errors import FaultList, InvalidRubric, shown
from rubricweb.engine.submission import Submission

RubricFn: TypeAlias = Callable[[str], Any]
"""A rubric of these evaluators: takes the text, gives a number from 0 to 1 (True is 1), or a number with its
reason, ``(0.5, "half of it")``."""


class CheckRubric:
    """A built-in check with its parameters, called like a function of the text.

    ``rubric("a text")`` is the value from 0 to 1; ``measure`` says the reason too. Raises InvalidRubric (a
    ValueError) for parameters the check refuses, when it is made.
    """

    def __init__(self, check: str, params: dict[str, Any]) -> None:
        faults = FaultList()
        read = check_params(check, {name: v for name, v in params.items() if v is not None}, faults)
        faults.raise_as(InvalidRubric)
        assert read is not None
        self.check = check
        self.params = read
        self.__name__ = type(self).__name__

    def __call__(self, output: str) -> float:
        return self.measure(output).value

    def measure(self, output: str) -> CheckResult:
        """The value with its reason."""
        check = BUILT_IN[self.check]
        return check.run(Submission(output), check.params.model_validate(self.params))

    def __repr__(self) -> str:
        return f"{self.__name__}({', '.join(f'{name}={value!r}' for name, value in self.params.items())})"


class ContainsKeywords(CheckRubric):
    """The words or phrases that must appear: all of them, any, or as a share (``mode="fraction"``)."""

    def __init__(
        self,
        keywords: Iterable[str],
        *,
        mode: Literal["all", "any", "fraction"] = "all",
        match: Match = "substring",
        case_sensitive: bool = False,
    ) -> None:
        params = {"mode": mode, "match": match, "case_sensitive": case_sensitive}
        super().__init__("contains_keywords", {"keywords": _texts(keywords)} | params)


class NoForbiddenPhrases(CheckRubric):
    """The words or phrases of which none may appear."""

    def __init__(
        self, phrases: Iterable[str], *, match: Match = "substring", case_sensitive: bool = False
    ) -> None:
        params = {"match": match, "case_sensitive": case_sensitive}
        super().__init__("no_forbidden_phrases", {"phrases": _texts(phrases)} | params)


class MatchesRegex(CheckRubric):
    """A pattern in RE2 syntax that must match somewhere, or the whole text (``mode="fullmatch"``)."""

    def __init__(
        self, pattern: str, *, mode: Literal["search", "fullmatch"] = "search", ignore_case: bool = False
    ) -> None:
        super().__init__("matches_regex", {"pattern": pattern, "mode": mode, "ignore_case": ignore_case})


class JsonSchema(CheckRubric):
    """A JSON schema that the text, or its first fenced block (``source="fenced"``), must fit."""

    def __init__(self, schema: dict[str, Any], *, source: Literal["whole", "fenced"] = "whole") -> None:
        super().__init__("json_schema", {"schema": schema, "source": source})


class LengthBetween(CheckRubric):
    """The bounds, both included, of the text's length: in characters or in words, not in both."""

    def __init__(
        self,
        min_chars: int | None = None,
        max_chars: int | None = None,
        *,
        min_words: int | None = None,
        max_words: int | None = None,
    ) -> None:
        in_words = min_words is not None or max_words is not None
        if in_words and (min_chars is not None or max_chars is not None):
            raise ValueError("bounds in characters and in words; allowed: one of them")
        params: dict[str, Any] = {"unit": "words", "min": min_words, "max": max_words}
        if not in_words:
            params = {"unit": "characters", "min": min_chars, "max": max_chars}
        super().__init__("length_between", params)


def threshold_rubric(fn: RubricFn, min_score: float = 0.5) -> Callable[[str], float]:
    """Turn a numeric function of the text into pass or fail: 1.0 from ``min_score`` on, else 0.0.

    ``threshold_rubric(len, min_score=20)`` passes from 20 characters on: the function may use any scale. It
    keeps the function's name. Raises TypeError for a coroutine function, ValueError for a threshold that is
    not finite.
    """
    refuse_unusable(fn, "fn")
    if not math.isfinite(min_score):
        raise ValueError(f"min_score is {min_score!r}; allowed: a finite number")

    def passes(output: str) -> float:
        returned = fn(output)
        number = as_number(returned.value if isinstance(returned, CheckResult) else returned)
        if number is None:
            raise ValueError(f"{name_of(fn)} returned {shown(returned)}; allowed: a finite number")
        return float(number >= min_score)

    passes.__name__ = name_of(fn)
    return passes


def refuse_unusable(rubric: Any, place: str) -> None:
    """Raise TypeError for what cannot be called with a text and give a number at once."""
    if not callable(rubric):
        raise TypeError(f"{place} is {shown(rubric)}; allowed: a rubric or a function of the text")
    if inspect.iscoroutinefunction(rubric) or inspect.iscoroutinefunction(type(rubric).__call__):
        raise TypeError(f"{place} ({name_of(rubric)}) is a coroutine function; allowed: a plain function")


def name_of(rubric: Any) -> str:
    """What a rubric is called in a breakdown: its class, or its function's name."""
    while isinstance(rubric, functools.partial):
        rubric = rubric.func
    name = getattr(rubric, "__name__", None) or type(rubric).__name__
    return str(name).strip("<>")


def _texts(phrases: Iterable[str]) -> Any:
    # A single text is an iterable of its letters, and never what was meant.
    return phrases if isinstance(phrases, str) else list(phrases)
