"""Runs over one half of a dataset."""

import json

import pytest

from rubricweb.errors import Invalid
from rubricweb.models import Dataset, Item, RubricVersion, Run, RunItem
from rubricweb.selectors.datasets.new_items import new_item_count
from rubricweb.services.datasets.halves import drawing
from rubricweb.services.runs import lifecycle
from rubricweb.services.runs.few_shot import FewShot
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import InProcessJudge, grade


def row(number: int) -> dict[str, str]:
    return {"id": f"i{number}", "prompt": f"Question {number}?", "submission": f"Answer {number}."}


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    criteria = [{"name": "only", "weight": 1, "requirement": "Is right."}]
    return factories.version(people.team, people.ed, criteria=criteria)


@pytest.fixture
def dataset(people: Cast, version: RubricVersion) -> Dataset:
    """Six labelled cases, three of them test."""
    dataset = factories.dataset(people.team, people.ed, items=[row(number) for number in range(6)])
    lines = [f"i{number},only,x,{'MET' if number % 2 else 'UNMET'},so" for number in range(6)]
    data = "\n".join(["item_id,criterion,rater,verdict,reason", *lines]).encode()
    factories.import_labels(dataset, version, by=people.ed, data=data, filename="labels.csv")
    drawing.split_cases(dataset, n_dev=3, by=people.ed)
    return dataset


def started(people: Cast, dataset: Dataset, version: RubricVersion, **options: object) -> Run:
    return factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, **options)


def graded(run: Run) -> set[str]:
    return set(RunItem.objects.filter(run=run).values_list("item__key", flat=True))


def test_a_run_over_the_test_half_grades_its_cases_with_examples_from_the_dev_half(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    run = started(people, dataset, version, half="test", few_shot_from=FewShot(dataset, n=5))
    assert run.half == "test"
    assert graded(run) == set(dataset.items.filter(case__half="test").values_list("key", flat=True))
    assert run.few_shot is not None
    shown = Item.objects.filter(pk__in=run.few_shot.item_ids)
    assert set(shown.values_list("case__half", flat=True)) == {"dev"}
    with pytest.raises(Invalid, match="a run over the test split alone"):
        started(people, dataset, version, half="dev", few_shot_from=FewShot(dataset))


def test_later_answers_taken_in_stay_within_the_half(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    """Of six later cases the extension marks three dev and three test: half of twelve are six."""
    run = grade(
        started(people, dataset, version, half="test"), InProcessJudge(lambda requirement, response: "MET")
    )
    data = "\n".join(json.dumps(row(number)) for number in range(6, 12)).encode()
    factories.add_items(dataset, by=people.ed, data=data, filename="more.jsonl")
    assert lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps()) == 0
    drawing.extend_split(dataset, by=people.ed)
    assert lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps()) == 3
    assert graded(run) == set(dataset.items.filter(case__half="test").values_list("key", flat=True))


def test_a_later_case_that_was_an_example_does_not_come_in(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    """Of four more cases two go to each half, of the two labelled ones one, of the two others one."""
    data = "\n".join(json.dumps(row(number)) for number in range(6, 10)).encode()
    factories.add_items(dataset, by=people.ed, data=data, filename="more.jsonl")
    labels = b"item_id,criterion,rater,verdict,reason\ni6,only,x,MET,so\ni7,only,x,MET,so\n"
    factories.import_labels(dataset, version, by=people.ed, data=labels, filename="more.csv")
    run = started(people, dataset, version, half="test", few_shot_from=FewShot(dataset, n=9))
    assert run.few_shot is not None
    shown = Item.objects.filter(pk__in=run.few_shot.item_ids)
    assert {"i6", "i7"} < set(shown.values_list("key", flat=True))
    drawing.extend_split(dataset, by=people.ed)
    assert shown.filter(case__half="test").count() == 1
    assert new_item_count(run) == lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps()) == 1
    assert not graded(run) & set(shown.values_list("key", flat=True))


def test_a_half_that_is_not_there_and_items_of_the_other_are_refused(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    dev = dataset.items.filter(case__half="dev")[0]
    with pytest.raises(Invalid, match=r"item_ids\[0\].*of its test split"):
        started(people, dataset, version, half="test", item_ids=[dev.pk])
    whole = factories.dataset(people.team, people.ed, name="whole", items=[row(0)])
    with pytest.raises(Invalid, match="split: found no test case in whole"):
        started(people, whole, version, half="test")
    with pytest.raises(Invalid, match="'train'; allowed: dev, test"):
        started(people, dataset, version, half="train")
    assert not Run.objects.exists()
