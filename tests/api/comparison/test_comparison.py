"""Judge against people through the API, and the files that are handed out."""

import csv
import io
import json

import pytest

from tests.api.client import ApiClient, text_of
from tests.api.conftest import World
from tests.api.test_reviews import answer
from tests.factories import ITEMS, Cast


@pytest.fixture
def labelled(people: Cast, as_member, world: World) -> World:
    """ann says MET to everything, rae UNMET to the capital of the first item and MET otherwise."""
    for rater in (people.ann, people.rae):
        client = as_member(rater)
        for _ in ITEMS:
            review = answer(client, client.send("POST", f"/queues/{world.queue.pk}/next"))
            if rater == people.rae and review["item"]["key"] == "good":
                path = f"/reviews/{review['id']}/criteria/{review['criteria'][0]['criterion']['id']}"
                client.send("PUT", path, {"verdict": "UNMET"})
            client.send("POST", f"/reviews/{review['id']}/submit")
    return world


@pytest.fixture
def bob(people: Cast, as_member) -> ApiClient:
    return as_member(people.bob)


def test_a_comparison_holds_the_judge_against_the_majority(bob: ApiClient, labelled: World) -> None:
    shown = bob.get(f"/runs/{labelled.run.pk}/comparison", queue=labelled.queue.pk)
    # Nine units, one tied. On the other eight people said MET, the judge on five of them:
    # good concise; bad capital, concise, wrong_country; empty-ish concise.
    assert (shown["units"], shown["undecided"], shown["judged"], shown["errors"]) == (8, 1, 8, 0)
    assert (shown["raters"], shown["coverage"], shown["queue_ids"]) == (2, 1.0, [labelled.queue.pk])
    overall = shown["overall"]
    assert overall["confusion"] == {"met_met": 5, "met_unmet": 3, "unmet_met": 0, "unmet_unmet": 0}
    assert overall["accuracy"]["value"] == pytest.approx(5 / 8)
    assert overall["accuracy"]["n"] == 8
    assert set(overall["accuracy"]) == {"value", "low", "high", "n"}
    assert overall["balanced_accuracy"]["value"] is None  # nobody said UNMET
    assert [row["criterion"]["name"] for row in shown["criteria"]] == ["capital", "concise", "wrong_country"]


def test_a_comparison_needs_queues_over_the_same_dataset(bob: ApiClient, labelled: World) -> None:
    path = f"/runs/{labelled.run.pk}/comparison"
    [fault] = bob.refused(422, "GET", path)["faults"]
    assert (fault["place"], fault["found"]) == ("query.queue", "nothing")
    [fault] = bob.refused(422, "GET", path, query={"queue": "x"})["faults"]
    assert fault["place"] == "query.queue[0]"


def test_disagreements_are_narrowed_and_decided(people: Cast, as_member, labelled: World) -> None:
    rae = as_member(people.rae)
    query = {"run": labelled.run.pk, "queue": labelled.queue.pk}
    rows = rae.get("/disagreements", **query)["items"]
    assert [row["kind"] for row in rows] == ["people are tied"] + ["judge differs"] * 3
    tied = rows[0]
    assert (tied["item_key"], tied["criterion"]["name"], tied["truth"]) == ("good", "capital", None)
    assert {(vote["verdict"], vote["count"]) for vote in tied["votes"]} == {("MET", 1), ("UNMET", 1)}
    assert len(rae.get("/disagreements", **query, kind="judge differs")["items"]) == 3
    cell = rae.get("/disagreements", **query, judged="UNMET", truth="MET")["items"]
    assert len(cell) == 3
    assert len(rae.get("/disagreements", **query, criterion=tied["criterion"]["id"])["items"]) == 2

    path = f"/items/{tied['item_id']}/criteria/{tied['criterion']['id']}/adjudication"
    decision = {"verdict": "MET", "cause": "human_wrong", "reason": "It says so."}
    decided = rae.send("PUT", path, decision)
    assert (decided["decided_by"], decided["verdict"], decided["cause"]) == ("rae", "MET", "human_wrong")
    assert len(rae.get("/disagreements", **query)["items"]) == 3
    assert len(rae.get("/disagreements", **query, include_decided="true")["items"]) == 4


def test_deciding_against_the_majority_takes_a_reason(people: Cast, as_member, labelled: World) -> None:
    rae = as_member(people.rae)
    item = labelled.dataset.items.get(key="bad")
    criterion = labelled.version.criteria.get(name="capital")
    path = f"/items/{item.pk}/criteria/{criterion.pk}/adjudication"
    problem = rae.refused(422, "PUT", path, {"verdict": "UNMET", "cause": "human_wrong"})
    assert "reason" in problem["detail"]
    rae.send("PUT", path, {"verdict": "UNMET", "cause": "human_wrong", "reason": "It lies in France."})
    [fault] = rae.refused(422, "PUT", path, {"verdict": "MET", "cause": "mood"})["faults"]
    assert (fault["place"], "'rubric_unclear'" in fault["allowed"]) == ("cause", True)


def test_a_criterion_of_another_rubric_is_not_of_an_item_that_brings_its_own(
    people: Cast, as_member, labelled: World
) -> None:
    item = labelled.dataset.items.get(key="good")
    item.rubric_version = labelled.version
    item.save()
    rae = as_member(people.rae)
    rae.refused(
        404,
        "PUT",
        f"/items/{item.pk}/criteria/{10**6}/adjudication",
        {"verdict": "MET", "cause": "judge_wrong"},
    )


def test_ground_truth_and_verdicts_are_exported_in_every_format(bob: ApiClient, labelled: World) -> None:
    query = {"dataset": labelled.dataset.pk, "queue": labelled.queue.pk}
    response = bob.call(
        "GET", "/exports", query=query | {"what": "verdicts", "format": "csv"} | {"run": labelled.run.pk}
    )
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == "attachment; filename*=UTF-8''capital-answers-verdicts.csv"
    rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert len(rows) == 27  # nine units by two people and a judge
    lines = bob.call("GET", "/exports", query=query | {"what": "verdicts", "format": "jsonl"})
    assert len([json.loads(line) for line in b"".join(lines.streaming_content).splitlines()]) == 18
    truth = bob.call("GET", "/exports", query=query | {"what": "ground_truth", "format": "autorubric"})
    data = json.loads(b"".join(truth.streaming_content))
    assert [len(item["ground_truth"]) for item in data["items"]] == [3, 3, 3]


@pytest.mark.parametrize(
    "change",
    [{"what": "secrets"}, {"format": "exe"}, {"format": "autorubric"}, {"dataset": ""}, {"queue": "x"}],
)
def test_an_export_that_makes_no_sense_is_refused(bob: ApiClient, labelled: World, change) -> None:
    query = {"what": "verdicts", "format": "csv", "dataset": labelled.dataset.pk, "queue": labelled.queue.pk}
    assert bob.refused(422, "GET", "/exports", query=query | change)["detail"]


def test_an_export_of_nothing_is_refused(bob: ApiClient, labelled: World) -> None:
    query = {"what": "verdicts", "format": "csv", "dataset": labelled.dataset.pk}
    assert "Choose a run" in bob.refused(422, "GET", "/exports", query=query)["detail"]


def test_an_export_is_a_file_and_says_so(bob: ApiClient, labelled: World) -> None:
    query = {"what": "verdicts", "format": "csv", "dataset": labelled.dataset.pk, "queue": labelled.queue.pk}
    text = text_of(bob.call("GET", "/exports", query=query))
    assert "attachment" in text
    assert "nosniff" in text
