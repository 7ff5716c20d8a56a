"""Throttles over several web processes: n + 1 tries are one too many, wherever they arrive."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.installation import ROOT, Installation, scratch_installation
from tests.waiting import PATIENCE_SECONDS

NOW = datetime.now(UTC).replace(second=50, microsecond=0)


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with scratch_installation(API_REQUESTS_PER_MINUTE="5") as one:
        yield one


@pytest.fixture(scope="module")
def token(installation: Installation) -> str:
    return knocker(installation, "prepare").strip()


def knocker(installation: Installation, argument: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.processes.serving.knocker", argument],
        cwd=ROOT,
        env=dict(installation.env),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def knocks(installation: Installation, *processes: tuple[str, datetime, str, int]) -> list[list[str]]:
    """What each of these processes, which live one after the other, is answered."""
    asked = json.dumps([(what, str(moment), secret, times) for what, moment, secret, times in processes])
    return [json.loads(line) for line in knocker(installation, asked).splitlines()]


def test_the_sixth_try_of_a_password_is_refused_in_whichever_process(
    installation: Installation, token: str
) -> None:
    """Five wrong ones in five minutes: three here, two there; then the right one is not even tried."""
    later = NOW + timedelta(minutes=5, seconds=1)
    assert knocks(
        installation,
        ("sign-in", NOW, "wrong", 3),
        ("sign-in", NOW, "wrong", 2),
        ("sign-in", NOW, "right one, truly", 1),
        ("sign-in", later, "right one, truly", 1),
    ) == [["out"] * 3, ["out"] * 2, ["out"], ["in"]]


def test_the_sixth_request_of_a_token_waits_for_the_next_minute(
    installation: Installation, token: str
) -> None:
    """At 50 seconds past the minute the next one is 10 seconds away."""
    assert knocks(
        installation,
        ("api", NOW, token, 3),
        ("api", NOW, token, 3),
        ("api", NOW + timedelta(seconds=10), token, 1),
    ) == [["200"] * 3, ["200", "200", "429 10"], ["200"]]
