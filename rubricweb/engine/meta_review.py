"""A rubric judged as a submission, against a rubric about rubrics."""

from __future__ import annotations

from importlib.resources import files

from rubricweb.engine.autograders.base import Autograder
from rubricweb.engine.report import EvaluationReport
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.submission import Query, Submission

META_RUBRIC: Rubric = Rubric.from_yaml(
    files("rubricweb.engine.lint").joinpath("meta_rubric.yaml").read_text("utf-8")
)
"""What makes a rubric a good one: weighted criteria in three groups, mistakes with negative weights."""


def meta_review_submission(rubric: Rubric, *, task: Query | None = None) -> Submission:
    """The rubric as a text to grade: its YAML file, with ``task`` as the query where it is known.

    YAML because nothing is lost and because a requirement is quoted where it would read as another key: no
    criterion can pretend to be two. Tags are neutralised in it when prompts are built, as in any submission.
    """
    return Submission(output=rubric.to_yaml(), query=task)


async def meta_review(
    rubric: Rubric, autograder: Autograder | None = None, *, task: Query | None = None
) -> EvaluationReport:
    """Grade a rubric against META_RUBRIC, with any autograder; by default one call per criterion.

    The report is like any other: score 0 to 1, a verdict and a reason for each criterion of META_RUBRIC,
    coverage and errors beside it; a failed call costs its own criterion only. ``task`` is what submissions to
    the rubric answer, a text or a conversation; without it a judge can hardly say what the rubric leaves out.
    """
    return await META_RUBRIC.grade(meta_review_submission(rubric, task=task), autograder)
