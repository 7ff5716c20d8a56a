"""Queues over the answers of some system versions: nothing of another version ever comes in."""

import json
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Item, ReviewQueue, SystemVersion
from rubricweb.selectors.datasets.systems import queue_systems
from rubricweb.selectors.reviews.queue_plans import growing_queues, queue_plan
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.reviews.queues import source_words
from rubricweb.services.reviews import queue_changes, queues, reviews
from rubricweb.services.shared import archiving
from tests import factories
from tests.factories import Cast
from tests.worlds.systems import Versions, answer, versions


@pytest.fixture
def world(people: Cast) -> Versions:
    return versions(people)


def version(label: str) -> SystemVersion:
    return SystemVersion.objects.get(system__name="assistant", label=label)


def opened(world: Versions, *labels: str, **more: Any) -> ReviewQueue:
    more.setdefault("raters", [world.people.ann])
    return world.queue(systems=[version(label) for label in labels], **more)


def keys(queue: ReviewQueue) -> list[str]:
    return list(queue.queue_items.order_by("position").values_list("item__key", flat=True))


def item_ids(world: Versions, *keys: str) -> tuple[int, ...]:
    return tuple(Item.objects.filter(dataset=world.dataset, key__in=keys).values_list("pk", flat=True))


def more_items(world: Versions, *rows: dict[str, Any]) -> None:
    data = "\n".join(map(json.dumps, rows)).encode()
    factories.add_items(world.dataset, by=world.people.ed, data=data, filename="more.jsonl")


def test_a_queue_over_a_version_holds_its_answers_alone(world: Versions) -> None:
    queue = opened(world, "v4")
    assert keys(queue) == [f"{case}@assistant@v4" for case in ("c1", "c2", "c3", "c4", "c6")]
    assert source_words(queue, world.people.ed) == [
        "All answers of the chosen system versions, including future ones."
    ]


def test_a_queue_that_names_no_version_takes_whatever_the_dataset_has(world: Versions) -> None:
    queue = opened(world)
    more_items(world, answer("v5", "c1"))
    assert len(keys(queue)) == 11


def test_later_answers_reach_only_queues_that_asked_for_their_version(world: Versions) -> None:
    both, new = opened(world, "v3", "v4"), opened(world, "v4", name="New")
    more_items(world, answer("v4", "c5"), answer("v3", "c6"), answer("v5", "c1"))
    assert (len(keys(both)), len(keys(new))) == (12, 6)
    assert keys(new)[-1] == "c5@assistant@v4"


def test_a_reopened_queue_takes_in_what_came_meanwhile_of_its_versions(world: Versions) -> None:
    queue = opened(world, "v4")
    queues.close_queue(queue, by=world.people.ed)
    more_items(world, answer("v4", "c5"), answer("v5", "c1"))
    queue_changes.reopen_queue(queue, by=world.people.ed)
    assert keys(queue)[5:] == ["c5@assistant@v4"]


def test_a_queue_over_answers_of_an_archived_system_is_not_reopened(world: Versions) -> None:
    queue, system = opened(world, "v4"), version("v4").system
    queues.close_queue(queue, by=world.people.ed)
    archiving.archive(system, by=world.people.ed, now=timezone.now())
    with pytest.raises(Conflict, match="The system assistant is archived: restore it first"):
        queue_changes.reopen_queue(queue, by=world.people.ed)
    archiving.restore(system, by=world.people.ed)
    assert queue_changes.reopen_queue(queue, by=world.people.ed)


@pytest.mark.parametrize(
    ("source", "items"),
    [
        (Source(kind="filter", search="c1"), 1),
        (Source(kind="sample", size=5, seed=1), 5),
        (Source(), 5),
    ],
)
def test_every_source_chooses_from_these_answers(world: Versions, source: Source, items: int) -> None:
    rubric, ed = world.rubric_version, world.people.ed
    planned = queue_plan(world.dataset, source, viewer=ed, rubric_version=rubric, systems=[version("v3")])
    assert planned.items == items


def test_a_sample_larger_than_the_answers_of_the_version_is_refused(world: Versions) -> None:
    with pytest.raises(Invalid, match="from 1 to 5 items, not 6"):
        opened(world, "v4", source=Source(kind="sample", size=6, seed=1))


