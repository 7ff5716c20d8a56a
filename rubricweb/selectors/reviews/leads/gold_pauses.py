"""Who is paused because too few labels of their last gold items were right."""

from datetime import datetime

from rubricweb.models import (
    Calibration,
    GoldPause,
    Judgement,
    QueueItem,
    Rater,
    Review,
    ReviewQueue,
    ReviewState,
)
from rubricweb.selectors.reviews.calibration import known_labels


def open_pause(queue: ReviewQueue, rater: Rater) -> GoldPause | None:
    """The pause this rater is in, None for who may go on. One query."""
    return GoldPause.objects.filter(queue=queue, rater=rater, ended_at=None).first()


def own_pause(queue: ReviewQueue, user_id: int) -> GoldPause | None:
    """The same of a member, who may be no rater at all."""
    return GoldPause.objects.filter(queue=queue, rater__user=user_id, ended_at=None).first()


def last_gold_score(queue: ReviewQueue, rater: Rater) -> tuple[int, int] | None:
    """(right, total) labels of the rater's last `gold_window` gold items; None while they have fewer.

    Items of before a calibration round was over, or of before somebody let them go on, do not count: with a
    window of 10, nine more gold items after that are None. Ten items of two criteria, 15 right: (15, 20).
    """
    gold = QueueItem.objects.filter(queue=queue, gold=True).values("item_id")
    done = Review.objects.filter(queue=queue, rater=rater, item__in=gold, state=ReviewState.SUBMITTED)
    since = _counted_since(queue, rater)
    if since is not None:
        done = done.filter(submitted_at__gt=since)
    last = list(done.order_by("-submitted_at", "-pk").values_list("pk", flat=True)[: queue.gold_window])
    if len(last) < queue.gold_window:
        return None
    known = known_labels(queue)
    rows = Judgement.objects.in_reviews(pk__in=last).filter(verdict__isnull=False)
    pairs = [
        (known[item_id, criterion_id], verdict)
        for item_id, criterion_id, verdict in rows.values_list("item_id", "criterion_id", "verdict")
        if (item_id, criterion_id) in known
    ]
    return sum(truth == verdict for truth, verdict in pairs), len(pairs)


def _counted_since(queue: ReviewQueue, rater: Rater) -> datetime | None:
    ended = GoldPause.objects.filter(queue=queue, rater=rater, ended_at__isnull=False)
    passed = Calibration.objects.filter(queue=queue, rater=rater, passed=True)
    times = [*ended.values_list("ended_at", flat=True), *passed.values_list("decided_at", flat=True)]
    return max((at for at in times if at is not None), default=None)
