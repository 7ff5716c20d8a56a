"""What a rater may see of a dataset, told as a condition on rows: the same as item by item."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from rubricweb.models import (
    Comment,
    Item,
    QueueState,
    Review,
    ReviewQueue,
    ReviewState,
    Run,
    RunItem,
    SystemVersion,
    User,
)
from rubricweb.selectors.blinding import hidden_datasets, hidden_items, hidden_of, shown
from rubricweb.selectors.runs.results import result, run_items
from rubricweb.services.datasets.changes import corrections
from rubricweb.services.datasets.changes.corrections import Correction
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.remembered import remembered

# Four submissions that the datasets share, so that words are hidden across them, and once within one.
WORDS = ("Paris.", "Lyon.", "Nice.", "Paris.")


@pytest.fixture
def runs(people: Cast) -> list[Run]:
    """A graded run over each of three datasets of the same words."""
    return remembered(("same words", people.team.pk), lambda: make_runs(people))


def make_runs(people: Cast) -> list[Run]:
    version = factories.version(people.team, people.ed)
    return [
        grade(
            factories.run(
                people.team,
                people.ed,
                dataset=factories.dataset(
                    people.team,
                    people.ed,
                    name=name,
                    items=[{"id": f"{name}-{i}", "submission": words} for i, words in enumerate(WORDS)],
                ),
                rubric_version=version,
            ),
            InProcessJudge(lambda requirement, response: "MET"),
        )
        for name in ("first", "second", "third")
    ]


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(one, marks=pytest.mark.long) for one in range(4, 12))]
)
def test_the_condition_leaves_out_exactly_the_hidden_items(people: Cast, runs: list[Run], seed: int) -> None:
    chance = random.Random(seed)
    for number in range(chance.randint(1, 4)):
        run = chance.choice(runs[:2])
        queue = factories.queue(
            people.team,
            people.ed,
            dataset=run.dataset,
            rubric_version=run.rubric_version,
            raters=[people.ann, people.rae],
            raters_per_item=2,
            name=f"queue {number}",
            blind=chance.choice(("both", "judge", "peers", "both", "none")),
        )
        if chance.random() < 0.5:
            # Made of some of the dataset's items only.
            queue.queue_items.filter(position=chance.randrange(len(WORDS))).delete()
        for item, person in product(run.dataset.items.all(), (people.ann, people.rae)):
            if chance.random() < 0.5:
                reviewed(queue, item, person, chance.choice(list(ReviewState)))
        if chance.random() < 0.2:
            ReviewQueue.objects.filter(pk=queue.pk).update(state=QueueState.CLOSED)
    if chance.random() < 0.5:
        # Items from before their words were kept with them.
        Item.objects.filter(key__endswith=f"-{chance.randrange(4)}").update(content_hash="")
    for run, viewer in product(runs, (people.ann, people.rae, people.bob)):
        rows = RunItem.objects.filter(run=run)
        hidden = set(hidden_items(viewer, people.team).values_list("pk", flat=True))
        in_dataset = set(run.dataset.items.filter(pk__in=hidden).values_list("pk", flat=True))
        assert hidden_of(viewer, people.team, run.dataset_id) == in_dataset
        one_by_one = {item.pk for item in run.dataset.items.all() if is_hidden(viewer, item)}
        assert one_by_one == in_dataset
        assert (run.dataset_id in hidden_datasets(viewer, people.team)) == bool(in_dataset)
        seen = rows.filter(shown(viewer, people.team, run.dataset_id))
        expected = {item for item in rows.values_list("item_id", flat=True) if item not in hidden}
        assert sorted(seen.values_list("item_id", flat=True)) == sorted(expected)
        found = result(run, viewer=viewer)
        assert (found.graded, found.hidden) == (len(expected), len(WORDS) - len(expected))
        # Three criteria, every one met.
        assert found.totals.met == 3 * len(expected)
        assert {row.item_id for row in run_items(run, viewer=viewer).rows} == expected


def answered(name: str, versions: Sequence[str], cases: int, *, words: str = "") -> list[dict[str, Any]]:
    """Each case answered by each version; some datasets have the same words of the same version."""
    return [
        {
            "id": f"{name}-{case}-{version}",
            "case_id": f"c{case}",
            "system": f"assistant@{version}",
            "submission": f"{case} {version} {words if case % 2 else ''}",
        }
        for case in range(cases)
        for version in versions
    ]


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(one, marks=pytest.mark.long) for one in range(6, 30))]
)
def test_all_forms_of_the_rule_hide_the_same_answers_of_several_versions(people: Cast, seed: int) -> None:
    """Queues over some or all versions, limited or not, with copies in another dataset and corrections."""
    chance = random.Random(seed)
    version = factories.version(people.team, people.ed)
    datasets = [
        factories.dataset(people.team, people.ed, name=name, items=answered(name, versions, 3, words=words))
        for name, versions, words in (
            ("first", ("v3", "v4"), ""),
            ("second", ("v3", "v5"), "once more"),
            ("third", ("v3", "v4", "v5"), "once more"),
        )
    ]
    if chance.random() < 0.5:
        wrong = chance.choice(list(datasets[0].items.all()))
        corrections.correct_item(wrong, Correction(submission="Right."), by=people.ed)
    for number in range(chance.randint(1, 3)):
        dataset = chance.choice(datasets)
        known = list(SystemVersion.objects.filter(items__dataset=dataset).distinct().order_by("pk"))
        queue = factories.queue(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            raters=[people.ann, people.rae],
            raters_per_item=2,
            name=f"queue {number}",
            systems=chance.choice((known[:1], known[:2], [])),
        )
        if chance.random() < 0.5:
            queue.queue_items.filter(position__gt=chance.randrange(3)).delete()
        for asked, person in product(queue.queue_items.all(), (people.ann, people.rae)):
            if chance.random() < 0.4:
                reviewed(queue, asked.item, person, chance.choice(list(ReviewState)))
    for dataset, viewer in product(datasets, (people.ann, people.rae, people.bob)):
        hidden = set(hidden_items(viewer, people.team).values_list("pk", flat=True))
        in_dataset = set(dataset.items.filter(pk__in=hidden).values_list("pk", flat=True))
        assert hidden_of(viewer, people.team, dataset.pk) == in_dataset
        assert {item.pk for item in dataset.items.all() if is_hidden(viewer, item)} == in_dataset
        assert (dataset.pk in hidden_datasets(viewer, people.team)) == bool(in_dataset)
        # Any rows with an item: here those of the queues, and comments on every item.
        rows = Comment.objects.filter(item__dataset=dataset)
        if not rows.exists():
            Comment.objects.bulk_create(
                Comment(item=item, author=people.bob, text="x") for item in dataset.items.all()
            )
        seen = set(rows.filter(shown(viewer, people.team, dataset.pk)).values_list("item_id", flat=True))
        assert seen == set(dataset.items.values_list("pk", flat=True)) - in_dataset


def is_hidden(viewer: User, item: Item) -> bool:
    return hidden_items(viewer, item.dataset.team, item=item.pk).exists()


@contextmanager
def counted_steps() -> Iterator[list[int]]:
    """What SQLite has done for the queries inside, in thousands of its machine's steps."""
    thousands = [0]

    def one_more() -> int:
        thousands[0] += 1
        return 0

    connection.ensure_connection()
    connection.connection.set_progress_handler(one_more, 1000)
    yield thousands
    connection.connection.set_progress_handler(None, 0)


