"""The database server is killed while a job is at its item 250: all or nothing, and it goes on by itself."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.installation import COMMAND, DATABASE_URL, OWN, ROOT, Installation
from tests.processes.fleet import Kept, Postgres, Redis, postgres_programs, wait_until
from tests.waiting import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not DATABASE_URL.startswith("postgres"), reason="SQLite has no server to kill"),
]

ITEMS = 150  # of a build; together they are more than 250
LARGE = 300
# Whoever stores or removes the item at position 250 waits, in the middle of a transaction, for a lock that a
# test holds. The lock goes with the server, so that after the kill nobody waits any more.
PAUSE = """
CREATE FUNCTION wait_for_the_test() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock(250); RETURN coalesce(NEW, OLD); END $$;
CREATE TRIGGER stored BEFORE INSERT ON rubricweb_item FOR EACH ROW WHEN (NEW.position = 250)
EXECUTE FUNCTION wait_for_the_test();
CREATE TRIGGER removed BEFORE DELETE ON rubricweb_item FOR EACH ROW WHEN (OLD.position = 250)
EXECUTE FUNCTION wait_for_the_test();
"""
WAITING = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@dataclass
class Mortal:
    """An installation whose database server can be killed, and a worker."""

    installation: Installation
    postgres: Postgres
    worker: Kept

    def run(self, *arguments: str | Path) -> None:
        """A command to its end."""
        ended = self.installation.run(*arguments)
        assert ended.returncode == 0, ended.stderr

    @contextmanager
    def killed_amid(self, *arguments: str | Path, at: str = "worker") -> Iterator[None]:
        """A command begins a job, which inside waits at its item 250; afterwards the server is killed.

        Who is at it then is the command, or the worker: that takes it up because the command was killed.
        """
        lock = psycopg.connect(self.postgres.url, autocommit=True)
        lock.execute("SELECT pg_advisory_lock(250)")
        words = self.installation.folder / "words.txt"
        argv = [*COMMAND, *map(str, arguments)]
        with words.open("w") as said:
            job = subprocess.Popen(argv, cwd=ROOT, env=self.installation.env, stdout=said, stderr=said)
        try:
            wait_until(lambda: job.poll() is not None or self.installation.query(WAITING), self.worker)
            assert job.poll() is None, words.read_text()
            if at == "worker":
                job.kill()
                job.wait()
                self.installation.query(WAITING.replace("1", "pg_terminate_backend(pid)"))
                wait_until(lambda: self.installation.query(WAITING), self.worker)
            yield
            self.postgres.kill()
            wait_until(self.postgres.answers, self.postgres, self.worker)
            assert job.wait(timeout=PATIENCE_SECONDS) != 0
            if at == "command":
                assert "A worker goes on with this once it is back." in words.read_text()
        finally:
            job.kill()
            lock.close()

    def wait_for(self, sql: str, expected: str) -> None:
        """Until the one row of it is as expected, without anybody doing anything."""

        def happened() -> bool:
            with suppress(psycopg.OperationalError):
                return self.installation.query(sql) == [(expected,)]
            return False

        wait_until(happened, self.postgres, self.worker)

    def count(self, table: str, where: str = "true") -> int:
        return self.installation.number(f"SELECT count(*) FROM rubricweb_{table} WHERE {where}")

    def file(self, name: str, items: int) -> Path:
        """Questions 0, 1, … with the answers of one build, in a file."""
        path = self.installation.folder / f"{name}.jsonl"
        rows = [{"id": f"i{n}", "prompt": f"Case {n}?", "submission": f"{name} {n}"} for n in range(items)]
        path.write_text("\n".join(map(json.dumps, rows)))
        return path


@pytest.fixture(scope="module")
def mortal() -> Iterator[Mortal]:
    """On a PostgreSQL and Redis of its own, in one folder, gone afterwards."""
    kept: list[Kept] = []
    folder = Path(tempfile.mkdtemp(prefix="rubricweb-mortal-"))  # one that PostgreSQL's user may enter
    programs = postgres_programs()
    if programs is None or not shutil.which("redis-server"):
        pytest.fail("this test starts servers of its own: initdb and redis-server must be installed")
    try:
        kept.append(postgres := Postgres(programs, folder))
        kept.append(redis := Redis(folder))
        env = {name: value for name, value in os.environ.items() if name not in OWN} | {
            "DATABASE_URL": postgres.url,
            "CELERY_BROKER_URL": redis.url,
            "RUBRICWEB_VAR_DIR": str(folder),
            "RUBRICWEB_LOCAL": "1",
            "SECRET_KEY": "mortal-" + "x" * 40,
            "PYTHONPATH": str(ROOT),
            "DJANGO_SETTINGS_MODULE": "rubricweb.settings",
            "SWEEP_SECONDS": "1",
        }
        python = sys.executable
        subprocess.run([python, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=env, check=True)
        installation = Installation(folder, env, postgres.url)
        installation.change(PAUSE)
        argv = [python, "-m", "rubricweb.management.serving.worker", "--concurrency", "1"]
        kept.append(worker := Kept("worker", argv, env, folder))
        one = Mortal(installation, postgres, worker)
        one.run("create-team", "Big", "--owner", "olga")
        yield one
        installation.close()  # a server that is told to stop waits for whoever is connected
    finally:
        for process in reversed(kept):
            process.end()
        shutil.rmtree(folder, ignore_errors=True)


def test_an_import_amid_which_the_database_is_killed_is_stored_once(mortal: Mortal) -> None:
    file = mortal.file("stored", LARGE)
    with mortal.killed_amid("datasets", "import", file, "--name", "stored", at="command"):
        assert mortal.count("dataset", "name = 'stored'") == mortal.count("item") == 0
    mortal.wait_for("SELECT state FROM rubricweb_datasetimport WHERE name = 'stored'", "done")
    of_it = "dataset_id = (SELECT id FROM rubricweb_dataset WHERE name = 'stored')"
    assert mortal.count("item", of_it) == mortal.count("case", of_it) == LARGE
    assert mortal.count("datasetchange", of_it) == 1
    # What was kept on the way is gone.
    assert mortal.count("importbatch") == mortal.count("keptfile") == 0


def test_a_combination_amid_which_the_database_is_killed_has_every_item_once(mortal: Mortal) -> None:
    for name in ("v1", "v2"):
        mortal.run("datasets", "import", mortal.file(name, ITEMS), "--name", name)
    with mortal.killed_amid("datasets", "combine", "v1", "v2", "--name", "both"):
        [copied] = mortal.installation.query("SELECT items_copied FROM rubricweb_combination")
        assert copied == (200,)  # the first batch
        team = "team_id = (SELECT id FROM rubricweb_team WHERE name = 'Big')"
        assert mortal.count("dataset", f"name = 'both' AND {team}") == 0
    mortal.wait_for("SELECT state FROM rubricweb_combination", "done")
    of_it = "dataset_id = (SELECT id FROM rubricweb_dataset WHERE name = 'both')"
    # Both builds answer the same questions: a case for each, and the originals keep their items.
    assert mortal.count("item", of_it) == 2 * ITEMS
    assert mortal.count("case", of_it) == ITEMS
    assert mortal.installation.number(f"SELECT count(DISTINCT key) FROM rubricweb_item WHERE {of_it}") == 300
    for name in ("v1", "v2"):
        in_original = f"dataset_id = (SELECT id FROM rubricweb_dataset WHERE name = '{name}')"
        assert mortal.count("item", in_original) == ITEMS
    assert mortal.count("team") == 1


def test_a_deletion_amid_which_the_database_is_killed_leaves_no_rows(mortal: Mortal) -> None:
    before = mortal.count("item")
    mortal.run("datasets", "import", mortal.file("gone", LARGE), "--name", "gone")
    with mortal.killed_amid("delete", "dataset", "gone", "--yes-delete", "gone"):
        assert 0 < mortal.count("item") - before < 300
        assert mortal.count("dataset", "name = 'gone'") == 1  # in its bin
    mortal.wait_for("SELECT state FROM rubricweb_deletion", "done")
    assert mortal.count("item") == before
    assert (
        mortal.count("case", "NOT EXISTS (SELECT 1 FROM rubricweb_item WHERE case_id = rubricweb_case.id)")
        == 0
    )
    assert mortal.count("dataset", "name = 'gone'") == 0
    assert mortal.count("team") == 1
    # Its items and their cases, its import, its first version, itself and its bin.
    assert mortal.installation.number("SELECT rows_removed FROM rubricweb_deletion") == 2 * LARGE + 4


ASK_TWICE = """
import django
django.setup()
from django.test import Client
for _ in range(2):
    input()
    print(Client().get("/ready", headers={"Host": "localhost"}).content.decode(), flush=True)
"""


def test_a_database_that_hangs_is_away_for_whoever_asks_ready(mortal: Mortal) -> None:
    argv, env = [sys.executable, "-c", ASK_TWICE], mortal.installation.env
    with subprocess.Popen(
        argv, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as web:
        assert web.stdin
        assert web.stdout
        print(file=web.stdin, flush=True)
        assert json.loads(web.stdout.readline())["database"] == "ok"
        with mortal.postgres.hanging():
            try:  # over the connection that is open by now
                told, _ = web.communicate("\n", timeout=PATIENCE_SECONDS)
            finally:
                web.kill()
        assert json.loads(told) == {"database": "away", "broker": "ok", "workers": None}
