"""`rubricweb shared-links`: links to people without an account, at the terminal."""

import json

import pytest
from django.test import Client

from rubricweb.models import Run
from tests.factories import Cast
from tests.worlds.attempts import labelled_by_two, stricter_run


@pytest.fixture(autouse=True)
def address(monkeypatch: pytest.MonkeyPatch, settings) -> None:
    monkeypatch.setenv("SITE_URL", "https://rubrics.example")
    settings.SITE_URL = "https://rubrics.example"


@pytest.fixture
def run(people: Cast) -> Run:
    return labelled_by_two(people, name="Attempts")[0]


def test_a_link_is_printed_once_listed_without_it_and_revoked(people: Cast, run: Run, at_terminal) -> None:
    alice = at_terminal(people.alice)
    assert "shares nothing yet" in alice("shared-links", "list").err
    later = stricter_run(people, run)
    made = alice(
        *("shared-links", "new", "run-diff", "--run", str(later.pk), "--with", str(run.pk)),
        *("--title", "Board", "--days", "1"),
    )
    url = made.out.strip()
    assert url.startswith("https://rubrics.example/shared/")
    path = url.removeprefix("https://rubrics.example")
    assert "Board" in Client().get(path).content.decode()
    [listed] = map(json.loads, alice("shared-links", "list", "--json").out.splitlines())
    assert (listed["title"], listed["page"], listed["opened"]) == ("Board", "run-diff", 1)
    assert path not in alice("shared-links", "list").out
    assert "is revoked" in alice("shared-links", "revoke", "Board").out
    assert Client().get(path).status_code == 404
    assert "no such shared link" in alice("shared-links", "revoke", "Bord").err
    assert alice("shared-links", "new", "dashboard", "--dataset", "nowhere").code == 1
    as_json = json.loads(alice("shared-links", "new", "dashboard", "--json").out)
    assert as_json["url"].startswith("https://rubrics.example/shared/")
