"""Invitations by programs: asked, given a new link, withdrawn."""

import re

import pytest
from django.test import Client

from tests.api.client import ApiClient
from tests.factories import Cast


@pytest.fixture
def alice(people: Cast, as_member) -> ApiClient:
    return as_member(people.alice)


def opens(link: str) -> bool:
    """Whether somebody who holds the link is offered to come in."""
    found = re.fullmatch(r"http://\S+?(/invitation/\?token=\S+)", link)
    assert found is not None
    return bool(Client().get(found[1]).status_code == 200)


def test_a_new_link_takes_the_place_of_the_old_one(alice: ApiClient) -> None:
    made = alice.send("POST", "/invitations", {"who": "zoe@example.org", "role": "reviewer"})
    renewed = alice.send("POST", f"/invitations/{made['id']}/link", {})
    assert {**renewed, "link": "", "expires_at": ""} == {**made, "link": "", "expires_at": ""}
    assert (opens(made["link"]), opens(renewed["link"])) == (False, True)
    assert [row["id"] for row in alice.get("/invitations")["items"]] == [made["id"]]


def test_a_withdrawn_invitation_is_gone_and_its_link_is_dead(alice: ApiClient) -> None:
    made = alice.send("POST", "/invitations", {"who": "zoe"})
    assert alice.call("DELETE", f"/invitations/{made['id']}").status_code == 204
    assert not opens(made["link"])
    assert alice.get("/invitations")["items"] == []
    alice.refused(404, "DELETE", f"/invitations/{made['id']}")
    alice.refused(404, "POST", f"/invitations/{made['id']}/link", {})
