"""Trying a judge by the API: the whole answer, or a stream of lines."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from rubricweb.models import JudgeTry
from rubricweb.services.tries import tries
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast
from tests.trying import STRICT, TryWorld, try_world

CHANGES = {"wording": {"instructions": {"without_options": STRICT}}}


@pytest.fixture
def world(people: Cast) -> Iterator[TryWorld]:
    with try_world(people) as made:
        yield made


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    return as_member(people.ed)


def path(world: TryWorld) -> str:
    return f"/judge-versions/{world.first.pk}/tries"


def about(world: TryWorld, **more: Any) -> dict[str, Any]:
    return {"item": world.item.pk, "rubric_version": world.rubric.pk} | more


def test_a_version_is_tried_and_all_of_it_is_answered(world: TryWorld, ed: ApiClient) -> None:
    told = ed.send("POST", path(world), about(world))
    said = {one["criteria"][0]["criterion"]: one["criteria"][0]["verdict"] for one in told["answers"]}
    assert said == {"capital": "MET", "concise": "UNMET", "wrong_country": "UNMET"}
    one = next(row for row in told["answers"] if row["criteria"][0]["place"] == 0)
    assert (one["prompt_tokens"], one["completion_tokens"], one["cost_usd"]) == (
        100,
        10,
        pytest.approx(0.0003),
    )
    assert (one["criteria"][0]["reason"], one["side"]) == ("It is MET.", "tried")
    assert one["request"]["messages"][0]["role"] == "system"
    [total] = told["sums"]
    assert (total["asked"], total["known"], total["cost_usd"]) == (3, 0, pytest.approx(0.0009))
    assert (told["item"], told["stopped"]) == (world.item.pk, None)


def test_a_change_stands_beside_the_version(world: TryWorld, ed: ApiClient) -> None:
    told = ed.send("POST", path(world), about(world, changes=CHANGES))
    assert sorted(one["side"] for one in told["answers"]) == ["before"] * 3 + ["tried"] * 3
    assert world.script.count == 6
    again = ed.send("POST", path(world), about(world))
    assert {one["is_known"] for one in again["answers"]} == {True}
    assert world.script.count == 6


def test_lines_come_one_by_one(world: TryWorld, ed: ApiClient) -> None:
    answer = ed.call("POST", path(world), about(world), headers={"Accept": "application/x-ndjson"})
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert (lines[0]["kind"], lines[0]["item"]) == ("item", world.item.pk)
    kinds = [line["kind"] for line in lines if line["kind"] != "waiting"]
    assert kinds == ["item", *["answer"] * 3, "sum"]


def test_a_model_a_definition_and_the_next_item(world: TryWorld, ed: ApiClient) -> None:
    body = {"dataset": world.dataset.pk, "after": world.item.pk, "rubric_version": world.rubric.pk}
    told = ed.send("POST", "/named-judges/tries", body | {"judge": "support-judge"})
    second = world.dataset.items.order_by("position")[1]
    assert told["item"] == second.pk
    definition = {"members": [{"endpoint": "big"}], "autograder": "per_criterion"}
    told = ed.send("POST", "/named-judges/tries", body | {"definition": definition})
    assert {one["model"] for one in told["answers"]} == {"m-2"}
    assert JudgeTry.objects.filter(judge=None).count() == 1


def test_a_submission_and_a_rubric_that_are_not_stored(world: TryWorld, ed: ApiClient) -> None:
    rubric = {"title": "T", "criteria": [{"name": "x", "requirement": "Names Paris as the capital."}]}
    body = {"submission": {"output": "Paris.", "query": "Where?"}, "rubric": rubric}
    told = ed.send("POST", path(world), body)
    assert [one["criteria"][0]["verdict"] for one in told["answers"]] == ["MET"]
    assert told["item"] is None


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, "item"),
        ({"item": 1, "dataset": 1}, "item"),
        ({"submission": {"output": ""}}, "item"),
        ({"submission": {"output": "x"}}, "rubric"),
        (
            {"submission": {"output": "x"}, "rubric": {"criteria": [{"requirement": ""}]}},
            "rubric.criteria[0].requirement",
        ),
        ({"submission": {"output": "x"}, "rubric": {"criteria": []}}, "rubric.criteria"),
        ({"changes": {"members": []}, "submission": {"output": "x"}}, "members"),
        (
            {"definition": {"members": [{"endpoint": "huge"}]}, "submission": {"output": "x"}},
            "definition.members[0].endpoint",
        ),
        ({"changes": {}, "definition": {}, "item": 1}, "definition"),
        ({"whatever": 1}, "whatever"),
        ({"submission": {"output": "x", "thoughts": ""}}, "submission.thoughts"),
    ],
)
def test_what_is_wrong_is_named(world: TryWorld, ed: ApiClient, body: dict[str, Any], place: str) -> None:
    rubric = {} if "rubric" in body or place in ("rubric", "item") else {"rubric_version": world.rubric.pk}
    refused = ed.refused(422, "POST", path(world), body | rubric)
    assert place in [fault["place"].removeprefix("changes.") for fault in refused["faults"]]
    assert world.script.count == 0


def test_roles_teams_blindness_and_limits(
    world: TryWorld, ed: ApiClient, as_member, token, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = world.people
    as_member(people.rae).refused(403, "POST", path(world), about(world))
    ApiClient(token(people.charlie, people.other_team)).refused(404, "POST", path(world), about(world))
    ed.refused(404, "POST", path(world), about(world, item=999_999))
    ed.refused(404, "POST", path(world), about(world, rubric_version=999_999))
    monkeypatch.setattr(tries, "PER_MINUTE", 1)
    ed.send("POST", path(world), about(world))
    ed.refused(429, "POST", path(world), about(world))
    factories.queue(
        people.team, people.alice, dataset=world.dataset, rubric_version=world.rubric, raters=[people.ed]
    )
    ed.refused(403, "POST", path(world), about(world))
    ed.refused(409, "POST", path(world), {"dataset": world.dataset.pk, "rubric_version": world.rubric.pk})
