"""A rater whose gold labels get worse is handed nothing more until somebody lets them go on."""

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Forbidden
from rubricweb.models import GoldPause, JournalEntry, Review, ReviewQueue
from rubricweb.services.reviews import calibration, queues, reviews
from rubricweb.services.reviews.leads import gold_pauses
from tests import factories
from tests.factories import Cast

ITEMS = [{"id": f"item-{n}", "submission": f"Answer {n}."} for n in range(8)]
NAMES = ("capital", "concise", "wrong_country")


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    """Eight gold items for ann, all known to be MET; 0.8 must be right over the last two."""
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    lines = [f"item-{n},{name},ground truth,MET," for n in range(8) for name in NAMES]
    data = "\n".join(["item_id,criterion,rater,verdict,reason", *lines]).encode()
    factories.import_labels(dataset, version, by=people.ed, data=data, filename="settled.csv")
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann, people.rae]
    )
    calibration.mark_gold(queue, by=people.ed, at_random=8)
    calibration.set_rules(
        queue,
        by=people.ed,
        calibration_items=0,
        pass_mark=None,
        extra_rater_below=None,
        gold_floor=0.8,
        gold_window=2,
    )
    return queue


def answer(queue: ReviewQueue, people: Cast, *labels: str) -> Review:
    review = queues.next_review(queue, people.ann, now=timezone.now())
    assert review is not None
    for criterion, label in zip(reviews.criteria_of(review).order_by("position"), labels, strict=True):
        reviews.save_verdict(review, criterion.pk, verdict=label)
    reviews.submit(review, now=timezone.now())
    return review


def test_too_few_right_over_the_last_gold_items_pauses(people: Cast, queue: ReviewQueue) -> None:
    answer(queue, people, "UNMET", "UNMET", "UNMET")  # one item is no window of two yet
    answer(queue, people, "MET", "MET", "MET")  # 3 of 6
    pause = GoldPause.objects.get()
    assert (pause.right, pause.total, pause.rater.user) == (3, 6, people.ann)
    with pytest.raises(Conflict, match="You are paused"):
        queues.next_review(queue, people.ann, now=timezone.now())
    assert JournalEntry.objects.filter(verb="paused a rater in", actor=None).count() == 1
    assert queues.next_review(queue, people.rae, now=timezone.now()) is not None


def test_who_is_let_on_begins_a_new_window(people: Cast, queue: ReviewQueue) -> None:
    answer(queue, people, "UNMET", "UNMET", "UNMET")
    answer(queue, people, "MET", "MET", "MET")
    rater = queue.raters.get(user=people.ann)
    with pytest.raises(Forbidden):
        gold_pauses.end(queue, rater, by=people.ann, now=timezone.now())
    gold_pauses.end(queue, rater, by=people.ed, now=timezone.now())
    answer(queue, people, "MET", "UNMET", "MET")  # the only one since
    assert not GoldPause.objects.filter(ended_at=None).exists()
    answer(queue, people, "MET", "MET", "MET")  # 5 of 6 is 0.83
    assert not GoldPause.objects.filter(ended_at=None).exists()
    answer(queue, people, "UNMET", "MET", "MET")  # 5 of 6 again
    answer(queue, people, "UNMET", "MET", "MET")  # 4 of 6
    assert GoldPause.objects.get(ended_at=None).right == 4
    with pytest.raises(Conflict):
        gold_pauses.end(queue, queue.raters.get(user=people.rae), by=people.ed, now=timezone.now())


def test_nobody_is_paused_unless_the_queue_says_so(people: Cast, queue: ReviewQueue) -> None:
    queue.gold_floor = None
    queue.save()
    for _ in range(3):
        answer(queue, people, "UNMET", "UNMET", "UNMET")
    assert not GoldPause.objects.exists()
