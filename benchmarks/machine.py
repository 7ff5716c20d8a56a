"""What a measurement stands on: a scratch installation, a judge, workers, and what the kernel counts."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import redis

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60.0
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class JudgeServer:
    """`benchmarks.judge_server` in a process of its own."""

    def __init__(self, folder: Path, core: int | None = None) -> None:
        port_file = folder / "judge-port"
        argv = [sys.executable, "-m", "benchmarks.judge_server", "--port-file", str(port_file)]
        self._process = subprocess.Popen(argv + (["--core", str(core)] if core is not None else []), cwd=ROOT)
        wait_for(port_file.exists, "the judge server's port")
        self.root = f"http://127.0.0.1:{port_file.read_text().strip()}"

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    def behave(self, **settings: Any) -> None:
        """Takes these settings of `judge_server.Behaviour`, the others as they are by default, and counts
        anew.
        """
        request = urllib.request.Request(
            f"{self.root}/behaviour", json.dumps(settings).encode(), method="PUT"
        )
        urllib.request.urlopen(request, timeout=10).close()

    def count(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.root}/count", timeout=10) as answer:
            return dict(json.load(answer))

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


@dataclass(frozen=True)
class Used:
    """What a process and all under it have used so far: CPU seconds, and the largest memory any one had."""

    cpu_seconds: float
    peak_rss_mb: float


class Workers:
    """A Celery worker with so many grading processes, as `rubricweb serve` and the container start it."""

    def __init__(self, folder: Path, processes: int) -> None:
        self.log = folder / f"worker-{uuid.uuid4().hex[:6]}.log"
        argv = [sys.executable, "-m", "rubricweb.management.serving.worker", "--concurrency", str(processes)]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(argv, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
        wait_for(
            lambda: b" ready." in self.log.read_bytes() or self._process.poll() is not None, "the worker"
        )
        if self._process.poll() is not None:
            raise RuntimeError(f"the worker did not start:\n{self.log.read_text()[-4000:]}")

    @property
    def process_id(self) -> int:
        return self._process.pid

    def used(self) -> Used:
        return used_by(self._process.pid)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=15)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # the group is the worker's own
        self._process.wait()


@contextmanager
def workers(folder: Path, processes: int) -> Iterator[Workers]:
    started = Workers(folder, processes)
    try:
        yield started
    finally:
        started.stop()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="rubricweb-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def scratch_database(url: str) -> Iterator[str]:
    """A new database on the PostgreSQL server that `url` names, gone afterwards; "" gives "" (SQLite)."""
    if not url:
        yield ""
        return
    parts = urlsplit(url)
    if not parts.scheme.startswith("postgres"):
        raise SystemExit(f"DATABASE_URL is {parts.scheme}://…; these measurements know postgres:// and none")
    name = f"rubricweb_bench_{uuid.uuid4().hex[:12]}"
    admin = urlunsplit(parts._replace(scheme="postgresql", path="/postgres"))
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield urlunsplit(parts._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextmanager
def scratch_django() -> Iterator[Path]:
    """Sets Django up in this process, on a new database of the kind `DATABASE_URL` names, gone afterwards.
    Yields the folder it may use; import models within.
    """
    with scratch_folder() as folder, scratch_database(os.environ.get("DATABASE_URL", "")) as database:
        os.environ |= {
            "DATABASE_URL": database or f"sqlite:///{folder}/benchmark.sqlite3",
            "SECRET_KEY": "benchmark-" + "x" * 50,
            "RUBRICWEB_VAR_DIR": str(folder),
            "OFFLINE_JUDGE_URL": "http://127.0.0.1:9/v1",  # nobody is asked
            "DJANGO_SETTINGS_MODULE": "rubricweb.settings",
            "ALLOWED_HOSTS": "testserver",
        }
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        call_command("migrate", verbosity=0)
        yield folder
        connection.close()


def empty_queue(broker_url: str) -> None:
    """No wake-up of an earlier measurement arrives in this one."""
    if broker_url.startswith("redis"):
        redis.Redis.from_url(broker_url).delete("rubricweb")


def used_by(pid: int) -> Used:
    """Of a process, its living descendants, and those of its children that have ended."""
    cpu = peak = 0.0
    for one in [pid, *descendants(pid)]:
        with suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            cpu += sum(int(ticks) for ticks in fields[11:15]) / TICKS_PER_SECOND
            for line in Path(f"/proc/{one}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    peak = max(peak, int(line.split()[1]) / 1024)
    return Used(cpu, peak)


def cpu_of_programs(name: str) -> float:
    """CPU seconds of all processes of this machine whose program is called `name`, ended ones included."""
    seconds = 0.0
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == name:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                seconds += sum(int(ticks) for ticks in fields[11:15]) / TICKS_PER_SECOND
    return seconds


def descendants(pid: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        new = [child for child in children.get(waiting.pop(), []) if child not in found]
        found.update(new)
        waiting.extend(new)
    return found


def wait_for(
    happened: Callable[[], object], what: str, seconds: float = START_SECONDS, every: float = 0.02
) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(every)
