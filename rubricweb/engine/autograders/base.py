"""What every autograder is: a judge to ask and a result to aggregate."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, Never, TypeAlias

from pydantic import BaseModel

from rubricweb.engine.answer import Answer
from rubricweb.engine.errors import UnreadableReply
from rubricweb.engine.published.former_names import refuse_arguments
from rubricweb.engine.report import EvaluationReport, apply_rubric_rules
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.submission import Query, Submission, ToGrade

__all__ = ["Answer", "Autograder", "Overall", "Prompt", "Reading", "ReplyFormat", "UnreadableReply"]

ReplyFormat: TypeAlias = Literal["json", "yes_no"]
"""How a reply is read: ``json`` against the prompt's schema, ``yes_no`` as prose led by that word."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a judge.

    ``schema`` is the pydantic model a JSON reply must fit; ``criteria`` are the 0-based indexes of the
    criteria it asks about, in the order they are numbered in the text (all of them for a holistic
    question). With ``reply_format="yes_no"`` the judge answers in prose and the schema must not be sent
    along. ``options`` holds, for every criterion asked about, the labels of its options in the order they
    were numbered; it is empty when all are binary. ``shared`` counts the characters at the beginning of
    ``user`` that other questions have too: about the same item, or the same criterion of other items.
    """

    system: str
    user: str
    schema: type[BaseModel]
    criteria: tuple[int, ...]
    reply_format: ReplyFormat = "json"
    options: tuple[tuple[str, ...], ...] = ()
    shared: int = 0

    def options_at(self, position: int) -> tuple[str, ...]:
        """The labels shown for the criterion at this place of ``criteria``; none for a binary one."""
        return self.options[position] if self.options else ()


@dataclass(frozen=True, slots=True)
class Overall:
    """A holistic answer: ``score`` from 0 to 100."""

    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reply said: answers by 0-based criterion index, or one overall; ``missing`` got none."""

    answers: dict[int, Answer]
    overall: Overall | None = None
    missing: tuple[int, ...] = ()


class Autograder(ABC):
    """Base of every autograder: subclass it with ``judge()`` and ``aggregate()``, model calls optional.

    ``normalize=False`` asks for the raw weighted sum as ``score`` (see ``engine/scoring/scoring.py``).
    """

    def __init__(self, *, normalize: bool = True, **former: Never) -> None:
        refuse_arguments(type(self).__name__, former)
        self.normalize = normalize

    @abstractmethod
    async def judge(self, to_grade: Any, rubric: Any, query: Any = None) -> Any:
        """Evaluate ``to_grade`` (a text, or a mapping with thinking and output) against a list of criteria.

        What comes back is handed to ``aggregate()`` as it is. A judge that declares ``reference`` or
        ``guidelines`` as further keywords receives them when they were given.
        """

    @abstractmethod
    async def aggregate(self, judge_results: Any) -> EvaluationReport:
        """Turn what ``judge()`` returned into a report."""

    async def grade(
        self,
        to_grade: ToGrade,
        rubric: Rubric,
        query: Query | None = None,
        reference: str | None = None,
    ) -> EvaluationReport:
        """Judge, aggregate, then apply the rubric's length penalty and pass rule."""
        submission = Submission.of(to_grade, query, reference)
        context: dict[str, Any] = {"reference": submission.reference, "guidelines": rubric.guidelines or None}
        results = await self.judge(
            _published_shape(submission),
            list(rubric.criteria),
            query=submission.query,
            **_accepted(self.judge, context),
        )
        report = await self.aggregate(results)
        if rubric.pass_rule is None and rubric.length_penalty is None:
            return report
        return apply_rubric_rules(report, rubric, submission, normalize=self.normalize)


def _published_shape(submission: Submission) -> str | dict[str, str]:
    if submission.thinking is None:
        return submission.output
    return {"thinking": submission.thinking, "output": submission.output}


def _accepted(judge: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Keep what was given and what this judge declares: the published signature has neither keyword."""
    parameters = inspect.signature(judge).parameters
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    return {
        name: value
        for name, value in context.items()
        if value is not None and (takes_any or name in parameters)
    }
