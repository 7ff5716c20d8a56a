"""What reward functions can ask for, by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rubricweb.engine.errors import Fault, Invalid, nearest
from rubricweb.engine.rewards.functions import PLURALS, Signature

SINGULARS = tuple(PLURALS.values())

_ABSENT = object()


class InvalidRewards(Invalid):
    """Reward functions that cannot be called on these rollouts; places read ``correctness(completion)``."""


def rollout_arguments(state: Mapping[str, Any], objects: Mapping[str, Any]) -> dict[str, Any]:
    """What a function of one rollout can ask for.

    The rollout's ``prompt, completion, answer, info, state, task``, the class objects, and every other
    column of its dataset row; of two with one name the earlier in this list. Without them ``info`` is
    ``{}`` and ``task`` is ``"default"``; what is None or not there at all cannot be asked for.
    """
    values = {name: _value(state, name) for name in ("prompt", "completion", "answer")}
    values["info"] = _or(_value(state, "info"), {})
    values["task"] = _or(_value(state, "task"), "default")
    standard = {name: value for name, value in values.items() if value is not _ABSENT}
    return {**columns_of(state), **objects, **standard, "state": state}


def group_arguments(states: Sequence[Mapping[str, Any]], objects: Mapping[str, Any]) -> dict[str, Any]:
    """What a function of a whole group can ask for: lists with one entry per rollout.

    The plural names, the class objects, and under its own name every column that all rows have. A list
    with a gap cannot be asked for.
    """
    singles = [rollout_arguments(state, {}) for state in states]
    names = list(dict.fromkeys(name for single in singles for name in single))
    lists = {
        name: [single[name] for single in singles]
        for name in names
        if all(name in single for single in singles)
    }
    columns = {name: values for name, values in lists.items() if name not in SINGULARS}
    plurals = {plural: lists[name] for plural, name in PLURALS.items() if name in lists}
    return {**columns, **objects, **plurals}


def columns_of(state: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a rollout's dataset row beyond the standard arguments."""
    row = state.get("input")
    if not isinstance(row, Mapping):
        return {}
    return {name: value for name, value in row.items() if isinstance(name, str) and name not in SINGULARS}


def refuse_unknown(
    signatures: Sequence[Signature],
    names: Sequence[str],
    states: Sequence[Mapping[str, Any]],
    objects: Collection[str],
    columns: Collection[str],
) -> None:
    """Raise InvalidRewards for every parameter that names nothing these rollouts could ever have.

    What single rollouts lack (an answer, a column that others have) is no mistake of the function: it
    becomes that rollout's error.
    """
    offered = {*objects, *columns, *(name for state in states for name in columns_of(state))}
    faults = []
    for signature, name in zip(signatures, names, strict=True):
        known = [*(PLURALS if signature.is_group else SINGULARS), *sorted(offered)]
        faults += [
            Fault(
                f"{name}({parameter})",
                "a parameter that names nothing a rollout has",
                nearest(parameter, known),
            )
            for parameter in signature.required
            if parameter not in known
        ]
    if faults:
        raise InvalidRewards(faults)


def _value(state: Mapping[str, Any], name: str) -> Any:
    value = state.get(name)
    row = state.get("input")
    if value is None and isinstance(row, Mapping):
        value = row.get(name)
    return _ABSENT if value is None else value


def _or(value: Any, default: Any) -> Any:
    return default if value is _ABSENT else value