def test_equal_items_are_not_compared_each_with_each(people: Cast) -> None:
    """Four times as many copies are about four times as much to do, not sixteen."""
    version = factories.version(people.team, people.ed)
    took = []
    for copies in (500, 2000):
        rows = [{"id": f"i{number}", "submission": f"Paris, {copies}."} for number in range(copies)]
        dataset = factories.dataset(people.team, people.ed, name=f"{copies}", items=rows)
        queue = factories.queue(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            raters=[people.ann],
            name=f"queue of {copies}",
        )
        told = {"queue": queue, "rater": queue.raters.get(user=people.ann)}
        done = {"state": ReviewState.SUBMITTED, "submitted_at": timezone.now()}
        Review.objects.bulk_create(Review(item=item, **told, **done) for item in dataset.items.all())
        with counted_steps() if connection.vendor == "sqlite" else nullcontext([1]) as thousands:
            assert hidden_items(people.ann, people.team).count() == 0
        took.append(thousands[0])
        Review.objects.filter(pk=Review.objects.filter(queue=queue)[0].pk).delete()
        assert hidden_items(people.ann, people.team).count() == copies
        ReviewQueue.objects.filter(pk=queue.pk).update(state=QueueState.CLOSED)
    # The items of the first dataset are still the team's: 2,500 after 500 are five times as many.
    assert took[1] < 8 * took[0], took


def reviewed(queue: ReviewQueue, item: Item, person: object, state: ReviewState) -> None:
    Review.objects.create(
        queue=queue,
        item=item,
        rater=queue.raters.get(user=person),
        state=state,
        holds_place=state != ReviewState.SKIPPED,
        submitted_at=timezone.now() if state == ReviewState.SUBMITTED else None,
    )
