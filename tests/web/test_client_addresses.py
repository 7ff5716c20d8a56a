"""Whose address wrong passwords are counted for: the connection's, or what trusted proxies saw."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from tests.factories import Cast
from tests.installation import ROOT
from tests.waiting import PATIENCE_SECONDS

PASSWORD = "right one, truly"
OFFICE, ELSEWHERE = "203.0.113.7", "203.0.113.8"


@pytest.fixture
def people(people: Cast) -> Iterator[Cast]:
    people.ann.set_password(PASSWORD)
    people.ann.save()
    with time_machine.travel(datetime(2026, 3, 2, 9, 0, tzinfo=UTC), tick=False):  # all in one minute
        yield people


def signs_in(forwarded: str, login: str = "ann", password: str = PASSWORD) -> bool:
    """Whether a sign-in that comes over a proxy at 127.0.0.1 with this X-Forwarded-For is let in."""
    answer = Client().post(
        reverse("account_login"),
        {"login": login, "password": password},
        headers={"X-Forwarded-For": forwarded} if forwarded else {},
    )
    assert answer.status_code in (200, 302)
    return bool(answer.status_code == 302)


def ten_wrong(ending: str) -> None:
    """As many as one address has in a minute: for other accounts, with other invented addresses."""
    for number in range(10):
        assert not signs_in(f"198.51.100.{number}{ending}", login=f"nobody-{number}", password="wrong")


def test_without_a_trusted_proxy_an_invented_address_is_ignored(people: Cast) -> None:
    ten_wrong("")
    assert not signs_in(ELSEWHERE)
    assert not signs_in("")


def test_behind_one_proxy_the_address_it_saw_counts(people: Cast, settings) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    ten_wrong(f", {OFFICE}")
    assert not signs_in(OFFICE)
    assert not signs_in(f"{ELSEWHERE}, {OFFICE}")
    assert signs_in(ELSEWHERE)


def test_behind_two_proxies_the_address_that_the_outer_one_saw_counts(people: Cast, settings) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 2
    ten_wrong(f", {OFFICE}, 10.0.0.1")
    assert not signs_in(f"{OFFICE}, 10.0.0.1")
    assert signs_in(f"{ELSEWHERE}, 10.0.0.1")


def test_who_comes_past_a_proxy_counts_as_who_connected(people: Cast, settings) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 2
    ten_wrong("")  # one address where two proxies would leave two
    assert not signs_in("")
    assert signs_in(f"{ELSEWHERE}, 10.0.0.1")


@pytest.mark.parametrize(
    ("given", "said"), [("2", "2"), ("", "0"), ("-1", "TRUSTED_PROXY_COUNT is -1; it must be at least 0")]
)
def test_the_environment_says_how_many_proxies_there_are(given: str, said: str) -> None:
    environment = {**os.environ, "RUBRICWEB_LOCAL": "1"} | ({"TRUSTED_PROXY_COUNT": given} if given else {})
    ended = subprocess.run(
        [sys.executable, "-c", "from rubricweb import settings as s; print(s.ALLAUTH_TRUSTED_PROXY_COUNT)"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert said in (ended.stdout or ended.stderr)
