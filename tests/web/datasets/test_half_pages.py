"""Splitting a dataset on its pages by marking its cases, and lists of one half."""

import json
import re
from typing import Any

import pytest
from django.urls import reverse

from rubricweb.models import Dataset, ReviewQueue, Run
from rubricweb.services.datasets.halves import drawing
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


def at(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def text(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_a_dataset_is_split_and_the_split_extended(people: Cast, sign_in, dataset: Dataset) -> None:
    ed, page = sign_in(people.ed), at("dataset", people, dataset.pk)
    assert at("dataset_split", people, dataset.pk) in ed.get(page).content.decode()
    assert "Each of its 3 cases is marked" in text(ed.get(at("dataset_split", people, dataset.pk)))
    answer = ed.post(at("dataset_split", people, dataset.pk), {"n_dev": "1", "seed": "7"})
    assert answer["Location"] == page
    shown = text(ed.get(page))
    assert "1 dev case for examples, 2 test cases" in shown
    assert "Split 7 1 2" in shown
    assert "Extend the split" not in shown
    data = b'{"id": "later", "prompt": "And Spain?", "submission": "Madrid."}'
    factories.add_items(dataset, by=people.ed, data=data, filename="more.jsonl")
    assert "1 case that came after the split" in text(ed.get(page))
    extended = ed.post(at("dataset_split_extend", people, dataset.pk), follow=True)
    assert "0 more dev cases, 1 more test cases." in text(extended)
    assert "Extended 7 0 1" in text(extended)
    again = ed.post(at("dataset_split_extend", people, dataset.pk), follow=True)
    assert "without a split" in text(again)


@pytest.mark.parametrize("n_dev", ["0", "3", "many", ""])
def test_a_half_that_would_be_empty_is_refused_beside_its_field(
    people: Cast, sign_in, dataset: Dataset, n_dev: str
) -> None:
    sent = {"n_dev": n_dev, "seed": "0"}
    answer = sign_in(people.ed).post(at("dataset_split", people, dataset.pk), sent)
    assert answer.status_code == 422
    assert answer.context["form"].errors.keys() == {"n_dev"}
    assert not dataset.case_splits.exists()


def test_a_second_split_is_refused(people: Cast, sign_in, dataset: Dataset) -> None:
    ed, sent = sign_in(people.ed), {"n_dev": "1", "seed": "0"}
    ed.post(at("dataset_split", people, dataset.pk), sent)
    answer = ed.post(at("dataset_split", people, dataset.pk), sent)
    assert (answer.status_code, "split already" in text(answer)) == (422, True)
    asked = ed.get(at("dataset_split", people, dataset.pk))
    assert (asked.status_code, asked["Location"]) == (302, at("dataset", people, dataset.pk))


def test_lists_and_selections_are_narrowed_by_half(people: Cast, sign_in, dataset: Dataset) -> None:
    ed, page = sign_in(people.ed), at("dataset", people, dataset.pk)
    assert 'name="split"' not in ed.get(page).content.decode()
    ed.post(at("dataset_split", people, dataset.pk), {"n_dev": "1", "seed": "7"})
    test = set(dataset.items.filter(case__half="test").values_list("pk", flat=True))
    narrowed = ed.get(page, {"split": "test"})
    assert {row.pk for row in narrowed.context["page"].rows} == test
    assert 'name="split" value="test"' in narrowed.content.decode()
    assert ed.get(page, {"split": "train"}).status_code == 400
    sent = {"all": "1", "use": "run", "split": "test"}
    factories.version(people.team, people.ed)
    opened = ed.get(ed.post(at("dataset_selection", people, dataset.pk), sent)["Location"])
    assert "the 2 selected items" in text(opened)
    assert "test case" in text(ed.get(at("item", people, min(test))))


def test_a_run_over_one_half_is_started_shown_and_started_again(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    ed, version = sign_in(people.ed), factories.version(people.team, people.ed)
    address = at("run_new", people)
    assert 'name="split"' not in ed.get(address, {"dataset": dataset.pk}).content.decode()
    drawing.split_cases(dataset, n_dev=1, by=people.ed)
    assert 'name="split"' in ed.get(address, {"dataset": dataset.pk}).content.decode()
    sent = {"dataset": dataset.pk, "rubric_version": version.pk, "autograder": "per_criterion"}
    sent |= {"judge": "offline", "reply_format": "json", "use_cache": "on", "normalize": "on", "sent": "True"}
    answer = ed.post(address, sent | {"split": "test"})
    run = Run.objects.get()
    assert (answer["Location"], run.half) == (at("run", people, run.pk), "test")
    assert run.run_items.count() == 2
    assert "Split test cases" in text(ed.get(answer["Location"]))
    assert "· test cases" in text(ed.get(at("runs", people)))
    again = ed.get(address, {"again": run.pk}).content.decode()
    assert '<option value="test" selected>' in again
    assert ed.post(address, sent | {"split": "train"}).status_code == 422
    tried = ed.post(address, sent | {"split": "dev", "try": "3"})
    assert tried.status_code == 302
    assert Run.objects.latest("pk").run_items.get().item.case.half == "dev"


def test_a_queue_over_one_half_is_planned_opened_and_shown(people: Cast, sign_in, dataset: Dataset) -> None:
    ed, version = sign_in(people.ed), factories.version(people.team, people.ed)
    address = at("queue_new", people)
    part = {"HX-Request": "true", "HX-Target": "systems"}
    asked = {"dataset": dataset.pk}
    assert 'name="split"' not in ed.get(address, asked, headers=part).content.decode()
    drawing.split_cases(dataset, n_dev=1, by=people.ed)
    assert 'name="split"' in ed.get(address, asked, headers=part).content.decode()
    assert '<option value="test" selected>' in ed.get(address, asked | {"split": "test"}).content.decode()
    sent = {"name": "Test cases", "dataset": dataset.pk, "rubric_version": version.pk, "kind": "all"}
    sent |= {"everyone": "on", "raters_per_item": 1, "split": "test"}
    assert "Reviews 2" in text(ed.post(address, sent | {"action": "plan"}))
    assert ed.post(address, sent | {"split": "train"}).status_code == 422
    answer = ed.post(address, sent)
    queue = ReviewQueue.objects.get()
    assert (answer["Location"], queue.half) == (at("queue", people, queue.pk), "test")
    assert "Split test cases" in text(ed.get(answer["Location"]))
    assert "· test cases" in text(ed.get(at("queues", people)))
    assert "Split: test. Others are refused." in text(ed.get(at("queue_change", people, queue.pk)))


def test_a_run_over_a_half_takes_in_the_cases_it_gets_later_and_stays_no_try(people: Cast, sign_in) -> None:
    """2 dev cases of 4; of 8 later ones the extended split marks 4 dev too: half of 12 are 6."""
    rows = [{"id": f"i{number}", "submission": f"Answer {number}."} for number in range(12)]
    dataset = factories.dataset(people.team, people.ed, items=rows[:4])
    drawing.split_cases(dataset, n_dev=2, by=people.ed)
    factories.add_items(dataset, by=people.ed, data=json.dumps(rows[4:]).encode(), filename="more.json")
    judge = InProcessJudge(lambda requirement, response: "MET")
    version = factories.version(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, half="dev")
    run, ed, page = grade(run, judge), sign_in(people.ed), at("run", people, run.pk)
    assert "new item" not in text(ed.get(page))
    drawing.extend_split(dataset, by=people.ed)
    assert "Add 4 new items" in text(ed.get(page))
    [series] = ed.get(at("dashboard", people)).context["board"].series
    assert [(point.items, point.dataset_items) for point in series.points] == [(2, 2)]
    ed.post(at("run_extend", people, run.pk))
    run.refresh_from_db()
    grade(run, judge)
    assert "new item" not in text(ed.get(page))
    [series] = ed.get(at("dashboard", people)).context["board"].series
    assert [point.items for point in series.points] == [6]
    # Of a run that begins now those six are the whole.
    few = [row.item_id for row in run.run_items.all()[:2]]
    later = factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=version, half="dev", item_ids=few
    )
    grade(later, judge)
    [series] = ed.get(at("dashboard", people)).context["board"].series
    assert [(point.items, point.dataset_items) for point in series.tries] == [(2, 6)]
