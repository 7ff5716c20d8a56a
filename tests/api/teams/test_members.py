"""Members by programs: another role, and out of the team."""

from typing import Any

import pytest

from rubricweb.models import User
from tests.api.client import ApiClient
from tests.factories import Cast


@pytest.fixture
def alice(people: Cast, as_member) -> ApiClient:
    return as_member(people.alice)


def member(client: ApiClient, user: User) -> Any:
    return next(one for one in client.get("/team")["members"] if one["username"] == user.username)


def test_an_owner_changes_the_role_of_a_member(people: Cast, alice: ApiClient, as_member) -> None:
    bob = member(alice, people.bob)
    changed = alice.send("PATCH", f"/team/members/{bob['id']}", {"role": "editor"})
    assert changed == bob | {"role": "editor"}
    assert as_member(people.bob).send("POST", "/rubrics", {"title": "By bob"})["id"]
    [fault] = alice.refused(422, "PATCH", f"/team/members/{bob['id']}", {"role": "king"})["faults"]
    assert fault["place"] == "role"


def test_a_member_who_is_removed_is_out_at_once(people: Cast, alice: ApiClient, as_member) -> None:
    ed = as_member(people.ed)
    path = f"/team/members/{member(alice, people.ed)['id']}"
    assert alice.call("DELETE", path).status_code == 204
    ed.refused(401, "GET", "/me")
    assert "ed" not in [one["username"] for one in alice.get("/team")["members"]]
    alice.refused(404, "DELETE", path)
    alice.refused(404, "PATCH", path, {"role": "viewer"})


def test_the_only_owner_neither_steps_down_nor_leaves(people: Cast, alice: ApiClient) -> None:
    path = f"/team/members/{member(alice, people.alice)['id']}"
    alice.refused(409, "PATCH", path, {"role": "editor"})
    alice.refused(409, "DELETE", path)
    assert alice.get("/me")["role"] == "owner"


@pytest.mark.parametrize("name", ["ed", "rae", "ann", "bob"])
def test_who_is_no_owner_changes_no_member(people: Cast, as_member, name: str) -> None:
    client = as_member(getattr(people, name))
    path = f"/team/members/{people.bob.pk}"
    client.refused(403, "PATCH", path, {"role": "owner"})
    client.refused(403, "DELETE", path)


def test_a_member_of_another_team_is_not_found(people: Cast, alice: ApiClient) -> None:
    path = f"/team/members/{people.charlie.pk}"
    alice.refused(404, "PATCH", path, {"role": "viewer"})
    alice.refused(404, "DELETE", path)
    assert people.other_team.memberships.filter(user=people.charlie).exists()
