"""What grading gives back: a score, and per criterion the verdict behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, model_validator

from rubricweb.engine.answer import Answer
from rubricweb.engine.rubric import Criterion, PassRule, Rubric
from rubricweb.engine.scoring import Score, length_penalty, passed, penalised
from rubricweb.engine.scoring.outcomes import Outcome, outcome_of, value_of
from rubricweb.engine.submission import Submission
from rubricweb.engine.verdict import Verdict


class GradingError(BaseModel):
    """One failed question: the criterion's name (None if holistic), a stable kind, a message."""

    model_config = ConfigDict(frozen=True)

    criterion: str | None
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class Vote(BaseModel):
    """One judge's answer to one criterion, or the error it gave instead: exactly one of the two is set.

    ``judge`` is the judge's name, ``repeat`` counts its answers to the same question from 0, ``weight``
    (at least 0) is what the judge's vote counts.
    """

    model_config = ConfigDict(frozen=True)

    judge: str
    repeat: int = 0
    answer: Answer | None = None
    error: GradingError | None = None
    weight: float = 1.0

    @model_validator(mode="after")
    def _one_outcome(self) -> Vote:
        if (self.answer is None) == (self.error is None):
            raise ValueError("a vote has either an answer or an error")
        if not 0.0 <= self.weight < float("inf"):
            raise ValueError(f"a vote's weight is {self.weight!r}; allowed: a finite number from 0")
        return self


class Escalation(BaseModel):
    """A stage of a cascade whose answer was not taken, and the condition that sent the criterion on."""

    model_config = ConfigDict(frozen=True)

    stage: str
    reason: str


class CriterionReport(Criterion):
    """A criterion with its result.

    A binary criterion has a ``verdict``, a choice an ``option`` (its label), a check neither. ``value`` is
    what scoring used, from 0 to 1 (any finite number for a check of weight 0); None when the answer abstains
    or there is none. Without an answer ``error`` says why: a failure is never an UNMET, what it is worth is
    decided by the error policy of ``engine/scoring/scoring.py``. ``votes`` are a panel's single answers.
    ``answered_by`` is the stage of a cascade whose result this is, after the ``escalations`` before it.
    """

    verdict: Verdict | None
    reason: str = ""
    error: GradingError | None = None
    option: str | None = None
    value: float | None = None
    votes: tuple[Vote, ...] = ()
    answered_by: str | None = None
    escalations: tuple[Escalation, ...] = ()

    @property
    def answer(self) -> Answer | None:
        """The result as an answer; None when there is none."""
        if self.verdict is not None:
            return Answer(self.verdict, self.reason)
        if self.option is not None:
            return Answer(None, self.reason, option=self.option)
        return None if self.value is None else Answer(None, self.reason, value=self.value)


def _ungrouped_restored(value: Any) -> Any:
    return {name or None: score for name, score in value.items()} if isinstance(value, Mapping) else value


def _ungrouped_named(groups: dict[str | None, Score] | None) -> dict[str, Score] | None:
    return None if groups is None else {name or "": score for name, score in groups.items()}


Groups: TypeAlias = Annotated[
    dict[str | None, Score] | None,
    BeforeValidator(_ungrouped_restored),
    PlainSerializer(_ungrouped_named, when_used="json"),
]
"""Scores by group; JSON has no None for a key, so that the ungrouped stand there under an empty name."""


class EvaluationReport(BaseModel):
    """The result of grading one submission.

    - ``score``: 0 to 1, or the raw weighted sum with ``normalize=False``; None when nothing could be scored.
    - ``raw_score``: the weighted sum, on the same scale for every grader.
    - ``llm_raw_score``: what the judge said: 0 to 100 for a holistic grader, else the weighted sum.
    - ``report``: one entry per criterion in rubric order, None for a holistic grader.
    - ``coverage``: share (0 to 1) of the total absolute weight really judged; None when a custom grader did
      not say.
    - ``errors``: the failed questions. Show coverage and errors wherever the score is shown.
    - ``explanation``: a holistic judge's reasoning.
    - ``passed``: what the rubric's pass rule says; None without a rule or when it cannot say.
    - ``length_penalty``: what length took off the score, 0 without such a rule.
    - ``groups``: the score of every group as a rubric of its own, None holding the ungrouped; None as a whole
      when no criterion has a group, or no report per criterion exists.
    """

    model_config = ConfigDict(frozen=True)

    score: float | None
    raw_score: float | None = None
    llm_raw_score: float | None = None
    report: list[CriterionReport] | None = None
    coverage: float | None = None
    errors: tuple[GradingError, ...] = ()
    explanation: str | None = None
    passed: bool | None = None
    length_penalty: float = 0.0
    groups: Groups = None


def criterion_report(
    criterion: Criterion, result: Answer | GradingError, votes: Iterable[Vote] = ()
) -> CriterionReport:
    """A criterion with its answer, or with the error it got instead."""
    fields = {name: getattr(criterion, name) for name in Criterion.model_fields}
    if isinstance(result, GradingError):
        return CriterionReport(**fields, verdict=None, error=result, votes=tuple(votes))
    return CriterionReport(
        **fields,
        verdict=result.verdict,
        reason=result.reason,
        option=result.option,
        value=value_of(outcome_of(criterion, result)),
        votes=tuple(votes),
    )


def apply_rubric_rules(
    report: EvaluationReport, rubric: Rubric, submission: Submission, *, normalize: bool = True
) -> EvaluationReport:
    """The report after the rubric's own rules: the length penalty taken off, then the pass rule asked, as
    ``passes`` does.
    """
    penalty = length_penalty(rubric.length_penalty, submission)
    score = penalised(report.score, penalty, normalize=normalize)
    outcomes = None
    if report.report is not None and len(report.report) == len(rubric.criteria):
        outcomes = [outcome_of(entry, entry.answer) for entry in report.report]
    verdict = passes(rubric, score, outcomes, normalize=normalize)
    return report.model_copy(update={"score": score, "length_penalty": penalty, "passed": verdict})


def passes(
    rubric: Rubric, score: float | None, outcomes: Sequence[Outcome] | None, *, normalize: bool
) -> bool | None:
    """What the pass rule says of a score, raw unless ``normalize``; see ``passed``.

    Limits of a pass rule are of normalised scores: of raw ones only ``min_criterion`` can say anything, and
    it can only say no as long as there is a ``min_score`` too.
    """
    if normalize:
        return passed(rubric, score, outcomes)
    rule = rubric.pass_rule
    if rule is None or rule.min_criterion is None or score is None:
        return None
    reached = passed(
        rubric.model_copy(update={"pass_rule": PassRule(min_criterion=rule.min_criterion)}), score, outcomes
    )
    return False if reached is False else (reached if rule.min_score is None else None)
