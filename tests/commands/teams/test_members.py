"""`rubricweb members` and `tokens`: who is in a team, and what their programs carry."""

import json
import re

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.test import Client
from django.urls import reverse
from sesame.utils import get_query_string

from rubricweb.errors import Invalid
from rubricweb.management import console
from rubricweb.models import ApiToken, Membership, Role, User
from rubricweb.services.teams import teams
from tests.api.client import ApiClient
from tests.factories import Cast


@pytest.fixture(autouse=True)
def address(monkeypatch: pytest.MonkeyPatch, settings) -> None:
    monkeypatch.setenv("SITE_URL", "https://rubrics.example")
    settings.SITE_URL = "https://rubrics.example"


def test_somebody_new_is_invited_and_comes_in_by_the_link_once(people: Cast, at_terminal, client) -> None:
    alice = at_terminal(people.alice)
    invited = alice("members", "invite", "zoe@example.org", "--role", "reviewer", "--name", "Zoe")
    link = invited.out.strip()
    assert link.startswith("https://rubrics.example/invitation/?token=")
    assert "works once, for 7 days" in invited.err
    [waiting] = map(json.loads, alice("members", "invitations", "--json").out.splitlines())
    assert (waiting["email"], waiting["role"], waiting["mailed"]) == ("zoe@example.org", "reviewer", False)
    assert "zoe@example.org" in alice("members", "invitations").out
    sent = {
        "token": link.partition("token=")[2],
        "username": "zoe",
        "name": "Zoe",
        "password": "a" * 9 + "bcd1",
    }
    client.post(reverse("invitation"), sent)
    membership = Membership.objects.get(team=people.team, user__username="zoe")
    assert (membership.role, str(membership.user)) == (Role.REVIEWER, "Zoe")
    assert client.session["_auth_user_id"] == str(membership.user.pk)
    again = alice("members", "link", "zoe")
    assert (again.code, "rubricweb sign-in-link zoe" in again.err) == (1, True)


def test_a_lost_link_is_made_again_until_the_invitation_is_withdrawn(people: Cast, at_terminal) -> None:
    alice = at_terminal(people.alice)
    first = json.loads(alice("members", "invite", "zoe", "--json").out)
    second = json.loads(alice("members", "link", "zoe", "--json").out)
    assert (first["role"], second["id"] == first["id"]) == ("annotator", True)
    assert second["link"] != first["link"]
    assert "is withdrawn" in alice("members", "withdraw", "zoe").out
    gone = alice("members", "withdraw", "zoe")
    assert (gone.code, "no open invitation" in gone.err) == (1, True)


def test_a_member_who_was_never_here_gets_a_link_by_which_they_choose_a_password(
    people: Cast, at_terminal, client
) -> None:
    teams.add_member(people.team, teams.create_person("zoe"), Role.VIEWER, by=people.alice)
    link = at_terminal(people.alice)("members", "link", "zoe").out.strip()
    client.post(reverse("invitation"), {"token": link.partition("token=")[2], "password": "a" * 9 + "bcd1"})
    assert client.session["_auth_user_id"] == str(User.objects.get(username="zoe").pk)


def test_who_is_known_already_is_asked_too(people: Cast, at_terminal) -> None:
    alice = at_terminal(people.alice)
    assert "token=" in alice("members", "invite", "charlie", "--role", "viewer").out
    assert not Membership.objects.filter(team=people.team, user=people.charlie).exists()
    twice = alice("members", "invite", "ann")
    assert (twice.code, "already in" in twice.err) == (1, True)


def test_people_are_found_by_a_proven_address_only(people: Cast, at_terminal) -> None:
    alice = at_terminal(people.alice)
    User.objects.filter(pk=people.bob.pk).update(email="ceo@victim.example")
    claimed = alice("members", "role", "ceo@victim.example", "owner")
    assert (claimed.code, "There is no member" in claimed.err) == (1, True)
    EmailAddress.objects.create(user=people.ann, email="ceo@victim.example", verified=True, primary=True)
    assert "Ann (ann) is now editor" in alice("members", "role", "CEO@victim.example", "editor").out
    # Nor by a user name that is somebody else's address, which earlier releases allowed.
    User.objects.filter(pk=people.bob.pk).update(username="ceo@victim.example")
    assert "Ann (ann) is now viewer" in alice("members", "role", "ceo@victim.example", "viewer").out
    with pytest.raises(Invalid, match="holds an @"):
        teams.ensure_person("cfo@victim.example")


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
        assert rows[2]["email"] == ("rae@example.org" if seen[person] else None)
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


def test_who_lost_the_phone_signs_in_without_it_once_the_operator_took_it_off(
    people: Cast, at_terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    TOTP.activate(people.ann, generate_totp_secret())
    RecoveryCodes.activate(people.ann)
    link = reverse("one_time_link") + get_query_string(people.ann)
    asked = Client().post(reverse("one_time_link"), {"token": link.partition("token=")[2]})
    assert asked["Location"] == reverse("mfa_authenticate")

    assert console.main(["remove-second-factor", "ann"]) == 0
    assert "rubricweb sign-in-link ann" in capsys.readouterr().err
    people.ann.refresh_from_db()  # a link says when its holder came last
    client, link = Client(), reverse("one_time_link") + get_query_string(people.ann)
    client.post(reverse("one_time_link"), {"token": link.partition("token=")[2]})
    assert client.get(reverse("dashboard", args=[people.team.slug])).status_code == 200
    said = at_terminal(people.bob)("audit-log", "--limit", "1").out
    assert "rubricweb took off the second factor of member Ann" in said

    assert console.main(["remove-second-factor", "ann"]) == 1
    assert "Ann has set up no second factor." in capsys.readouterr().err
