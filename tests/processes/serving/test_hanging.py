"""Servers that hang: they are still connected to, and never answer."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.installation import ROOT, Installation
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.processes

NOTIFY_AND_ASK = """
from rubricweb.management import console
console.name_settings()
import django
django.setup()
from django.test import Client
from rubricweb import tasks
tasks.notify(1)
answer = Client().get("/ready", headers={"Host": "localhost"})
print(answer.content.decode())
"""


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Of a server that takes every connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def ready(installation: Installation, **env: str) -> tuple[dict[str, Any], str]:
    """What a process is told by /ready after it has notified a worker of a run, and what it logged."""
    done = subprocess.run(
        [sys.executable, "-c", NOTIFY_AND_ASK],
        cwd=ROOT,
        env={**installation.env, **env},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    return json.loads(done.stdout), done.stderr


def test_a_redis_that_hangs_is_away_for_whoever_notifies_or_asks(
    installation: Installation, silent_port: int
) -> None:
    told, logged = ready(installation, CELERY_BROKER_URL=f"redis://127.0.0.1:{silent_port}/0")
    assert told == {"database": "ok", "broker": "away", "workers": 0}
    assert "wake-up for rubricweb.tasks.grade not sent, the reaper will send it" in logged
