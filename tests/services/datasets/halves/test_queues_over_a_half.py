"""Review queues over one half of a dataset: no answer to a case of the other ever comes in."""

import json
from typing import Any

import pytest

from rubricweb.errors import Invalid
from rubricweb.models import Dataset, ReviewQueue, RubricVersion
from rubricweb.selectors.reviews.queue_plans import growing_queues, queue_plan
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.reviews.queues import source_words
from rubricweb.services.datasets.halves import drawing
from rubricweb.services.reviews import queue_changes, queues
from tests import factories
from tests.factories import Cast


def row(number: int) -> dict[str, str]:
    return {"id": f"i{number}", "prompt": f"Question {number}?", "submission": f"Answer {number}."}


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    """Six cases, two of them dev."""
    dataset = factories.dataset(people.team, people.ed, items=[row(number) for number in range(6)])
    drawing.split_cases(dataset, n_dev=2, by=people.ed)
    return dataset


def opened(people: Cast, dataset: Dataset, version: RubricVersion, half: str, **more: Any) -> ReviewQueue:
    return factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann],
        half=half,
        **more,
    )


def keys(queue: ReviewQueue) -> set[str]:
    return set(queue.queue_items.values_list("item__key", flat=True))


def of(dataset: Dataset, half: str) -> dict[str, int]:
    return dict(dataset.items.filter(case__half=half).values_list("key", "pk"))


def test_a_queue_over_the_test_half_holds_its_cases_alone(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = opened(people, dataset, version, "test")
    assert len(keys(queue)) == 4
    assert keys(queue) == set(of(dataset, "test"))
    assert source_words(queue, people.ed) == [
        "All items of the dataset to test cases, including future ones."
    ]


def test_cases_that_came_later_come_in_when_the_split_is_extended(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    """Of three later cases the extension marks one dev: a third of nine are three."""
    queue, closed = (opened(people, dataset, version, "test", name=name) for name in ("open", "closed"))
    queues.close_queue(closed, by=people.ed)
    data = "\n".join(json.dumps(row(number)) for number in range(6, 9)).encode()
    factories.add_items(dataset, by=people.ed, data=data, filename="more.jsonl")
    assert len(keys(queue)) == 4
    drawing.extend_split(dataset, by=people.ed)
    assert len(keys(queue)) == 6
    assert keys(queue) == set(of(dataset, "test"))
    assert len(keys(closed)) == 4
    queue_changes.reopen_queue(closed, by=people.ed)
    assert keys(closed) == set(of(dataset, "test"))


@pytest.mark.parametrize(
    ("source", "items"),
    [(Source(kind="filter", search="Answer"), 2), (Source(kind="sample", size=2, seed=1), 2), (Source(), 2)],
)
def test_every_source_chooses_within_the_half(
    people: Cast, dataset: Dataset, version: RubricVersion, source: Source, items: int
) -> None:
    found = queue_plan(dataset, source, viewer=people.ed, rubric_version=version, half="dev")
    assert found.items == items
    with pytest.raises(Invalid, match="from 1 to 2 items, not 3"):
        queue_plan(dataset, Source(kind="sample", size=3, seed=1), viewer=people.ed, half="dev")


def test_answers_to_the_other_half_are_refused_by_their_number(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = opened(people, dataset, version, "test", source=Source(kind="filter", search="Answer"))
    pk = min(of(dataset, "dev").values())
    number = dataset.items.get(pk=pk).position + 1
    source = Source(kind="items", item_ids=(pk, *of(dataset, "test").values()))
    expected = f"Only answers to test cases belong here; of the dataset's items not {number}."
    with pytest.raises(Invalid) as refused:
        queue_changes.extend_queue(queue, by=people.ed, source=source)
    assert (str(refused.value), refused.value.faults[0].place) == (expected, "item_ids")
    [row] = growing_queues(dataset, source.item_ids, people.ed)
    assert (row.foreign, row.new) == (1, 1)


def test_a_half_that_is_not_there_and_a_run_over_the_other_are_refused(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    with pytest.raises(Invalid, match="'train'; allowed: dev, test"):
        opened(people, dataset, version, "train")
    whole = factories.dataset(people.team, people.ed, name="whole", items=[row(0)])
    with pytest.raises(Invalid, match="split: found no test case in whole"):
        opened(people, whole, version, "test")
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, half="dev")
    with pytest.raises(Invalid, match="must be over test cases, not over dev cases"):
        opened(people, dataset, version, "test", run=run)
    assert not ReviewQueue.objects.exists()
