"""A file with ground truth and raters' labels: people are compared, the settled labels are offered."""

import json

import pytest

from rubricweb.models import Dataset, Run
from rubricweb.selectors import comparable, comparison
from rubricweb.services import datasets, reviews, splits
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade


@pytest.fixture
def both(people: Cast) -> Dataset:
    """Two people say UNMET of everything, the file's ground truth MET."""
    file = {
        "name": "both",
        "rubric": [{"name": "only", "weight": 1, "requirement": "Is right."}],
        "items": [
            {
                "id": str(number),
                "submission": f"Text {number}",
                "ground_truth": ["MET"],
                "labels": {"ann": ["UNMET"], "ben": ["UNMET"]},
            }
            for number in range(4)
        ],
    }
    return datasets.import_dataset(
        people.team, by=people.ed, data=json.dumps(file).encode(), filename="both.json"
    )


def graded(people: Cast, dataset: Dataset) -> Run:
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=dataset.rubric_version)
    return grade(run, InProcessJudge(lambda requirement, response: "UNMET"))


def test_ground_truth_is_no_vote_beside_people_but_can_be_chosen(people: Cast, both: Dataset) -> None:
    run = graded(people, both)
    choice = comparable.choice(people.team, run=run)
    assert [queue.name for queue in choice.queues] == ["Labels of both"]
    assert {queue.name for queue in choice.offered} == {"Labels of both", "Ground truth of both"}
    found = comparison.compare(run, choice.queues, viewer=people.bob)
    assert (found.raters, found.overall.accuracy.value) == (2, 1.0)
    [settled] = [queue for queue in choice.offered if queue.name.startswith("Ground truth")]
    asked = comparable.queues_to_compare(run, [settled])
    # The judge says UNMET where the file settled on MET.
    assert comparison.compare(run, asked, viewer=people.bob).overall.accuracy.value == 0.0


def test_settled_labels_alone_are_the_reference(people: Cast) -> None:
    item = {
        "submission": "4",
        "rubric": [{"name": "only", "weight": 1, "requirement": "Is right."}],
        "ground_truth": ["MET"],
    }
    dataset = factories.dataset(people.team, people.ed, items=[item])
    [queue] = comparable.choice(people.team).queues
    assert queue.name == f"Ground truth of {dataset.name}"


def test_ground_truth_that_was_exported_and_imported_again_is_no_vote_either(
    people: Cast, both: Dataset
) -> None:
    data = "item_id,criterion,rater,verdict\n0,only,ground_truth,MET\n"
    reviews.import_labels(both, both.rubric_version, by=people.ed, data=data.encode(), filename="back.csv")
    chosen = comparable.choice(people.team).queues
    assert [queue.name for queue in chosen] == ["Labels of both"]


def test_a_split_keeps_people_and_settled_labels_apart(people: Cast, both: Dataset) -> None:
    split = splits.split_dataset(both, n_dev=2, by=people.ed)
    run = graded(people, split.dev)
    choice = comparable.choice(people.team, run=run)
    assert [queue.name for queue in choice.queues] == ["Labels of both (dev)"]
    assert {queue.name for queue in choice.offered} == {
        "Labels of both (dev)",
        "Ground truth of both (dev)",
    }
    # What was spread over the halves is what stands by default: four UNMET.
    assert {row["label"] for row in split.dev.split_report["labels"]} == {"UNMET"}
