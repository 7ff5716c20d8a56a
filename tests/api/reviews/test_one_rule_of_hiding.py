"""One rule says which answers are hidden from a person, at every door: item, case, run, comparison, file."""

import json
from typing import Any

import pytest

from rubricweb.models import Item, Run, SystemVersion, User
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services.reviews import queues
from tests.api.client import text_of
from tests.factories import Cast
from tests.worlds.sampled import label
from tests.worlds.systems import Versions, versions


@pytest.fixture
def world(people: Cast) -> Versions:
    return versions(people)


def doors(world: Versions, as_member: Any, who: User, item: Item, run: Run) -> dict[str, bool]:
    """Whether each door tells this person who gave the answer, or what was said of it."""
    client = as_member(who)
    shown = client.get(f"/items/{item.pk}")
    case = client.call("GET", f"/cases/{item.case_id}")
    answers = json.loads(case.content)["answers"] if case.status_code == 200 else []
    listed = client.get(f"/runs/{run.pk}/items")["items"]
    found = client.get(f"/datasets/{world.dataset.pk}/items", search=item.key)["items"]
    query = {"what": "verdicts", "format": "csv", "dataset": world.dataset.pk, "run": run.pk}
    file = client.call("GET", "/exports", query=query)
    return {
        "key of the item": shown["key"] is not None,
        "system of the item": shown["system"] is not None,
        "case": item.pk in [one["id"] for one in answers],
        "list of the run": item.pk in [one["item_id"] for one in listed],
        "report": client.call("GET", f"/runs/{run.pk}/items/{item.pk}").status_code == 200,
        "search by key": bool(found),
        "ground truth": client.call("GET", f"/items/{item.pk}/ground-truth").status_code == 200,
        "export": item.key in text_of(file),
    }


def answer_to(world: Versions, version: str, case: str) -> Item:
    return world.dataset.items.get(system_version__label=version, case__key=case)


def test_every_door_shows_or_hides_the_other_answer_to_a_case_as_the_queue_can_hide_it(
    people: Cast, as_member: Any, world: Versions
) -> None:
    run, other = world.run_over("v4"), answer_to(world, "v4", "c1")
    asked = answer_to(world, "v3", "c1")
    # Of several versions, though only the answer of one to this case is in the queue.
    several = world.queue(
        name="Several", source=Source(kind="items", item_ids=(asked.pk, answer_to(world, "v4", "c2").pk))
    )
    assert set(doors(world, as_member, people.ann, other, run).values()) == {False}
    assert set(doors(world, as_member, people.bob, other, run).values()) == {True}
    queues.close_queue(several, by=people.ed)
    assert set(doors(world, as_member, people.ann, other, run).values()) == {True}
    # About v3 alone a queue cannot hide whose answers it asks about, and hides nothing of v4.
    world.queue(name="One", systems=[SystemVersion.objects.get(label="v3")])
    assert set(doors(world, as_member, people.ann, other, run).values()) == {True}
    assert set(doors(world, as_member, people.ann, asked, world.run_over("v3")).values()) == {False}


def test_the_other_answer_is_shown_once_the_one_that_was_asked_about_is_submitted(
    people: Cast, as_member: Any, world: Versions
) -> None:
    run, other = world.run_over("v4"), answer_to(world, "v4", "c1")
    asked = (answer_to(world, "v3", "c1").pk, answer_to(world, "v4", "c2").pk)
    source = Source(kind="items", item_ids=asked)
    queue = world.queue(name="Sample", source=source)
    listed = as_member(people.ann).get(f"/runs/{run.pk}/items")
    assert other.pk not in [one["item_id"] for one in listed["items"]]
    assert [(one["why"], one["items"]) for one in listed["left_out"]] == [("to_review_blind", 2)]
    label(queue, people.ann, 2, lambda item, name: "MET")
    assert set(doors(world, as_member, people.ann, other, run).values()) == {True}
    assert as_member(people.ann).get(f"/runs/{run.pk}/items")["left_out"] == []


def test_a_case_leaves_out_the_answer_that_is_hidden_and_says_so(
    people: Cast, as_member: Any, world: Versions
) -> None:
    of_v3 = SystemVersion.objects.get(label="v3")
    world.queue(name="One", systems=[of_v3])
    case = answer_to(world, "v3", "c1").case
    found = as_member(people.ann).get(f"/cases/{case.pk}")
    assert [one["system"] for one in found["answers"]] == ["assistant@v4"]
    assert found["tags"] is None
    says = "1 item: you are still to review it blind"
    assert found["left_out"] == [{"why": "to_review_blind", "items": 1, "says": says}]
    assert as_member(people.bob).get(f"/cases/{case.pk}")["left_out"] == []


def test_a_plan_says_where_a_queue_cannot_hide_whose_answers_it_asks_about(
    people: Cast, as_member: Any, world: Versions
) -> None:
    ed = as_member(people.ed)
    new = {"dataset_id": world.dataset.pk, "rubric_version_id": world.rubric_version.pk}
    of_one = {"kind": "items", "item_ids": [answer_to(world, "v4", "c1").pk, answer_to(world, "v4", "c2").pk]}
    for asked, told in (
        ({}, None),
        ({"systems": ["assistant@v3"]}, "assistant@v3"),
        ({"systems": ["assistant@v3", "assistant@v4"]}, None),
        ({"source": of_one}, "assistant@v4"),
    ):
        assert ed.send("POST", "/queues/plan", new | asked)["one_system"] == told, asked
    # Not to somebody who is to review some of these answers blind.
    queue = world.queue(name="Blind", raters=[people.ed])
    assert ed.send("POST", "/queues/plan", new)["one_system"] is None
    queues.close_queue(queue, by=people.alice)
