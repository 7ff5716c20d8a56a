"""Assignments in a queue: every item has capacity for so many raters, and nobody ever gets one too many.

An assignment is made by one conditional UPDATE (`room` above 0, then less 1) in the transaction that makes
the review, so neither PostgreSQL nor SQLite can hand out the last one twice, whoever is killed in between. It
is held until the review is submitted. A skip gives it back; after `hold_minutes` without activity it is
released, and the next person may have it. The draft is kept.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import TypeVar

from django.db import connection, transaction
from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet

from rubricweb.models import QueueItem, QueueState, Rater, Review, ReviewQueue, ReviewState
from rubricweb.services.reviews import queue_orders

Row = TypeVar("Row", bound=Model)

RELEASED_AT_ONCE = 500
"""So many silent drafts lose their assignments at one hand-out; the rest at the next."""


def take_next(queue: ReviewQueue, rater: Rater, *, now: datetime, only_gold: bool = False) -> Review | None:
    """A new draft on the item that is next for this person, with its assignment; None when nothing is left.

    `only_gold` hands out nothing but gold items, in the order of the queue's positions.
    """
    free = _free(queue, rater)
    if only_gold:
        free = free.filter(gold=True)
    for queue_item in _candidates(free, queue, rater, by_position=only_gold) or _contested(free):
        review = take(queue_item, rater, now=now)
        if review is not None:
            return review
    return None


def take(queue_item: QueueItem, rater: Rater, *, now: datetime) -> Review | None:
    """A new draft on this item with its assignment; None when there is no capacity."""
    if not _take_capacity(queue_item.queue_id, queue_item.item_id, rater.pk):
        return None
    return Review.objects.create(
        queue_id=queue_item.queue_id,
        item_id=queue_item.item_id,
        rater=rater,
        held_until=_until(queue_item.queue, now),
    )


def take_again(review: Review, *, now: datetime) -> bool:
    """Assigns a draft or a skipped review again if there is capacity; whether it has an assignment now."""
    _lock(review)  # before the capacity, as everybody does: nobody waits for somebody who waits for them
    if review.state == ReviewState.SUBMITTED:
        return False
    if not review.holds_place and not _take_capacity(review.queue_id, review.item_id, review.rater_id):
        return False
    review.state, review.holds_place = ReviewState.DRAFT, True
    review.held_until = _until(review.queue, now)
    review.save(update_fields=["state", "holds_place", "held_until"])
    return True


@transaction.atomic
def hear_from(review: Review, *, now: datetime) -> bool:
    """The person still has this draft before them: its assignment is kept from now on anew, or taken again if
    there is capacity. Whether it holds one now; nothing changes once it is no draft, or of somebody whom no
    open queue asks for it.
    """
    _lock(review)
    asks_them = ReviewQueue.objects.filter(pk=review.queue_id, state=QueueState.OPEN, raters=review.rater_id)
    if review.state == ReviewState.DRAFT and asks_them.exists():
        return take_again(review, now=now)
    return review.holds_place


def renew(review: Review, *, now: datetime) -> None:
    """Whoever holds this draft is active: its assignment is kept for `hold_minutes` from now on."""
    review.held_until = _until(review.queue, now)
    Review.objects.filter(pk=review.pk, state=ReviewState.DRAFT, holds_place=True).update(
        held_until=review.held_until
    )


def give_back(review: Review) -> None:
    """Frees the assignment of a draft; whoever calls saves what else changes."""
    gave = Review.objects.filter(pk=review.pk, state=ReviewState.DRAFT, holds_place=True)
    if gave.update(holds_place=False):
        asked = QueueItem.objects.filter(queue=review.queue_id, item=review.item_id, withdrawn=False)
        asked.update(room=F("room") + 1)
    review.holds_place = False


def give_to_anybody(queue: ReviewQueue, rater: Rater, *, item_id: int | None = None) -> None:
    """Keeps nothing, or not this item, for a rater any more: the others of the queue may take it."""
    kept = QueueItem.objects.filter(queue=queue, rater=rater)
    (kept if item_id is None else kept.filter(item=item_id)).update(rater=None)


@transaction.atomic
def release_silent(queues: Iterable[ReviewQueue], *, now: datetime) -> int:
    """Releases the assignments of drafts without activity for too long; the drafts stay. How many.

    Only in open queues: nobody can be active in a paused one. Call it before a hand-out and not within: it
    may hold many assignments until its transaction ends.
    """
    silent = Review.objects.filter(
        queue__in=queues,
        queue__state=QueueState.OPEN,
        state=ReviewState.DRAFT,
        holds_place=True,
        held_until__lt=now,
    ).order_by("held_until")
    rows = list(_locked(silent, skip_locked=True)[:RELEASED_AT_ONCE])
    for review in sorted(rows, key=lambda row: (row.queue_id, row.item_id)):  # two at once meet in one order
        give_back(review)
    return len(rows)


def renew_all(queue: ReviewQueue, *, now: datetime) -> None:
    """Keeps every draft's assignment for `hold_minutes` from now on: nobody could be active in a pause."""
    held = Review.objects.filter(queue=queue, state=ReviewState.DRAFT, holds_place=True)
    held.update(held_until=_until(queue, now))


