"""Grading one submission with one autograder."""

from __future__ import annotations

from rubricweb.engine.autograders.base import Autograder
from rubricweb.engine.autograders.per_criterion import PerCriterionGrader
from rubricweb.engine.report import EvaluationReport
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.submission import Query, ToGrade


async def grade(
    rubric: Rubric,
    to_grade: ToGrade,
    autograder: Autograder | None = None,
    query: Query | None = None,
    reference: str | None = None,
) -> EvaluationReport:
    """Grade against ``rubric``; without an autograder, one call per criterion on the default endpoint."""
    grader = PerCriterionGrader() if autograder is None else autograder
    return await grader.grade(to_grade, rubric, query, reference)
