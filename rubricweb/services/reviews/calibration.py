"""Gold items and the calibration round: who may go on to the other items of a queue, and who says so."""

from collections.abc import Sequence
from datetime import datetime
from random import SystemRandom

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from rubricweb.engine.errors import Fault
from rubricweb.errors import Conflict, Forbidden, Invalid, NotFound, Withheld
from rubricweb.models import Calibration, QueueItem, QueueState, Rater, Review, ReviewQueue, User
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.reviews.calibration import (
    CalibrationRound,
    CalibrationStage,
    gold_score,
    may_be_gold,
    reaches_mark,
    round_of,
    whom_to_ask,
)
from rubricweb.services.reviews import assignments
from rubricweb.services.shared.journal import record

GOLD_WINDOW, GOLD_WINDOW_MAX = 10, 1000
"""Over how many of a rater's last gold items their accuracy is taken unless a queue says otherwise."""

# ── Which items are gold ─────────────────────────────────────────────────────────────────────────


@transaction.atomic
def mark_gold(
    queue: ReviewQueue, *, by: User, item_ids: Sequence[int] = (), at_random: int | None = None
) -> int:
    """Makes these items of the queue gold, or so many at random; how many were not gold before.

    Gold items are handed to every rater, and nobody who rates is told which they are. The label to every
    criterion asked must be known, adjudicated or settled in a file. Raises Invalid for items where it is not.
    """
    _require_changing(queue)
    if (at_random is None) == (not item_ids):
        raise Invalid.about("item_ids", "Choose items, or say how many are to be drawn at random.")
    if item_ids:
        _require_untold(queue, by, item_ids)
    able = may_be_gold(queue)
    is_gold = set(QueueItem.objects.filter(queue=queue, gold=True).values_list("item_id", flat=True))
    if at_random is not None:
        left = [pk for pk in able if pk not in is_gold]
        if not 1 <= at_random <= len(left):
            raise Invalid.about(
                "at_random",
                f"{len(left)} items have a known label for every criterion and are not gold yet; "
                f"{at_random} cannot be drawn from them.",
            )
        chosen = SystemRandom().sample(left, at_random)
    else:
        chosen = list(dict.fromkeys(item_ids))
        known, wanted = set(able), "an item of the queue with a known label for every criterion"
        faults = [
            Fault(f"item_ids[{place}]", str(pk), wanted) for place, pk in enumerate(chosen) if pk not in known
        ]
        if faults:
            raise Invalid("Gold items need a known label for every criterion people are asked about.", faults)
    new = [pk for pk in chosen if pk not in is_gold]
    QueueItem.objects.filter(queue=queue, item__in=new).update(gold=True)
    assignments.fit_gold(queue)
    if new:
        record(queue.team, by, "marked gold items in", queue, items=len(new))
    return len(new)


@transaction.atomic
def unmark_gold(queue: ReviewQueue, item_id: int, *, by: User) -> None:
    """Makes a gold item one like the others. Raises NotFound for an item that is not gold in this queue."""
    _require_changing(queue)
    _require_untold(queue, by, [item_id])
    if not assignments.fit_plain(queue, item_id):
        raise NotFound("gold item in this queue")
    record(queue.team, by, "unmarked a gold item in", queue)


