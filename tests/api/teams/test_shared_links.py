"""Links to people without an account, for programs."""

from typing import Any

import pytest
from django.test import Client

from rubricweb.models import Run, SharedLink
from tests.api.client import ApiClient
from tests.factories import Cast
from tests.worlds.attempts import labelled_by_two


@pytest.fixture
def run(people: Cast) -> Run:
    return labelled_by_two(people, name="Attempts")[0]


def path_of(url: str) -> str:
    return url[url.index("/shared/") :]


def test_a_program_makes_lists_and_revokes_a_link(people: Cast, run: Run, as_member) -> None:
    alice = as_member(people.alice)
    made = alice.send("POST", "/shared-links", {"page": "comparison", "run_id": run.pk, "days": 1})
    assert made["title"] == "Attempts: judge against people"
    assert Client().get(path_of(made["url"])).status_code == 200
    [listed] = alice.get("/shared-links")["items"]
    assert (listed["state"], listed["opened"], listed["created_by"]) == ("live", 1, "alice")
    assert "url" not in listed
    assert alice.call("DELETE", f"/shared-links/{made['id']}").status_code == 204
    assert Client().get(path_of(made["url"])).status_code == 404
    assert alice.get("/shared-links")["items"][0]["state"] == "revoked"


@pytest.mark.parametrize(
    "body",
    [
        {"page": "run-diff", "run_id": 1},
        {"page": "comparison"},
        {"page": "dashboard", "days": 2},
        {"page": "items"},
        {"page": "dashboard", "title": "x" * 121},
    ],
)
def test_what_no_link_can_be_made_of_is_refused(
    people: Cast, run: Run, as_member, body: dict[str, Any]
) -> None:
    as_member(people.alice).refused(422, "POST", "/shared-links", body)
    assert not SharedLink.objects.exists()


def test_runs_of_another_team_are_not_found(people: Cast, run: Run, token) -> None:
    charlie = ApiClient(token(people.charlie, people.other_team))
    charlie.refused(404, "POST", "/shared-links", {"page": "comparison", "run_id": run.pk})