def fit_gold(queue: ReviewQueue) -> None:
    """Gold items have capacity for each rater of the queue, and for whoever was one and has had the item."""
    raters = set(queue.raters.values_list("pk", flat=True))
    gold = QueueItem.objects.filter(queue=queue, gold=True, withdrawn=False).order_by("item_id")
    rows = list(_locked(gold, skip_locked=False))
    holders: dict[int, set[int]] = defaultdict(set)
    held = Review.objects.filter(queue=queue, holds_place=True, item__in=[row.item_id for row in rows])
    for item_id, rater_id in held.values_list("item_id", "rater_id"):
        holders[item_id].add(rater_id)
    for row in rows:
        row.wanted = len(raters | holders[row.item_id])
        row.room = row.wanted - len(holders[row.item_id])
    QueueItem.objects.bulk_update(rows, ["wanted", "room"], batch_size=RELEASED_AT_ONCE)


def fit_plain(queue: ReviewQueue, item_id: int) -> bool:
    """A gold item that is to be one no more has the capacity all others have; whether it was gold."""
    queue_items = list(
        _locked(QueueItem.objects.filter(queue=queue, item=item_id, gold=True), skip_locked=False)
    )
    for row in queue_items:
        held = Review.objects.filter(queue=queue, item=item_id, holds_place=True).count()
        row.gold, row.wanted = False, max(queue.raters_per_item, held)
        row.room = row.wanted - held
        row.save(update_fields=["gold", "wanted", "room"])
    return bool(queue_items)


def withdraw(queue: ReviewQueue, item_ids: Collection[int]) -> None:
    """Nobody is asked about these items any more; what was submitted stays, and drafts stay to be read.

    A draft a person has before them loses its assignment, so that it can be submitted no more.
    """
    drafts = Review.objects.filter(
        queue=queue, item__in=item_ids, state=ReviewState.DRAFT, holds_place=True
    ).order_by("item_id", "pk")
    # Reviews before capacity, as everybody does; whoever took one in between is met after it.
    list(_locked(drafts, skip_locked=False))
    rows = _of_items(queue, item_ids, withdrawn=False)
    drafts.update(holds_place=False, held_until=None)
    submitted = _held(queue, item_ids)
    for row in rows:
        row.withdrawn, row.gold, row.wanted, row.room = True, False, submitted[row.item_id], 0
    QueueItem.objects.bulk_update(rows, ["withdrawn", "gold", "wanted", "room"], batch_size=RELEASED_AT_ONCE)


def ask_again(queue: ReviewQueue, item_ids: Collection[int]) -> None:
    """People are asked about withdrawn items as about the others of the queue."""
    rows = _of_items(queue, item_ids, withdrawn=True)
    held = _held(queue, item_ids)
    for row in rows:
        row.withdrawn, row.wanted = False, max(queue.raters_per_item, held[row.item_id])
        row.room = row.wanted - held[row.item_id]
    QueueItem.objects.bulk_update(rows, ["withdrawn", "wanted", "room"], batch_size=RELEASED_AT_ONCE)


def _of_items(queue: ReviewQueue, item_ids: Collection[int], *, withdrawn: bool) -> list[QueueItem]:
    rows = QueueItem.objects.filter(queue=queue, item__in=item_ids, withdrawn=withdrawn)
    return list(_locked(rows.order_by("item_id"), skip_locked=False))


def _held(queue: ReviewQueue, item_ids: Collection[int]) -> Counter[int]:
    """Item id → how many reviews of it hold a place."""
    held = Review.objects.filter(queue=queue, item__in=item_ids, holds_place=True).order_by()
    return Counter(held.values_list("item_id", flat=True))


def _lock(review: Review) -> None:
    """Locks a review's row until the transaction ends, and reads what it says of its assignment by now."""
    locked = Review.objects.select_for_update(no_key=True).only("state", "holds_place", "held_until")
    current = locked.get(pk=review.pk)
    review.state, review.holds_place, review.held_until = (
        current.state,
        current.holds_place,
        current.held_until,
    )


def _until(queue: ReviewQueue, now: datetime) -> datetime:
    return now + timedelta(minutes=queue.hold_minutes)


def _take_capacity(queue_id: int, item_id: int, rater_id: int) -> bool:
    free = QueueItem.objects.filter(_kept_for(rater_id), queue=queue_id, item=item_id, room__gt=0)
    return free.update(room=F("room") - 1) == 1


def _kept_for(rater_id: int) -> Q:
    """What is kept for this rater, or for nobody."""
    return Q(rater=None) | Q(rater=rater_id)


def _free(queue: ReviewQueue, rater: Rater) -> QuerySet[QueueItem]:
    """What has capacity and this person never had."""
    mine = Review.objects.filter(queue=queue, rater=rater, item=OuterRef("item"))
    return QueueItem.objects.filter(
        ~Exists(mine), _kept_for(rater.pk), queue=queue, room__gt=0
    ).select_related("queue")


def _candidates(
    free: QuerySet[QueueItem], queue: ReviewQueue, rater: Rater, *, by_position: bool
) -> list[QueueItem]:
    """The item that is next for this person, without those somebody takes this very moment."""
    for part in [free.order_by("position")] if by_position else queue_orders.onward(free, queue, rater):
        rows = list(_locked(part, skip_locked=True)[:1])
        if rows:
            return rows
    return []


def _contested(free: QuerySet[QueueItem]) -> list[QueueItem]:
    """What others take this very moment: it waits for them, for there may be capacity for one more.

    Everybody who waits does so in one order, that of the items, so that nobody waits for each other.
    """
    if not connection.features.has_select_for_update:
        return []  # nobody else is at it: SQLite has one writer at a time
    return list(_locked(free.order_by("item_id"), skip_locked=False)[:1])


def _locked(rows: QuerySet[Row], *, skip_locked: bool) -> QuerySet[Row]:
    """Locks rows until the transaction ends; SQLite has locked its whole database already."""
    if not connection.features.has_select_for_update:
        return rows
    return rows.select_for_update(of=("self",), no_key=True, skip_locked=skip_locked)
