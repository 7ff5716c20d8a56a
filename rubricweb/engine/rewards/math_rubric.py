"""A rubric for answers that are mathematics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from rubricweb.engine.errors import EngineError
from rubricweb.engine.parsers.completion import Messages, Parser
from rubricweb.engine.parsers.think import MaybeThinkParser
from rubricweb.engine.rewards.rubric import AnyFunc, Rubric
from rubricweb.engine.submission import Submission

_BOX = "\\boxed{"


class MathNotInstalled(EngineError, ImportError):
    """The package that compares mathematics is not there."""


class MathRubric(Rubric):
    r"""Rewards a completion whose ``\boxed{}`` answer equals ``answer`` as mathematics, whatever its form.

    ``correct_answer`` comes after ``funcs``, with weight 1.0. Its number is that of the check
    ``math_equivalence``; a completion without a box is 0.0, one without ``answer`` an error. Raises
    MathNotInstalled without the extra ``math``.
    """

    def __init__(
        self,
        funcs: Sequence[AnyFunc] | None = None,
        weights: Sequence[float] | None = None,
        parser: Parser | None = None,
    ) -> None:
        if find_spec("math_verify") is None:
            raise MathNotInstalled("MathRubric needs math-verify; install rubricweb with the extra math")
        super().__init__(funcs, weights, parser or MaybeThinkParser(boxed_answer))
        self.add_reward_func(self.correct_answer)

    async def correct_answer(self, parser: Parser, completion: Messages, answer: Any) -> float:
        """1.0 when the completion's answer equals the expected one, else 0.0."""
        found = parser.parse_answer(completion)
        if found is None or not str(found).strip():
            return 0.0
        return await asyncio.to_thread(_equivalence, str(found), str(answer))


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


def _equivalence(found: str, expected: str) -> float:
    from rubricweb.engine.checks import CHECKS  # its libraries take a while to load: not before they are used

    check = CHECKS["math_equivalence"]
    submission = Submission(_boxed(found), reference=_boxed(expected))
    return float(check.run(submission, check.params()).value)


def _boxed(expression: str) -> str:
    return expression if _BOX in expression else f"{_BOX}{expression}}}"
