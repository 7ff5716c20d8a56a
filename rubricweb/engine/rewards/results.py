"""What scoring writes into the states of rollouts."""

from __future__ import annotations

import math
from collections.abc import MutableMapping, Sequence
from typing import Any, TypeAlias

from rubricweb.engine.report import GradingError
from rubricweb.engine.rewards.calls import Failure
from rubricweb.engine.rewards.totals import reward_coverage, total_reward
from rubricweb.engine.rewards.types import RolloutScore
from rubricweb.engine.scoring import FAILED, Failed

Rollout: TypeAlias = MutableMapping[str, Any]
"""The state of one rollout: a State, or a plain dict of the same shape."""

RESULTS = ("reward", "advantage", "metrics", "errors", "coverage")
"""What scoring writes into a state; whatever stood there before is gone once scoring begins."""


class Tally:
    """One rollout's results so far, kept in its state for later functions to see."""

    def __init__(self, state: Rollout) -> None:
        self._state = state
        self._weights: list[float] = []
        self._rewards: list[float | Failed] = []
        self._metrics: dict[str, float] = {}
        self._errors: list[GradingError] = []
        forget_results(state)
        self._show()

    def finish(self) -> RolloutScore:
        """Say how much of the weights the reward rests on, now that every function has been called."""
        self._state["coverage"] = reward_coverage(self._weights, self._rewards)
        return RolloutScore(reward=self._state["reward"], metrics=dict(self._metrics))

    def add(self, name: str, weight: float, reward: float | Failure) -> None:
        """Take in what one function came to."""
        self._weights.append(weight)
        if isinstance(reward, Failure):
            self._rewards.append(FAILED)
            self._errors.append(GradingError(criterion=name, kind=reward.kind, message=reward.message))
        else:
            self._rewards.append(reward)
            self._metrics[name] = reward
        self._show()

    def _show(self) -> None:
        self._state["reward"] = total_reward(self._weights, self._rewards)
        self._state["metrics"] = dict(self._metrics)
        self._state["errors"] = list(self._errors)


def set_advantages(states: Sequence[Rollout]) -> None:
    """Give every state of a group its ``advantage``: its reward minus the mean reward of the group."""
    if not states:
        return
    mean = math.fsum(state["reward"] for state in states) / len(states)
    for state in states:
        state["advantage"] = state["reward"] - mean


def refuse_repeated(states: Sequence[Rollout]) -> None:
    """Raise ValueError when one state stands twice in a group: its results would overwrite each other."""
    if len({id(state) for state in states}) < len(states):
        raise ValueError("one state twice in a group; allowed: a state of its own for every rollout")


def forget_results(state: Rollout) -> None:
    """Take out what an earlier scoring left."""
    for name in RESULTS:
        state.pop(name, None)
