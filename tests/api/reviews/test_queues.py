"""Queues through the API: made of chosen items, paused, extended, reassigned, closed and opened again."""

from typing import Any

import pytest
from django.utils import timezone

from rubricweb.models import Judgement, Membership, ReviewQueue, Role
from rubricweb.services.shared import archiving
from rubricweb.services.teams import teams
from tests.api.client import ApiClient
from tests.api.conftest import World
from tests.api.reviews.test_reviews import answer
from tests.factories import Cast


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    return as_member(people.ed)


def body(world: World, **more: Any) -> dict[str, Any]:
    return {"name": "New", "dataset_id": world.dataset.pk, "rubric_version_id": world.version.pk} | more


def test_a_queue_is_made_as_it_is_asked_for(ed: ApiClient, world: World) -> None:
    asked = body(
        world,
        everyone=True,
        raters_per_item=2,
        order="informative",
        needs_reason="unmet",
        hold_minutes=5,
        blind="peers",
        source={"kind": "filter", "search": "Belgium"},
    )
    made = ed.send("POST", "/queues", asked)
    assert {name: made[name] for name in ("everyone", "order", "needs_reason", "hold_minutes", "blind")} == {
        "everyone": True,
        "order": "informative",
        "needs_reason": "unmet",
        "hold_minutes": 5,
        "blind": "peers",
    }
    full = ed.get(f"/queues/{made['id']}")
    assert full["source"] == ["Items with “Belgium”."]
    assert [one["name"] for one in full["raters"]] == ["Alice", "Ann", "Ed", "Rae"]
    assert (full["progress"]["items"], full["progress"]["wanted"]) == (1, 2)


def test_a_queue_about_some_criteria_says_so_and_asks_about_these_alone(
    ed: ApiClient, as_member, people: Cast, world: World
) -> None:
    concise, capital = (world.version.criteria.get(name=name) for name in ("concise", "capital"))
    asked = body(world, raters=["rae"], criteria=[concise.pk, "capital"])
    plan = {name: asked[name] for name in ("dataset_id", "rubric_version_id", "criteria")}
    planned = ed.send("POST", "/queues/plan", plan)
    assert (planned["reviews"], planned["criteria"], planned["answers"]) == (3, 2, 6)
    made = ed.send("POST", "/queues", asked)
    # In the order of the rubric; an earlier queue asks about all of it.
    named = [{"id": one.pk, "name": one.name} for one in (capital, concise)]
    assert made["criteria"] == ed.get(f"/queues/{made['id']}")["criteria"] == named
    listed = {row["name"]: row["criteria"] for row in ed.get("/queues")["items"]}
    assert listed["New"] == named
    assert all(criteria == [] for name, criteria in listed.items() if name != "New")
    rae = as_member(people.rae)
    review = rae.send("POST", f"/queues/{made['id']}/next")
    assert [row["criterion"]["name"] for row in review["criteria"]] == ["capital", "concise"]
    other = world.version.criteria.get(name="wrong_country")
    rae.refused(404, "PUT", f"/reviews/{review['id']}/criteria/{other.pk}", {"verdict": "MET"})
    for one in (capital, concise):
        rae.send("PUT", f"/reviews/{review['id']}/criteria/{one.pk}", {"verdict": "MET"})
    assert rae.send("POST", f"/reviews/{review['id']}/submit")["state"] == "submitted"
    # Nothing changes what a queue is about.
    ed.refused(422, "PATCH", f"/queues/{made['id']}", {"criteria": ["capital"]})


@pytest.mark.parametrize(
    ("criteria", "places"),
    [
        (["capital", "speed", "capital"], ["criteria[1]", "criteria[2]"]),
        ([1.5], ["criteria[0]"]),
        ("capital", ["criteria"]),
    ],
)
def test_criteria_that_cannot_be_are_refused_by_place(
    ed: ApiClient, world: World, criteria: Any, places: list[str]
) -> None:
    for path, asked in (("/queues", body(world, everyone=True)), ("/queues/plan", body(world))):
        sent = asked | {"criteria": criteria}
        if path == "/queues/plan":
            del sent["name"]
        refused = ed.refused(422, "POST", path, sent)
        # Of what is neither a number nor a text both are said, under one place.
        assert list(dict.fromkeys(one["place"].partition(".")[0] for one in refused["faults"])) == places


def test_a_sample_tells_its_draw_to_all_but_who_reviews_the_dataset_blind(
    ed: ApiClient, as_member, people: Cast, world: World
) -> None:
    asked = body(world, raters=["rae"], source={"kind": "sample", "size": 2, "seed": 5})
    made = ed.send("POST", "/queues", asked)
    assert made["order"] == "drawn"
    [draw] = ed.get(f"/queues/{made['id']}")["draws"]
    assert {name: draw[name] for name in ("seed", "dataset_size", "strata")} == {
        "seed": 5,
        "dataset_size": 3,
        "strata": [{"value": "", "size": 3, "drawn": 2}],
    }
    assert as_member(people.rae).get(f"/queues/{made['id']}")["draws"] == []


