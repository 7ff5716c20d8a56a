"""Tokens: who comes in, and how those who do not are told."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from rubricweb.models import ApiToken, Role, User
from rubricweb.services.teams import teams
from tests.api.client import ApiClient
from tests.factories import Cast


def test_a_token_stands_for_its_member(people: Cast, as_member) -> None:
    me = as_member(people.ann).get("/me")
    assert (me["username"], me["role"], me["team"]["slug"]) == ("ann", "annotator", "capitals")
    assert me["token"]["may_write"] is True


def test_single_keys_are_chosen_for_the_person_and_nobody_else(people: Cast, as_member, sign_in) -> None:
    ann = as_member(people.ann)
    assert ann.get("/me")["single_keys"] is True  # nobody has chosen yet
    page = sign_in(people.ann)
    assert "data-single-keys=" not in page.get("/", follow=True).content.decode()
    assert ann.send("PATCH", "/me", {"single_keys": False})["single_keys"] is False
    assert ann.get("/me")["single_keys"] is False
    assert 'data-single-keys="off"' in page.get("/", follow=True).content.decode()
    assert as_member(people.bob).get("/me")["single_keys"] is True
    assert ann.send("PATCH", "/me", {"single_keys": True})["single_keys"] is True
    assert 'data-single-keys="on"' in page.get("/", follow=True).content.decode()


@pytest.mark.parametrize("body", [{}, {"single_keys": None}, {"single_keys": True, "name": "Ann"}])
def test_choices_that_are_none_are_refused(people: Cast, as_member, body: dict) -> None:
    as_member(people.ann).refused(422, "PATCH", "/me", body)


def test_a_token_that_may_only_read_chooses_nothing(people: Cast, token) -> None:
    client = ApiClient(token(people.ann, people.team, may_write=False))
    client.refused(403, "PATCH", "/me", {"single_keys": False})
    assert client.get("/me")["single_keys"] is True


def test_the_team_lists_its_members_with_their_roles(people: Cast, as_member) -> None:
    User.objects.filter(pk=people.rae.pk).update(email="rae@example.org")
    members = as_member(people.bob).get("/team")["members"]
    assert [(member["username"], member["role"]) for member in members] == [
        ("alice", "owner"),
        ("ed", "editor"),
        ("rae", "reviewer"),
        ("ann", "annotator"),
        ("bob", "viewer"),
    ]
    # Addresses are for owners alone.
    assert {member["email"] for member in members} == {None}
    assert as_member(people.alice).get("/team")["members"][2]["email"] == "rae@example.org"


@pytest.mark.parametrize("secret", [None, "rw_made-up", "", "x" * 5000])
def test_without_a_live_token_nobody_comes_in(people: Cast, secret: str | None) -> None:
    response = ApiClient(secret).call("GET", "/me")
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith('Bearer realm="rubricweb"')
    assert response.json()["type"] == "urn:rubricweb:problem:unauthorized"


def test_a_token_stops_on_its_day(people: Cast, token) -> None:
    secret = token(people.ann, people.team, days=1)
    assert ApiClient(secret).get("/me")["username"] == "ann"
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert 'error="invalid_token"' in ApiClient(secret).call("GET", "/me")["WWW-Authenticate"]
    ApiClient(secret).refused(401, "GET", "/me")


def test_a_revoked_token_is_dead_at_once(people: Cast, token) -> None:
    secret = token(people.ann, people.team)
    teams.revoke_token(ApiToken.objects.get(), by=people.ann, now=timezone.now())
    ApiClient(secret).refused(401, "GET", "/me")


def test_who_leaves_the_team_takes_no_token_along(people: Cast, token) -> None:
    secret = token(people.ann, people.team)
    people.team.memberships.get(user=people.ann).delete()  # even without the service that revokes tokens
    ApiClient(secret).refused(401, "GET", "/me")


def test_an_inactive_person_has_no_token(people: Cast, token) -> None:
    secret = token(people.ann, people.team)
    people.ann.is_active = False
    people.ann.save()
    ApiClient(secret).refused(401, "GET", "/me")


def test_a_token_follows_the_role_of_today(people: Cast, token) -> None:
    secret = token(people.ed, people.team)
    draft = {"title": "One"}
    assert ApiClient(secret).call("POST", "/rubrics", draft).status_code == 201
    teams.change_role(people.team.memberships.get(user=people.ed), Role.VIEWER, by=people.alice)
    problem = ApiClient(secret).refused(403, "POST", "/rubrics", {"title": "Two"})
    assert "editor" in problem["detail"]


def test_a_read_only_token_writes_nothing(people: Cast, token) -> None:
    reader = ApiClient(token(people.ed, people.team, may_write=False))
    assert reader.get("/rubrics")["items"] == []
    problem = reader.refused(403, "POST", "/rubrics", {"title": "One"})
    assert "may only read" in problem["detail"]
    assert reader.get("/rubrics")["items"] == []


def test_the_use_of_a_token_is_noted(people: Cast, as_member) -> None:
    as_member(people.ann).get("/me")
    assert ApiToken.objects.get().last_used_at is not None


def test_a_browser_session_is_no_token(people: Cast, sign_in) -> None:
    assert sign_in(people.alice).get("/api/v1/me").status_code == 401


def test_the_secret_is_stored_nowhere(people: Cast, token) -> None:
    secret = token(people.ann, people.team)
    row = ApiToken.objects.values().get()
    assert secret not in str(row)


def test_the_audit_log_is_for_every_member_as_its_page_is(people: Cast, as_member) -> None:
    for person in (people.alice, people.bob):
        entries = as_member(person).get("/audit-log")["items"]
        assert (entries[0]["actor"], entries[0]["verb"], entries[0]["kind"]) == (
            str(person),
            "created",
            "API token",
        )


def test_the_description_needs_no_token(people: Cast) -> None:
    assert Client().get("/api/v1/openapi.json").status_code == 200
    assert Client().get("/api/v1/docs").status_code == 200


def test_a_token_over_its_rate_is_told_when_to_come_again(people: Cast, as_member, settings) -> None:
    settings.API_REQUESTS_PER_MINUTE = 2
    ann, bob = as_member(people.ann), as_member(people.bob)
    with time_machine.travel(timezone.now().replace(second=12), tick=False):
        for _ in range(2):
            ann.get("/me")
        refused = ann.call("GET", "/me")
        assert (refused.status_code, refused["Retry-After"]) == (429, "48")
        assert refused["Content-Type"] == "application/problem+json"
        assert refused.json()["type"] == "urn:rubricweb:problem:too-many-requests"
        bob.get("/me")  # every token has its own
        settings.API_REQUESTS_PER_MINUTE = 0
        ann.get("/me")


def test_whose_tokens_they_are_lists_and_revokes_them(people: Cast, as_member, token) -> None:
    ann = as_member(people.ann)
    reader = ApiClient(token(people.ann, people.team, may_write=False))
    mine = ann.get("/tokens")
    assert mine["next_cursor"] is None
    reads, writes = mine["items"]
    assert [(one["name"], one["may_write"], one["state"]) for one in mine["items"]] == [
        ("tests", False, "live"),
        ("tests", True, "live"),
    ]
    assert writes["begins"] == ann.secret[:8]
    assert ann.secret not in str(mine)
    assert ann.call("DELETE", f"/tokens/{reads['id']}").status_code == 204
    reader.refused(401, "GET", "/me")
    assert [one["state"] for one in ann.get("/tokens")["items"]] == ["revoked", "live"]
    # A token may end itself.
    assert ann.call("DELETE", f"/tokens/{writes['id']}").status_code == 204
    ann.refused(401, "GET", "/tokens")


def test_nobody_sees_or_revokes_a_token_of_somebody_else(people: Cast, as_member) -> None:
    ann, alice = as_member(people.ann), as_member(people.alice)
    [of_ann] = ann.get("/tokens")["items"]
    assert of_ann["id"] not in [one["id"] for one in alice.get("/tokens")["items"]]
    alice.refused(404, "DELETE", f"/tokens/{of_ann['id']}")
    assert ann.get("/me")["username"] == "ann"
