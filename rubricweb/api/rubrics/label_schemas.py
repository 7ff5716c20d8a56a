"""Shapes of what becomes of labels that were given to other words."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.people import Usernames, people
from rubricweb.api.schemas import Figure, Input, Named, OneOf, Username
from rubricweb.api.shapes import Shape
from rubricweb.models import LabelDecisionKind, QueueState, Team
from rubricweb.selectors.reviews.queue_sources import SEEDS
from rubricweb.selectors.rubrics.probe import Probe as ShownProbe
from rubricweb.selectors.rubrics.probe import ProbeAnswers as ShownAnswers
from rubricweb.services.label_queues import PROBED, QueueWish
from rubricweb.services.rubrics.label_decisions import KINDS, REASON_MAX, NewLabelDecision


class LabelQueueInput(Input):
    """How the queue that labels again is opened; see POST /rubric-versions/{id}/label-queues."""

    raters: Annotated[
        Usernames,
        Field(description="Who labels, see GET /team. None: the people who gave the earlier labels."),
    ] = []
    size: Annotated[int | None, Field(ge=1, description=f"Items of a probe, {PROBED} without one.")] = None
    seed: Annotated[
        int | None, Field(ge=0, lt=SEEDS, description="The same seed draws the same items of a probe.")
    ] = None
    raters_per_item: Annotated[
        int | None,
        Field(
            ge=1,
            le=1000,
            description="To label again: people per item. None: as many as labelled it before.",
        ),
    ] = None

    def wish(self, team: Team, place: str) -> QueueWish:
        raters = people(team, self.raters, f"{place}raters")
        return QueueWish(raters, self.size, self.seed, self.raters_per_item)


class LabelQueueChange(LabelQueueInput):
    uid: Annotated[str, Field(description="Of the reworded criterion, or `guidelines`.")]
    seen: Annotated[int, Field(description="The decision the queue is opened for; another is a conflict.")]


class LabelDecisionInput(Input):
    """What becomes of labels that were given to other words; `later` takes a decision back.

    Where the options of a choice changed, `options` says for each earlier option what its labels count as
    when they are carried, null for those that do not count.
    """

    kind: Annotated[str, OneOf(KINDS)]
    options: dict[str, str | None] | None = None
    reason: Annotated[str, Field(max_length=REASON_MAX)] = ""
    queue: Annotated[
        LabelQueueInput | None,
        Field(description="With `label_again` or `probe`: opens its review queue in the same step."),
    ] = None

    def chosen(self) -> NewLabelDecision:
        return NewLabelDecision(self.kind, self.options, self.reason)

    def opening(self, team: Team, place: str = "") -> QueueWish | None:
        return self.queue.wish(team, f"{place}queue.") if self.queue is not None else None


class LabelDecisionChange(LabelDecisionInput):
    uid: Annotated[str, Field(description="Of the reworded criterion, or `guidelines`.")]
    seen: Annotated[int | None, Field(description="The decision it replaces; another is a conflict.")] = None


class OptionCount(Schema):
    label: str
    labels: int


class LabelQueue(Schema):
    """A review queue that was opened for a decision, and how far it is."""

    id: int
    name: str
    state: Annotated[str, OneOf(QueueState.values)]
    dataset: Named
    items: int
    wanted: Annotated[int, Field(description="Reviews that its items want.")]
    submitted: int

    @staticmethod
    def resolve_id(row: Any) -> int:
        return int(row.queue.pk)

    @staticmethod
    def resolve_name(row: Any) -> str:
        return str(row.queue.name)

    @staticmethod
    def resolve_state(row: Any) -> str:
        return str(row.queue.state)

    @staticmethod
    def resolve_dataset(row: Any) -> Any:
        return row.queue.dataset


class ProbeAnswers(Shape[ShownAnswers]):
    pass


class Probe(Shape[ShownProbe]):
    """What people said under the new words beside what was said under the words before.

    `agreement` is the share of equal labels, `alpha` Krippendorff's α of the two; `usual` and `usual_alpha`
    are those between raters under the words before, `repeated` the share of raters who said the same of a
    unit twice. Abstentions are set aside. `withheld` while you are still to answer: no figure has a value.
    """

    asked: Annotated[int, Field(description="Items drawn.")]
    answered: int
    same_rater: Annotated[
        int, Field(description="Units answered by whoever gave the earlier label; others by somebody else.")
    ]
    agreement: Figure
    alpha: Figure
    usual: Figure
    usual_alpha: Figure
    repeated: Figure
    answers: list[ProbeAnswers]


class LabelDecision(Schema):
    """The current decision; `evidence` counts what stood on the earlier words when it was made.

    Its `probe` is what a probe had found by then. What would tell of items you are still to review blind is
    null: that, and `labels`, `reviews` and `decisions`.
    """

    id: int
    kind: Annotated[str, OneOf(LabelDecisionKind.values)]
    options: dict[str, str | None] | None
    reason: str
    evidence: dict[str, Any]
    decided_by: Username
    decided_at: datetime


class LabelChange(Schema):
    """A criterion that is asked in other words than its labels were given to.

    `uid` is `guidelines` where they were changed: for all criteria that were not reworded themselves.
    `labels` in `reviews` and `adjudications` stand on the words before; they count for nothing under the new
    words while `decision` is null. Where `needs_options`, carrying says what each of the `earlier` options
    counts as.
    """

    uid: str
    name: str
    criterion_id: int | None
    previous_id: int | None
    labels: int
    reviews: int
    adjudications: int
    may_carry: bool
    needs_options: bool
    earlier: list[OptionCount]
    options: list[str]
    decision: LabelDecision | None
    queues: Annotated[list[LabelQueue], Field(description="Those opened to label again, or to probe.")]
    probe: Annotated[
        Probe | None, Field(description="What a probe found, until it is decided to carry or to label again.")
    ]
    closed: Annotated[
        list[LabelQueue],
        Field(description="Queues of the decision before that this one closed, where it was just made."),
    ]

    @staticmethod
    def resolve_criterion_id(row: Any) -> int | None:
        return row.criterion.pk if row.criterion is not None else None

    @staticmethod
    def resolve_previous_id(row: Any) -> int | None:
        return row.previous.pk if row.previous is not None else None

    @staticmethod
    def resolve_adjudications(row: Any) -> int:
        return int(row.decisions)

    @staticmethod
    def resolve_needs_options(row: Any) -> bool:
        return bool(row.needs_map)


class LabelChanges(Schema):
    """Every criterion a version or draft asks in other words, in rubric order, `guidelines` last.

    Judges are never spared: asking them again comes to at most `regrading_calls`, for about `regrading_usd`;
    null where no run has graded the words before, or where its cost is not known.
    """

    changes: list[LabelChange]
    waiting: int
    regrading_calls: int | None
    regrading_usd: float | None

    @staticmethod
    def resolve_regrading_calls(row: Any) -> int | None:
        return row.regrading.calls if row.regrading is not None else None

    @staticmethod
    def resolve_regrading_usd(row: Any) -> float | None:
        return row.regrading.cost_usd if row.regrading is not None else None