def test_a_plan_counts_what_a_judge_is_unsure_of(ed: ApiClient, world: World) -> None:
    unsure = Judgement.objects.filter(run=world.run, item__key="bad", criterion__name="concise")
    unsure.update(verdict="CANNOT_ASSESS")
    source = {"kind": "run", "run_id": world.run.pk, "reasons": ["cannot_assess", "errors"]}
    # ed rates in no queue; ann does, and is no editor anyway.
    asked = {"dataset_id": world.dataset.pk, "source": source}
    # As opening it would be: a plan does not say yes to what is then refused.
    assert ed.refused(422, "POST", "/queues/plan", asked)["faults"][0]["place"] == "rubric_version"
    plan = ed.send("POST", "/queues/plan", asked | {"rubric_version_id": world.version.pk})
    assert (plan["items"], plan["reviews"], plan["seconds"]) == (1, 1, None)
    assert plan["reasons"] == [{"reason": "cannot_assess", "words": "the judge cannot assess", "items": 1}]
    assert [queue["name"] for queue in ed.get("/queues")["items"]] == ["First look"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"everyone": False}, "raters"),
        ({"raters": ["bob"]}, "raters"),
        ({"raters": ["ann"], "raters_per_item": 2}, "raters_per_item"),
        ({"raters": ["ann"], "source": {"kind": "filter"}}, "search"),
        ({"raters": ["ann"], "source": {"kind": "sample", "size": 4}}, "size"),
        ({"raters": ["ann"], "source": {"kind": "sample", "size": 4, "order_by": "pk"}}, "source.order_by"),
        ({"raters": ["ann"], "source": {"kind": "fate"}}, "source"),
        ({"raters": ["ann"], "hold_minutes": 10_081}, "hold_minutes"),
        ({"raters": ["ann"], "order": "random"}, "order"),
    ],
)
def test_a_queue_that_cannot_be_is_refused_at_its_place(
    ed: ApiClient, world: World, change: dict[str, Any], place: str
) -> None:
    [fault] = ed.refused(422, "POST", "/queues", body(world, **change))["faults"]
    assert fault["place"].split(".sample")[0].replace("source.sample.", "source.") in (place, "source")


def test_a_paused_queue_answers_409_and_keeps_the_draft(
    ed: ApiClient, people: Cast, as_member, world: World
) -> None:
    ann = as_member(people.ann)
    review = ann.send("POST", f"/queues/{world.queue.pk}/next")
    path = f"/reviews/{review['id']}/criteria/{review['criteria'][0]['criterion']['id']}"
    ann.send("PUT", path, {"verdict": "MET"})
    assert ed.send("POST", f"/queues/{world.queue.pk}/pause")["state"] == "paused"
    assert "paused" in ann.refused(409, "PUT", path, {"verdict": "UNMET"})["detail"]
    ann.refused(409, "POST", f"/queues/{world.queue.pk}/next")
    assert ann.get(f"/reviews/{review['id']}")["criteria"][0]["verdict"] == "MET"
    assert ed.send("POST", f"/queues/{world.queue.pk}/resume")["state"] == "open"
    answer(ann, review)
    assert ann.send("POST", f"/reviews/{review['id']}/submit")["state"] == "submitted"


def test_a_queue_is_extended_reassigned_renamed_closed_and_reopened(
    ed: ApiClient, people: Cast, as_member, world: World
) -> None:
    queue = ed.send(
        "POST", "/queues", body(world, raters=["ann"], source={"kind": "filter", "search": "Belgium"})
    )
    path = f"/queues/{queue['id']}"
    ids = list(world.dataset.items.values_list("pk", flat=True))
    extended = ed.send("POST", f"{path}/extend", {"source": {"kind": "items", "item_ids": ids}})
    assert (extended["added"], extended["queue"]["progress"]["items"]) == (2, 3)
    ed.refused(409, "POST", f"{path}/extend", {"source": {"kind": "items", "item_ids": ids}})
    changed = ed.send("POST", f"{path}/people", {"add": ["rae"], "remove": ["ann"]})
    assert [one["name"] for one in changed["raters"]] == ["Rae"]
    ed.refused(422, "POST", f"{path}/people", {"remove": ["rae"]})
    # Somebody who left the team while that took nobody out of its queues.
    ed.send("POST", f"{path}/people", {"add": ["ann"]})
    Membership.objects.filter(user__username="rae").delete()
    changed = ed.send("POST", f"{path}/people", {"remove": ["rae"]})
    assert [one["name"] for one in changed["raters"]] == ["Ann"]
    [fault] = ed.refused(422, "POST", f"{path}/people", {"add": ["charlie"]})["faults"]
    assert fault["place"] == "add[0]"
    [fault] = ed.refused(422, "POST", f"{path}/people", {"add": ["bob"]})["faults"]  # a viewer
    assert (fault["place"], fault["found"]) == ("add", "Bob")
    assert ed.send("PATCH", path, {"name": "Renamed"})["name"] == "Renamed"
    assert ed.send("POST", f"{path}/close")["state"] == "closed"
    ed.refused(409, "POST", f"{path}/extend", {"raters_per_item": 1})
    reopened = ed.send("POST", f"{path}/reopen")
    assert (reopened["state"], reopened["people_missing"]) == ("open", 0)


