"""Shapes of review queues: how they are made, changed, and how far they are."""

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from rubricweb.api.people import Usernames
from rubricweb.api.rubrics.schemas import VersionReference
from rubricweb.api.schemas import Id, Input, Named, OneOf, WithFields
from rubricweb.api.shapes import Shape
from rubricweb.models import Blind, Order, QueueState, ReasonRule, ReviewQueue, User
from rubricweb.models.datasets import SEALS
from rubricweb.selectors.datasets.systems import queue_systems
from rubricweb.selectors.reviews import queues as selected
from rubricweb.selectors.reviews.informative import REASONS
from rubricweb.selectors.reviews.informative import ReasonCount as ShownReasonCount
from rubricweb.selectors.reviews.queue_plans import QueuePlan as ShownQueuePlan
from rubricweb.selectors.reviews.queues import Pace as ShownPace

Reason = Annotated[str, OneOf(REASONS)]
Search = Annotated[
    str, Field(max_length=200, description="Part of an item's key, description or submission.")
]
Metadata = Annotated[
    str,
    Field(
        max_length=500,
        description="key=value of an item's metadata; a list there matches by each of its texts.",
        examples=["language=fr"],
    ),
]


class AllItems(Input):
    """Every item of the dataset, those added later too."""

    kind: Literal["all"] = "all"


class FilteredItems(Input):
    """Items that match a text, a piece of metadata, or both."""

    kind: Literal["filter"]
    search: Search = ""
    metadata: Metadata = ""


class DoubtfulItems(Input):
    """Items for which one of the reasons holds: what a run's judge is unsure of, or differs on."""

    kind: Literal["run"]
    run_id: Id
    reasons: Annotated[list[Reason], Field(description="Empty: all of them.")] = []
    search: Search = ""
    metadata: Metadata = ""


class SampledItems(Input):
    """A random sample, every item with a known probability.

    Even over the values of a metadata key, or over a run's verdicts on a criterion, when one is named: each
    stratum then has a probability of its own. The same `seed` draws the same items.
    """

    kind: Literal["sample"]
    size: Annotated[int, Field(ge=1)]
    strata_metadata: Annotated[str, Field(max_length=200)] = ""
    strata_criterion: Annotated[str, Field(max_length=200, description="Needs `run_id`.")] = ""
    run_id: Id | None = None
    seed: Annotated[int | None, Field(ge=0, lt=2**31, description="Drawn at random without one.")] = None
    search: Search = ""
    metadata: Metadata = ""


class ChosenItems(Input):
    """These items of the dataset."""

    kind: Literal["items"]
    item_ids: Annotated[list[Id], Field(min_length=1, max_length=100_000)]


NewSource = Annotated[
    AllItems | FilteredItems | DoubtfulItems | SampledItems | ChosenItems, Field(discriminator="kind")
]

SourceOrAll = Annotated[NewSource, Field(description="Without one every item of the dataset.")]

Criteria = Annotated[
    list[Id | Annotated[str, Field(min_length=1, max_length=200)]],
    Field(
        max_length=5000,
        description="The criteria people are asked about, by id or name; without any all of the rubric "
        "version. Refused (422) by place: unknown ones, ones named twice, and checks, which are computed. "
        "Cannot be changed later.",
        examples=[["accuracy", "tone"]],
    ),
]


Systems = Annotated[
    list[Annotated[str, Field(max_length=201)]],
    Field(
        max_length=20,
        description="The system versions whose answers people are asked about, as `assistant@v4`; without "
        "any whichever answered, now or later. Refused (422) by place: versions without answers in the "
        "dataset. Cannot be changed later: answers of other versions never come in.",
        examples=[["assistant@v4"]],
    ),
]


SplitOfCases = Annotated[
    Annotated[str, OneOf(SEALS)] | None,
    Field(
        description="Ask only about answers to dev or to test cases; null for all. Cannot be changed later: "
        "cases of the other split never come in."
    ),
]


