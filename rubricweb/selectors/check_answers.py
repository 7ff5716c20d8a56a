"""What a rubric's checks measure on one item: computed when asked for, whether or not a run did."""

from collections.abc import Iterable
from dataclasses import dataclass

from rubricweb.engine.answer import Answer
from rubricweb.engine.checks import run_check
from rubricweb.engine.report import GradingError
from rubricweb.engine.submission import Submission
from rubricweb.models import Criterion


@dataclass(frozen=True)
class Measured:
    """One check on one submission: its `value` with the reason, or the error it ended in (`value` None)."""

    value: float | None
    reason: str
    error_kind: str = ""
    error_message: str = ""


def check_answers(submission: Submission, criteria: Iterable[Criterion]) -> dict[int, Measured]:
    """Criterion id → what its check measures; criteria of other kinds are left out.

    A check is a fact about the submission and nobody's verdict, so blinding does not hide it.
    """
    return {
        criterion.pk: _measured(run_check(criterion.to_engine(), submission))
        for criterion in criteria
        if criterion.kind == "check"
    }


def _measured(found: Answer | GradingError) -> Measured:
    if isinstance(found, GradingError):
        return Measured(None, "", found.kind, found.message)
    return Measured(found.value, found.reason)
