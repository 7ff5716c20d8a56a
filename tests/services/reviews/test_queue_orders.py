"""The order in which a queue hands its items out."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from django.utils import timezone

from rubricweb.models import QueueItem, Review, ReviewQueue, User
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast

COUNT = 70


@pytest.fixture
def make(people: Cast):
    """`make(order)` is a queue of 70 items, as many people each as may review."""
    version = factories.version(people.team, people.ed)
    items = [{"id": f"{number:02}", "submission": f"Paris, {number}."} for number in range(COUNT)]
    dataset = factories.dataset(people.team, people.ed, items=items)

    def queue(order: str) -> ReviewQueue:
        return factories.queue(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            raters=[people.ann, people.rae],
            raters_per_item=2,
            order=order,
        )

    return queue


def handed_out(queue: ReviewQueue, user: User) -> Iterator[str]:
    """The keys a person is handed one after the other, skipping each."""
    while (review := queues.next_review(queue, user, now=timezone.now())) is not None:
        yield review.item.key
        reviews.skip(review, reason="next")


def test_as_in_the_dataset(people: Cast, make) -> None:
    assert list(handed_out(make("dataset"), people.ann)) == [f"{number:02}" for number in range(COUNT)]


def test_shuffled_hands_everything_out_once_and_to_each_person_in_another_order(people: Cast, make) -> None:
    queue = make("shuffled")
    ann, rae = list(handed_out(queue, people.ann)), list(handed_out(queue, people.rae))
    assert sorted(ann) == sorted(rae) == [f"{number:02}" for number in range(COUNT)]
    assert ann != rae
    assert ann != sorted(ann)
    following = dict(pairwise(rae))
    # Nor does one person's item follow another's as it did there: of 69 pairs chance has one alike.
    assert sum(following.get(one) == other for one, other in pairwise(ann)) < 20


def test_the_most_informative_first_then_as_in_the_dataset(people: Cast, make) -> None:
    queue = make("informative")
    for key, priority in (("40", 4.5), ("50", 32.1), ("60", 4.5)):
        QueueItem.objects.filter(queue=queue, item__key=key).update(priority=priority)
    rest = [f"{number:02}" for number in range(COUNT) if number not in (40, 50, 60)]
    assert list(handed_out(queue, people.ann)) == ["50", "40", "60", *rest]


def test_an_item_picked_by_hand_moves_nobody_and_one_given_back_comes_at_the_end(people: Cast, make) -> None:
    queue = make("dataset")
    rae = handed_out(queue, people.rae)
    assert [next(rae) for _ in range(3)] == ["00", "01", "02"]
    last = queue.dataset.items.get(key="69")
    reviews.skip(queues.start_review(queue, last, people.rae), reason="looked")
    assert next(rae) == "03"
    first = QueueItem.objects.filter(queue=queue, item__key="10")
    first.update(room=0)
    handed = [next(rae) for _ in range(30)]
    assert "10" not in handed
    first.update(room=1)
    assert list(rae)[-1] == "10"
    assert Review.objects.filter(queue=queue).count() == COUNT
