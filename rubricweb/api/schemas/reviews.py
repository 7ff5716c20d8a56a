"""Shapes of queues, reviews and what they reveal."""

from datetime import datetime
from typing import Annotated

from ninja import Schema
from pydantic import Field

from rubricweb.api.schemas.datasets import Item
from rubricweb.api.schemas.rubrics import Criterion, VersionReference
from rubricweb.api.schemas.shared import Answered, Id, Input, Named, OneOf
from rubricweb.models import QueueState, ReviewState


class NewQueue(Input):
    """Without `rubric_version_id` the version that came with the dataset is used; an item's own wins."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    dataset_id: Id
    rubric_version_id: Id | None = None
    raters: Annotated[
        list[str], Field(min_length=1, description="User names, see GET /team.", examples=[["ann", "rae"]])
    ]
    raters_per_item: Annotated[int, Field(ge=1)] = 1
    run_id: Annotated[
        Id | None, Field(description="The run whose verdicts are revealed after submitting.")
    ] = None
    blind: bool = True
    instructions: str = ""


class QueueProgress(Schema):
    """`wanted` is items × raters per item; `mine_left` is how many you could still take."""

    items: int
    wanted: int
    submitted: int
    drafts: int
    skipped: int
    share: float
    my_submitted: int
    mine_left: int


class Queue(Schema):
    id: int
    name: str
    state: Annotated[str, OneOf(QueueState.values)]
    dataset: Named
    rubric_version: Annotated[
        VersionReference | None, Field(description="Null when every item brings its own rubric.")
    ]
    run_id: int | None
    raters_per_item: int
    blind: bool
    imported: bool
    instructions: str
    created_at: datetime


class QueueInList(Queue):
    i_rate: Annotated[bool, Field(description="Whether you are one of its raters.")]
    progress: QueueProgress


class RaterProgress(Schema):
    name: str
    submitted: int
    drafts: int
    skipped: int


class QueueInFull(Queue):
    progress: QueueProgress
    raters: list[RaterProgress]


class Measured(Schema):
    """What a check found: a value with its reason, or the kind of error in place of both."""

    value: float | None
    reason: str
    error: str
    message: str


class Question(Schema):
    """One criterion with your own answer so far. Nobody is asked about a check: it is `measured`."""

    criterion: Criterion
    verdict: Answered | None
    reason: str
    measured: Measured | None


class Review(Schema):
    """Your review of one item. Verdicts of judges and other people are never part of it."""

    id: int
    queue_id: int
    state: Annotated[str, OneOf(ReviewState.values)]
    note: str
    flagged: bool
    started_at: datetime
    submitted_at: datetime | None
    item: Item
    criteria: list[Question]


class NewVerdict(Input):
    """`reason` left out keeps the one that is there."""

    verdict: Answered
    reason: str | None = None


class ReviewNote(Input):
    """What is left out stays as it is."""

    note: Annotated[str | None, Field(max_length=10_000)] = None
    flagged: bool | None = None


class Skip(Input):
    reason: Annotated[str, Field(min_length=1, max_length=10_000)]


class Voice(Schema):
    """What one other rater said: a judge when `is_judge`, a person otherwise.

    `value` is what a check found in the judge's run.
    """

    name: str
    is_judge: bool
    verdict: Answered | None
    value: float | None
    reason: str
    error: str


class RevealedCriterion(Schema):
    """`decided` is the ground truth: an adjudication, else the majority; null while people are tied."""

    criterion: Criterion
    mine: Answered | None
    my_reason: str
    others: list[Voice]
    decided: Answered | None
    by_adjudication: bool
    measured: Measured | None
    disagrees: bool


class Reveal(Schema):
    review_id: int
    criteria: list[RevealedCriterion]
