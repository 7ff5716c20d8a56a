"""Servers that hang: they are still connected to, and never answer."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
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
for run in range(1, 9):
    tasks.notify(run)
answer = Client().get("/ready", headers={"Host": "localhost"})
print(answer.content.decode())
"""


class SilentServer:
    """Takes every connection, counts them, and never says a word."""

    def __init__(self, server: socket.socket) -> None:
        self.port: int = server.getsockname()[1]
        self.taken: list[socket.socket] = []
        self._server = server
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        with suppress(OSError):  # it is closed
            while True:
                self.taken.append(self._server.accept()[0])


@pytest.fixture
def silent() -> Iterator[SilentServer]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        one = SilentServer(server)
        yield one
        for connection in one.taken:
            connection.close()


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


def test_a_redis_that_hangs_is_away_for_whoever_asks_and_is_waited_for_once_by_who_notifies(
    installation: Installation, silent: SilentServer
) -> None:
    url = f"redis://127.0.0.1:{silent.port}/0"
    told, logged = ready(installation, CELERY_BROKER_URL=url, SWEEP_SECONDS="3600")
    assert told == {"database": "ok", "broker": "away", "workers": 0}
    # Eight wake-ups, one of them tried.
    assert logged.count("wake-up for rubricweb.tasks.grade not sent, nor any other for 3600 s") == 1
    # It is connected to twice for that, and twice for /ready: who asks is not told what was remembered.
    assert len(silent.taken) == 4
