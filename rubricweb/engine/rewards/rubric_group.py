"""Several rubrics that score the same rollouts side by side."""

from __future__ import annotations

import asyncio
import copy
import math
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from rubricweb.engine.report import GradingError
from rubricweb.engine.rewards.functions import name_of, numbered
from rubricweb.engine.rewards.results import RESULTS, Rollout, forget_results, refuse_repeated, set_advantages
from rubricweb.engine.rewards.rubric import AnyFunc, Rubric
from rubricweb.engine.rewards.totals import reward_coverage
from rubricweb.engine.rewards.types import RolloutScore
from rubricweb.engine.scoring import FAILED
from rubricweb.engine.together import together


class RubricGroup(Rubric):
    """Scores with all its rubrics at the same time; the reward is the sum of theirs.

    Metrics and errors of all are collected, a name that comes again numbered (a, a#2), and the advantage is
    computed from the summed rewards. Each rubric works on states of its own: what its functions write there
    is seen by its own later functions and put into the common state when all are done, of two writing one
    key the later rubric's. Raises ValueError without rubrics.
    """

    def __init__(self, rubrics: Sequence[Rubric]) -> None:
        if not rubrics:
            raise ValueError("a group without rubrics; allowed: one rubric or more")
        self.rubrics = list(rubrics)
        super().__init__(parser=self.rubrics[0].parser)

    @property
    def funcs(self) -> list[AnyFunc]:
        """The functions of all rubrics, in order."""
        return [func for rubric in self.rubrics for func in rubric.funcs]

    @property
    def weights(self) -> list[float]:
        """Their weights, in the same order."""
        return [weight for rubric in self.rubrics for weight in rubric.weights]

    def add_reward_func(self, func: AnyFunc, weight: float = 1.0) -> None:
        """Add a function to the first rubric."""
        self.rubrics[0].add_reward_func(func, weight)

    def add_class_object(self, name: str, obj: Any) -> None:
        """Let the functions of every rubric ask for ``obj`` under ``name``."""
        for rubric in self.rubrics:
            rubric.add_class_object(name, obj)

    async def teardown(self) -> None:
        """Tear down the group's own methods and every rubric of it, whichever of them raise."""
        done = await asyncio.gather(
            super().teardown(), *(rubric.teardown() for rubric in self.rubrics), return_exceptions=True
        )
        for failure in done:
            if failure is not None:
                raise failure

    async def score_rollout(self, state: Rollout) -> RolloutScore:
        """Score one rollout as ``Rubric.score_rollout`` does, by every rubric."""
        (score,) = await self._score_by_all([state], lambda rubric, states: rubric.score_rollout(states[0]))
        return score

    async def score_group(
        self, states: Sequence[Rollout], *, columns: Collection[str] = ()
    ) -> list[RolloutScore]:
        """Score a group as ``Rubric.score_group`` does, by every rubric.

        Two rubrics giving the rewards (1, 0) and (0.5, 0.5): rewards 1.5 and 0.5, advantages 0.5 and −0.5.
        """
        refuse_repeated(states)
        known = {"columns": columns} if columns else {}  # a rubric of one's own need not know the keyword
        scores = await self._score_by_all(states, lambda rubric, copies: rubric.score_group(copies, **known))
        set_advantages(states)
        return scores

    async def _score_by_all(
        self, states: Sequence[Rollout], score: Callable[[Rubric, list[Rollout]], Awaitable[Any]]
    ) -> list[RolloutScore]:
        for state in states:
            forget_results(state)
        copies = [[copy.copy(state) for state in states] for _ in self.rubrics]

        async def scored(rubric: Rubric, own: list[Rollout]) -> None:
            await score(rubric, own)

        await together([scored(rubric, own) for rubric, own in zip(self.rubrics, copies, strict=True)])
        return [self._merge(state, [own[i] for own in copies]) for i, state in enumerate(states)]

    def _merge(self, state: Rollout, copies: Sequence[Rollout]) -> RolloutScore:
        _take_over_writes(state, copies)
        metrics: dict[str, float] = {}
        errors: list[GradingError] = []
        for names, own in zip(self._new_names(), copies, strict=True):
            for name, value in own["metrics"].items():
                metrics[_free(names.get(name, name), metrics)] = value
            for error in own.get("errors", ()):
                renamed = names.get(error.criterion, error.criterion)
                errors.append(error.model_copy(update={"criterion": renamed}))
        failed = {error.criterion for error in errors}
        state["reward"] = math.fsum(own["reward"] for own in copies)
        state["metrics"] = metrics
        state["errors"] = errors
        state["coverage"] = reward_coverage(
            self.weights, [FAILED if name in failed else 0.0 for name in self.metric_names]
        )
        return RolloutScore(reward=state["reward"], metrics=dict(metrics))

    def _new_names(self) -> list[dict[str, str]]:
        """Per rubric, the names of its functions among all functions of the group."""
        names = iter(numbered(name_of(func) for func in self.funcs))
        return [dict(zip(rubric.metric_names, names, strict=False)) for rubric in self.rubrics]


def _take_over_writes(state: Rollout, copies: Sequence[Rollout]) -> None:
    before = dict(state.items())
    for own in copies:
        for key, value in own.items():
            if key not in RESULTS and (key not in before or before[key] is not value):
                state[key] = value
        for key in before.keys() - own.keys() - set(RESULTS):
            state.pop(key, None)


def _free(name: str, taken: dict[str, float]) -> str:
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}#{number}", number + 1
    return free