@transaction.atomic
def set_rules(
    queue: ReviewQueue,
    *,
    by: User,
    calibration_items: int,
    pass_mark: float | None,
    extra_rater_below: float | None,
    gold_floor: float | None = None,
    gold_window: int = GOLD_WINDOW,
) -> None:
    """How many gold items come first for everybody, which share of labels must be right to go on, and below
    which share of criteria alike an item gets one more rater. None for a share means that nothing is asked.
    Who was below the mark and reaches the new one goes on, and stays when it is raised again. Who has less
    than `gold_floor` of their labels right over their last `gold_window` gold items is paused: see
    `leads.gold_pauses`. Who is paused already stays so.

    Raises Invalid for shares outside 0 to 1, a window outside 1 to GOLD_WINDOW_MAX, and for more calibration
    items than there are gold ones.
    """
    _require_changing(queue)
    gold = QueueItem.objects.filter(queue=queue, gold=True).count()
    if not 0 <= calibration_items <= gold:
        raise Invalid.about(
            "calibration_items", f"{queue} has {gold} gold items; {calibration_items} cannot come first."
        )
    if not 1 <= gold_window <= GOLD_WINDOW_MAX:
        raise Invalid.about(
            "gold_window",
            f"Between 1 and {GOLD_WINDOW_MAX} gold items are looked back on, not {gold_window}.",
        )
    for place, share in (
        ("pass_mark", pass_mark),
        ("extra_rater_below", extra_rater_below),
        ("gold_floor", gold_floor),
    ):
        if share is not None and not 0 < share <= 1:
            raise Invalid.about(place, f"A share is more than 0 and at most 1, not {share}.")
    queue.calibration_items, queue.pass_mark = calibration_items, pass_mark
    queue.extra_rater_below = extra_rater_below
    queue.gold_floor, queue.gold_window = gold_floor, gold_window
    queue.save(
        update_fields=["calibration_items", "pass_mark", "extra_rater_below", "gold_floor", "gold_window"]
    )
    _pass_who_reach(queue, Calibration.objects.filter(queue=queue))
    record(
        queue.team,
        by,
        "changed the calibration of",
        queue,
        calibration_items=calibration_items,
        pass_mark=pass_mark,
        extra_rater_below=extra_rater_below,
        **({"gold_floor": gold_floor, "gold_window": gold_window} if gold_floor is not None else {}),
    )


def _pass_who_reach(queue: ReviewQueue, rows: QuerySet[Calibration]) -> None:
    """Those of the rows below the mark that reach it now have passed; when their round was over stays."""
    failed = rows.filter(passed=False, total__gt=0)
    reached = [row.pk for row in failed if reaches_mark(queue, row.right, row.total)]
    failed.filter(pk__in=reached).update(passed=True)


def _require_changing(queue: ReviewQueue) -> None:
    """Locks the queue, and refuses one whose items can change no more."""
    locked = ReviewQueue.objects.select_for_update(no_key=True).get(pk=queue.pk)
    if locked.imported or locked.state == QueueState.CLOSED:
        raise Conflict(f"The queue {queue} is closed.")
    if locked.is_probe:
        raise Conflict(
            f"{queue} is a probe: each item is for one rater, none is gold and none gets one more."
        )


def _require_untold(queue: ReviewQueue, by: User, item_ids: Sequence[int]) -> None:
    """Refuses whom the answer would tell which items are gold: those who rate in the queue, and of items they
    are still to review blind elsewhere everybody, for gold has a known label, and is of a version the queue
    is about.
    """
    if queue.raters.filter(user=by).exists():
        raise Forbidden(
            f"You rate in {queue}, so nothing tells you which of its items are gold: draw some at random, or "
            "ask an editor who does not rate in it."
        )
    if not hidden_of(by, queue.team, queue.dataset_id).isdisjoint(item_ids):
        raise Withheld(
            "You are still to review some of these items, or another answer to their case, blind, so nothing "
            "tells you which of them are gold: draw some at random, or ask an editor who is not a rater."
        )


# ── The round ────────────────────────────────────────────────────────────────────────────────────


def begin(queue: ReviewQueue, rater: Rater) -> CalibrationRound:
    """Where the rater is, before anything is handed to them: in the round they get gold items only.

    Counts a round that is complete. Raises Conflict, with the share, the mark and whom to ask, for somebody
    below the mark.
    """
    own_round = round_of(queue, rater)
    if own_round.stage == CalibrationStage.OPEN and own_round.is_complete:
        own_round = _count(queue, rater, own_round)
    if own_round.stage == CalibrationStage.FAILED:
        # The mark may have been lowered in the very moment in which the round was counted by the earlier one.
        _pass_who_reach(queue, Calibration.objects.filter(queue=queue, rater=rater))
        own_round = round_of(queue, rater)
    if own_round.stage == CalibrationStage.FAILED:
        raise Conflict(_below(queue, own_round))
    return own_round


def require_more(queue: ReviewQueue, own_round: CalibrationRound) -> None:
    """Refuses to say that all is done while the round waits for items the rater has skipped."""
    if own_round.stage == CalibrationStage.OPEN and (own_round.skipped or own_round.handed < own_round.size):
        raise Conflict(
            f"The first {own_round.size} items of {queue} are for calibration, and you have submitted "
            f"{own_round.submitted}. Take up the items you skipped, or ask {whom_to_ask(queue)} to let you "
            "go on."
        )


