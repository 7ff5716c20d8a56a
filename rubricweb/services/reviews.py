"""Work of people: queues, reviews with their verdicts, imported labels, adjudication."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from rubricweb.engine.errors import Fault
from rubricweb.engine.ground_truth import majority
from rubricweb.engine.verdict import Label
from rubricweb.errors import Conflict, Forbidden, Invalid, NotFound
from rubricweb.models import (
    Adjudication,
    Cause,
    Criterion,
    Dataset,
    Item,
    Judgement,
    Membership,
    QueueState,
    Rater,
    Review,
    ReviewQueue,
    ReviewState,
    Role,
    RubricVersion,
    Run,
    Team,
    User,
)
from rubricweb.selectors.reviews import holding, require_visible
from rubricweb.services.journal import record
from rubricweb.services.labels import allowed_answers, checked_label, refused
from rubricweb.services.labels import import_labels as import_labels  # people's labels are reviews too
from rubricweb.services.labels import require_rubric as require_rubric  # asked before runs as well
from rubricweb.services.teams import rater_for

REASON_MAX = 10_000


@transaction.atomic
def create_queue(
    team: Team,
    *,
    by: User,
    name: str,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    raters: Sequence[User],
    raters_per_item: int = 1,
    run: Run | None = None,
    blind: bool = True,
    instructions: str = "",
) -> ReviewQueue:
    """A queue over the dataset's items for these members. `run` is what is revealed after submitting.

    Raises Invalid for people who cannot review, for too few of them, or where an item has no rubric; the
    fault's place is the argument it is about. Raises Conflict when the name is taken.
    """
    name = name.strip()
    if not name:
        raise refused("name", "A queue needs a name.")
    if ReviewQueue.objects.filter(team=team, name=name).exists():
        raise Conflict(f"The team already has a queue called {name!r}.")
    able = set(
        Membership.objects.filter(
            team=team, user__in=[user.pk for user in raters], role__gte=Role.ANNOTATOR
        ).values_list("user_id", flat=True)
    )
    unable = [str(user) for user in raters if user.pk not in able]
    if unable:
        raise refused("raters", f"Only annotators and above can review; {', '.join(unable)} cannot.")
    if not able:
        raise refused("raters", "Choose at least one person to review.")
    if not 1 <= raters_per_item <= len(able):
        raise refused(
            "raters_per_item",
            f"{raters_per_item} raters per item need at least that many people; {len(able)} were chosen.",
        )
    if run is not None and run.dataset_id != dataset.pk:
        raise refused("run", f"The run to reveal must be over {dataset}; {run} is over {run.dataset}.")
    require_rubric(dataset, rubric_version)
    queue = ReviewQueue.objects.create(
        team=team,
        name=name[:200],
        dataset=dataset,
        rubric_version=rubric_version,
        run=run,
        raters_per_item=raters_per_item,
        blind=blind,
        instructions=instructions,
        created_by=by,
    )
    queue.raters.set([rater_for(team, user) for user in raters])
    record(team, by, "opened", queue)
    return queue


@transaction.atomic
def close_queue(queue: ReviewQueue, *, by: User) -> None:
    """No more reviews; drafts stay where they are, blinding ends."""
    if ReviewQueue.objects.filter(pk=queue.pk, state=QueueState.OPEN).update(state=QueueState.CLOSED):
        record(queue.team, by, "closed", queue)
    queue.refresh_from_db()


def next_review(queue: ReviewQueue, user: User, *, now: datetime) -> Review | None:
    """The person's open draft, else a new one on the item that needs it most; None when all is done.

    Items are handed out in dataset order, those fewest people have taken first, and never to more than
    `raters_per_item` people (skips and drafts left unanswered free the place).
    """
    rater = _rater_in(queue, user)
    with transaction.atomic():
        # One hand-out at a time per queue, on PostgreSQL by this lock, on SQLite by BEGIN IMMEDIATE.
        ReviewQueue.objects.select_for_update().get(pk=queue.pk)
        draft = (
            Review.objects.filter(queue=queue, rater=rater, state=ReviewState.DRAFT)
            .order_by("started_at")
            .first()
        )
        if draft is not None:
            return draft
        item = (
            Item.objects.filter(dataset=queue.dataset)
            .exclude(reviews__in=Review.objects.filter(queue=queue, rater=rater))
            .annotate(taken=Count("reviews", filter=Q(reviews__in=holding(queue, now))))
            .filter(taken__lt=queue.raters_per_item)
            .order_by("taken", "position")
            .first()
        )
        if item is None:
            return None
        return Review.objects.create(queue=queue, item=item, rater=rater)


@transaction.atomic
def start_review(queue: ReviewQueue, item: Item, user: User) -> Review:
    """The person's review of this very item, begun now if there is room for one more rater."""
    rater = _rater_in(queue, user)
    ReviewQueue.objects.select_for_update().get(pk=queue.pk)
    if item.dataset_id != queue.dataset_id:
        raise NotFound("item in this queue")
    existing = Review.objects.filter(queue=queue, item=item, rater=rater).first()
    if existing is not None:
        if existing.state == ReviewState.SKIPPED:
            _require_room(queue, item)
            existing.state = ReviewState.DRAFT
            existing.save(update_fields=["state"])
        return existing
    _require_room(queue, item)
    return Review.objects.create(queue=queue, item=item, rater=rater)