class QueuePlanned(Input):
    """What a new queue would be made of. Without `rubric_version_id` the dataset's own version is meant."""

    dataset_id: Id
    rubric_version_id: Id | None = None
    criteria: Criteria = []
    systems: Systems = []
    split: SplitOfCases = None
    source: SourceOrAll = Field(default_factory=AllItems)
    raters_per_item: Annotated[int, Field(ge=1)] = 1


class NewQueue(Input):
    """Without `rubric_version_id` the version that came with the dataset is used; an item's own wins."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    dataset_id: Id
    rubric_version_id: Id | None = None
    criteria: Criteria = []
    systems: Systems = []
    split: SplitOfCases = None
    source: SourceOrAll = Field(default_factory=AllItems)
    raters: Annotated[
        Usernames, Field(description="User names, see GET /team. None of them with `everyone`.")
    ] = []
    everyone: Annotated[
        bool, Field(description="All members who may review, those who join or may do so later too.")
    ] = False
    raters_per_item: Annotated[int, Field(ge=1)] = 1
    run_id: Annotated[
        Id | None, Field(description="The run whose verdicts are revealed after submitting.")
    ] = None
    blind: Annotated[
        Blind,
        Field(strict=False, description="Whose verdicts reviewers do not see before they submit their own."),
    ] = Blind.BOTH
    order: Annotated[
        Order | None,
        Field(
            strict=False,
            description="Which item is handed out next. Without one a sample is handed out as `drawn`: "
            "what is done of it is a random sample too. Everything else as in the dataset.",
        ),
    ] = None
    needs_reason: Annotated[ReasonRule, Field(strict=False, description="Which verdicts need a reason.")] = (
        ReasonRule.NEVER
    )
    hold_minutes: Annotated[
        int, Field(ge=1, description="After so long without activity an item is offered to somebody else.")
    ] = 30
    instructions: str = ""


class ReasonCount(Shape[ShownReasonCount]):
    reason: Reason


class QueuePlan(Shape[ShownQueuePlan]):
    """What a queue would be; `seconds` of work are at the pace of the team's reviews, null if unknown."""

    criteria: Annotated[
        int | None,
        Field(description="What each review asks about; null where items bring their own rubrics."),
    ]
    answers: Annotated[int | None, Field(description="`reviews` times `criteria`.")]
    reasons: Annotated[list[ReasonCount], Field(description="Where items are chosen by reasons.")]
    source: Annotated[list[str], Field(description="How the items are chosen, in words.")]
    one_system: Annotated[
        str | None,
        Field(
            description="The system version whose answers all of these are, where the dataset has answers of "
            "others: raters can find out, blind or not. Ask about two versions or more to hide who answered."
        ),
    ]


class QueueExtension(Input):
    """More items, more raters per item, or both; what is left out stays as it is."""

    source: NewSource | None = None
    raters_per_item: Annotated[int | None, Field(ge=1, description="Can only become more.")] = None


class QueuePeople(Input):
    """User names, see GET /team; `everyone` says whether people who join the team come in by themselves."""

    add: Usernames = []
    remove: Usernames = []
    everyone: bool | None = None


class QueueTexts(Input):
    """What is left out stays as it is."""

    name: Annotated[str | None, Field(min_length=1, max_length=200)] = None
    instructions: str | None = None
    hold_minutes: Annotated[int | None, Field(ge=1)] = None
    archived: bool | None = None
    history: bool | None = None
    grid: bool | None = None


class QueueProgress(Schema):
    """`wanted` is how many reviews its items want; `mine_left` is how many you could still take.

    `expired` are drafts that lost their place: nothing was heard for too long, or their person was taken out.
    """

    items: int
    wanted: int
    submitted: int
    drafts: int
    expired: int
    skipped: int
    share: float
    my_submitted: int
    mine_left: int


