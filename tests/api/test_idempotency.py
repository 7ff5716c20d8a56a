"""Requests that start paid work, sent again by a client whose answer got lost."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from rubricweb import tasks
from rubricweb.models import IdempotencyKey, Run, RunState
from rubricweb.services.runs import lifecycle as services
from rubricweb.services.shared import idempotency
from tests import factories
from tests.api.client import ApiClient
from tests.api.conftest import by_the_book
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

KEY = "5f1c0f0e-7d1c-4f4e-9a70-0a5f7d0c3f11"


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    return as_member(people.ed)


@pytest.fixture
def body(world) -> dict[str, Any]:
    return {"dataset_id": world.dataset.pk, "rubric_version_id": world.version.pk, "judge": "offline"}


def send(client: ApiClient, path: str, body: Any = None, key: str = KEY) -> Any:
    response = client.call("POST", path, body, headers={"Idempotency-Key": key})
    assert response.status_code in (200, 201), response.content
    return response.json()


def fault(client: ApiClient, path: str, body: Any, key: str = KEY) -> dict[str, str]:
    problem = client.refused(422, "POST", path, body, headers={"Idempotency-Key": key})
    [one] = problem["faults"]
    return dict(one)


def test_the_same_request_with_the_same_key_starts_one_run(ed: ApiClient, world, body) -> None:
    first = send(ed, "/runs", body)
    # The same in other words: members in another order, and blanks.
    words = ", ".join(f'"{name}" : {value!r}'.replace("'", '"') for name, value in reversed(body.items()))
    assert send(ed, "/runs", f"{{ {words} }}") == first
    assert Run.objects.exclude(pk=world.run.pk).get().pk == first["id"]


def test_the_answer_to_a_repeated_request_is_the_run_as_it_is_by_then(ed: ApiClient, body, people) -> None:
    first = send(ed, "/runs", body)
    services.cancel_run(Run.objects.get(pk=first["id"]), by=people.ed, now=timezone.now())
    again = send(ed, "/runs", body)
    assert (again["id"], again["state"]) == (first["id"], "cancelled")


def test_without_a_key_and_with_another_one_every_request_starts_a_run(ed: ApiClient, world, body) -> None:
    ids = {send(ed, "/runs", body)["id"], send(ed, "/runs", body, "another")["id"]}
    ids |= {ed.send("POST", "/runs", body)["id"] for _ in range(2)}
    assert len(ids) == 4


def test_a_key_belongs_to_a_team(ed: ApiClient, people: Cast, as_member, token, body) -> None:
    first = send(ed, "/runs", body)
    assert send(as_member(people.alice), "/runs", body)["id"] == first["id"]
    stranger = ApiClient(token(people.charlie, people.other_team))
    stranger.refused(404, "POST", "/runs", body, headers={"Idempotency-Key": KEY})


def test_another_request_with_the_same_key_is_refused_and_starts_nothing(ed: ApiClient, body) -> None:
    run = send(ed, "/runs", body)
    before = Run.objects.count()
    said = fault(ed, "/runs", body | {"name": "Another"})
    assert said["place"] == "header.Idempotency-Key"
    assert said["found"] == "a key that came with another request in the last 24 hours"
    assert "a new key" in said["allowed"]
    assert fault(ed, f"/runs/{run['id']}/extend", None) == said
    assert Run.objects.count() == before


@pytest.mark.parametrize("key", ["", "   ", "k" * 256, "a\tb", "a\x1b[2Jb", "a\x7f", "Schl\xfcssel"])
def test_a_key_that_cannot_be_one_is_refused(ed: ApiClient, body, key: str) -> None:
    before = Run.objects.count()
    said = fault(ed, "/runs", body, key)
    assert said["place"] == "header.Idempotency-Key"
    assert said["allowed"] == "1 to 255 printable ASCII characters, such as a random UUID"
    assert (Run.objects.count(), IdempotencyKey.objects.count()) == (before, 0)


def test_the_longest_key_is_taken(ed: ApiClient, body) -> None:
    assert send(ed, "/runs", body, "k" * 255) == send(ed, "/runs", body, "k" * 255)


def test_a_key_whose_request_was_refused_can_be_sent_again(ed: ApiClient, world, body) -> None:
    said = fault(ed, "/runs", body | {"judge": "nobody"})
    assert said["place"] != "header.Idempotency-Key"
    assert send(ed, "/runs", body)["id"] != world.run.pk


def test_a_key_is_forgotten_after_a_day(ed: ApiClient, body) -> None:
    first = send(ed, "/runs", body)
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=23, minutes=59))
    assert send(ed, "/runs", body)["id"] == first["id"]
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=24))
    assert send(ed, "/runs", body | {"name": "Next day"})["id"] != first["id"]


def test_workers_tidy_old_keys_away(ed: ApiClient, body) -> None:
    send(ed, "/runs", body, "old")
    IdempotencyKey.objects.update(created_at=timezone.now() - idempotency.KEPT)
    send(ed, "/runs", body, "new")
    tasks.tidy()
    assert [row.name for row in IdempotencyKey.objects.all()] == ["new"]


def test_failures_are_asked_again_once(ed: ApiClient, world) -> None:
    """Without its key a second request is refused while the run runs, and pays again once it has ended."""
    run = world.run
    run.judgements.filter(verdict="UNMET").update(verdict=None, error_kind="timeout")
    failed = run.judgements.exclude(error_kind=None).values("item").distinct().count()
    at = f"/runs/{run.pk}/resume"
    first = send(ed, at, {"error_kinds": ["timeout"]})
    assert (first["items"], first["run"]["state"]) == (failed, "running")
    assert send(ed, at, {"error_kinds": ["timeout"]}) == first
    ed.refused(409, "POST", at, {"error_kinds": ["timeout"]})
    grade(run, InProcessJudge(by_the_book))
    run.judgements.filter(verdict="UNMET").update(verdict=None, error_kind="timeout")
    again = send(ed, at, {"error_kinds": ["timeout"]})
    assert (again["items"], again["run"]["state"]) == (failed, "finished")


def test_new_items_are_taken_in_once(ed: ApiClient, people: Cast, world) -> None:
    def add(name: str) -> None:
        data = f'{{"id": "{name}", "submission": "Paris."}}'.encode()
        factories.add_items(world.dataset, by=people.ed, data=data, filename="more.jsonl")

    add("late")
    at = f"/runs/{world.run.pk}/extend"
    assert send(ed, at)["items"] == 1
    add("later")
    assert send(ed, at)["items"] == 1
    assert world.run.run_items.count() == 4
    world.run.refresh_from_db()
    assert world.run.state == RunState.RUNNING