@pytest.mark.parametrize("removed", [True, False])
def test_labels_stand_when_the_last_rater_of_their_queue_leaves(
    ed: ApiClient, people: Cast, as_member, world: World, removed: bool
) -> None:
    ann, queue = as_member(people.ann), ed.send("POST", "/queues", body(world, raters=["ann"]))
    review = answer(ann, ann.send("POST", f"/queues/{queue['id']}/next"), "UNMET")
    ann.send("POST", f"/reviews/{review['id']}/submit")

    def told() -> tuple[Any, ...]:
        rows = ed.get(f"/items/{review['item']['id']}/ground-truth")["criteria"]
        return [(row["verdict"], row["rule"]) for row in rows], len(ed.get("/adjudication")["items"])

    # Three criteria, of which the judge met two where ann met none.
    stands = ([("UNMET", "single")] * 3, 2)
    assert told() == stands
    membership = people.team.memberships.get(user=people.ann)
    if removed:
        teams.remove_member(membership, by=people.alice)
    else:
        teams.change_role(membership, Role.VIEWER, by=people.alice)
    assert not ReviewQueue.objects.get(pk=queue["id"]).raters.exists()
    assert told() == stands


def test_an_archived_queue_is_restored_before_it_is_reopened(ed: ApiClient, world: World) -> None:
    path = f"/queues/{world.queue.pk}"
    ed.send("POST", f"{path}/close")
    for archived, what in ((path, "queue"), (f"/datasets/{world.dataset.pk}", "dataset")):
        ed.send("PATCH", archived, {"archived": True})
        told = ed.refused(409, "POST", f"{path}/reopen")["detail"]
        assert told.startswith(f"The {what} ")
        assert "is archived: restore it first" in told
        assert ed.get(path)["state"] == "closed"
        ed.send("PATCH", archived, {"archived": False})
    rubric = world.version.rubric
    assert rubric is not None
    archiving.archive(rubric, by=world.queue.created_by, now=timezone.now())  # type: ignore[arg-type]  # ed opened it
    assert "The rubric " in ed.refused(409, "POST", f"{path}/reopen")["detail"]
    archiving.restore(rubric, by=world.queue.created_by)  # type: ignore[arg-type]  # the same
    assert ed.send("POST", f"{path}/reopen")["state"] == "open"


def test_items_of_another_dataset_are_not_found(ed: ApiClient, world: World) -> None:
    ed.refused(
        404, "POST", "/queues", body(world, raters=["ann"], source={"kind": "items", "item_ids": [10**9]})
    )


def test_a_blind_rater_is_not_told_how_items_were_chosen_by_verdicts(
    ed: ApiClient, people: Cast, as_member, world: World
) -> None:
    Judgement.objects.filter(run=world.run, item__key="bad").update(verdict="CANNOT_ASSESS")
    source = {"kind": "run", "run_id": world.run.pk, "reasons": ["cannot_assess"]}
    queue = ed.send("POST", "/queues", body(world, raters=["ann"], source=source))
    assert "cannot assess (1)" in ed.get(f"/queues/{queue['id']}")["source"][0]
    assert "assess" not in as_member(people.ann).get(f"/queues/{queue['id']}")["source"][0]
    ed.send("POST", "/queues", body(world, name="Mine", raters=["ed"]))
    problem = ed.refused(403, "POST", "/queues/plan", {"dataset_id": world.dataset.pk, "source": source})
    assert problem["type"].endswith("withheld")


def test_a_change_that_is_refused_changes_nothing(ed: ApiClient, world: World) -> None:
    queue = f"/queues/{world.queue.pk}"
    ed.refused(409, "PATCH", queue, {"name": "Other", "archived": True})  # it is open
    assert ed.get(queue)["name"] == world.queue.name
    ed.send("POST", f"{queue}/close")
    ed.refused(422, "PATCH", queue, {"archived": True, "hold_minutes": 10**6})
    assert ed.get(queue)["archived_at"] is None
    ed.send("PATCH", queue, {"archived": True, "name": "Other"})
    found = ed.get(queue)
    assert (found["name"], found["archived_at"] is None) == ("Other", False)