class Queue(Schema):
    id: int
    name: str
    state: Annotated[str, OneOf(QueueState.values)]
    dataset: Named
    dataset_version: Annotated[
        int, Field(description="Of which version of the dataset its newest items are.")
    ]
    rubric_version: Annotated[
        VersionReference | None, Field(description="Null when every item brings its own rubric.")
    ]
    criteria: Annotated[
        list[Named],
        Field(description="What people are asked about; none where it is all of the rubric version."),
    ]
    systems: Annotated[
        list[str] | None,
        Field(
            description="The system versions whose answers it is about, as `assistant@v4`; empty: whichever "
            "answered. Null while you are still to review some of them blind."
        ),
    ]
    split: Annotated[
        str | None, Field(description="The split of the dataset it is over, dev or test; null for all cases.")
    ]
    run_id: int | None
    raters_per_item: int
    everyone: bool
    blind: Annotated[str, OneOf(Blind.values)]
    order: Annotated[str, OneOf(Order.values)]
    needs_reason: Annotated[str, OneOf(ReasonRule.values)]
    hold_minutes: int
    imported: bool
    history: Annotated[bool, Field(description="Labels of a file, to be settled by nobody.")]
    grid: Annotated[bool, Field(description="Whether its raters may answer several items in one table.")]
    instructions: str
    created_at: datetime
    archived_at: datetime | None

    @staticmethod
    def resolve_needs_reason(queue: Any) -> str:
        return str(queue.rationale)

    @staticmethod
    def resolve_split(queue: Any) -> str | None:
        return queue.half or None

    @staticmethod
    def resolve_criteria(queue: Any) -> list[Any]:
        return list(queue.criteria.all())


def queue_seen_by(viewer: User, queue: ReviewQueue, **beside: Any) -> WithFields:
    """A queue as Queue shows it to this person."""
    systems = queue_systems([queue], viewer=viewer, team=queue.team)[queue.pk]
    return WithFields(queue, systems=systems, **beside)


class QueueInList(Queue):
    i_rate: Annotated[bool, Field(description="Whether you are one of its raters.")]
    progress: QueueProgress
    my_seconds_left: Annotated[
        float | None, Field(description="What is left for you at your own pace; null if that is not known.")
    ]


def in_list(row: selected.QueueRow) -> WithFields:
    """A queue with how far it is, as QueueInList shows it."""
    return WithFields(
        row.queue,
        systems=row.systems,
        i_rate=row.i_rate,
        progress=row.progress,
        my_seconds_left=row.my_seconds_left,
    )


class RaterProgress(Schema):
    """`seconds` is the median of the person's newest reviews; null while too little is known."""

    name: str
    submitted: int
    drafts: int
    expired: int
    skipped: int
    seconds: float | None
    rates: Annotated[bool, Field(description="False for somebody who was taken out of the queue.")]


class Pace(Shape[ShownPace]):
    """Seconds of work that are left: for everybody together, and for you. Null where no pace is known."""


class Stratum(Schema):
    """`drawn` of `size` items, each with probability drawn / size; `value` is "" without strata."""

    value: str
    size: int
    drawn: int


class Draw(Schema):
    """Items drawn at random: with which seed, and from how many items the dataset had then."""

    id: int
    seed: int
    dataset_size: Annotated[int | None, Field(description="Null where an earlier release did not say.")]
    strata: list[Stratum]

    @staticmethod
    def resolve_strata(draw: Any) -> list[Any]:
        return list(draw.strata.all())


class QueueInFull(Queue):
    progress: QueueProgress
    pace: Pace
    raters: list[RaterProgress]
    people_missing: Annotated[
        int,
        Field(description="How many more people an item is for than may review in it; 0 once it is closed."),
    ]
    source: Annotated[
        list[str],
        Field(description="How its items were chosen, in words; less is said while you review them blind."),
    ]
    draws: Annotated[
        list[Draw],
        Field(description="The random draws its items come from; none while you review them blind."),
    ]


def in_full(queue: ReviewQueue, viewer: User) -> WithFields:
    """A queue with all that stands around it, as QueueInFull shows it."""
    progress = selected.queue_progress(queue, viewer)
    return queue_seen_by(
        viewer,
        queue,
        progress=progress,
        pace=selected.queue_pace(queue, progress, viewer),
        raters=selected.rater_progress(queue),
        people_missing=queue.people_missing(),
        source=selected.source_words(queue, viewer),
        draws=selected.draws(queue, viewer),
    )


class ExtendedQueue(Schema):
    added: Annotated[int, Field(description="How many items were new to the queue.")]
    queue: QueueInFull
