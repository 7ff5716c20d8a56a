"""Runs over system versions through the API: one, several in a launch, and what is refused."""

from typing import Any

import pytest

from rubricweb.models import Run
from tests.api.client import ApiClient
from tests.factories import Cast
from tests.worlds.systems import Versions, versions

KEY = {"Idempotency-Key": "launch-1"}


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    return as_member(people.ed)


@pytest.fixture
def world(people: Cast) -> Versions:
    return versions(people)


@pytest.fixture
def body(world: Versions) -> dict[str, Any]:
    return {
        "dataset_id": world.dataset.pk,
        "rubric_version_id": world.rubric_version.pk,
        "judge": "offline",
        "systems": ["assistant@v4", "assistant@v3"],
        "budget_usd": 2,
    }


def test_a_launch_is_sent_twice_and_started_once(ed: ApiClient, body: dict[str, Any]) -> None:
    answers = [ed.call("POST", "/launches", body, headers=KEY) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    first, second = (answer.json()["runs"] for answer in answers)
    assert [(run["system"], run["budget_usd"]) for run in first] == [("assistant@v4", 1), ("assistant@v3", 1)]
    assert [run["id"] for run in first] == [run["id"] for run in second]
    assert len({run["launch_id"] for run in first}) == 1
    assert Run.objects.count() == 2
    assert {run["system"] for run in ed.get("/runs")["items"]} == {"assistant@v3", "assistant@v4"}


def test_one_run_takes_one_version_and_several_are_a_launch(ed: ApiClient, body: dict[str, Any]) -> None:
    refused = ed.refused(422, "POST", "/runs", body)
    assert "POST /launches" in refused["faults"][0]["allowed"]
    one = ed.send("POST", "/runs", body | {"systems": ["assistant@v3"]})
    assert (one["system"], one["launch_id"]) == ("assistant@v3", None)


def test_a_version_that_is_not_there_is_refused_naming_the_others(
    ed: ApiClient, body: dict[str, Any]
) -> None:
    for path in ("/runs", "/launches", "/runs/plan"):
        [fault] = ed.refused(422, "POST", path, body | {"systems": ["assistant@v9"]})["faults"]
        assert fault["place"] == "systems[0]"
        assert "assistant@v3, assistant@v4" in fault["allowed"]
    [fault] = ed.refused(422, "POST", "/runs", body | {"systems": []})["faults"]
    assert "assistant@v3, assistant@v4" in fault["found"]
    assert not Run.objects.exists()


def test_a_sample_is_of_the_chosen_version(ed: ApiClient, body: dict[str, Any]) -> None:
    plan = ed.call("POST", "/runs/plan", body | {"systems": ["assistant@v4"], "sample": 2}).json()
    assert plan["items"] == 2
