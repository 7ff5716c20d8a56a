"""One more rater for items whose raters agree too little: once, and while somebody is left."""

import pytest
from django.utils import timezone

from rubricweb.models import QueueItem, ReviewQueue, User
from rubricweb.services.reviews import calibration, queues, reviews
from tests import factories
from tests.factories import Cast


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    """One item for two of three raters; below two thirds of the criteria alike, one more is asked."""
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=factories.ITEMS[:1]),
        rubric_version=factories.version(people.team, people.ed),
        raters=[people.ann, people.rae, people.alice],
        raters_per_item=2,
    )
    calibration.set_rules(queue, by=people.ed, calibration_items=0, pass_mark=None, extra_rater_below=2 / 3)
    return queue


def review(queue: ReviewQueue, user: User, *verdicts: str) -> None:
    mine = queues.next_review(queue, user, now=timezone.now())
    assert mine is not None
    for criterion, verdict in zip(reviews.criteria_of(mine).order_by("position"), verdicts, strict=True):
        reviews.save_verdict(mine, criterion.pk, verdict=verdict)
    reviews.submit(mine, now=timezone.now())


def places(queue: ReviewQueue) -> tuple[int, int, bool]:
    row = QueueItem.objects.get(queue=queue)
    return (row.wanted, row.room, row.extra)


def test_too_little_agreement_asks_for_one_more_rater_once(people: Cast, queue: ReviewQueue) -> None:
    review(queue, people.ann, "MET", "MET", "MET")
    assert places(queue) == (2, 1, False)
    # Alike on one criterion of three: 0.33 is below 0.67.
    review(queue, people.rae, "MET", "UNMET", "CANNOT_ASSESS")
    assert places(queue) == (3, 1, True)
    review(queue, people.alice, "UNMET", "UNMET", "UNMET")
    assert places(queue) == (3, 0, True)


def test_enough_agreement_asks_for_nobody(people: Cast, queue: ReviewQueue) -> None:
    review(queue, people.ann, "MET", "MET", "MET")
    # Alike on two of three: 0.67 is not below 0.67.
    review(queue, people.rae, "MET", "MET", "UNMET")
    assert places(queue) == (2, 0, False)


def test_a_share_that_was_written_in_percent_is_not_missed_by_rounding(
    people: Cast, queue: ReviewQueue
) -> None:
    # 66.6666666667 percent, as the field shows two thirds and reads them again.
    calibration.set_rules(
        queue, by=people.ed, calibration_items=0, pass_mark=None, extra_rater_below=66.6666666667 / 100
    )
    review(queue, people.ann, "MET", "MET", "MET")
    review(queue, people.rae, "MET", "MET", "UNMET")
    assert places(queue) == (2, 0, False)


def test_nobody_is_asked_where_all_raters_have_had_the_item(people: Cast, queue: ReviewQueue) -> None:
    mine = queues.next_review(queue, people.alice, now=timezone.now())
    assert mine is not None
    reviews.skip(mine, reason="I wrote it.")
    review(queue, people.ann, "MET", "MET", "MET")
    review(queue, people.rae, "UNMET", "UNMET", "UNMET")
    assert places(queue) == (2, 0, False)


def test_a_queue_that_does_not_ask_for_it_gets_no_extra_rater(people: Cast, queue: ReviewQueue) -> None:
    calibration.set_rules(queue, by=people.ed, calibration_items=0, pass_mark=None, extra_rater_below=None)
    review(queue, people.ann, "MET", "MET", "MET")
    review(queue, people.rae, "UNMET", "UNMET", "UNMET")
    assert places(queue) == (2, 0, False)
