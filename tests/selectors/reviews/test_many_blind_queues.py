"""Many open blind queues of one person hide what each of them hides, in no longer a question."""

import random

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from rubricweb.models import Blind, Dataset, Item, QueueState, Review, ReviewQueue, ReviewState, Run, RunItem
from rubricweb.selectors.blinding import hidden_datasets, hidden_items, hidden_of, shown
from rubricweb.services.datasets.changes import corrections
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.systems import Versions, versions

QUEUES = 9


@pytest.fixture
def world(people: Cast) -> Versions:
    """Answers of two versions, one corrected; beside them two datasets of some of the same words."""
    world = versions(people)
    answers = Item.objects.filter(dataset=world.dataset)
    corrections.correct_item(
        answers.get(key="c2@assistant@v4"), corrections.Correction(submission="right"), by=people.ed
    )
    words = ("v3 c1", "v4 c3", "right", "alone", "alone", "wrong")
    for name in ("asked", "copied"):
        rows = [{"id": f"{name}-{at}", "submission": text} for at, text in enumerate(words)]
        factories.dataset(people.team, people.ed, name=name, items=rows)
    corrections.correct_item(
        Item.objects.get(key="asked-5"), corrections.Correction(submission="mended"), by=people.ed
    )
    return world


@pytest.mark.parametrize("seed", [0, 1, pytest.param(2, marks=pytest.mark.long)])
def test_many_queues_hide_what_each_hides_by_itself(world: Versions, seed: int) -> None:
    chance = random.Random(seed)
    asked = [world.dataset, Dataset.objects.get(name="asked")]
    queues = [queue_of_some_kind(world, chance, asked[at % 2], f"queue {at}") for at in range(QUEUES)]
    blind = [queue for queue in queues if queue.blind != Blind.NONE]
    every = ReviewQueue.objects.filter(pk__in=[queue.pk for queue in queues])
    run = over_everything(world)
    alone: set[int] = set()
    for queue in blind:
        every.update(state=QueueState.CLOSED)
        every.filter(pk=queue.pk).update(state=QueueState.OPEN)
        alone |= hidden(world, run)
    every.update(state=QueueState.OPEN)
    assert hidden(world, run) == alone
    assert 0 < len(alone) < Item.objects.count()


def queue_of_some_kind(world: Versions, chance: random.Random, dataset: Dataset, name: str) -> ReviewQueue:
    """Over some of the items, as blind as may be, with one kept for somebody else, one withdrawn, and some
    submitted.
    """
    people = world.people
    queue = world.queue(name=name, dataset=dataset, raters=[people.ann, people.rae])
    queue.blind = chance.choice([Blind.BOTH, Blind.JUDGE, Blind.PEERS, Blind.SELF, Blind.NONE])
    queue.save()
    asked = list(queue.queue_items.all())
    chance.shuffle(asked)
    outside, kept, withdrawn, *others = asked
    outside.delete()
    queue.queue_items.filter(pk=kept.pk).update(rater=queue.raters.get(user=people.rae))
    queue.queue_items.filter(pk=withdrawn.pk).update(withdrawn=True, room=0)
    for row in chance.sample(others, chance.choice([0, 1, len(others) - 1, len(others)])):
        Review.objects.create(
            queue=queue,
            item=row.item,
            rater=queue.raters.get(user=people.ann),
            state=ReviewState.SUBMITTED,
            submitted_at=timezone.now(),
        )
    return queue


def over_everything(world: Versions) -> Run:
    """A run with a row for every item there is, so that conditions on rows can be asked about each."""
    run = world.planned("v3", systems=[], item_ids=[item.pk for item in world.answers("v3")])
    RunItem.objects.bulk_create(
        RunItem(run=run, item=item, rubric_version=world.rubric_version)
        for item in Item.objects.exclude(run_items__run=run)
    )
    return run


def hidden(world: Versions, run: Run) -> set[int]:
    """The hidden items, after all ways to ask have said the same."""
    viewer, team = world.people.ann, world.people.team
    found = set(hidden_items(viewer, team).values_list("pk", flat=True))
    assert {pk for pk in ids(Item.objects.all()) if hidden_items(viewer, team, item=pk).exists()} == found
    for dataset in Dataset.objects.filter(team=team):
        items = ids(dataset.items.all())
        assert hidden_of(viewer, team, dataset.pk) == items & found
        rows = RunItem.objects.filter(shown(viewer, team, dataset.pk), run=run, item__dataset=dataset)
        assert set(rows.values_list("item_id", flat=True)) == items - found
        assert (dataset.pk in hidden_datasets(viewer, team)) == bool(items & found)
    return found


def ids(items: QuerySet[Item]) -> set[int]:
    return set(items.values_list("pk", flat=True))


def test_a_runs_page_asks_the_same_with_many_queues_as_with_few(people: Cast, client: Client) -> None:
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    client.force_login(people.ann)
    asked = []
    for number in range(6):
        queue = factories.queue(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            raters=[people.ann],
            name=f"queue {number}",
        )
        Review.objects.create(
            queue=queue,
            item=dataset.items.all()[0],
            rater=queue.raters.get(),
            state=ReviewState.SUBMITTED,
            submitted_at=timezone.now(),
        )
        with CaptureQueriesContext(connection) as captured:
            assert client.get(f"/t/{people.team.slug}/runs/{run.pk}/").status_code == 200
        figures = [
            query["sql"].count("EXISTS") for query in captured.captured_queries if "_runitem" in query["sql"]
        ]
        asked.append((len(captured), max(figures)))
    # The first request reads the session's person too.
    assert len(set(asked[1:])) == 1, asked
