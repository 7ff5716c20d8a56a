"""The kinds of values a rubric is made of: texts of a size, weights, shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from rubricweb.engine.errors import shown
from rubricweb.engine.parsers.plain_text import unstorable
from rubricweb.engine.rubric.frozen_params import FrozenParams

MAX_NAME = 120
MAX_TITLE = 200
MAX_LABEL = 200
"""Characters of an option's label."""
MAX_REQUIREMENT = 10_000
MAX_LONG_TEXT = 50_000
"""Characters of guidelines, guidance and examples."""
MAX_TAGS = 50
MAX_DEPTH = 100
"""Levels of nesting in parameters, such as those of a JSON schema."""
MAX_WEIGHT = 1_000_000.0
"""Largest absolute weight: far above any use, far below where a sum of weights loses its meaning."""


def refusal(found: str, allowed: str) -> PydanticCustomError:
    """A field's refusal, in a form from which a loader takes what was found and what is allowed."""
    return PydanticCustomError(
        "refused", "found {found}; allowed: {allowed}", {"found": found, "allowed": allowed}
    )


def checked_text(limit: int, *, one_line: bool = False) -> Callable[[object], str]:
    """A check that gives a text back stripped, and refuses what is no text, too long or unstorable."""

    def check(value: object) -> str:
        if not isinstance(value, str):
            raise refusal(shown(value), "text (in quotes)" if isinstance(value, int | float) else "text")
        text = value.strip()
        broken = unstorable(text)
        if broken:
            raise refusal(broken, "text")
        if len(text) > limit:
            raise refusal(f"{len(text):,} characters", f"at most {limit:,}")
        if one_line and any(character in text for character in "\n\r\t\x0b\x0c\x85\u2028\u2029"):
            raise refusal("a line break", "one line")
        return text

    return check


def required(check: Callable[[object], str], what: str = "text that says what to look for") -> Any:
    """The check, refusing an empty text as well."""

    def checked(value: object) -> str:
        text = check(value)
        if not text:
            raise refusal(shown(text), what)
        return text

    return checked


def optional(check: Callable[[object], str]) -> Callable[[object], str | None]:
    """The check, taking nothing and an empty text for None."""

    def checked(value: object) -> str | None:
        return None if value is None else check(value) or None

    return checked


def number_from(low: float, high: float, what: str = "a finite number") -> Callable[[object], float]:
    """A check for a real number of a closed range; text, true and NaN are none."""
    allowed = f"{what} from {low:,.10g} to {high:,.10g}"

    def check(value: object) -> float:
        # NaN fails every comparison, so the test is written to pass only what is surely inside.
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise refusal(shown(value), allowed)
        return float(value) + 0.0  # turns -0.0 into 0.0

    return check


def whole_from(low: int, high: int) -> Callable[[object], int]:
    """A check for a whole number of a closed range."""
    allowed = f"a whole number from {low:,} to {high:,}"

    def check(value: object) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise refusal(shown(value), allowed)
        return value

    return check


def _tags(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise refusal(shown(value), "a list of texts")
    if len(value) > MAX_TAGS:
        raise refusal(f"{len(value)} tags", f"at most {MAX_TAGS}")
    check = required(checked_text(MAX_NAME, one_line=True))
    return tuple(check(tag) for tag in value)


def _params(value: object) -> FrozenParams:
    if value is None:
        return FrozenParams()
    if not isinstance(value, Mapping):
        raise refusal(shown(value), "an object of parameters")
    if is_too_deep(value):
        raise refusal("values nested too deeply", f"at most {MAX_DEPTH} levels")
    _check_storable(value, "")
    return value if isinstance(value, FrozenParams) else FrozenParams(value)


def is_too_deep(params: object, depth: int = 0) -> bool:
    """Whether parameters are nested more deeply than they may be: no copy could be made of some."""
    if depth > MAX_DEPTH:
        return True
    if isinstance(params, Mapping):
        params = list(params.values())
    return isinstance(params, list | tuple) and any(is_too_deep(inner, depth + 1) for inner in params)


def _check_storable(value: object, place: str) -> None:
    """Refuse what no JSON column and no file holds: characters that cannot be stored, NaN, infinities."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _check_storable(str(key), place)
            _check_storable(inner, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_storable(inner, place)
    elif isinstance(value, str) and (broken := unstorable(value)):
        raise refusal(f"{broken} ({place})", "text")
    elif isinstance(value, float) and not math.isfinite(value):
        raise refusal(f"{shown(value)} ({place})", "a finite number")


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise refusal(shown(value), "true or false")
    return value


Weight: TypeAlias = Annotated[float, BeforeValidator(number_from(-MAX_WEIGHT, MAX_WEIGHT))]
Share: TypeAlias = Annotated[float, BeforeValidator(number_from(0.0, 1.0, "a number"))]
Flag: TypeAlias = Annotated[bool, BeforeValidator(_flag)]
Name: TypeAlias = Annotated[str | None, BeforeValidator(optional(checked_text(MAX_NAME, one_line=True)))]
Title: TypeAlias = Annotated[str, BeforeValidator(checked_text(MAX_TITLE, one_line=True))]
Label: TypeAlias = Annotated[
    str, BeforeValidator(required(checked_text(MAX_LABEL, one_line=True), "a text that names the option"))
]
Requirement: TypeAlias = Annotated[str, BeforeValidator(required(checked_text(MAX_REQUIREMENT)))]
LongText: TypeAlias = Annotated[str | None, BeforeValidator(optional(checked_text(MAX_LONG_TEXT)))]
Guidelines: TypeAlias = Annotated[str, BeforeValidator(checked_text(MAX_LONG_TEXT))]
Tags: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_tags)]
Params: TypeAlias = Annotated[
    FrozenParams, PlainValidator(_params), PlainSerializer(dict), WithJsonSchema({"type": "object"})
]
