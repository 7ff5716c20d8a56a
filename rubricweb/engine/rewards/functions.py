"""What a reward function asks for and gives back, read from its signature."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import math
import numbers
import re
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

PLURALS = {
    "prompts": "prompt",
    "completions": "completion",
    "answers": "answer",
    "infos": "info",
    "states": "state",
    "tasks": "task",
}
"""The arguments of group functions, each the list of what single rollouts have under the singular."""

MAX_REWARD = 1e100
"""Rewards and weights beyond this are refused: their products could no longer be added."""

_LIST_IN_WORDS = re.compile(r"(?:\w+\.)*(?:list|List|Sequence)\b")


@dataclass(frozen=True, slots=True)
class Signature:
    """One function as scoring sees it.

    ``required`` and ``optional`` are the names it asks for (optional ones have a default), the first
    ``positional`` of them to be given by position; ``takes_all`` says that it has ``**kwargs``;
    ``is_group`` that it scores a whole group of rollouts at once.
    """

    func: Callable[..., Any]
    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    positional: tuple[str, ...]
    takes_all: bool
    is_group: bool

    @classmethod
    def of(cls, func: Callable[..., Any]) -> Signature:
        """Read a function, bound method, partial or callable object. Raises TypeError for anything else."""
        parameters = _parameters(func)
        named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        return cls(
            func=func,
            name=name_of(func),
            required=tuple(p.name for p in named if p.default is p.empty),
            optional=tuple(p.name for p in named if p.default is not p.empty),
            positional=tuple(p.name for p in named if p.kind is p.POSITIONAL_ONLY),
            takes_all=any(p.kind is p.VAR_KEYWORD for p in parameters),
            is_group=any(p.name in PLURALS for p in named) or _returns_list(func),
        )

    def missing(self, available: Mapping[str, Any]) -> list[str]:
        """The required names that are not available."""
        return [name for name in self.required if name not in available]

    async def call(self, available: Mapping[str, Any]) -> Any:
        """Call with what it asks for, waiting for the result of an async function."""
        given = {
            name: value
            for name, value in available.items()
            if self.takes_all or name in self.required or name in self.optional
        }
        by_position = [given.pop(name) for name in self.positional if name in given]
        result = self.func(*by_position, **given)
        return await result if inspect.isawaitable(result) else result


def name_of(func: Callable[..., Any]) -> str:
    """The name a function's number is kept under: of a callable object, its class."""
    if isinstance(func, functools.partial):
        return name_of(func.func)
    return getattr(func, "__name__", None) or type(func).__name__


def numbered(names: Iterable[str]) -> list[str]:
    """The names, a repeated one numbered from its second time on: a, b, a becomes a, b, a#2."""
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        result.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return result


def reward_of(value: object) -> float:
    """The finite number a function gave back; True is 1.0, and numbers of array libraries count.

    Raises ValueError for anything else: texts, None, NaN, infinities and numbers beyond ±MAX_REWARD.
    """
    is_number = isinstance(value, numbers.Real) or (
        hasattr(value, "__float__") and not isinstance(value, str)
    )
    number = float(typing.cast(Any, value)) if is_number else math.nan
    if not abs(number) <= MAX_REWARD:
        found = repr(number) if is_number else f"{type(value).__name__} {value!r}"[:80]
        raise ValueError(f"returned {found}; allowed: a finite number")
    return number


def _parameters(func: Callable[..., Any]) -> list[inspect.Parameter]:
    if not callable(func):
        raise TypeError(f"a reward function is {func!r}; allowed: a function or another callable")
    try:
        return list(inspect.signature(func).parameters.values())
    except ValueError:
        raise TypeError(
            f"the parameters of {name_of(func)} cannot be read; allowed: a Python function"
        ) from None


def _returns_list(func: Callable[..., Any]) -> bool:
    annotation = inspect.signature(func).return_annotation
    if isinstance(annotation, str):
        annotation = _resolved(annotation, func)
    if isinstance(annotation, str):
        return _LIST_IN_WORDS.match(annotation.strip("\"' ")) is not None
    origin = typing.get_origin(annotation) or annotation
    return origin in (list, tuple, collections.abc.Sequence)


def _resolved(annotation: str, func: Callable[..., Any]) -> Any:
    """The type a textual annotation names, or the text itself where that name is not to be found."""
    stub = SimpleNamespace(__annotations__={"return": annotation})
    try:
        return typing.get_type_hints(stub, globalns=_globals(func))["return"]
    except Exception:  # whatever a foreign annotation may raise, its text still says enough
        return annotation


def _globals(func: Callable[..., Any]) -> dict[str, Any]:
    while isinstance(func, functools.partial):
        func = func.func
    plain = inspect.unwrap(func)
    if not hasattr(plain, "__globals__"):
        plain = inspect.unwrap(type(plain).__call__)
    return getattr(plain, "__globals__", {})
