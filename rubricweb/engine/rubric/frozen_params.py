"""Parameters of a check as a value that cannot be changed."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any


class FrozenParams(Mapping[str, Any]):
    """Plain data by name that stays as it was given: every value is handed out as a copy of its own.

    Equal to any mapping of equal content, and hashable, so that what holds it can be. ``dict(params)`` is a
    fresh plain dict.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values = copy.deepcopy({str(name): value for name, value in (values or {}).items()})

    def __getitem__(self, name: str) -> Any:
        return copy.deepcopy(self._values[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenParams):
            return self._values == other._values
        return isinstance(other, Mapping) and self._values == dict(other)

    def __hash__(self) -> int:
        return hash(frozenset(self._values))  # values may be lists; equal params have equal names

    def __repr__(self) -> str:
        return f"FrozenParams({self._values!r})"
