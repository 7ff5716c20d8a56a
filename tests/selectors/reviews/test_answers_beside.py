"""Answers of several versions to one case in a blind queue: hidden together, whichever way it is asked."""

import random

import pytest
from django.utils import timezone

from rubricweb.models import Item, Review, ReviewQueue, ReviewState, RunItem, SystemVersion
from rubricweb.selectors.blinding import hidden_datasets, hidden_items, hidden_of, shown
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services.datasets.changes import corrections
from rubricweb.services.reviews import queues
from tests import factories
from tests.factories import Cast
from tests.worlds.systems import Versions, answer, versions


@pytest.fixture
def world(people: Cast) -> Versions:
    # A second attempt of v4 at c1, a copy of an answer in another case, and c2 in a dataset of its own.
    return versions(
        people,
        answer("v4", "c1", attempt=2, submission="v4 c1 again"),
        answer("v5", "c6", submission="other"),
    )


def opened(world: Versions, keys: list[str], name: str = "Blind") -> ReviewQueue:
    items = Item.objects.current().filter(dataset=world.dataset, key__in=keys)
    return world.queue(
        name=name, source=Source(kind="items", item_ids=tuple(items.values_list("pk", flat=True)))
    )


def submit(queue: ReviewQueue, key: str) -> None:
    submit_item(queue, Item.objects.get(dataset=queue.dataset, key=key))


def submit_item(queue: ReviewQueue, item: Item) -> None:
    rater = queue.raters.get()
    Review.objects.create(
        queue=queue, item=item, rater=rater, state=ReviewState.SUBMITTED, submitted_at=timezone.now()
    )


def hidden(world: Versions) -> set[str]:
    """The keys of the hidden items, after all ways to ask have said the same."""
    viewer, team, dataset = world.people.ann, world.people.team, world.dataset
    found = set(hidden_items(viewer, team).values_list("pk", flat=True))
    assert hidden_of(viewer, team, dataset.pk) == found
    one_by_one = {pk for pk in everything(world) if hidden_items(viewer, team, item=pk).exists()}
    assert one_by_one == found
    run = world.planned("v3", systems=[], item_ids=[item.pk for item in world.answers("v3")])
    RunItem.objects.bulk_create(
        RunItem(run=run, item_id=pk, rubric_version=world.rubric_version)
        for pk in everything(world)
        if not run.run_items.filter(item=pk).exists()
    )
    seen = RunItem.objects.filter(shown(viewer, team, dataset.pk), run=run).values_list("item_id", flat=True)
    assert set(everything(world)) - set(seen) == found
    assert (dataset.pk in hidden_datasets(viewer, team)) == bool(found)
    return set(Item.objects.filter(pk__in=found).values_list("key", flat=True))


def everything(world: Versions) -> list[int]:
    return list(world.dataset.items.values_list("pk", flat=True))


def test_a_submitted_answer_stays_hidden_while_another_to_its_case_waits(world: Versions) -> None:
    queue = opened(world, ["c1@assistant@v3", "c1@assistant@v4", "c2@assistant@v3"])
    submit(queue, "c1@assistant@v3")
    first = {"c1@assistant@v3", "c1@assistant@v4", "c1@assistant@v4#2"}
    assert hidden(world) == {*first, "c2@assistant@v3", "c2@assistant@v4"}
    # The second attempt is not asked about: nothing waits of c1 any more.
    submit(queue, "c1@assistant@v4")
    assert hidden(world) == {"c2@assistant@v3", "c2@assistant@v4"}


def test_answers_outside_a_queue_of_one_version_are_not_hidden(world: Versions) -> None:
    opened(world, ["c1@assistant@v3", "c2@assistant@v3"])
    assert hidden(world) == {"c1@assistant@v3", "c2@assistant@v3"}


def test_answers_of_versions_a_queue_is_not_limited_to_are_not_hidden(world: Versions) -> None:
    limited = [SystemVersion.objects.get(label=label) for label in ("v3", "v5")]
    items = world.dataset.items.filter(key__in=["c1@assistant@v3", "c6@assistant@v5"])
    source = Source(kind="items", item_ids=tuple(items.values_list("pk", flat=True)))
    world.queue(name="Limited", systems=limited, source=source)
    # v4 answered c1 and c6 as well.
    assert hidden(world) == {"c1@assistant@v3", "c6@assistant@v5"}


def test_an_answer_beside_the_same_words_in_another_dataset_is_hidden(world: Versions) -> None:
    """A copy of v3's answer stands beside one of v9, which the queue may ask about."""
    rows = [answer("v3", "c1"), answer("v9", "c1")]
    copies = factories.dataset(world.people.team, world.people.ed, name="copies", items=rows)
    opened(world, ["c1@assistant@v3", "c2@assistant@v4"])
    viewer, team = world.people.ann, world.people.team
    assert hidden_of(viewer, team, copies.pk) == set(copies.items.values_list("pk", flat=True))
    assert copies.pk in hidden_datasets(viewer, team)
    for item in copies.items.all():
        assert hidden_items(viewer, team, item=item.pk).exists()


def test_attempts_of_one_version_alone_do_not_hide_each_other(world: Versions) -> None:
    queue = opened(world, ["c1@assistant@v4", "c1@assistant@v4#2"])
    submit(queue, "c1@assistant@v4")
    assert hidden(world) == {"c1@assistant@v4#2"}


def test_a_closed_queue_hides_nothing(world: Versions) -> None:
    queue = opened(world, ["c1@assistant@v3", "c1@assistant@v4"])
    submit(queue, "c1@assistant@v3")
    queues.close_queue(queue, by=world.people.ed)
    assert hidden(world) == set()


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(one, marks=pytest.mark.long) for one in range(3, 8))]
)
def test_every_way_to_ask_says_the_same(world: Versions, seed: int) -> None:
    chance = random.Random(seed)
    keys = list(world.dataset.items.order_by("position").values_list("key", flat=True))
    for number in range(2):
        asked = chance.sample(keys, 7)
        queue = opened(world, asked, name=f"Blind {number}")
        for key in chance.sample(asked, 4):
            submit(queue, key)
    hidden(world)


def test_wrong_words_of_another_answer_to_the_case_are_hidden_too(world: Versions) -> None:
    """Those of v4 were corrected, and v3 waits beside the right ones."""
    wrong = Item.objects.get(dataset=world.dataset, key="c2@assistant@v4")
    corrections.correct_item(wrong, corrections.Correction(submission="right"), by=world.people.ed)
    right = Item.objects.get(replaces=wrong)
    submit_item(opened(world, ["c2@assistant@v3", right.key]), right)
    assert hidden(world) == {"c2@assistant@v3", right.key}
    for pk in (wrong.pk, right.pk):
        assert hidden_items(world.people.ann, world.people.team, item=pk).exists()