def _require_room(queue: ReviewQueue, item: Item) -> None:
    taken = holding(queue).filter(item=item).count()
    if taken >= queue.raters_per_item:
        raise Conflict(f"{item} already has its {queue.raters_per_item} raters.")


def _rater_in(queue: ReviewQueue, user: User) -> Rater:
    if queue.state != QueueState.OPEN:
        raise Conflict(f"The queue {queue} is closed.")
    rater = queue.raters.filter(user=user).first()
    if rater is None:
        raise Forbidden(
            f"You are not one of the raters of {queue}; ask an editor to open a queue with you in it."
        )
    return rater


@transaction.atomic
def save_verdict(
    review: Review, criterion_id: int, *, verdict: Label | None, reason: str | None = None
) -> Judgement | None:
    """Stores one label of a draft at once; `verdict=None` takes it back, `reason=None` leaves it as it is.

    `verdict` is MET, UNMET or CANNOT_ASSESS, or an option's label where the criterion is a choice. Safe to
    repeat: the newest call wins. Raises Invalid naming what is allowed, Conflict once the review is
    submitted.
    """
    _open_draft(review)
    criterion = criteria_of(review).filter(pk=criterion_id).first()
    if criterion is None:
        raise NotFound("criterion in this review")
    if reason is not None:
        reason = reason.replace("\x00", "")  # PostgreSQL stores no NUL characters
        if len(reason) > REASON_MAX:
            raise Invalid(f"A reason has at most {REASON_MAX} characters, not {len(reason)}.")
    if verdict is None:
        Judgement.objects.filter(review=review, criterion=criterion).delete()
        return None
    label = checked_label(criterion, verdict)
    judgement, _ = Judgement.objects.update_or_create(
        review=review,
        criterion=criterion,
        defaults={"verdict": label} | ({} if reason is None else {"reason": reason}),
        create_defaults={"item": review.item, "verdict": label, "reason": reason or ""},
    )
    return judgement


@dataclass(frozen=True)
class Answer:
    """What a whole form says about one criterion; `verdict` None is one left open."""

    criterion_id: int
    verdict: Label | None
    reason: str


@transaction.atomic
def save_answers(review: Review, answers: Sequence[Answer], *, note: str | None = None) -> None:
    """Stores a whole form of a draft at once, all or nothing; criteria left open keep what they had."""
    _open_draft(review)
    for answer in answers:
        if answer.verdict is not None:
            save_verdict(review, answer.criterion_id, verdict=answer.verdict, reason=answer.reason)
    if note is not None:
        save_note(review, note=note)


@transaction.atomic
def save_note(review: Review, *, note: str | None = None, flagged: bool | None = None) -> None:
    """Stores the note and the flag of a review; None leaves either as it is."""
    _open_draft(review)
    if note is not None:
        review.note = note.replace("\x00", "")[:REASON_MAX]
    if flagged is not None:
        review.flagged = flagged
    review.save(update_fields=["note", "flagged"])