def test_an_answer_of_another_version_is_refused_by_name(world: Versions) -> None:
    chosen = item_ids(world, "c1@assistant@v3", "c1@assistant@v4")
    with pytest.raises(Invalid) as refused:
        opened(world, "v4", source=Source(kind="items", item_ids=chosen))
    assert "Only answers of assistant@v4 belong here; c1@assistant@v3 is of assistant@v3." in str(
        refused.value
    )
    assert refused.value.faults[0].place == "item_ids"
    assert not ReviewQueue.objects.exists()


def test_extending_refuses_other_versions_and_adds_the_own(world: Versions) -> None:
    queue = opened(world, "v4", source=Source(kind="filter", search="c1"))
    foreign = Source(kind="items", item_ids=item_ids(world, "c2@assistant@v3"))
    with pytest.raises(Invalid, match="c2@assistant@v3 is of assistant@v3"):
        queue_changes.extend_queue(queue, by=world.people.ed, source=foreign)
    assert queue_changes.extend_queue(queue, by=world.people.ed, source=Source()) == 4


def test_selected_answers_of_other_versions_are_counted(world: Versions) -> None:
    old, every = opened(world, "v3"), opened(world, name="All")
    chosen = item_ids(world, "c1@assistant@v3", "c1@assistant@v4", "c2@assistant@v4")
    found = {row.queue: row for row in growing_queues(world.dataset, chosen, world.people.ed)}
    assert (found[old].new, found[old].foreign) == (2, 2)
    assert (found[every].new, found[every].foreign) == (0, 0)


def test_a_run_over_another_version_cannot_be_revealed(world: Versions) -> None:
    run = world.planned("v3")
    with pytest.raises(Invalid, match="over answers of assistant@v4, not of assistant@v3"):
        opened(world, "v4", run=run)
    assert opened(world, "v3", run=run).run == run


def test_a_blind_rater_is_not_told_the_versions_before_the_last_item(world: Versions) -> None:
    queue = opened(world, "v4", "v3", source=Source(kind="filter", search="c5"))
    people = world.people

    def told(viewer: Any) -> list[str] | None:
        return queue_systems([queue], viewer=viewer, team=people.team)[queue.pk]

    assert (told(people.ann), told(people.ed)) == (None, ["assistant@v3", "assistant@v4"])
    review = queues.next_review(queue, people.ann, now=timezone.now())
    assert review is not None
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict="MET")
    reviews.submit(review, now=timezone.now())
    assert told(people.ann) == ["assistant@v3", "assistant@v4"]


def test_a_blind_editor_learns_nothing_from_what_is_refused(world: Versions) -> None:
    """Whether an item may come into a queue of v4 would tell who answered."""
    other = opened(world, "v4", source=Source(kind="filter", search="c1"))
    opened(world, name="Blind", raters=[world.people.ed])
    for key in ("c2@assistant@v3", "c2@assistant@v4"):
        with pytest.raises(Withheld, match="whose answers they are is not told"):
            queue_changes.extend_queue(
                other, by=world.people.ed, source=Source(kind="items", item_ids=item_ids(world, key))
            )
    [row] = [
        one
        for one in growing_queues(world.dataset, item_ids(world, "c2@assistant@v3"), world.people.ed)
        if one.queue == other
    ]
    assert row.foreign is None


def test_an_editor_blind_to_one_version_goes_on_with_another(world: Versions) -> None:
    """ed reviews what v3 answered, and knows it: a queue over one version hides no names."""
    other = opened(world, "v4", source=Source(kind="filter", search="c1"))
    opened(world, "v3", name="Blind", raters=[world.people.ed])
    chosen = item_ids(world, "c2@assistant@v4")
    rows = growing_queues(world.dataset, chosen, world.people.ed)
    assert [one.foreign for one in rows if one.queue == other] == [0]
    queue_changes.extend_queue(other, by=world.people.ed, source=Source(kind="items", item_ids=chosen))
    assert set(other.queue_items.values_list("item_id", flat=True)) >= set(chosen)
