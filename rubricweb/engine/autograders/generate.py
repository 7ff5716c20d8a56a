"""The functions an autograder calls to reach a model."""

from __future__ import annotations

import importlib
from typing import Any, Protocol, cast

from rubricweb.engine.autograders.outputs import OneShotOutput, PerCriterionOutput, RubricAsJudgeOutput


class GenerateFn(Protocol):
    """Any of the typed functions below: two prompts in, an output model (or a reply's raw text) out.

    Retries, timeouts and rate limits are the function's own business. What it raises becomes the error of the
    criteria that were asked about.
    """

    async def __call__(self, system_prompt: str, user_prompt: str) -> Any: ...


class PerCriterionGenerateFn(Protocol):
    """Asks about one criterion; for PerCriterionGrader."""

    async def __call__(self, system_prompt: str, user_prompt: str) -> PerCriterionOutput: ...


class OneShotGenerateFn(Protocol):
    """Asks about all criteria at once; for PerCriterionOneShotGrader."""

    async def __call__(self, system_prompt: str, user_prompt: str) -> OneShotOutput: ...


class RubricAsJudgeGenerateFn(Protocol):
    """Asks for one score from 0 to 100; for RubricAsJudgeGrader."""

    async def __call__(self, system_prompt: str, user_prompt: str) -> RubricAsJudgeOutput: ...


DEFAULT_NAMES = (
    "default_per_criterion_generate_fn",
    "default_oneshot_generate_fn",
    "default_rubric_as_judge_generate_fn",
)


def default_generate_fn(name: str) -> GenerateFn:
    """The function of that name that asks the OpenAI-compatible endpoint of the environment.

    It lives one floor up, with the network, and is reached by name when it is first needed: importing the
    engine imports no client. Raises AttributeError for a name not in DEFAULT_NAMES.
    """
    if name not in DEFAULT_NAMES:
        raise AttributeError(f"no default generate function {name!r}; allowed: {', '.join(DEFAULT_NAMES)}")
    return cast(GenerateFn, getattr(importlib.import_module("rubricweb.judges.defaults"), name))
