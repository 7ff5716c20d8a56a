"""Criteria that a function answers: no judge is asked, and everybody who looks finds the same."""

from collections.abc import Iterable
from datetime import datetime

from rubricweb.engine.answer import Answer
from rubricweb.engine.checks import run_check
from rubricweb.models import Judgement, Run
from rubricweb.services.grading.asking.base import JUDGEMENT_COLUMNS, Outcome, judgement_row
from rubricweb.services.grading.asking.open_items import OpenItem
from rubricweb.services.shared import bulk_rows

CHECK = "check"
"""What a judgement made by a function has in the place of its judge's name."""

Checked = tuple[list[bulk_rows.Row], list[tuple[OpenItem, int, Answer | None]]]
"""Judgements of checks as rows, and what each answered about which criterion."""


def check(run: Run, items: Iterable[OpenItem], now: datetime) -> Checked:
    """What the checks of these items say, not stored yet; a check that failed is an error of its own."""
    rows: list[bulk_rows.Row] = []
    answered: list[tuple[OpenItem, int, Answer | None]] = []
    for item in items:
        for index in item.unanswered_checks:
            result = run_check(item.rubric.criteria[index], item.submission)
            outcome = (
                Outcome(result) if isinstance(result, Answer) else Outcome(None, result.kind, result.message)
            )
            rows.append(judgement_row(run, item, index, CHECK, outcome, now))
            answered.append((item, index, outcome.answer))
    return rows, answered


def store(checked: Checked) -> None:
    """Writes what `check` gave. A check says the same to everybody, so it does not matter who was first."""
    rows, answered = checked
    bulk_rows.insert_new(Judgement, JUDGEMENT_COLUMNS, rows)
    for item, index, answer in answered:
        item.answers[index] = answer
