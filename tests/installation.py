"""A scratch installation of its own for tests that start real processes: folder, database, environment.

On the machine's SQLite by default; on a fresh PostgreSQL database, and its broker, when DATABASE_URL and
CELERY_BROKER_URL say so for the whole test run.
"""

import atexit
import fcntl
import functools
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import redis

from tests.waiting import PATIENCE_SECONDS
from tests.warm_start import Warm

TEST_RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
REDIS_DATABASES = 16
ROOT = Path(__file__).resolve().parent.parent
COMMAND = (sys.executable, "-m", "rubricweb.management.console")


def _of_its_own(broker_url: str) -> str:
    """The broker for this one of several test processes: each takes a Redis database of its own, counting
    down from the one that is named, so that none gets another's wake-ups.
    """
    parts = urlsplit(broker_url)
    number = parts.path.removeprefix("/")
    if not parts.scheme.startswith("redis") or not number.isdecimal():
        return broker_url
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return urlunsplit(parts._replace(path=f"/{(int(number) - process) % REDIS_DATABASES}"))


PREPARE = """
import django
from django.core.management import call_command
from rubricweb.management import console
from rubricweb.management.serving import static_files
console.name_settings()
django.setup()
call_command("migrate", verbosity=0)
static_files.collect()
"""
# What a test run may have set for itself, and a scratch installation must not inherit.
OWN = (
    "DATABASE_URL",
    "CELERY_BROKER_URL",
    "DJANGO_SETTINGS_MODULE",
    "SECRET_KEY",
    "OPENAI_API_KEY",
    "OFFLINE_JUDGE_URL",
    "RUBRICWEB_VAR_DIR",
    "RUBRICWEB_LOCAL",
    "SITE_URL",
)
DATABASE_URL = os.environ.get("DATABASE_URL", "")
BROKER_URL = _of_its_own(os.environ.get("CELERY_BROKER_URL", ""))


@dataclass(frozen=True)
class Installation:
    """Where one scratch installation lives; `env` is what its processes see."""

    folder: Path
    env: Mapping[str, str]
    database_url: str
    _warm: list[Warm] = field(default_factory=list)
    _connections: list["psycopg.Connection[tuple[Any, ...]]"] = field(default_factory=list)

    def run(
        self, *arguments: str | Path, timeout: float = PATIENCE_SECONDS, **env: str
    ) -> "subprocess.CompletedProcess[str]":
        """One `rubricweb …` command, to its end; with an environment of its own it starts cold."""
        if not env:
            if not self._warm:
                self._warm.append(Warm(str(ROOT), self.env))
            return self._warm[0].run([str(one) for one in arguments], timeout=timeout)
        return subprocess.run(
            [*COMMAND, *map(str, arguments)],
            cwd=ROOT,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def close(self) -> None:
        """Ends what was kept."""
        for kept in (self._warm, self._connections):
            while kept:
                kept.pop().close()

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows straight from the tables, past everything that is being tested."""
        if self.database_url:
            if self._connections:  # kept, for tests ask again and again while they wait
                try:
                    return self._connections[0].execute(sql).fetchall()
                except psycopg.OperationalError:  # the server was killed since
                    self._connections.pop().close()
            self._connections.append(psycopg.connect(self.database_url, autocommit=True))
            return self._connections[0].execute(sql).fetchall()
        with closing(sqlite3.connect(self.folder / "rubricweb.sqlite3", timeout=30)) as connection:
            return connection.execute(sql).fetchall()

    def change(self, sql: str) -> None:
        """Rows changed straight in the tables, for what would take too long to wait for."""
        if self.database_url:
            with psycopg.connect(self.database_url) as connection:
                connection.execute(sql)
            return
        with closing(sqlite3.connect(self.folder / "rubricweb.sqlite3", timeout=30)) as connection:
            connection.execute(sql)
            connection.commit()

    def number(self, sql: str) -> int:
        [[number]] = self.query(sql)
        return int(number)


@contextmanager
def scratch_installation(*, empty: bool = False, **more: str) -> Iterator[Installation]:
    """An installation with tables and static files, or an `empty` one; it is gone afterwards."""
    with _scratch(None if empty else _prepared(), **more) as one:
        yield one


@contextmanager
def _scratch(template: Installation | None, **more: str) -> Iterator[Installation]:
    """A copy of the template, or one where nothing is yet."""
    with ExitStack() as scope:
        folder = Path(tempfile.mkdtemp(prefix="rubricweb-scratch-"))
        scope.callback(shutil.rmtree, folder, ignore_errors=True)
        if template is not None:
            shutil.copytree(template.folder, folder, dirs_exist_ok=True)
        database_url = scope.enter_context(_database(template))
        env = {name: value for name, value in os.environ.items() if name not in OWN}
        env |= {"RUBRICWEB_VAR_DIR": str(folder), "PYTHONPATH": str(ROOT), **more}
        if database_url:
            env |= {
                "DATABASE_URL": database_url,
                "SECRET_KEY": "scratch-" + "x" * 40,
                "RUBRICWEB_LOCAL": "1",
            }
        if BROKER_URL:
            env["CELERY_BROKER_URL"] = BROKER_URL
            redis.Redis.from_url(BROKER_URL).delete("rubricweb")
        yield scope.enter_context(closing(Installation(folder, env, database_url)))


@functools.cache
def _prepared() -> Installation:
    """What a first start spends its time on, done once per test run.

    The first test process that needs it does it and leaves a note; the others take a copy of their own, since
    nobody knows which of them ends first.
    """
    scope = ExitStack()
    atexit.register(scope.close)
    with _one_at_a_time() as note:
        if note.exists():
            folder, database_url = json.loads(note.read_text())
            return scope.enter_context(_scratch(Installation(Path(folder), {}, database_url)))
        one = scope.enter_context(_scratch(None))
        subprocess.run([sys.executable, "-c", PREPARE], cwd=ROOT, env=one.env, check=True)
        note.write_text(json.dumps([str(one.folder), one.database_url]))
        scope.callback(_take_away_the_note)
    return one


@contextmanager
def _one_at_a_time() -> Iterator[Path]:
    """Of all processes of this test run one is inside; the place of their note."""
    folder = Path(tempfile.gettempdir(), f"rubricweb-prepared-{TEST_RUN}")
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder / "note.json"


def _take_away_the_note() -> None:
    with _one_at_a_time() as note:
        shutil.rmtree(note.parent)


@contextmanager
def _database(template: Installation | None) -> Iterator[str]:
    """A new PostgreSQL database beside the one of the test run, "" on SQLite."""
    if not DATABASE_URL.startswith("postgres"):
        yield ""
        return
    name = f"rubricweb_scratch_{uuid.uuid4().hex[:12]}"
    parts = urlsplit(DATABASE_URL)
    admin = urlunsplit(parts._replace(scheme="postgresql", path="/postgres"))
    source = urlsplit(template.database_url).path[1:] if template else "template1"
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{source}"')
    try:
        yield urlunsplit(parts._replace(scheme="postgresql", path=f"/{name}"))
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
