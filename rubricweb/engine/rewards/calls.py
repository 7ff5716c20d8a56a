"""Calling reward functions, with their failures as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.errors import ConfigurationError
from rubricweb.engine.rewards.functions import Signature, reward_of


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a function has no number: a stable kind and a sentence."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class _Returned:
    value: Any


async def reward_of_rollout(signature: Signature, available: Mapping[str, Any]) -> float | Failure:
    """One function's number for one rollout. KeyboardInterrupt and cancellation pass through."""
    result = await _called(signature, available)
    return result if isinstance(result, Failure) else _number(result.value)


async def rewards_of_group(
    signature: Signature, available: Mapping[str, Any], size: int
) -> Sequence[float | Failure]:
    """A group function's numbers, one per rollout; a list of another length fails them all."""
    if not size:
        return []
    result = await _called(signature, available)
    if isinstance(result, Failure):
        return [result] * size
    values = _listed(result.value)
    if values is None or len(values) != size:
        found = type(result.value).__name__ if values is None else f"{len(values)} values"
        return [Failure("wrong_length", f"returned {found}; allowed: a list of {size} numbers")] * size
    return [_number(value) for value in values]


async def _called(signature: Signature, available: Mapping[str, Any]) -> _Returned | Failure:
    missing = signature.missing(available)
    if missing:
        return Failure(
            "missing_argument",
            f"asks for {', '.join(missing)}, which is not there; there are {', '.join(sorted(available))}",
        )
    try:
        return _Returned(await signature.call(available))
    except ConfigurationError:  # it holds for every rollout, and would look like a bad one
        raise
    except Exception as error:  # a function's own failure is its rollout's error and stops nothing else
        return Failure("reward_crashed", f"{type(error).__name__}: {error}")


def _listed(value: Any) -> list[Any] | None:
    """The entries of a list, tuple or array; None for what has no order or no length."""
    if isinstance(value, str | bytes | Mapping | Set) or not hasattr(value, "__len__"):
        return None
    try:
        return list(value)
    except TypeError:  # an array without dimensions has a length only by name
        return None


def _number(value: object) -> float | Failure:
    try:
        return reward_of(value)
    except Exception as error:  # turning a foreign object into a float may raise anything
        return Failure("not_a_number", str(error))
