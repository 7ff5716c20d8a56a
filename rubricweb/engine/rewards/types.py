"""The types of reward functions under their published names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypedDict

from rubricweb.engine.parsers.completion import Message, Messages

Info: TypeAlias = dict[str, Any]
"""An item's metadata, such as ``{"difficulty": 3}``."""

RewardFunc: TypeAlias = Callable[..., float | Awaitable[float]]
"""Scores one rollout; asks for what it needs by the names of its parameters."""

GroupRewardFunc: TypeAlias = Callable[..., list[float] | Awaitable[list[float]]]
"""Scores a group of rollouts at once: one number per rollout, in their order."""


class RolloutScore(TypedDict):
    """What scoring one rollout gives: the weighted sum, and every function's own number."""

    reward: float
    metrics: dict[str, float]


class State(dict[str, Any]):
    """One rollout: a dict that also answers for the columns of its dataset row, kept under ``"input"``.

    ``State(input={"answer": "4"})["answer"]`` is ``"4"``. A key of its own comes before a column; writing
    and deleting touch its own keys only. Any plain dict of the same shape can be scored too.
    """

    def __missing__(self, key: str) -> Any:
        row = dict.get(self, "input")
        if isinstance(row, Mapping) and key in row:
            return row[key]
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key or column, or ``default``."""
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        row = dict.get(self, "input")
        return dict.__contains__(self, key) or (isinstance(row, Mapping) and key in row)


__all__ = ["GroupRewardFunc", "Info", "Message", "Messages", "RewardFunc", "RolloutScore", "State"]