@transaction.atomic
def submit(review: Review, *, now: datetime) -> None:
    """Ends the draft. Raises Invalid naming the criteria without an answer; a second call is a no-op.

    Checks need no answer: they are computed from the submission.
    """
    locked = Review.objects.select_for_update().get(pk=review.pk)
    if locked.state == ReviewState.SUBMITTED:
        review.refresh_from_db()
        return
    _open_draft(review)
    answered = Judgement.objects.filter(review=review).values("criterion_id")
    asked = criteria_of(review).exclude(kind="check")
    missing = list(asked.exclude(pk__in=answered).order_by("position"))
    if missing:
        raise Invalid(
            "One criterion still needs a verdict."
            if len(missing) == 1
            else f"{len(missing)} criteria still need a verdict.",
            [
                Fault(place=str(criterion.name), found="nothing", allowed=allowed_answers(criterion))
                for criterion in missing
            ],
        )
    review.state, review.submitted_at = ReviewState.SUBMITTED, now
    review.save(update_fields=["state", "submitted_at"])
    record(review.queue.team, review.rater.user, "submitted", review, **_place(review))


@transaction.atomic
def skip(review: Review, *, reason: str) -> None:
    """Gives the item back for somebody else; the verdicts so far are kept with the skipped review."""
    _open_draft(review)
    if not reason.strip():
        raise Invalid("Say in a few words why you skip this item.")
    review.state, review.note = ReviewState.SKIPPED, reason.strip()[:REASON_MAX]
    review.save(update_fields=["state", "note"])
    record(review.queue.team, review.rater.user, "skipped", review, **_place(review))


def _place(review: Review) -> dict[str, str]:
    """What the journal says about where a review was: never anything about its verdicts."""
    return {"item": review.item.key, "queue": review.queue.name}


def _open_draft(review: Review) -> None:
    """Locks the review's row and refuses one that is no longer a draft in an open queue."""
    state, queue_state = (
        Review.objects.select_for_update(of=("self",))
        .filter(pk=review.pk)
        .values_list("state", "queue__state")
        .get()
    )
    if state != ReviewState.DRAFT:
        raise Conflict(f"This review is already {state}; it can no longer change.")
    if queue_state != QueueState.OPEN:
        raise Conflict("The queue was closed; your draft is kept but can no longer change.")


def criteria_of(review: Review) -> QuerySet[Criterion]:
    """The criteria this review answers: the item's own rubric wins over the queue's."""
    version_id = review.item.rubric_version_id or review.queue.rubric_version_id
    return Criterion.objects.filter(version_id=version_id)


@transaction.atomic
def adjudicate(
    item: Item, criterion: Criterion, *, by: User, verdict: Label, cause: str, reason: str = ""
) -> Adjudication:
    """Decides one criterion of one item; deciding again replaces the decision, the journal keeps both.

    `verdict` is a label as `save_verdict` takes it. A reason is required when it goes against the majority of
    submitted reviews. Withheld while the decider is still to review the item blind.
    """
    require_visible(by, item)
    if cause not in Cause.values:
        raise Invalid(f"{cause!r} is not a cause. Allowed: {', '.join(Cause.values)}.")
    label = checked_label(criterion, verdict)
    labels = Judgement.objects.filter(
        item=item, criterion=criterion, review__state=ReviewState.SUBMITTED, verdict__isnull=False
    ).values_list("verdict", flat=True)
    most = majority(str(one) for one in labels)
    if most is not None and most != label and not reason.strip():
        raise Invalid(f"Most raters said {most}. To decide {label}, give the reason.")
    adjudication, _ = Adjudication.objects.update_or_create(
        item=item,
        criterion=criterion,
        defaults={
            "verdict": label,
            "cause": cause,
            "reason": reason.strip()[:REASON_MAX],
            "decided_by": by,
        },
    )
    record(
        item.dataset.team,
        by,
        "adjudicated",
        item,
        criterion=criterion.name,
        verdict=label,
        cause=cause,
    )
    return adjudication
