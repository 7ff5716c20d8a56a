"""One more rater for an item whose raters agree too little."""

from collections import defaultdict

from django.db.models import Q

from rubricweb.models import Judgement, QueueItem, Rater, Review, ReviewState
from rubricweb.selectors.reviews.calibration import MARK_DIFFERS


def ask_for_one_more(review: Review) -> bool:
    """After a review was submitted: makes capacity for one more rater where all of them are in and agree too
    little; whether it did.

    Too little is a smaller share of criteria with the same label from everybody than the queue's
    `extra_rater_below`: MET MET, MET UNMET is 1 of 2, so 0.5. Once per item, never for gold items, and only
    while somebody is left who could take it.
    """
    below = review.queue.extra_rater_below
    if below is None:
        return False
    # Locked before anybody is counted: of two who submit at once, the second counts the first.
    place = (
        QueueItem.objects.select_for_update(no_key=True)
        .filter(queue=review.queue_id, item=review.item_id, gold=False, extra=False, withdrawn=False)
        .first()
    )
    if place is None:
        return False
    submitted = Review.objects.filter(
        queue=review.queue_id, item=review.item_id, state=ReviewState.SUBMITTED
    ).order_by()
    if submitted.count() < place.wanted or not _somebody_is_left(review):
        return False
    share = _share_alike(review, list(submitted.values_list("pk", flat=True)))
    if share is None or share >= below - MARK_DIFFERS:
        return False
    place.wanted, place.room, place.extra = place.wanted + 1, place.room + 1, True
    place.save(update_fields=["wanted", "room", "extra"])
    return True


def _somebody_is_left(review: Review) -> bool:
    """A rater who never had the item, or who lost the assignment of a draft of it to others."""
    had = Review.objects.filter(Q(state=ReviewState.SUBMITTED) | Q(state=ReviewState.SKIPPED))
    had = had.filter(queue=review.queue_id, item=review.item_id)
    return Rater.objects.filter(queues=review.queue_id).exclude(pk__in=had.values("rater_id")).exists()


def _share_alike(review: Review, review_ids: list[int]) -> float | None:
    """The share of criteria on which all of these reviews have one label; None without criteria to answer."""
    asked = review.queue.criteria_asked(review.item.rubric_version_id).exclude(kind="check").count()
    said: dict[int, set[str]] = defaultdict(set)
    rows = Judgement.objects.in_reviews(pk__in=review_ids).filter(verdict__isnull=False)
    for criterion_id, verdict in rows.values_list("criterion_id", "verdict"):
        said[criterion_id].add(str(verdict))
    return sum(len(labels) == 1 for labels in said.values()) / asked if asked else None
