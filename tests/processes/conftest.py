"""A real `rubricweb serve` per test, and what is alive of it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests import waiting
from tests.installation import COMMAND, ROOT, Installation, scratch_installation
from tests.waiting import PATIENCE_SECONDS


class Serve:
    """A running `rubricweb serve`: its address, its words, and every process under it."""

    def __init__(self, installation: Installation, *arguments: str, **env: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self._said = installation.folder / f"serve-{port}.txt"
        with self._said.open("w") as said:
            self.process = subprocess.Popen(
                [*COMMAND, "serve", "--port", str(port), *arguments],
                cwd=ROOT,
                env={**installation.env, **env},
                stdout=said,
                stderr=said,
            )
        self._seen: set[int] = set()

    @property
    def said(self) -> str:
        return self._said.read_text()

    @property
    def link(self) -> str:
        [link] = re.findall(rf"{self.address}/sign-in/\S+", self.said)
        return str(link)

    def wait_until_up(self) -> "Serve":
        wait_for(lambda: "Ctrl+C stops everything" in self.said or self.process.poll() is not None, self)
        assert self.process.poll() is None, self.said
        return self

    def healthy(self) -> bool:
        with suppress(OSError), urllib.request.urlopen(f"{self.address}/health", timeout=5) as answer:
            return bool(answer.status == 200)
        return False

    def descendants(self, *, running: str = "") -> set[int]:
        """Every process under the supervisor, or those whose command line holds `running`."""
        found = {pid for pid in _descendants(self.process.pid) if running in _command_line(pid)}
        self._seen |= found
        return found

    def survivors(self) -> set[int]:
        """Of all processes ever seen under the supervisor, those still alive."""
        return {pid for pid in self._seen if _is_alive(pid)}

    def kill_everything(self) -> None:
        """SIGKILL for the supervisor and all under it, as a machine that loses power would."""
        doomed = [self.process.pid, *self.descendants()]
        for pid in doomed:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=PATIENCE_SECONDS)


class SlowJudge:
    """The offline judge in a process of its own, with a delay, and its list of what it was asked."""

    def __init__(self, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}"

    def script(self, script: dict[str, Any]) -> None:
        request = urllib.request.Request(
            f"{self.root}/script",
            json.dumps(script).encode(),
            {"Content-Type": "application/json"},
            method="PUT",
        )
        urllib.request.urlopen(request, timeout=PATIENCE_SECONDS).close()

    def asked(self) -> int:
        """Requests since the last script was set."""
        return self._told("count")

    def in_flight(self) -> int:
        """Of these, the ones that are being answered."""
        return self._told("in_flight")

    def _told(self, what: str) -> int:
        with urllib.request.urlopen(f"{self.root}/script", timeout=PATIENCE_SECONDS) as answer:
            return int(json.load(answer)[what])


def wait_for(happened: Callable[[], object], serve: Serve | None = None) -> None:
    """Waits; says what the server wrote when it was in vain."""
    waiting.wait_for(happened, log=lambda: serve.said if serve else "")


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[SlowJudge]:
    port_file = tmp_path / "port"
    process = subprocess.Popen(
        [sys.executable, "-m", "rubricweb.judges.offline", "--scripted", "--port-file", str(port_file)],
        cwd=ROOT,
    )
    try:
        wait_for(port_file.exists)
        yield SlowJudge(int(port_file.read_text()))
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_SECONDS)


@pytest.fixture
def installation(request: pytest.FixtureRequest) -> Iterator[Installation]:
    """A prepared one; with the parameter "empty" one where nothing is yet, as at the first start."""
    # Programs of these tests ask as fast as they can: how often a token may be used is tested by itself.
    more = {"SWEEP_SECONDS": "1", "API_REQUESTS_PER_MINUTE": "0", "FILES_READ_AT_ONCE": "100"}
    with scratch_installation(empty=getattr(request, "param", "") == "empty", **more) as one:
        yield one


@pytest.fixture
def serve(installation: Installation) -> Iterator[Callable[..., Serve]]:
    """`serve(…)` starts one and waits until it is up; whatever is left of it at the end is killed."""
    started: list[Serve] = []

    def start(*arguments: str, **env: str) -> Serve:
        one = Serve(installation, *arguments, **env)
        started.append(one)
        return one.wait_until_up()

    yield start
    for one in started:
        one.descendants()
        if one.process.poll() is None:
            one.kill_everything()
        for pid in one.survivors():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _descendants(pid: int) -> set[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in parents.get(waiting.pop(), []):
            found.add(child)
            waiting.append(child)
    return found


def _command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return ""


def _is_alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
