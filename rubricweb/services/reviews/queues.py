"""Queues of items for people to review: opening and closing them, and handing items out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from rubricweb.errors import Conflict, Forbidden, Invalid, NotFound
from rubricweb.models import (
    Blind,
    Dataset,
    Item,
    LabelDecision,
    Membership,
    Order,
    QueueCriterion,
    QueueItem,
    QueueState,
    QueueSystemVersion,
    Rater,
    ReasonRule,
    Review,
    ReviewQueue,
    ReviewState,
    Role,
    RubricVersion,
    Run,
    SystemVersion,
    Team,
    User,
)
from rubricweb.selectors.datasets.systems import versions_of_items
from rubricweb.selectors.reviews import queue_sources
from rubricweb.selectors.reviews.calibration import CalibrationStage
from rubricweb.selectors.reviews.queue_plans import require_rubrics
from rubricweb.selectors.reviews.queue_sources import ALL, SAMPLE, Source
from rubricweb.selectors.reviews.queues import reviewers
from rubricweb.selectors.rubrics.chosen_criteria import chosen_criteria
from rubricweb.services import dataset_versions
from rubricweb.services.labels import require_rubric
from rubricweb.services.reviews import assignments, calibration, queue_items
from rubricweb.services.reviews import raters as queue_people
from rubricweb.services.reviews.leads import gold_pauses
from rubricweb.services.reviews.raters import rater_for
from rubricweb.services.shared.archiving import hold_listed, hold_team, require_listed
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import saved_unless_taken

NAME_MAX = 200
GRID_ROWS = 10
"""So many items a person has before them at once in a table."""
HOLD_MINUTES_MAX = 7 * 24 * 60
WHOLE_DATASET = Source()


@dataclass(frozen=True, slots=True)
class QueueRequest:
    """A queue as it is asked for: over the items `source` names, for these `raters` or, with `everyone`, for
    all who may review now or later. `criteria`, ids or names, are what people are asked about from beginning
    to end; none is all of the rubric version. `systems` are the versions whose answers it is about, from
    beginning to end; none is whichever answered, now or later. `half`, dev or test, is the half
    of the dataset whose cases it is about; "" is all. `run` is what is revealed after submitting. Without an
    `order` a sample is handed out as it was drawn, everything else as in the dataset.
    `label_decision` is what it is opened for.
    """

    name: str
    dataset: Dataset
    rubric_version: RubricVersion | None
    raters: Sequence[User] = ()
    everyone: bool = False
    raters_per_item: int = 1
    run: Run | None = None
    source: Source = WHOLE_DATASET
    blind: str = Blind.BOTH
    order: str = ""
    needs_reason: str = ReasonRule.NEVER
    hold_minutes: int = 30
    instructions: str = ""
    criteria: Sequence[int | str] = ()
    label_decision: LabelDecision | None = None
    systems: Sequence[SystemVersion] = ()
    half: str = ""


@transaction.atomic
def create_queue(team: Team, asked: QueueRequest, *, by: User) -> ReviewQueue:
    """Opens the queue that is asked for.

    Raises Invalid for people who cannot review, for too few of them, for a source that names no items, where
    an item has no rubric or, with `criteria`, one of its own; the fault's place is the field it is about.
    Raises Conflict when the name is taken, and what `queue_sources.chosen` and `chosen_criteria` raise.
    """
    if asked.rubric_version is not None and asked.rubric_version.rubric is not None:
        hold_listed(asked.rubric_version.rubric)
    dataset_versions.hold(asked.dataset)
    name = unused_name(team, asked.name)
    people = list(reviewers(team)) if asked.everyone else list(dict.fromkeys(asked.raters))
    require_able(team, people)
    require_enough(asked.raters_per_item, people=len(people))
    dataset, run, source = asked.dataset, asked.run, asked.source
    _require_revealing(run, dataset, asked.systems, asked.half)
    _require_known("blind", asked.blind, Blind.values)
    is_sample = source.kind == SAMPLE
    order = asked.order or (Order.DRAWN if is_sample else Order.DATASET)
    _require_known("order", order, Order.values)
    if order == Order.DRAWN and not is_sample:
        raise Invalid.about(
            "order", "Only a random sample is handed out as it was drawn; choose another order."
        )
    _require_known("needs_reason", asked.needs_reason, ReasonRule.values)
    require_hold(asked.hold_minutes)
    require_listed(dataset)
    if source.kind == ALL:
        require_rubric(dataset, asked.rubric_version)
    criteria = chosen_criteria(asked.rubric_version, asked.criteria)
    systems = list(dict.fromkeys(asked.systems))
    require_listed_answers(dataset, systems)
    chosen = queue_sources.chosen(
        dataset, source, viewer=by, criteria=criteria, systems=systems, half=asked.half
    )
    require_rubrics(dataset, asked.rubric_version, chosen.item_ids, limited=bool(criteria))
    with saved_unless_taken(name_taken(name)):
        queue = ReviewQueue.objects.create(
            team=team,
            name=name,
            dataset=dataset,
            dataset_version=dataset.version,
            half=asked.half,
            rubric_version=asked.rubric_version,
            run=run,
            raters_per_item=asked.raters_per_item,
            everyone=asked.everyone,
            blind=asked.blind,
            order=order,
            rationale=asked.needs_reason,
            hold_minutes=asked.hold_minutes,
            instructions=asked.instructions,
            source=chosen.source,
            label_decision=asked.label_decision,
            created_by=by,
        )
    QueueCriterion.objects.bulk_create(QueueCriterion(queue=queue, criterion=one) for one in criteria)
    QueueSystemVersion.objects.bulk_create(
        QueueSystemVersion(queue=queue, system_version=one) for one in systems
    )
    queue_people.add_raters(queue, [rater_for(team, user) for user in people], by=by)
    queue_items.add_chosen(queue, chosen, run=source.run)
    limited = {"criteria": len(criteria)} if criteria else {}
    record(team, by, "opened", queue, items=len(chosen.item_ids), raters=len(people), **limited)
    hold_team(team)
    return queue


def require_listed_answers(dataset: Dataset, systems: Sequence[SystemVersion]) -> None:
    """Refuses answers of archived systems: those that are asked for, or all where there are no others."""
    named = systems or versions_of_items(Item.objects.current().filter(dataset=dataset))
    archived = [version.system for version in named if version.system.archived_at is not None]
    if archived and (systems or len(archived) == len(named)):
        require_listed(archived[0])


def _require_revealing(
    run: Run | None, dataset: Dataset, systems: Sequence[SystemVersion], half: str
) -> None:
    """Refuses a run that judged none of the queue's items."""
    if run is None:
        return
    if run.dataset_id != dataset.pk:
        raise Invalid.about("run", f"The run to reveal must be over {dataset}; {run} is over {run.dataset}.")
    if systems and run.system_version and run.system_version not in systems:
        names = ", ".join(map(str, systems))
        raise Invalid.about("run", f"The run to reveal must be over answers of {names}, not of {run.system}.")
    if half and run.half and run.half != half:
        raise Invalid.about("run", f"The run to reveal must be over {half} cases, not over {run.half} cases.")


