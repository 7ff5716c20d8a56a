"""Rollouts out of dataset rows, and their scoring group by group."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from rubricweb.engine.errors import FaultList, shown
from rubricweb.engine.rewards.arguments import InvalidRewards, columns_of
from rubricweb.engine.rewards.results import Rollout
from rubricweb.engine.rewards.rubric import Rubric
from rubricweb.engine.rewards.types import State
from rubricweb.engine.together import together

Key: TypeAlias = str | Callable[[Any], Hashable]
"""What groups rollouts: the name of a key or column, or a function of the state."""

R = TypeVar("R", bound=Mapping[str, Any])


def states_from(rows: Iterable[Mapping[str, Any]], *, system_prompt: str | None = None) -> list[State]:
    """Make one unscored state per row of a dataset.

    A row has ``prompt`` (messages or a text) or ``question`` (a text), and may have ``completion`` or
    ``submission`` (messages or a text), ``answer`` or ``reference``, ``info``, ``task``, ``example_id`` and
    columns of its own, all kept under ``"input"``. Texts become one message. Without ``example_id`` a row
    gets its number, from 0. ``system_prompt`` is put before every prompt that has none. Raises
    InvalidRewards with every row that has no prompt.

    ``{"question": "2+2?", "answer": "4", "completion": "4"}`` becomes a state whose prompt is
    ``[{"role": "user", "content": "2+2?"}]``.
    """
    faults = FaultList()
    states = []
    for number, row in enumerate(rows):
        prompt = _first(row, "prompt", "question")
        if not isinstance(prompt, str | Sequence):
            faults.add(f"rows[{number}]", f"{shown(prompt)} for prompt or question", "a text or messages")
            continue
        states.append(_state(row, number, _messages(prompt, "user"), system_prompt))
    faults.raise_as(InvalidRewards)
    return states


def group_by(states: Iterable[R], key: Key = "example_id") -> dict[Hashable, list[R]]:
    """The states by the value of ``key``, groups and members in order of appearance.

    Raises InvalidRewards with every state that has no such key, or a value that cannot be grouped by.
    """
    faults = FaultList()
    groups: dict[Hashable, list[R]] = {}
    for number, state in enumerate(states):
        try:
            value = key(state) if callable(key) else _looked_up(state, key)
            groups.setdefault(value, []).append(state)
        except KeyError:
            faults.add(f"states[{number}]", f"no {key}", "a state or row with that key")
        except TypeError:
            faults.add(f"states[{number}].{key}", shown(value), "a text, a number or another hashable value")
    faults.raise_as(InvalidRewards)
    return groups


async def score_groups_of(
    rubric: Rubric, states: Sequence[Rollout], *, key: Key = "example_id", concurrency: int = 16
) -> dict[Hashable, list[Rollout]]:
    """Score a flat list of rollouts, every group on its own and at most ``concurrency`` at a time.

    Gives the groups of ``group_by``; their states are scored as by ``score_group``, so that the advantages
    of each add up to 0. Raises what those two raise, ValueError for a concurrency below 1.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}; allowed: 1 or more")
    groups = group_by(states, key)
    columns = {name for state in states for name in columns_of(state)}
    uneven = any(columns - columns_of(state).keys() for state in states)
    known = {"columns": columns} if uneven else {}  # a rubric of one's own need not know the keyword
    free = asyncio.Semaphore(concurrency)

    async def scored(group: list[Rollout]) -> None:
        async with free:
            await rubric.score_group(group, **known)

    await together([scored(group) for group in groups.values()])
    return groups


def _state(
    row: Mapping[str, Any], number: int, prompt: list[Mapping[str, Any]], system_prompt: str | None
) -> State:
    if system_prompt is not None and not any(message.get("role") == "system" for message in prompt):
        prompt = [{"role": "system", "content": system_prompt}, *prompt]
    completion = _first(row, "completion", "submission")
    own: dict[str, Any] = {"prompt": prompt}
    if completion is not None:
        own["completion"] = _messages(completion, "assistant")
    if row.get("answer") is None and row.get("reference") is not None:
        own["answer"] = row["reference"]
    return State(input={"example_id": number, "task": "default", "info": {}, **row}, **own)


def _first(row: Mapping[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _messages(given: Any, role: str) -> list[Mapping[str, Any]]:
    return [{"role": role, "content": given}] if isinstance(given, str) else list(given)


def _looked_up(state: Mapping[str, Any], key: str) -> Any:
    if key in state:
        return state[key]
    row = state.get("input")
    if isinstance(row, Mapping):
        return row[key]
    raise KeyError(key)
