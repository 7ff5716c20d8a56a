"""A file with ground truth and raters' labels: people are compared, the settled labels are offered."""

import json

import pytest

from rubricweb.models import Dataset, ReviewQueue, Run
from rubricweb.selectors.adjudication import inbox
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.comparison.board.board import agreement_board
from rubricweb.selectors.labels import comparable, ground_truth
from rubricweb.selectors.labels.provenance import provenances
from rubricweb.services import adjudications
from rubricweb.services.datasets import splits
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
    return factories.import_dataset(
        people.team, by=people.ed, data=json.dumps(file).encode(), filename="both.json"
    )


def graded(people: Cast, dataset: Dataset) -> Run:
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=dataset.rubric_version)
    return grade(run, InProcessJudge(lambda requirement, response: "UNMET"))


def test_ground_truth_is_no_vote_beside_people_but_can_be_chosen(people: Cast, both: Dataset) -> None:
    run = graded(people, both)
    choice = comparable.select_comparison(people.team, run=run)
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
    [queue] = comparable.select_comparison(people.team).queues
    assert queue.name == f"Ground truth of {dataset.name}"


def test_ground_truth_that_was_exported_and_imported_again_is_no_vote_either(
    people: Cast, both: Dataset
) -> None:
    data = "item_id,criterion,rater,verdict\n0,only,ground_truth,MET\n"
    factories.import_labels(both, both.rubric_version, by=people.ed, data=data.encode(), filename="back.csv")
    chosen = comparable.select_comparison(people.team).queues
    assert [queue.name for queue in chosen] == ["Labels of both"]


def test_a_split_keeps_people_and_settled_labels_apart(people: Cast, both: Dataset) -> None:
    split = splits.split_dataset(both, n_dev=2, by=people.ed)
    run = graded(people, split.dev)
    choice = comparable.select_comparison(people.team, run=run)
    assert [queue.name for queue in choice.queues] == ["Labels of both (dev)"]
    assert {queue.name for queue in choice.offered} == {
        "Labels of both (dev)",
        "Ground truth of both (dev)",
    }
    # What was spread over the halves is what stands by default: four UNMET.
    assert {row["label"] for row in split.dev.split_report["labels"]} == {"UNMET"}


def picked(dataset: Dataset, *beginnings: str) -> list[ReviewQueue]:
    queues = list(comparable.labelled_queues(dataset.pk, team=dataset.team))
    return [queue for queue in queues if queue.name.startswith(beginnings)]


@pytest.mark.parametrize("rater_kind", ["settled", "machine"])
def test_settled_labels_and_machines_have_no_vote_in_a_queue_they_share_with_people(
    people: Cast, both: Dataset, rater_kind: str
) -> None:
    # ann MET, ben UNMET: a third vote of the file would break the tie.
    lines = ["item_id,criterion,rater,verdict,rater_kind,reason"]
    lines += ["0,only,ann,MET,,Yes.", "0,only,ben,UNMET,,No.", f"0,only,third,MET,{rater_kind},"]
    queue = factories.import_labels(
        both, both.rubric_version, by=people.ed, data="\n".join(lines).encode(), filename="mixed.csv"
    )
    run = graded(people, both)
    found = comparison.compare(run, [queue], viewer=people.bob)
    assert (found.raters, found.undecided, found.units) == (2, 1, 0)
    # ann is right by ben in none of the two seats, the judge, who says UNMET, by ben alone: ½.
    assert (found.ceiling.raters, found.ceiling.accuracy.value) == (2, 0.0)
    assert found.ceiling.judge is not None
    assert found.ceiling.judge.accuracy.value == 0.5
    assert [truth.labels for truth in ground_truth.ground_truth([queue]).values()] == [2]
    assert [len(one.labels) for one in provenances([queue]).values()] == [2]
    assert agreement_board(queue, people.bob).raters_total == 2
    where = inbox.scope(people.team, people.bob, [queue])
    [row] = inbox.shown(where, inbox.inbox(where))
    assert row.votes == (("MET", 1), ("UNMET", 1))


def test_picked_beside_people_settled_labels_change_no_figure(people: Cast, both: Dataset) -> None:
    run = graded(people, both)
    alone = comparison.compare(run, picked(both, "Labels"), viewer=people.bob)
    beside = comparison.compare(run, picked(both, "Labels", "Ground truth"), viewer=people.bob)
    assert len(beside.queues) == 2
    for name in ("overall", "raters", "units", "undecided", "human_alpha", "ceiling", "scores", "bias"):
        assert getattr(beside, name) == getattr(alone, name), name


def test_two_files_of_ground_truth_are_nobodys_agreement(people: Cast, both: Dataset) -> None:
    again = "item_id,criterion,rater,verdict\n0,only,ground_truth,MET\n1,only,ground_truth,MET\n"
    factories.import_labels(
        both, both.rubric_version, by=people.ed, data=again.encode(), filename="Ground truth again.csv"
    )
    queues = picked(both, "Ground truth")
    assert len(queues) == 2
    found = comparison.compare(graded(people, both), queues, viewer=people.bob)
    # They are what the judge is held against; there is no seat to hold anybody's place in.
    assert (found.raters, found.units, found.overall.accuracy.value) == (0, 4, 0.0)
    assert (found.ceiling.n, found.ceiling.raters, found.human_alpha.n) == (0, 0, 0)


def test_a_decision_is_made_from_peoples_labels_where_there_are_any(people: Cast, both: Dataset) -> None:
    item, criterion = both.items.get(key="0"), both.rubric_version.criteria.get()
    decision = adjudications.adjudicate(item, criterion, by=people.rae, verdict="UNMET", cause="item_broken")
    assert [(one["rater"], one["verdict"]) for one in decision.labels] == [("Ann", "UNMET"), ("ben", "UNMET")]
