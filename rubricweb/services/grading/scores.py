"""The score of an item of a run, once everything about it is there."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from rubricweb.engine.answer import Answer
from rubricweb.engine.report import EvaluationReport, GradingError, apply_rubric_rules, criterion_report
from rubricweb.engine.scoring import (
    Abstention,
    OnError,
    Score,
    outcome_of,
    score_holistic,
    score_verdicts,
)
from rubricweb.models import Run, RunItem
from rubricweb.selectors.runs.graders import PER_ITEM
from rubricweb.services.grading.asking.open_items import OpenItem
from rubricweb.services.shared import bulk_rows

_WRITTEN = (
    "score",
    "raw_score",
    "llm_raw_score",
    "coverage",
    "passed",
    "length_penalty",
    "errors",
    "reason",
    "error_kind",
    "error_message",
    "graded_at",
    "leased_by",
    "leased_until",
)


def score_items(run: Run, items: Sequence[OpenItem], now: datetime) -> None:
    """Scores these items from their stored answers, marks them as graded and gives their leases back."""
    for item in items:
        _score(run, item, [item.answers.get(index) for index in range(len(item.criteria))])
        item.row.errors = sum(answer is None for answer in item.answers.values())
        item.row.errors += int(item.row.error_kind is not None)
        item.row.graded_at, item.row.leased_by, item.row.leased_until = now, "", None
    rows = [(*(getattr(item.row, name) for name in _WRITTEN), item.row.pk) for item in items]
    bulk_rows.update(RunItem, _WRITTEN, rows)


def _score(run: Run, item: OpenItem, answers: Sequence[Answer | None]) -> None:
    row, rubric = item.row, item.rubric
    score = _score_of(run, item, answers)
    report = EvaluationReport(score=score.score)
    if rubric.pass_rule is not None or rubric.length_penalty is not None:
        if run.autograder != PER_ITEM or all(criterion.is_check for criterion in rubric.criteria):
            report = report.model_copy(update={"report": _report_entries(item, answers)})
        report = apply_rubric_rules(report, rubric, item.submission, normalize=run.normalize)
    row.score, row.raw_score, row.coverage = report.score, score.raw_score, score.coverage
    row.passed, row.length_penalty = report.passed, report.length_penalty


def _score_of(run: Run, item: OpenItem, answers: Sequence[Answer | None]) -> Score:
    rubric = item.rubric
    policy: dict[str, Any] = {
        "normalize": run.normalize,
        "abstention": cast(Abstention, run.abstention),
        "on_error": cast(OnError, run.on_error),
    }
    outcomes = [
        outcome_of(criterion, answer) for criterion, answer in zip(rubric.criteria, answers, strict=True)
    ]
    checked = {i: outcomes[i] for i, criterion in enumerate(rubric.criteria) if criterion.is_check}
    if run.autograder != PER_ITEM or len(checked) == len(outcomes):
        return score_verdicts(rubric.weights, outcomes, worst=rubric.worst_values, **policy)
    return score_holistic(rubric.weights, item.row.llm_raw_score, checked=checked, **policy)


def _report_entries(item: OpenItem, answers: Sequence[Answer | None]) -> list[Any]:
    """The report's entries, whose answers a pass rule looks at."""
    return [
        criterion_report(
            criterion,
            answer or GradingError(criterion=criterion.name, kind="error", message="no answer"),
        )
        for criterion, answer in zip(item.rubric.criteria, answers, strict=True)
    ]