def _require_known(place: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise Invalid.about(place, f"{value!r} is not one of {', '.join(known)}.")


def unused_name(team: Team, name: str, *, besides: ReviewQueue | None = None) -> str:
    """The name as it is stored. Raises Invalid without one, Conflict when another queue has it."""
    name = name.strip()[:NAME_MAX]
    if not name:
        raise Invalid.about("name", "A queue needs a name.")
    taken = ReviewQueue.objects.filter(team=team, name=name)
    if (taken.exclude(pk=besides.pk) if besides else taken).exists():
        raise Conflict(name_taken(name))
    return name


def name_taken(name: str) -> str:
    """What is said where the team has a queue of this name."""
    return f"The team already has a queue called {name!r}."


def require_able(team: Team, people: Sequence[User], *, place: str = "raters") -> None:
    """Refuses people who may not review in the team, and nobody at all; `place` is where they are named."""
    able = set(
        Membership.objects.filter(
            team=team, user__in=[user.pk for user in people], role__gte=Role.ANNOTATOR
        ).values_list("user_id", flat=True)
    )
    unable = ", ".join(str(user) for user in people if user.pk not in able)
    if unable:
        raise Invalid.about(place, f"Only annotators and above can review; {unable} cannot.", found=unable)
    if not able:
        raise Invalid.about(place, "Choose at least one person to review.", found="nobody")


def require_enough(raters_per_item: int, *, people: int) -> None:
    """Refuses more raters per item than there are people: its items would never be done."""
    if not 1 <= raters_per_item <= people:
        raise Invalid.about(
            "raters_per_item",
            f"{raters_per_item} raters per item need at least that many people; {people} were chosen.",
        )


def require_hold(minutes: int) -> None:
    """Refuses to keep assignments for no time, or for more than a week."""
    if not 1 <= minutes <= HOLD_MINUTES_MAX:
        raise Invalid.about(
            "hold_minutes",
            f"An item is released after 1 to {HOLD_MINUTES_MAX} minutes without activity, not {minutes}.",
        )


def take_in(dataset: Dataset, items: QuerySet[Item]) -> None:
    """Puts items that are new to a dataset, or came back, behind the others of its unclosed queues over all
    of it, in each those that belong to it.

    Raises Conflict where one would be reviewed by no rubric at all.
    """
    unclosed = ReviewQueue.objects.filter(dataset=dataset, imported=False).exclude(state=QueueState.CLOSED)
    for queue in unclosed.filter(source__kind=ALL).order_by("pk"):
        belonging = queue_items.belonging(queue, items).order_by("position")
        if queue.rubric_version_id is None and belonging.filter(rubric_version=None).exists():
            raise Conflict(
                f"The {queue.state} queue {queue} reviews every item by its own rubric, and some of these "
                "bring none. Give each a rubric, or close the queue first."
            )
        queue_items.add_items(queue, list(belonging.values_list("pk", flat=True)))


@transaction.atomic
def close_queue(queue: ReviewQueue, *, by: User) -> None:
    """No more reviews; drafts stay where they are, blinding ends."""
    unclosed = ReviewQueue.objects.filter(pk=queue.pk).exclude(state=QueueState.CLOSED)
    if unclosed.update(state=QueueState.CLOSED):
        record(queue.team, by, "closed", queue)
    queue.refresh_from_db()


def next_review(
    queue: ReviewQueue, user: User, *, now: datetime, besides: Review | None = None
) -> Review | None:
    """The person's open draft, else a new one on the item that is next for them; None when all is done.

    Which is next says the queue's order (see `assignments`). Never more than an item's `wanted` people get
    it; skips, and drafts without activity for `hold_minutes`, free the assignment. A calibration round
    comes first; Conflict for who is below its mark (see `calibration`). `besides` is a draft that is not
    meant: the one at which they still are.
    """
    assignments.release_silent([queue], now=now)
    return _hand_out(queue, user, now=now, besides=besides)


@transaction.atomic
def _hand_out(
    queue: ReviewQueue, user: User, *, now: datetime, besides: Review | None = None
) -> Review | None:
    rater = _rater_in(queue, user)
    gold_pauses.require_unpaused(queue, rater)
    found = calibration.begin(queue, rater)
    calibrating = found.stage == CalibrationStage.OPEN
    drafts = Review.objects.filter(queue=queue, rater=rater, state=ReviewState.DRAFT)
    if besides is not None:
        drafts = drafts.exclude(pk=besides.pk)
    for draft in drafts.select_related("queue").order_by("started_at", "pk"):
        if assignments.take_again(draft, now=now):
            return draft
    review = None
    if not calibrating or found.handed < found.size:  # else what is not submitted yet decides who goes on
        review = assignments.take_next(queue, rater, now=now, only_gold=calibrating)
    if review is None:
        calibration.require_more(queue, found)
    return review


def fill_grid(queue: ReviewQueue, user: User, *, now: datetime) -> int:
    """Takes items until the person has GRID_ROWS drafts, each by the rules of `next_review`; how many it
    took.

    Raises Conflict where the queue has no table, and what `next_review` raises.
    """
    if not queue.grid:
        raise Conflict(f"{queue} is answered item by item.")
    assignments.release_silent([queue], now=now)
    return _fill(queue, user, now=now)


@transaction.atomic
def _fill(queue: ReviewQueue, user: User, *, now: datetime) -> int:
    rater = _rater_in(queue, user)
    gold_pauses.require_unpaused(queue, rater)
    found = calibration.begin(queue, rater)
    calibrating = found.stage == CalibrationStage.OPEN
    drafts = Review.objects.filter(queue=queue, rater=rater, state=ReviewState.DRAFT).count()
    room = GRID_ROWS - drafts
    if calibrating:
        room = min(room, found.size - found.handed)
    taken = 0
    while taken < room and assignments.take_next(queue, rater, now=now, only_gold=calibrating) is not None:
        taken += 1
    return taken


def start_review(queue: ReviewQueue, item: Item, user: User, *, now: datetime | None = None) -> Review:
    """The person's review of this very item, begun now if there is capacity for one more rater."""
    now = now or timezone.now()
    assignments.release_silent([queue], now=now)
    return _hand_this(queue, item, user, now=now)


@transaction.atomic
def _hand_this(queue: ReviewQueue, item: Item, user: User, *, now: datetime) -> Review:
    rater = _rater_in(queue, user)
    queue_item = QueueItem.objects.select_related("queue").filter(queue=queue, item=item).first()
    if queue_item is None:
        raise NotFound("item in this queue")
    existing = Review.objects.select_related("queue").filter(queue=queue, item=item, rater=rater).first()
    if existing is None:
        gold_pauses.require_unpaused(queue, rater)
        calibration.refuse_choosing(queue, calibration.begin(queue, rater))
        existing = assignments.take(queue_item, rater, now=now)
    elif existing.state == ReviewState.SKIPPED:
        existing = existing if assignments.take_again(existing, now=now) else None
    elif existing.state == ReviewState.DRAFT:
        # Without an assignment it is shown, and can be submitted by nobody.
        assignments.take_again(existing, now=now)
    if existing is None:
        raise Conflict(f"The item already has its {queue_item.wanted} raters.")
    return existing


def _rater_in(queue: ReviewQueue, user: User) -> Rater:
    """The person as a rater of an open queue, locked: one hand-out at a time for each."""
    if queue.state != QueueState.OPEN:
        raise Conflict(f"The queue {queue} is {queue.state}.")
    rater = Rater.objects.select_for_update(no_key=True).filter(queues=queue, user=user).first()
    if rater is None:
        raise Forbidden(
            f"You are not one of the raters of {queue}; ask an editor to open a queue with you in it."
        )
    return rater
