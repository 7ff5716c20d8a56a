"""Shapes of queues, reviews and what they reveal."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.datasets.schemas import Item
from rubricweb.api.rubrics.schemas import Criterion
from rubricweb.api.schemas import Answered, EffectOrNone, Input, OneOf
from rubricweb.api.shapes import Shape
from rubricweb.models import ReviewState
from rubricweb.selectors.labels.stored_answers import label_effect
from rubricweb.selectors.reviews.reviews import Measured as ShownMeasured
from rubricweb.selectors.reviews.reviews import Quote as ShownQuote


class Measured(Shape[ShownMeasured]):
    """What a check found: a value with its reason, or the kind of error in place of both."""


class Quote(Shape[ShownQuote]):
    """A place that was quoted as evidence: `start` to `end` in characters (code points) of `field`."""


class Question(Schema):
    """One criterion with your own answer so far. Nobody is asked about a check: it is `measured`."""

    criterion: Criterion
    verdict: Answered | None
    effect: EffectOrNone
    reason: str
    evidence: list[Quote]
    seconds: Annotated[float | None, Field(description="How long you had it open, where that was measured.")]
    with_reason: Annotated[
        list[str], Field(description="The labels that need a reason before the review can be submitted.")
    ]
    measured: Measured | None

    @staticmethod
    def resolve_effect(row: Any) -> Any:
        effect = row.measured.value if row.measured else None
        return label_effect(row.criterion, row.verdict, effect)


class Review(Schema):
    """Your review of one item. Verdicts of judges and other people are never part of it."""

    id: int
    queue_id: int
    state: Annotated[str, OneOf(ReviewState.values)]
    note: str
    skip_reason: Annotated[str, Field(description="Why you skipped it last; empty where you never did.")]
    flagged: bool
    seconds: Annotated[float | None, Field(description="How long you worked on it, where that was measured.")]
    started_at: datetime
    submitted_at: datetime | None
    item: Item
    criteria: list[Question]


class NewQuote(Input):
    """`text` must be what stands there, or it is refused (422)."""

    field: Annotated[
        str,
        Field(
            description="submission, thinking, prompt or reference; in a conversation a turn, prompt[0], or "
            "a part of one, prompt[0][1].",
            examples=["submission"],
        ),
    ]
    start: Annotated[int, Field(ge=0, description="In characters (code points) from the beginning.")]
    end: Annotated[int, Field(ge=1)]
    text: str


class NewVerdict(Input):
    """`reason`, `evidence` or `seconds` left out keeps what is there."""

    verdict: Answered
    reason: str | None = None
    evidence: Annotated[
        list[NewQuote] | None, Field(max_length=20, description="Where in the item you found it.")
    ] = None
    seconds: Annotated[
        float | None, Field(ge=0, description="How long you had the criterion open; never goes back.")
    ] = None


class Place(Schema):
    """Whether a review counts towards its item's raters, and until when it does without further activity."""

    holds_place: bool
    held_until: Annotated[datetime | None, Field(description="Null once it is submitted.")]


class ReviewNote(Input):
    """What is left out stays as it is."""

    note: Annotated[str | None, Field(max_length=10_000)] = None
    flagged: bool | None = None
    seconds: Annotated[
        float | None, Field(ge=0, description="How long you worked on the item; never goes back.")
    ] = None


class GivenBack(Schema):
    given_back: Annotated[
        bool,
        Field(
            description="False where it was opened on its page, or something was said in it: then it stays."
        ),
    ]


class Skip(Input):
    reason: Annotated[str, Field(min_length=1, max_length=10_000)]
