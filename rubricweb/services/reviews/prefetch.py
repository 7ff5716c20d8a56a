"""Prefetching: the next item is assigned while one is still at this one, and nobody waits for it."""

from datetime import datetime

from django.db import transaction

from rubricweb.errors import NotFound
from rubricweb.models import Calibration, Judgement, Rater, Review, ReviewState
from rubricweb.services.reviews import assignments, queues


def prefetch_next(review: Review, *, now: datetime) -> Review | None:
    """What its rater goes on with after this review, assigned already; None when there is nothing yet.

    An open draft if there is one, else a new one: asked again it is the same, so there is never more than one
    prefetched. Nothing while a calibration round is not passed, for what comes then depends on how it ends.
    Raises what `queues.next_review` raises.
    """
    queue, user = review.queue, review.rater.user
    if user is None:
        return None
    if queue.calibration_items and not _passed(review):
        return None
    return queues.next_review(queue, user, now=now, besides=review)


def mark_opened(review: Review) -> None:
    """Its sheet is before its rater now, who may be writing: `give_back_untouched` leaves it from now on.

    Raises NotFound where it was given back a moment ago: what is written in it could not be kept.
    """
    if not review.opened and not Review.objects.filter(pk=review.pk).update(opened=True):
        raise NotFound("review")
    review.opened = True


@transaction.atomic
def give_back_untouched(review: Review) -> bool:
    """Frees the assignment of a draft that was prefetched and forgets it, unless its sheet was opened or
    something was said in it.
    """
    Rater.objects.select_for_update(no_key=True).filter(pk=review.rater_id).first()  # as every hand-out does
    locked = Review.objects.select_for_update().filter(pk=review.pk).first()
    if locked is None or locked.state != ReviewState.DRAFT:
        return False
    if locked.opened or locked.note or locked.flagged:
        return False
    if Judgement.objects.filter(review=locked).exists():
        return False
    assignments.give_back(locked)
    locked.delete()
    return True


def _passed(review: Review) -> bool:
    return Calibration.objects.filter(queue=review.queue_id, rater=review.rater_id, passed=True).exists()
