"""Throttles over several web processes: n + 1 tries are one too many, wherever they arrive."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.installation import ROOT, Installation, scratch_installation

NOW = datetime.now(UTC).replace(second=50, microsecond=0)


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with scratch_installation(API_REQUESTS_PER_MINUTE="5") as one:
        yield one


@pytest.fixture(scope="module")
def token(installation: Installation) -> str:
    [secret] = knocker(installation, "prepare")
    return secret


def knocker(installation: Installation, *arguments: object) -> list[str]:
    """What one process, which lives no longer than this, prints."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.processes.serving.knocker", *map(str, arguments)],
        cwd=ROOT,
        env=dict(installation.env),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split("\n")[:-1]


def test_the_sixth_try_of_a_password_is_refused_in_whichever_process(
    installation: Installation, token: str
) -> None:
    """Five wrong ones in five minutes: three here, two there; then the right one is not even tried."""
    assert knocker(installation, "sign-in", NOW, "wrong", 3) == ["out"] * 3
    assert knocker(installation, "sign-in", NOW, "wrong", 2) == ["out"] * 2
    assert knocker(installation, "sign-in", NOW, "right one, truly", 1) == ["out"]
    later = NOW + timedelta(minutes=5, seconds=1)
    assert knocker(installation, "sign-in", later, "right one, truly", 1) == ["in"]


def test_the_sixth_request_of_a_token_waits_for_the_next_minute(
    installation: Installation, token: str
) -> None:
    assert knocker(installation, "api", NOW, token, 3) == ["200"] * 3
    # At 50 seconds past the minute the next one is 10 seconds away.
    assert knocker(installation, "api", NOW, token, 3) == ["200", "200", "429 10"]
    assert knocker(installation, "api", NOW + timedelta(seconds=10), token, 1) == ["200"]
