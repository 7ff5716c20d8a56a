"""`rubricweb members` and `tokens`: who is in a team, and what their programs carry."""

import json
import re

import pytest
from django.urls import reverse

from rubricweb.models import ApiToken, Membership, Role, User
from tests.api.client import ApiClient
from tests.factories import Cast


@pytest.fixture(autouse=True)
def address(monkeypatch: pytest.MonkeyPatch, settings) -> None:
    monkeypatch.setenv("SITE_URL", "https://rubrics.example")
    settings.SITE_URL = "https://rubrics.example"


def test_somebody_new_is_invited_and_comes_in_by_the_link_once(people: Cast, at_terminal, client) -> None:
    invited = at_terminal(people.alice)(
        "members", "invite", "zoe@example.org", "--role", "reviewer", "--name", "Zoe"
    )
    link = invited.out.strip()
    assert link.startswith("https://rubrics.example/sign-in/?token=")
    assert "works once, for 30 min" in invited.err
    membership = Membership.objects.get(team=people.team, user__email="zoe@example.org")
    assert (membership.role, str(membership.user)) == (Role.REVIEWER, "Zoe")
    assert client.post(reverse("one_time_link"), {"token": link.partition("token=")[2]})["Location"] == "/"
    assert client.session["_auth_user_id"] == str(membership.user.pk)
    again = at_terminal(people.alice)("members", "link", "zoe")
    assert (again.code, "rubricweb sign-in-link zoe" in again.err) == (1, True)


def test_a_lost_link_is_made_again_for_who_has_never_been_here(people: Cast, at_terminal) -> None:
    alice = at_terminal(people.alice)
    first = json.loads(alice("members", "invite", "zoe", "--json").out)
    second = json.loads(alice("members", "link", "zoe", "--json").out)
    assert (first["role"], first["link_expires_in_seconds"]) == ("annotator", 1800)
    assert second["link"].startswith("https://rubrics.example/sign-in/?token=")


def test_who_is_known_already_joins_without_a_link(people: Cast, at_terminal) -> None:
    alice = at_terminal(people.alice)
    assert "Charlie (charlie) is now viewer" in alice("members", "invite", "charlie", "--role", "viewer").out
    twice = alice("members", "invite", "charlie")
    assert (twice.code, "already in" in twice.err) == (1, True)


def test_members_are_listed_with_addresses_for_owners_only(people: Cast, at_terminal) -> None:
    User.objects.filter(pk=people.rae.pk).update(email="rae@example.org")
    seen = {}
    for person in (people.alice, people.bob):
        rows = [
            json.loads(line) for line in at_terminal(person)("members", "list", "--json").out.splitlines()
        ]
        assert [row["username"] for row in rows] == ["alice", "ed", "rae", "ann", "bob"]
        assert [row["role"] for row in rows] == ["owner", "editor", "reviewer", "annotator", "viewer"]
        seen[person] = "rae@example.org" in at_terminal(person)("members", "list").out
        assert ("email" in rows[2]) == seen[person]
    assert seen == {people.alice: True, people.bob: False}


def test_a_role_is_changed_and_a_member_removed_but_not_the_only_owner(people: Cast, at_terminal) -> None:
    alice = at_terminal(people.alice)
    assert "Bob (bob) is now editor" in alice("members", "role", "bob", "editor").out
    unknown = alice("members", "role", "bob", "emperor")
    assert (unknown.code, "viewer" in unknown.err) == (2, True)
    for refused in (alice("members", "role", "alice", "viewer"), alice("members", "remove", "alice")):
        assert (refused.code, "only owner" in refused.err) == (1, True)
    assert "no longer in" in alice("members", "remove", "bob").out
    gone = alice("members", "remove", "bob")
    assert (gone.code, gone.out) == (1, "")
    assert "There is no member 'bob' in Capital quality. Known: alice, ann, ed, rae." in gone.err


def test_a_token_is_made_used_listed_and_revoked(people: Cast, at_terminal) -> None:
    ann = at_terminal(people.ann)
    made = ann("tokens", "new", "ci", "--write", "--days", "7")
    secret = made.out.strip()
    assert re.fullmatch(r"rw_[\w-]{43}", secret)
    assert "cannot be shown again" in made.err
    assert ApiClient(secret).get("/me")["username"] == "ann"
    listed = ann("tokens", "list")
    assert secret not in listed.out + listed.err
    [row] = map(json.loads, ann("tokens", "list", "--json").out.splitlines())
    assert (row["name"], row["may_write"], row["state"]) == ("ci", True, "live")
    assert at_terminal(people.alice)("tokens", "list", "--json").out == ""
    others = at_terminal(people.alice)("tokens", "revoke", row["id"])
    assert (others.code, "has no token" in others.err) == (1, True)
    assert "is revoked" in ann("tokens", "revoke", "ci").out
    assert ApiToken.objects.get().revoked_at is not None
    assert ApiClient(secret).call("GET", "/me").status_code == 401
    assert "revoked" in ann("tokens", "list").out
    long = ann("tokens", "new", "ci", "--days", "1000")
    assert (long.code, "1 to 366 days" in long.err) == (1, True)
