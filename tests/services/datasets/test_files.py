"""The same file twice is one row; a changed file never overwrites what somebody works on."""

import json
from typing import Any

import pytest

from rubricweb.models import Dataset, RubricVersion
from rubricweb.services.datasets import files
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import CRITERIA, ITEMS, Cast


def rubric_file(criteria: list[dict[str, Any]] = CRITERIA, **more: Any) -> bytes:
    return json.dumps({"title": "Capitals", "criteria": criteria, **more}).encode()


def dataset_file(items: list[dict[str, Any]] = ITEMS, **more: Any) -> bytes:
    return json.dumps({"name": "answers", "items": items, **more}).encode()


@pytest.fixture
def store(people: Cast):
    def rubric(data: bytes, filename: str = "rubric.json") -> tuple[RubricVersion, bool]:
        return files.rubric_from_file(people.team, by=people.ed, data=data, filename=filename)

    def dataset(data: bytes, filename: str = "answers.json") -> tuple[Dataset, bool]:
        stored, is_new = files.dataset_from_file(people.team, by=people.ed, data=data, filename=filename)
        return stored.dataset, is_new

    return {"rubric": rubric, "dataset": dataset}


def test_same_rubric_again_is_the_same_version(store) -> None:
    first, is_new = store["rubric"](rubric_file())
    assert is_new
    assert store["rubric"](rubric_file()) == (first, False)


def test_untitled_rubric_is_found_again_by_its_filename(store) -> None:
    data = json.dumps(CRITERIA).encode()
    first, _ = store["rubric"](data, "capitals.json")
    assert first.title == "capitals"
    assert store["rubric"](data, "capitals.json") == (first, False)


def test_changed_rubric_is_the_next_version_of_it(store) -> None:
    first, _ = store["rubric"](rubric_file())
    second, is_new = store["rubric"](rubric_file(guidelines="Read twice."))
    assert is_new
    assert (second.rubric, second.number) == (first.rubric, 2)
    # Going back to the old file goes back to the old version.
    assert store["rubric"](rubric_file()) == (first, False)


def test_unpublished_work_is_left_alone(store) -> None:
    first, _ = store["rubric"](rubric_file())
    draft = {**first.rubric.draft, "guidelines": "Half a thou"}
    rubrics.save_draft(first.rubric, draft=draft, revision=first.rubric.draft_revision)
    beside, is_new = store["rubric"](rubric_file(guidelines="Read twice."))
    assert is_new
    assert beside.title == "Capitals (2)"
    first.rubric.refresh_from_db()
    assert first.rubric.draft["guidelines"] == "Half a thou"


def test_a_criterion_that_a_later_file_has_again_is_the_one_it_was(store) -> None:
    first, _ = store["rubric"](rubric_file())
    store["rubric"](rubric_file(CRITERIA[1:]))
    third, is_new = store["rubric"](rubric_file([*CRITERIA, {"weight": 1, "requirement": "Is short."}]))
    assert (is_new, third.number) == (True, 3)
    uids = list(first.criteria.values_list("uid", flat=True))
    assert list(third.criteria.values_list("uid", flat=True))[:-1] == uids


def test_same_dataset_again_is_the_same_dataset(store) -> None:
    first, is_new = store["dataset"](dataset_file(prompt="Which city?"))
    assert is_new
    assert store["dataset"](dataset_file(prompt="Which city?")) == (first, False)


LABELLED = [{**ITEMS[0], "ground_truth": ["MET", "MET", "UNMET"]}, *ITEMS[1:]]


@pytest.mark.parametrize(
    "changed",
    [
        dataset_file(prompt="Another question?"),
        dataset_file([{**ITEMS[0], "submission": "Lyon."}, *ITEMS[1:]]),
        dataset_file([{**ITEMS[0], "reference": "Paris"}, *ITEMS[1:]]),
        dataset_file([*ITEMS, {"id": "one more", "submission": "Lyon."}]),
        dataset_file([{**ITEMS[0], "case_id": "france"}, *ITEMS[1:]]),
        dataset_file([{**ITEMS[0], "system": "bot@v2"}, *ITEMS[1:]]),
        dataset_file([{**ITEMS[0], "case_tags": ["hard"]}, *ITEMS[1:]]),
        dataset_file([{**ITEMS[0], "metadata": {"turns": 2}}, *ITEMS[1:]]),
        dataset_file([{**ITEMS[0], "description": "The best"}, *ITEMS[1:]]),
        dataset_file(rubric={"criteria": CRITERIA}),
        dataset_file(LABELLED, rubric={"criteria": CRITERIA}),
    ],
    ids=[
        *("prompt", "submission", "reference", "more items"),
        *("case", "system", "tags", "metadata", "description", "rubric", "labels"),
    ],
)
def test_changed_dataset_is_stored_under_a_number(store, changed: bytes) -> None:
    store["dataset"](dataset_file())
    second, is_new = store["dataset"](changed)
    assert is_new
    assert second.name == "answers (2)"
    assert store["dataset"](changed) == (second, False)


def test_other_labels_on_the_same_items_are_another_dataset(store) -> None:
    first, _ = store["dataset"](dataset_file(LABELLED, rubric={"criteria": CRITERIA}))
    relabelled = [{**ITEMS[0], "ground_truth": ["UNMET", "MET", "UNMET"]}, *ITEMS[1:]]
    second, is_new = store["dataset"](dataset_file(relabelled, rubric={"criteria": CRITERIA}))
    assert is_new
    assert (first.name, second.name) == ("answers", "answers (2)")


def test_a_changed_rule_of_a_rubric_is_a_change(store) -> None:
    first, _ = store["rubric"](rubric_file())
    second, is_new = store["rubric"](rubric_file(pass_rule={"min_score": 0.5}))
    assert (is_new, second.number) == (True, 2)
    assert store["rubric"](rubric_file(pass_rule={"min_score": 0.5})) == (second, False)
    assert store["rubric"](rubric_file()) == (first, False)


def test_labels_of_raters_are_found_again_and_later_ones_do_not_hide_them(people: Cast, store) -> None:
    labels = {"x": ["MET", "UNMET", None], "y": ["MET", "MET", "UNMET"]}
    items = [dict(ITEMS[0], labels=labels), *ITEMS[1:]]
    data = dataset_file(items, rubric={"title": "Capitals", "criteria": CRITERIA})
    first, _ = store["dataset"](data)
    assert first.queues.get().name == "Labels of answers"
    more = b"item_id,criterion,rater,verdict\nbad,capital,z,MET\n"
    factories.import_labels(first, first.rubric_version, by=people.ed, data=more, filename="more.csv")
    assert store["dataset"](data) == (first, False)
    items[0]["labels"] = labels | {"x": ["UNMET", "UNMET", None]}
    other, is_new = store["dataset"](dataset_file(items, rubric={"title": "Capitals", "criteria": CRITERIA}))
    assert (is_new, other.name) == (True, "answers (2)")
