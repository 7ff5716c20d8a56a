"""Reward functions with weights, and the scoring of rollouts by them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from rubricweb.engine.errors import Fault
from rubricweb.engine.parsers.completion import Parser
from rubricweb.engine.rewards.arguments import (
    SINGULARS,
    InvalidRewards,
    group_arguments,
    refuse_unknown,
    rollout_arguments,
)
from rubricweb.engine.rewards.calls import Failure, reward_of_rollout, rewards_of_group
from rubricweb.engine.rewards.functions import MAX_REWARD, PLURALS, Signature, name_of, numbered
from rubricweb.engine.rewards.results import Rollout, Tally, forget_results, refuse_repeated, set_advantages
from rubricweb.engine.rewards.teardowns import run_teardowns
from rubricweb.engine.rewards.types import GroupRewardFunc, RewardFunc, RolloutScore
from rubricweb.engine.together import together

AnyFunc: TypeAlias = RewardFunc | GroupRewardFunc


class Rubric:
    """Reward functions, sync or async, with a weight each (1.0 without ``weights``).

    ``reward = Σ weight · value``, raw and unclamped. Functions run one after the other in their order, on
    all rollouts of a group at once, and may share what they find through ``state``. ``parser`` is what
    they get when they ask for one. Raises ValueError for lists of different length or a weight that is not
    finite, TypeError for something that cannot be called.

    >>> rubric = Rubric(funcs=[lambda completion: len(completion) / 10], weights=[2.0])
    >>> asyncio.run(rubric.score_rollout({"completion": "four"}))["reward"]
    0.8
    """

    def __init__(
        self,
        funcs: Sequence[AnyFunc] | None = None,
        weights: Sequence[float] | None = None,
        parser: Parser | None = None,
    ) -> None:
        funcs = funcs or ()
        if weights and len(weights) != len(funcs):
            raise ValueError(
                f"{len(weights)} weights for {len(funcs)} functions; allowed: one weight per function"
            )
        self.parser = parser or Parser()
        self.class_objects: dict[str, Any] = {"parser": self.parser}
        self._weighted: list[tuple[AnyFunc, float]] = []
        for func, weight in zip(funcs, weights or [1.0] * len(funcs), strict=True):
            Rubric.add_reward_func(self, func, weight)

    @property
    def funcs(self) -> list[AnyFunc]:
        """The functions in the order they run."""
        return [func for func, _ in self._weighted]

    @property
    def weights(self) -> list[float]:
        """Their weights, in the same order."""
        return [weight for _, weight in self._weighted]

    @property
    def metric_names(self) -> list[str]:
        """The names their numbers are kept under, in the same order; a repeated name is numbered: a, a#2."""
        return numbered(name_of(func) for func in self.funcs)

    def add_reward_func(self, func: AnyFunc, weight: float = 1.0) -> None:
        """Add a function at the end. Raises as the constructor does."""
        name = Signature.of(func).name
        if not abs(weight) <= MAX_REWARD:
            raise ValueError(f"the weight of {name} is {weight!r}; allowed: a finite number")
        self._weighted.append((func, float(weight)))

    def add_metric(self, func: AnyFunc, weight: float = 0.0) -> None:
        """Add a function that is tracked and moves nothing."""
        self.add_reward_func(func, weight)

    def add_class_object(self, name: str, obj: Any) -> None:
        """Let functions ask for ``obj`` under ``name``. Raises ValueError for a rollout's own names."""
        if name in PLURALS or name in SINGULARS:
            raise ValueError(f"{name} is what rollouts bring along; allowed: any other name")
        self.class_objects[name] = obj

    async def teardown(self) -> None:
        """Run the methods marked with ``@teardown``, the highest priority first, then by name.

        Call it when scoring is over. One that raises does not keep the others from running.
        """
        await run_teardowns(self)

    async def score_rollout(self, state: Rollout) -> RolloutScore:
        """Score one rollout; sets its ``reward, metrics, errors, coverage``.

        ``errors`` lists a GradingError for every function without a number: it is worth 0, has no entry in
        ``metrics``, and ``coverage`` says what share of Σ|w| is left. While functions run,
        ``state["reward"]`` and ``state["metrics"]`` hold what the earlier ones came to. Raises
        InvalidRewards, before any function runs, for parameters that name nothing and for group functions.
        """
        groups = [name for name, func in zip(self.metric_names, self.funcs, strict=True) if _is_group(func)]
        if groups:
            raise InvalidRewards(
                Fault(name, "a function of a whole group", "score_group, or functions of one rollout")
                for name in groups
            )
        (score,) = await self._score([state], ())
        return score

    async def score_group(
        self, states: Sequence[Rollout], *, columns: Collection[str] = ()
    ) -> list[RolloutScore]:
        """Score rollouts of one example together; sets ``advantage`` too: reward − mean of the group.

        Rewards 1.0 and 0.5 have the mean 0.75, advantages 0.25 and −0.25. ``columns`` names dataset columns
        known from other groups: where they are missing here, that is the rollout's error. Raises
        InvalidRewards as score_rollout does, ValueError when one state is given twice. An empty group is
        left alone.
        """
        refuse_repeated(states)
        scores = await self._score(states, columns)
        set_advantages(states)
        return scores

    async def _score(self, states: Sequence[Rollout], columns: Collection[str]) -> list[RolloutScore]:
        signatures = [Signature.of(func) for func in self.funcs]
        names, weights = self.metric_names, self.weights
        refuse_unknown(signatures, names, states, self.class_objects, columns)
        tallies = [Tally(state) for state in states]
        try:
            for name, weight, signature in zip(names, weights, signatures, strict=True):
                rewards = await self._call(signature, states)
                for tally, value in zip(tallies, rewards, strict=True):
                    tally.add(name, weight, value)
        except BaseException:
            for state in states:
                forget_results(state)
            raise
        return [tally.finish() for tally in tallies]

    async def _call(self, signature: Signature, states: Sequence[Rollout]) -> Sequence[float | Failure]:
        """One function's number, or why there is none, for every rollout."""
        if signature.is_group:
            return await rewards_of_group(signature, group_arguments(states, self.class_objects), len(states))
        return await together(
            [reward_of_rollout(signature, rollout_arguments(state, self.class_objects)) for state in states]
        )


def _is_group(func: Callable[..., Any]) -> bool:
    return Signature.of(func).is_group
