"""The agreement board through the API: the same figures, and withheld the same."""

import pytest

from rubricweb.models import Dataset, ReviewQueue, RubricVersion
from tests import factories
from tests.factories import Cast
from tests.worlds import agreeing
from tests.worlds.sampled import label


@pytest.fixture
def labelled(people: Cast) -> ReviewQueue:
    return agreeing.imported(people)


def test_the_figures_are_those_worked_out_by_hand(people: Cast, as_member, labelled: ReviewQueue) -> None:
    board = as_member(people.rae).get(f"/queues/{labelled.pk}/agreement")
    overall = board["overall"]
    assert overall["alpha"]["value"] == pytest.approx(0.3889, abs=5e-5)
    assert overall["alpha"]["n"] == 4
    assert overall["alpha"]["low"] < 0.3889 <= overall["alpha"]["high"]
    assert overall["kappa"]["value"] == pytest.approx(0.4)
    assert overall["ceiling"]["accuracy"]["value"] == pytest.approx(2 / 3)
    assert (overall["criterion"], overall["items"], overall["raters"]) == (None, 4, 3)
    [only] = board["criteria"]
    assert (only["criterion"]["name"], only["alpha"]) == ("only", overall["alpha"])
    assert only["seconds"] == {
        "value": None,
        "low": None,
        "high": None,
        "n": 0,
        "small": False,
        "reason": "nothing to measure",
    }
    assert [row["rater"]["name"] for row in board["matrix"]] == list(agreeing.RATERS)
    assert [[cell["n"] for cell in row["cells"]] for row in board["matrix"]] == [[4] * 3] * 3
    assert board["matrix"][0]["cells"][0]["kappa"] is None
    assert [(row["key"], row["n"]) for row in board["hardest"]] == [("b", 1), ("d", 1)]
    assert [row["leniency"]["value"] for row in board["raters"]] == [0.375, 0.0, -0.375]
    assert (board["mine"], board["weeks"], board["too_few_below"]) == (None, [], 10)


def test_an_empty_board_says_why_and_what_to_do(people: Cast, as_member) -> None:
    version = factories.version(people.team, people.ed, criteria=agreeing.CRITERIA)
    dataset = factories.dataset(people.team, people.ed, items=agreeing.ITEMS)
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    client = as_member(people.bob)
    unavailable = client.get(f"/queues/{queue.pk}/agreement")["unavailable"]
    assert (unavailable["code"], unavailable["queue_id"]) == ("no_reviews", queue.pk)
    label(queue, people.ann, 1, lambda item, name: "MET")
    unavailable = client.get(f"/queues/{queue.pk}/agreement")["unavailable"]
    # One person per item: nobody will ever agree or differ.
    assert (unavailable["code"], unavailable["next_step"]) == (
        "no_second_labels",
        "Ask for two people per item.",
    )
    refusal = client.refused(
        422, "GET", "/exports", query={"what": "ground_truth", "format": "csv", "dataset": other(people).pk}
    )
    assert "Nobody has submitted labels of other yet" in refusal["detail"]
    assert "Have people review it, or import labels." in refusal["detail"]


def other(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed, name="other", items=agreeing.ITEMS)


def test_one_criterion_can_be_asked_for(people: Cast, as_member, labelled: ReviewQueue) -> None:
    rae, criterion = as_member(people.rae), labelled.rubric_version.criteria.get()
    board = rae.get(f"/queues/{labelled.pk}/agreement", criterion=criterion.pk)
    assert board["scope"]["name"] == "only"
    rae.refused(404, "GET", f"/queues/{labelled.pk}/agreement", query={"criterion": 10**6})


def test_a_board_of_several_files_names_the_others(people: Cast, as_member, labelled: ReviewQueue) -> None:
    rae, address = as_member(people.rae), f"/queues/{labelled.pk}/agreement"
    assert rae.get(address)["other_files"] == []
    grown = imported(people, labelled.dataset, labelled.rubric_version, ["a,only,zoe,UNMET"])
    assert rae.get(address)["other_files"] == [{"id": grown.pk, "name": "more"}]


def test_who_labelled_nothing_in_the_scope_is_not_left_out(people: Cast, as_member) -> None:
    """14 people answer one criterion, 5 of them the other one too."""
    criteria = [{"name": name, "requirement": f"Is {name}."} for name in ("first", "second")]
    version = factories.version(people.team, people.ed, criteria=criteria)
    dataset = factories.dataset(people.team, people.ed, items=agreeing.ITEMS)
    said = [
        f"a,{name},rater {number},MET" for name, n in (("first", 14), ("second", 5)) for number in range(n)
    ]
    queue, rae = imported(people, dataset, version, said), as_member(people.rae)
    shown = {}
    for criterion in version.criteria.all():
        board = rae.get(f"/queues/{queue.pk}/agreement", criterion=criterion.pk)
        shown[criterion.name] = (len(board["matrix"]), board["raters_left_out"])
    assert shown == {"first": (12, 2), "second": (5, 0)}


def imported(people: Cast, dataset: Dataset, version: RubricVersion, said: list[str]) -> ReviewQueue:
    data = "\n".join(["item_id,criterion,rater,verdict", *said]).encode()
    return factories.import_labels(dataset, version, by=people.ed, data=data, filename="more.csv")


def test_annotators_and_viewers_are_told_no_names(people: Cast, as_member, labelled: ReviewQueue) -> None:
    for person in (people.ann, people.bob):
        board = as_member(person).get(f"/queues/{labelled.pk}/agreement")
        assert (board["names_hidden"], board["raters"]) == (True, [])
        assert {row["rater"]["name"] for row in board["matrix"]} == {"Rater 1", "Rater 2", "Rater 3"}


def test_it_is_withheld_from_a_blind_rater(people: Cast, as_member, labelled: ReviewQueue) -> None:
    factories.queue(
        people.team,
        people.ed,
        dataset=labelled.dataset,
        rubric_version=labelled.rubric_version,
        raters=[people.alice],
    )
    problem = as_member(people.alice).refused(403, "GET", f"/queues/{labelled.pk}/agreement")
    assert problem["type"] == "urn:rubricweb:problem:withheld"
    assert "4 items" in problem["detail"]
