"""A rubric for answers that are mathematics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from rubricweb.engine.checks.processes.limited import LimitedProcess
from rubricweb.engine.checks.reference import MATH_TIMEOUT_SECONDS, compare_mathematics
from rubricweb.engine.errors import EngineError
from rubricweb.engine.parsers.completion import Messages, Parser
from rubricweb.engine.parsers.think import MaybeThinkParser
from rubricweb.engine.rewards.rubric import AnyFunc, Rubric
from rubricweb.engine.rewards.teardowns import teardown
from rubricweb.engine.submission import Submission

_BOX = "\\boxed{"
MAX_TIMEOUT_SECONDS = 600.0


class MathNotInstalled(EngineError, ImportError):
    """The package that compares mathematics is not there."""


class MathRubric(Rubric):
    r"""Rewards a completion whose ``\boxed{}`` answer equals ``answer`` as mathematics, whatever its form.

    ``correct_answer`` comes after ``funcs``, with weight 1.0. Its number is that of the check
    ``math_equivalence``; a completion without a box is 0.0, one without ``answer`` an error, as is a
    comparison that takes longer than ``timeout_seconds``. Comparing is done in a process of the rubric's own,
    which ``teardown`` ends. Raises MathNotInstalled without the extra ``math``, ValueError for a time that is
    not above 0 and at most ten minutes.
    """

    def __init__(
        self,
        funcs: Sequence[AnyFunc] | None = None,
        weights: Sequence[float] | None = None,
        parser: Parser | None = None,
        *,
        timeout_seconds: float = MATH_TIMEOUT_SECONDS,
    ) -> None:
        if not 0 < timeout_seconds <= MAX_TIMEOUT_SECONDS:
            allowed = f"above 0 and at most {MAX_TIMEOUT_SECONDS:g}"
            raise ValueError(f"timeout_seconds is {timeout_seconds!r}; allowed: a number {allowed}")
        if find_spec("math_verify") is None:
            raise MathNotInstalled("MathRubric needs math-verify; install rubricweb with the extra math")
        super().__init__(funcs, weights, parser or MaybeThinkParser(boxed_answer))
        self.timeout_seconds = timeout_seconds
        self._process = LimitedProcess("math_equivalence", timeout_seconds=timeout_seconds)
        self.add_reward_func(self.correct_answer)

    @teardown
    def end_process(self) -> None:
        """End the process that compares; the next answer would start another."""
        self._process.end()

    async def correct_answer(self, parser: Parser, completion: Messages, answer: Any) -> float:
        """1.0 when the completion's answer equals the expected one, else 0.0."""
        found = parser.parse_answer(completion)
        if found is None or not str(found).strip():
            return 0.0
        return await asyncio.to_thread(self._equivalence, str(found), str(answer))

    def _equivalence(self, found: str, expected: str) -> float:
        submission = Submission(_boxed(found), reference=_boxed(expected))
        return compare_mathematics(submission, _boxed(expected), self._process).value


def boxed_answer(text: str) -> str:
    r"""What stands in the last ``\boxed{…}`` of a text, braces inside included; ``""`` without a closed one.

    ``"so \boxed{\frac{1}{2}}."`` gives ``\frac{1}{2}``.
    """
    start = text.rfind(_BOX)
    if start < 0:
        return ""
    depth = 1
    for at in range(start + len(_BOX), len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start + len(_BOX) : at].strip()
    return ""


def _boxed(expression: str) -> str:
    return expression if _BOX in expression else f"{_BOX}{expression}}}"