def refuse_choosing(queue: ReviewQueue, own_round: CalibrationRound) -> None:
    """In the round everybody begins with the same items, so nobody chooses."""
    if own_round.stage == CalibrationStage.OPEN:
        raise Conflict(
            f"The first {own_round.size} items of {queue} are the same for everybody; you have submitted "
            f"{own_round.submitted}. Go on with the next one; then you may choose."
        )


def count_round(review: Review) -> None:
    """After a review was submitted: counts the round if it was its last."""
    own_round = round_of(review.queue, review.rater)
    if own_round.stage == CalibrationStage.OPEN and own_round.is_complete:
        _count(review.queue, review.rater, own_round)


def _count(queue: ReviewQueue, rater: Rater, own_round: CalibrationRound) -> CalibrationRound:
    since: datetime | None = own_round.calibration.decided_at if own_round.calibration else None
    right, total = gold_score(queue, rater, since=since)
    if not total:  # nothing is known of them any more: there is nothing to hold anybody against
        return CalibrationRound(CalibrationStage.NONE)
    result = {"right": right, "total": total, "passed": reaches_mark(queue, right, total)}
    _, is_new = Calibration.objects.get_or_create(queue=queue, rater=rater, defaults=result)
    if not is_new:
        # Whom an editor has let go on meanwhile goes on.
        waiting = Calibration.objects.filter(queue=queue, rater=rater, passed=False)
        waiting.update(**result, passed_by=None, decided_at=timezone.now())
    return round_of(queue, rater)


def _below(queue: ReviewQueue, own_round: CalibrationRound) -> str:
    row = own_round.calibration
    assert row is not None  # a failed round was counted
    mark = "" if queue.pass_mark is None else f", and {queue} asks for {queue.pass_mark:.0%}"
    share = row.right / row.total
    return (
        f"{row.right} of your {row.total} labels in the calibration round were right ({share:.0%})"
        f"{mark}. Ask {whom_to_ask(queue)} to let you go on, or to let you try again."
    )


# ── What an editor decides ───────────────────────────────────────────────────────────────────────


@transaction.atomic
def let_on(queue: ReviewQueue, rater: Rater, *, by: User) -> None:
    """Lets a rater go on whatever the round said, or without it. Raises Forbidden for oneself."""
    row = _decided(queue, rater, by)
    if row is not None and row.passed:
        return
    Calibration.objects.update_or_create(queue=queue, rater=rater, defaults={"passed": True, "passed_by": by})
    record(queue.team, by, "let a rater go on in", queue, rater=rater.name)


@transaction.atomic
def try_again(queue: ReviewQueue, rater: Rater, *, by: User) -> None:
    """Lets a rater below the mark try again with other gold items. Raises Conflict without any left."""
    row = _decided(queue, rater, by)
    if row is None or round_of(queue, rater).stage != CalibrationStage.FAILED:
        raise Conflict(f"{rater} is not below the mark in {queue}.")
    had = Review.objects.filter(queue=queue, rater=rater).values("item_id")
    if not QueueItem.objects.filter(queue=queue, gold=True).exclude(item__in=had).exists():
        raise Conflict(f"{rater} has had every gold item of {queue}: mark others as gold, or let them go on.")
    row.right = row.total = 0
    row.save()
    record(queue.team, by, "let a rater try again in", queue, rater=rater.name)


def _decided(queue: ReviewQueue, rater: Rater, by: User) -> Calibration | None:
    require_deciding(queue, rater, by)
    return Calibration.objects.filter(queue=queue, rater=rater).first()


def require_deciding(queue: ReviewQueue, rater: Rater, by: User) -> None:
    """Refuses to decide about who does not rate in the queue, about oneself, or once it is closed."""
    _require_changing(queue)
    if not queue.raters.filter(pk=rater.pk).exists():
        raise NotFound("rater in this queue")
    if rater.user_id == by.pk:
        raise Forbidden(f"Somebody else decides about your own calibration: ask {whom_to_ask(queue)}.")
