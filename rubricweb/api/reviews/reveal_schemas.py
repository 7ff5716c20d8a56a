"""Shapes of what is revealed after submitting, and of what a person then makes of it."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.reviews.schemas import Measured, Quote
from rubricweb.api.rubrics.schemas import Criterion
from rubricweb.api.schemas import Answered, EffectOrNone, Input, OneOf, OriginOrNone, WithFields
from rubricweb.models import RevisionChoice
from rubricweb.selectors.labels.stored_answers import label_effect


class RevealedAnswer(Schema):
    """What one other rater said: a judge when `is_judge`, a person otherwise.

    `changed_to` is a person's final label where they changed theirs. `value` is what a check found in the
    judge's run. `effect` is that of `verdict` or `value`.
    """

    name: str
    is_judge: bool
    verdict: Answered | None
    effect: EffectOrNone
    changed_to: Answered | None
    changed_effect: EffectOrNone
    value: float | None
    reason: str
    evidence: list[Quote]
    error: str
    origin: OriginOrNone


class Revision(Schema):
    """What you said after the reveal. `verdict` is your final label; your judgement keeps the initial one."""

    choice: Annotated[str, OneOf(RevisionChoice.values)]
    verdict: Answered
    effect: EffectOrNone
    reason: str
    revised_at: datetime


class RevealedCriterion(Schema):
    """`mine` is your initial label.

    `decided` is the ground truth: an adjudication, else the majority of final labels, those of other queues
    too; null while people are tied.
    """

    criterion: Criterion
    mine: Answered | None
    my_effect: EffectOrNone
    my_reason: str
    my_evidence: list[Quote]
    revision: Revision | None
    others: list[RevealedAnswer]
    decided: Answered | None
    decided_effect: EffectOrNone
    by_adjudication: bool
    measured: Measured | None
    disagrees: bool

    @staticmethod
    def resolve_my_effect(row: Any) -> Any:
        effect = row.measured.value if row.measured else None
        return label_effect(row.criterion, row.mine, effect)

    @staticmethod
    def resolve_decided_effect(row: Any) -> Any:
        return label_effect(row.criterion, row.decided)

    @staticmethod
    def resolve_revision(row: Any) -> WithFields | None:
        if row.revision is None:
            return None
        return WithFields(row.revision, effect=label_effect(row.criterion, row.revision.verdict))

    @staticmethod
    def resolve_others(row: Any) -> list[WithFields]:
        return [
            WithFields(
                one,
                effect=label_effect(row.criterion, one.verdict, one.value),
                changed_effect=label_effect(row.criterion, one.changed_to),
            )
            for one in row.others
        ]


class Reveal(Schema):
    review_id: int
    criteria: list[RevealedCriterion]


class NewRevision(Input):
    """`verdict` and `reason` are needed to change; `unclear` says that the rubric is and keeps your label."""

    choice: Annotated[str, OneOf(RevisionChoice.values)]
    verdict: Answered | None = None
    reason: Annotated[str, Field(max_length=10_000)] = ""


class SendBack(Input):
    note: Annotated[
        str, Field(min_length=1, max_length=10_000, description="What its rater is to look at again.")
    ]


class SentBack(Schema):
    """A submitted review its rater is asked to look at again; it stays submitted, and its labels count."""

    review_id: int
    item_id: int
    rater: str
    note: str
    sent_by: str | None
    sent_at: datetime
    answered_at: Annotated[datetime | None, Field(description="When it was submitted again.")]

    @staticmethod
    def resolve_item_id(row: Any) -> int:
        return int(row.review.item_id)

    @staticmethod
    def resolve_rater(row: Any) -> str:
        return str(row.review.rater.name)

    @staticmethod
    def resolve_sent_by(row: Any) -> str | None:
        return str(row.sent_by) if row.sent_by else None
