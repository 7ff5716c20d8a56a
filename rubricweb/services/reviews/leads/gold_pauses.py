"""A rater whose labels of gold items get worse is handed nothing more until somebody lets them go on."""

from datetime import datetime

from django.db import transaction

from rubricweb.errors import Conflict
from rubricweb.models import GoldPause, QueueItem, Rater, Review, ReviewQueue, User
from rubricweb.selectors.reviews.calibration import MARK_DIFFERS, CalibrationStage, round_of, whom_to_ask
from rubricweb.selectors.reviews.leads.gold_pauses import last_gold_score, open_pause
from rubricweb.services.reviews.calibration import require_deciding
from rubricweb.services.shared.journal import record


def count(review: Review, *, now: datetime) -> None:
    """After a review was submitted: pauses its rater where it was of a gold item and too few labels of their
    last ones are right. With 15 of 20 right and a floor of 0.8 they are paused, with 16 they are not.
    """
    queue, rater = review.queue, review.rater
    if queue.gold_floor is None or open_pause(queue, rater) is not None:
        return
    if not QueueItem.objects.filter(queue=queue, item=review.item_id, gold=True).exists():
        return
    if round_of(queue, rater).stage in (CalibrationStage.OPEN, CalibrationStage.FAILED):
        return
    score = last_gold_score(queue, rater)
    if score is None or not score[1] or score[0] / score[1] >= queue.gold_floor - MARK_DIFFERS:
        return
    right, total = score
    GoldPause.objects.get_or_create(
        queue=queue,
        rater=rater,
        ended_at=None,
        defaults={"right": right, "total": total, "paused_at": now},
    )
    record(queue.team, None, "paused a rater in", queue, rater=rater.name)


def require_unpaused(queue: ReviewQueue, rater: Rater) -> None:
    """Refuses to hand anything to who is paused, and says whom to ask."""
    if open_pause(queue, rater) is not None:
        raise Conflict(
            f"You are paused in {queue}: too many of your latest labels on check items differ from the known "
            f"ones. Your work is kept. Ask {whom_to_ask(queue)} to let you go on."
        )


@transaction.atomic
def end(queue: ReviewQueue, rater: Rater, *, by: User, now: datetime) -> None:
    """Lets a paused rater go on: gold items of before count no more. Raises Conflict for who is not paused,
    Forbidden for oneself.
    """
    require_deciding(queue, rater, by)
    paused = GoldPause.objects.filter(queue=queue, rater=rater, ended_at=None)
    if not paused.update(ended_at=now, ended_by=by):
        raise Conflict(f"{rater} is not paused in {queue}.")
    record(queue.team, by, "let a paused rater go on in", queue, rater=rater.name)
