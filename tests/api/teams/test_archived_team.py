"""An archived team by the API: everything is read, and what would change it is a 409."""

import pytest

from rubricweb.models import JournalEntry, Role
from rubricweb.services.reviews import queue_changes
from tests.api.client import operations
from tests.api.test_access import address, request_for
from tests.factories import Cast
from tests.worlds.furnished import Furnished, at_rest

GONE_ON = {
    "change_team",
    "delete_team",
    "withdraw_invitation",
    "remove_endpoint",
    "remove_member",
    "revoke_shared_link",
}


@pytest.fixture
def people(furnished: Furnished) -> Cast:
    return at_rest(furnished)


def test_every_operation_reads_and_those_that_change_more_than_ones_own_are_refused(
    furnished: Furnished, people: Cast, as_member
) -> None:
    alice = as_member(people.alice)
    assert alice.send("PATCH", "/team", {"archived": True})["archived_at"] is not None
    lines = JournalEntry.objects.count()
    for method, path, operation in operations():
        [gate] = operation.auth_callbacks
        changes = gate.writes and gate.role > Role.VIEWER and operation.operation_id not in GONE_ON
        if method == "GET" or changes:
            asked = request_for(operation, furnished.ours)
            response = alice.call(method, address(path, furnished.ours), **asked)
            is_refused = (
                response.status_code == 409 and "is archived: it can be read" in response.content.decode()
            )
            assert is_refused == changes, (operation.operation_id, response.status_code)
            if not changes:
                assert response.status_code < 500, operation.operation_id
    assert JournalEntry.objects.exclude(verb="exported").count() == lines


def test_the_refusal_is_a_problem_of_one_sentence(people: Cast, as_member) -> None:
    as_member(people.alice).send("PATCH", "/team", {"archived": True})
    problem = as_member(people.ed).refused(409, "POST", "/rubrics", {"title": "New"})
    assert problem["title"] == "Archived"
    assert problem["detail"] == (
        "The team Capital quality is archived: it can be read and exported, and is changed no more until an "
        "owner restores it under Settings."
    )
    # A role that is too low hears only that.
    as_member(people.bob).refused(403, "POST", "/rubrics", {"title": "New"})
    as_member(people.ed).refused(403, "PATCH", "/team", {"archived": False})


def test_an_owner_renames_archives_and_restores_it(people: Cast, as_member) -> None:
    alice = as_member(people.alice)
    changed = alice.send("PATCH", "/team", {"name": "Of last year", "archived": True})
    assert (changed["name"], changed["slug"]) == ("Of last year", "capitals")
    assert alice.get("/me")["team"]["archived_at"] == changed["archived_at"] is not None
    assert alice.send("PATCH", "/team", {"archived": False})["archived_at"] is None
    alice.send("POST", "/rubrics", {"title": "New"})


def test_it_is_not_archived_while_something_is_under_way(
    furnished: Furnished, people: Cast, as_member
) -> None:
    queue_changes.reopen_queue(people.team.queues.get(pk=furnished.ours["queue_id"]), by=people.alice)
    problem = as_member(people.alice).refused(409, "PATCH", "/team", {"name": "Later", "archived": True})
    assert problem["detail"] == "The review queue First look is open: close it first."
    assert as_member(people.alice).get("/team")["name"] == "Capital quality"
