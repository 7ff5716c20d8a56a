"""Shapes of what is revealed after submitting, and of what a person then makes of it."""

from datetime import datetime
from typing import Annotated

from ninja import Schema
from pydantic import Field

from rubricweb.api.schemas.reviews import Measured, Quote
from rubricweb.api.schemas.rubrics import Criterion
from rubricweb.api.schemas.shared import Answered, Input, OneOf
from rubricweb.models import Choice


class Voice(Schema):
    """What one other rater said: a judge when `is_judge`, a person otherwise.

    `changed_to` is a person's final label where they changed theirs. `value` is what a check found in the
    judge's run.
    """

    name: str
    is_judge: bool
    verdict: Answered | None
    changed_to: Answered | None
    value: float | None
    reason: str
    evidence: list[Quote]
    error: str


class Revision(Schema):
    """What you said after the reveal. `verdict` is your final label; your judgement keeps the initial one."""

    choice: Annotated[str, OneOf(Choice.values)]
    verdict: Answered
    reason: str
    revised_at: datetime


class RevealedCriterion(Schema):
    """`mine` is your initial label.

    `decided` is the ground truth: an adjudication, else the majority of final labels; null while people are
    tied.
    """

    criterion: Criterion
    mine: Answered | None
    my_reason: str
    my_evidence: list[Quote]
    revision: Revision | None
    others: list[Voice]
    decided: Answered | None
    by_adjudication: bool
    measured: Measured | None
    disagrees: bool


class Reveal(Schema):
    review_id: int
    criteria: list[RevealedCriterion]


class NewRevision(Input):
    """`verdict` and `reason` are needed to change; `unclear` says that the rubric is and keeps your label."""

    choice: Annotated[str, OneOf(Choice.values)]
    verdict: Answered | None = None
    reason: Annotated[str, Field(max_length=10_000)] = ""
