"""A file becomes a whole dataset or nothing at all."""

import json

import pytest

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Dataset, Judgement, ReviewQueue, RubricVersion
from rubricweb.selectors.datasets.items import matching
from rubricweb.services.datasets import answers
from tests import factories
from tests.factories import Cast


def imported(people: Cast, content: object, filename: str = "data.json") -> Dataset:
    return factories.import_dataset(
        people.team, by=people.ed, data=json.dumps(content).encode(), filename=filename
    )


def test_items_keep_their_order_prompt_and_metadata(people: Cast) -> None:
    chat = [{"role": "user", "content": "Hi"}]
    rows = [
        {"id": "b", "prompt": chat, "submission": "Hello.", "model": "m1"},
        {"id": "a", "input": "Bye", "output": "Goodbye.", "metadata": {"k": 1}, "reference": "Farewell."},
    ]
    dataset = imported(people, rows)
    first, second = dataset.items.all()
    assert [first.key, second.key] == ["b", "a"]
    assert (first.prompt, first.metadata) == (chat, {"model": "m1"})
    assert (second.prompt, second.reference, second.metadata) == ("Bye", "Farewell.", {"k": 1})


def test_an_autorubric_dataset_brings_rubric_and_ground_truth(people: Cast) -> None:
    dataset = imported(
        people,
        {
            "name": "photosynthesis",
            "prompt": "Explain photosynthesis",
            "rubric": [
                {"name": "accuracy", "weight": 10.0, "requirement": "Factually correct"},
                {"name": "clarity", "weight": 5.0, "requirement": "Clear"},
            ],
            "items": [
                {"submission": "Plants eat light.", "description": "Good", "ground_truth": ["MET", "UNMET"]},
                {"submission": "Magic.", "description": "Bad"},
            ],
        },
    )
    assert dataset.name == "photosynthesis"
    assert dataset.rubric_version is not None
    assert dataset.rubric_version.number == 1
    queue = ReviewQueue.objects.get(dataset=dataset)
    assert (queue.name, queue.imported) == ("Ground truth of photosynthesis", True)
    assert list(
        Judgement.objects.filter(review__queue=queue)
        .order_by("criterion__position")
        .values_list("criterion__name", "verdict", "review__rater__name")
    ) == [("accuracy", "MET", "ground truth"), ("clarity", "UNMET", "ground truth")]
    assert dataset.items.get(description="Bad").to_engine().query == "Explain photosynthesis"


def test_items_with_the_same_rubric_share_one_frozen_version(people: Cast) -> None:
    own = [{"weight": 1, "requirement": "Names Paris."}]
    rows = [{"id": str(n), "submission": "Paris.", "rubric": own} for n in range(3)]
    rows.append(
        {"id": "other", "submission": "Rome.", "rubric": [{"weight": 1, "requirement": "Names Rome."}]}
    )
    dataset = imported(people, rows)
    assert RubricVersion.objects.filter(items__dataset=dataset).distinct().count() == 2


def test_every_fault_is_named_and_nothing_is_imported(people: Cast) -> None:
    rows = [
        {"id": "x", "submission": "One."},
        {"id": "x", "submission": "Two."},
        {"id": "y", "submission": "Three.", "rubric": [{"weight": float("nan"), "requirement": "r"}]},
    ]
    with pytest.raises(Invalid) as refusal:
        imported(people, rows)
    places = " ".join(fault.place for fault in refusal.value.faults)
    assert "items[1]" in places
    assert "items[2].rubric[0].weight" in places
    assert not Dataset.objects.exists()


def test_labels_without_a_rubric_are_one_fault_and_nothing_is_imported(people: Cast) -> None:
    said = {"ann": ["MET", "UNMET"]}
    rows = [
        {"id": "none", "submission": "One.", "ground_truth": [None]},
        {"id": "settled", "submission": "Two.", "ground_truth": ["MET", "UNMET"]},
        {"id": "rated", "submission": "Three.", "labels": said},
    ]
    with pytest.raises(Invalid) as refusal:
        imported(people, rows)
    [fault] = refusal.value.faults
    assert fault.place == "items[1].ground_truth"
    assert fault.found == "labels of 2 items, and no rubric that names their criteria"
    # The same of a file that is read part by part, into a dataset, and of answers to a case with a rubric.
    found = factories.imported(people.team, people.ed, b"id,answer,ground_truth\nq1,4,MET|UNMET\n", "a.csv")
    assert (found.state, found.faults[0][0]) == ("refused", "items[0].ground_truth")
    assert not Dataset.objects.exists()
    own = {"case_id": "c", "submission": "Paris.", "rubric": [{"weight": 1, "requirement": "Names Paris."}]}
    dataset = imported(people, [own])
    answer = json.dumps({"case_id": "c", "submission": "Rome.", "labels": {"ann": ["UNMET"]}}).encode()
    with pytest.raises(Invalid) as refusal:
        answers.add_answers(dataset, by=people.ed, data=answer, filename="a.jsonl", system="bot@v2")
    assert refusal.value.faults[0].place == "items[0].labels"


@pytest.mark.parametrize("content", [{"prompt": "p", "rubric": None, "items": []}, {"rubric": None}, []])
def test_a_file_without_items_is_not_imported(people: Cast, content: object) -> None:
    with pytest.raises(Invalid):
        imported(people, content)
    assert not Dataset.objects.exists()


def test_a_name_is_taken_once_per_team(people: Cast) -> None:
    factories.dataset(people.team, people.ed, name="answers")
    with pytest.raises(Conflict, match="already has a dataset called 'answers'"):
        factories.dataset(people.team, people.ed, name="answers")
    factories.dataset(people.other_team, people.charlie, name="answers")


def test_metadata_under_a_key_of_digits_are_found_by_it(people: Cast) -> None:
    rows = [{"id": f"i{year}", "submission": "Text.", "metadata": {"2024": year}} for year in (1, 2)]
    dataset = factories.dataset(people.team, people.ed, items=rows)
    found = matching(dataset.items.all(), metadata="2024=2")
    assert [item.key for item in found] == ["i2"]
    assert not matching(dataset.items.all(), metadata="9999999999999999999=2").exists()
