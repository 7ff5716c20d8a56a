"""Whose tables are migrated, by whom and when: as commands, `serve` and `manage migrate` say it."""

import subprocess
from collections.abc import Callable

import psycopg
import pytest

from tests.installation import COMMAND, DATABASE_URL, ROOT, Installation
from tests.processes.conftest import Serve, wait_for
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.processes

NEWER = "0999_of_a_newer_release"
LAST = "SELECT name FROM django_migrations WHERE app = 'rubricweb' ORDER BY name DESC LIMIT 1"


@pytest.mark.parametrize("command", [["datasets", "list"], ["serve"], ["manage", "migrate"]], ids=" ".join)
def test_a_database_of_a_newer_release_is_refused(installation: Installation, command: list[str]) -> None:
    installation.change(
        "INSERT INTO django_migrations (app, name, applied) "
        f"VALUES ('rubricweb', '{NEWER}', '2026-03-02 09:00:00+00')"
    )
    refused = installation.run(*command)
    assert refused.returncode == 1
    assert f"this one does not know {NEWER}. Install the newer release" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_nothing_is_migrated_below_a_serve_of_an_older_release(
    serve: Callable[..., Serve], installation: Installation
) -> None:
    serve()
    [(last,)] = installation.query(LAST)
    installation.change(f"DELETE FROM django_migrations WHERE app = 'rubricweb' AND name = '{last}'")
    refused = installation.run("datasets", "list")
    assert refused.returncode == 1
    assert "The database is older than this release, and `rubricweb serve` runs on it." in refused.stderr
    assert installation.query(LAST) != [(last,)]


@pytest.mark.skipif(not DATABASE_URL, reason="POSTGRESQL: SQLite has one writer at a time")
@pytest.mark.parametrize("installation", ["empty"], indirect=True)
def test_of_two_that_migrate_at_once_the_second_waits(installation: Installation) -> None:
    waiting = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    of_ours = "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    argv = [*COMMAND, "manage", "migrate", "--verbosity", "0"]
    with psycopg.connect(installation.database_url) as first:
        first.execute("SELECT pg_advisory_xact_lock(x'727562726963'::bigint)")
        second = subprocess.Popen(argv, cwd=ROOT, env=installation.env)
        try:
            wait_for(lambda: second.poll() is not None or installation.query(f"{waiting} {of_ours}"))
            assert installation.query("SELECT to_regclass('django_migrations') IS NULL") == [(True,)]
            first.rollback()
            assert second.wait(timeout=PATIENCE_SECONDS) == 0
        finally:
            second.kill()
    assert installation.number("SELECT count(*) FROM rubricweb_team") == 0
