"""Queues over the answers of some system versions, through the API."""

import json
from typing import Any

import pytest

from tests.api.client import ApiClient
from tests.factories import Cast
from tests.worlds.systems import Versions, versions


@pytest.fixture
def world(people: Cast) -> Versions:
    return versions(people)


@pytest.fixture
def ed(people: Cast, as_member: Any) -> ApiClient:
    client: ApiClient = as_member(people.ed)
    return client


def body(world: Versions, **more: Any) -> dict[str, Any]:
    return {
        "dataset_id": world.dataset.pk,
        "rubric_version_id": world.rubric_version.pk,
        "systems": ["assistant@v4"],
    } | more


def test_a_queue_names_its_versions_to_those_who_may_know(
    ed: ApiClient, as_member: Any, people: Cast, world: Versions
) -> None:
    planned = ed.send("POST", "/queues/plan", body(world))
    assert planned["items"] == 5
    assert planned["source"] == ["All answers of the chosen system versions, including future ones."]
    made = ed.send("POST", "/queues", body(world, name="New", raters=["ann"]))
    assert made["systems"] == ["assistant@v4"]
    at = f"/queues/{made['id']}"
    ann = as_member(people.ann)
    assert (ed.get(at)["systems"], ann.get(at)["systems"]) == (["assistant@v4"], None)
    listed = [client.get("/queues")["items"][0]["systems"] for client in (ed, ann)]
    assert listed == [["assistant@v4"], None]
    assert ed.send("POST", f"{at}/pause")["systems"] == ["assistant@v4"]


def test_a_queue_without_versions_says_none(ed: ApiClient, world: Versions) -> None:
    made = ed.send("POST", "/queues", body(world, name="All", raters=["ann"], systems=[]))
    assert made["systems"] == []


def test_a_version_without_answers_is_refused_by_its_place(ed: ApiClient, world: Versions) -> None:
    for path, more in (("/queues", {"name": "New", "raters": ["ann"]}), ("/queues/plan", {})):
        asked = body(world, systems=["assistant@v4", "assistant@v9"], **more)
        problem = ed.refused(422, "POST", path, asked)
        assert [fault["place"] for fault in problem["faults"]] == ["systems[1]"]
        assert "assistant@v3, assistant@v4" in json.dumps(problem)
