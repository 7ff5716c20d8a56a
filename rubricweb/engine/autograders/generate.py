"""The functions an autograder calls to reach a model."""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import Any, Protocol, cast

from rubricweb.engine.autograders.outputs import OneShotOutput, PerCriterionOutput, RubricAsJudgeOutput


class GenerateFn(Protocol):
    """Any of the typed functions below: two prompts in, an output model (or a reply's raw text) out.

    Retries, timeouts and rate limits are the function's own business. What it raises becomes the error of the
    criteria that were asked about, unless it says that the function is set up wrongly (``is_setup_error``).
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


def refuse_synchronous(generate: Any) -> None:
    """Raise TypeError for what is not called with two prompts and awaited: here, not at every criterion.

    A decorated coroutine function passes by what it wraps, any other function by saying that it returns an
    awaitable. What cannot be looked into (a function written in C) is believed.
    """
    name = getattr(generate, "__name__", type(generate).__name__)
    if not callable(generate):
        raise TypeError(f"generate_fn is {name}; allowed: an async function of the two prompts")
    function = generate
    while isinstance(function, functools.partial):
        function = function.func
    if not (inspect.isroutine(function) or _is_async(function)):
        function = type(function).__call__
    function = inspect.unwrap(function)
    if not hasattr(function, "__code__"):
        return
    _refuse_other_arguments(generate, name)
    if _is_async(function):
        return
    if not any(word in str(function.__annotations__.get("return")) for word in _AWAITED):
        raise TypeError(
            f"generate_fn {name} is a plain function; allowed: an async one, such as `async def {name}(…)`. "
            "A blocking call goes through `await asyncio.to_thread(…)`"
        )


def _refuse_other_arguments(generate: Any, name: str) -> None:
    """Raise TypeError for a function that cannot be called with two prompts and our keywords it declares."""
    try:
        signature = inspect.signature(generate)
    except (TypeError, ValueError):
        return
    try:
        signature.bind("", "", **{key: None for key in ("schema", "reader") if key in signature.parameters})
    except TypeError as error:
        raise TypeError(
            f"generate_fn {name}{signature}: {error}; allowed: a function that is called with the system "
            "prompt and the user prompt"
        ) from None


def _is_async(function: Any) -> bool:
    """Whether calling it makes a coroutine; mocks of async functions say so by their code alone."""
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    return inspect.iscoroutinefunction(function) or bool(flags & inspect.CO_COROUTINE)


_AWAITED = ("Awaitable", "Coroutine", "Future", "Task")

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
