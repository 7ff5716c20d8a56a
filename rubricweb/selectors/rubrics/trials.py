"""A draft tried on one submission, at once and without leaving a trace."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rubricweb import engine
from rubricweb.engine.answer import Answer
from rubricweb.engine.autograders import PerCriterionGrader
from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.autograders.examples.few_shot import query_text
from rubricweb.engine.checks import run_check
from rubricweb.engine.checks.processes.limited import at_once
from rubricweb.engine.errors import FaultList, UnreadableReply
from rubricweb.engine.number_format import counted
from rubricweb.engine.report import GradingError
from rubricweb.engine.rubric import check_rubric
from rubricweb.engine.rubric.reading import check_criterion
from rubricweb.engine.scoring import length_penalty, passed, penalised, score_verdicts
from rubricweb.engine.scoring.outcomes import FAILED, outcome_of
from rubricweb.judges.offline.lexical import answer as offline_answer
from rubricweb.judges.offline.questions import NotAQuestion, read_request

Judge: TypeAlias = Callable[[Prompt], str]
"""From a question to the raw reply; raises UnreadableReply when it has none."""

TRIED_MAX = 10_000_000
"""Characters of a submission, times criteria of the draft, that one try reads: less than a second of any."""

HAS_FAULTS = "It has faults: they are named at the criterion."


@dataclass(frozen=True)
class TriedCriterion:
    """What one criterion, at `position` from 0, was answered; without an `answer`, the error that came."""

    position: int
    answer: Answer | None
    error: str = ""


@dataclass(frozen=True)
class DraftTrial:
    """A draft on one submission.

    `waiting` counts the criteria that need a judge and got none. `score` (0 to 1), `coverage` (the share of
    Σ|w| it rests on), `penalty` and `passed` are None while any wait, while the draft has faults, and where
    scoring leaves them undefined. `refusal` says why nothing was tried.
    """

    answers: tuple[TriedCriterion, ...]
    waiting: int
    score: float | None = None
    coverage: float | None = None
    penalty: float | None = None
    passed: bool | None = None
    refusal: str = ""


def try_rubric(
    draft: Mapping[str, Any], submission: engine.Submission, *, judge: Judge | None = None
) -> DraftTrial:
    """Answers what can be answered of a draft at once, valid or not: checks that need no helper process, and
    the rest with a `judge`. A submission too long for it to be at once is refused, see TRIED_MAX.

    A draft of one check that looks for "Paris", on "Paris is the capital.": value 1.0, score 1.0.
    """
    entries = draft.get("criteria") or []
    refusal = _too_long(submission, len(entries))
    if refusal:
        return DraftTrial((), 0, refusal=refusal)
    guidelines = str(draft.get("guidelines") or "")
    answers = []
    for position, entry in enumerate(entries):
        criterion = check_criterion(entry, FaultList(), "")
        if criterion is None and (judge is not None or _means_check(entry)):
            answers.append(TriedCriterion(position, None, HAS_FAULTS))
        elif criterion is not None and criterion.is_check:
            with at_once():
                answers.append(_tried(position, run_check(criterion, submission)))
        elif criterion is not None and judge is not None:
            rubric = engine.Rubric([criterion], guidelines=guidelines)
            answers.append(_tried(position, _judged(rubric, submission, judge)))
    waiting = len(entries) - len(answers)
    content = check_rubric(draft, FaultList())
    if content is None or waiting:
        return DraftTrial(tuple(answers), waiting)
    return _scored(content, submission, tuple(answers))


def _too_long(submission: engine.Submission, criteria: int) -> str:
    texts = (submission.output, submission.thinking, submission.reference, query_text(submission.query))
    size = sum(len(text) for text in texts if text)
    if size * criteria <= TRIED_MAX:
        return ""
    return (
        f"Too long to be tried on {counted(criteria, 'criterion', 'criteria')} here: {size:,} characters, "
        f"at most {TRIED_MAX // criteria:,}. A run takes it."
    )


def offline_judge(prompt: Prompt) -> str:
    """What the offline judge replies: from words alone, at once, and no substitute for a model."""
    messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    try:
        return offline_answer(read_request({"messages": messages}))
    except NotAQuestion as error:
        raise UnreadableReply(str(error)) from error


def _judged(rubric: engine.Rubric, submission: engine.Submission, judge: Judge) -> Answer | GradingError:
    grader = PerCriterionGrader()
    [prompt] = grader.prompts(submission, rubric)
    try:
        return grader.read(prompt, judge(prompt), rubric).answers[0]
    except UnreadableReply as error:
        return GradingError(criterion=rubric.criteria[0].name, kind="unreadable", message=error.detail)


def _tried(position: int, answer: Answer | GradingError) -> TriedCriterion:
    if isinstance(answer, GradingError):
        return TriedCriterion(position, None, answer.message)
    return TriedCriterion(position, answer)


def _scored(
    content: engine.Rubric, submission: engine.Submission, answers: tuple[TriedCriterion, ...]
) -> DraftTrial:
    of_all = scored_answers(content, submission, [tried.answer for tried in answers])
    return DraftTrial(answers, 0, of_all.score, of_all.coverage, of_all.penalty, of_all.passed)


@dataclass(frozen=True)
class AnswersScore:
    """What answers to all criteria come to, as in `DraftTrial`."""

    score: float | None
    coverage: float | None
    penalty: float | None
    passed: bool | None


def scored_answers(
    rubric: engine.Rubric, submission: engine.Submission, answers: Sequence[Answer | None]
) -> AnswersScore:
    """The score of answers to the rubric's criteria, in their order; None is one that failed."""
    outcomes = [
        FAILED if answer is None else outcome_of(criterion, answer)
        for criterion, answer in zip(rubric.criteria, answers, strict=True)
    ]
    scored = score_verdicts(rubric.weights, outcomes)
    penalty = length_penalty(rubric.length_penalty, submission) if rubric.length_penalty else None
    score = penalised(scored.score, penalty or 0.0)
    return AnswersScore(score, scored.coverage, penalty, passed(rubric, score, outcomes))


def _means_check(entry: Any) -> bool:
    return isinstance(entry, Mapping) and entry.get("check") is not None
