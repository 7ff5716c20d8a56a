"""A draft tried on one submission: what its checks answer at once, without a judge."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rubricweb import engine
from rubricweb.engine.checks import run_check
from rubricweb.engine.errors import FaultList
from rubricweb.engine.outcomes import FAILED, Outcome
from rubricweb.engine.report import GradingError
from rubricweb.engine.rubric import check_rubric
from rubricweb.engine.rubric_reading import check_criterion
from rubricweb.engine.scoring import length_penalty, passed, penalised, score_verdicts


@dataclass(frozen=True)
class CheckTrial:
    """What one check answered: a value and a reason, or the error it ended with.

    `position` is the criterion's place from 0. `value` is None with an `error`, as for a criterion that has
    faults and cannot be run.
    """

    position: int
    criterion: engine.Criterion | None
    value: float | None
    reason: str
    error: str = ""


@dataclass(frozen=True)
class Trial:
    """A draft on one submission.

    `waiting` counts the criteria only a judge can answer. `score` (0 to 1), `penalty` and `passed` are None
    while any wait, while the draft has faults, and where scoring leaves them undefined.
    """

    checks: tuple[CheckTrial, ...]
    waiting: int
    score: float | None = None
    penalty: float | None = None
    passed: bool | None = None


def try_rubric(draft: Mapping[str, Any], submission: engine.Submission) -> Trial:
    """Runs the checks of a draft, valid or not; no judge is asked and nothing is stored.

    A draft of one check that looks for "Paris", on "Paris is the capital.": value 1.0, score 1.0.
    """
    entries = draft.get("criteria") or []
    read = [check_criterion(entry, FaultList(), "") for entry in entries]
    checks = tuple(
        _tried(position, criterion, submission)
        for position, (entry, criterion) in enumerate(zip(entries, read, strict=True))
        if (criterion.is_check if criterion else _means_check(entry))
    )
    waiting = len(entries) - len(checks)
    rubric = check_rubric(draft, FaultList())
    if rubric is None or waiting:
        return Trial(checks, waiting)
    outcomes: list[Outcome] = [FAILED if tried.value is None else tried.value for tried in checks]
    scored = score_verdicts(rubric.weights, outcomes)
    penalty = length_penalty(rubric.length_penalty, submission) if rubric.length_penalty else None
    final = penalised(scored.score, penalty or 0.0)
    return Trial(checks, 0, final, penalty, passed(rubric, final, outcomes))


def _tried(position: int, criterion: engine.Criterion | None, submission: engine.Submission) -> CheckTrial:
    if criterion is None:
        return CheckTrial(position, None, None, "", "It has faults: they are named at the criterion.")
    answer = run_check(criterion, submission)
    if isinstance(answer, GradingError):
        return CheckTrial(position, criterion, None, "", answer.message)
    return CheckTrial(position, criterion, answer.value, answer.reason)


def _means_check(entry: Any) -> bool:
    return isinstance(entry, Mapping) and entry.get("check") is not None
