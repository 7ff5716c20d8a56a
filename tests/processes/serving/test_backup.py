"""The commands docs/operations.md gives for backing up and restoring, run as they stand."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest
import yaml

from tests.installation import ROOT, Installation, scratch_installation
from tests.processes.fleet import Postgres, postgres_programs

pytestmark = pytest.mark.processes

TABLES = ("rubricweb_dataset", "rubricweb_item", "rubricweb_rubricversion", "rubricweb_journalentry")


def command(name: str) -> str:
    """The block of shell below the mark of this name."""
    page = (ROOT / "docs" / "operations.md").read_text()
    [found] = re.findall(rf"<!-- {name} -->\n```sh\n(.*?)```", page, re.DOTALL)
    return str(found)


def rows(installation: Installation) -> dict[str, list[tuple[object, ...]]]:
    return {table: installation.query(f"SELECT * FROM {table} ORDER BY id") for table in TABLES}


def filled(installation: Installation, folder: Path) -> dict[str, list[tuple[object, ...]]]:
    items = folder / "answers.jsonl"
    items.write_text('{"id": "a", "submission": "Paris."}\n{"id": "b", "submission": "Über Lyon."}\n')
    done = installation.run("import-dataset", items)
    assert done.returncode == 0, done.stderr
    return rows(installation)


def test_what_was_backed_up_is_there_after_restoring(tmp_path: Path) -> None:
    with scratch_installation() as before, scratch_installation(empty=True) as after:
        kept = filled(before, tmp_path)
        assert len(kept["rubricweb_item"]) == 2
        if before.database_url:
            for name, installation in (("backup", before), ("restore", after)):
                env = {**os.environ, "DATABASE_URL": installation.database_url}
                subprocess.run(["sh", "-ec", command(name)], cwd=tmp_path, env=env, check=True)
        else:
            shutil.copytree(before.folder, after.folder, dirs_exist_ok=True)
        assert rows(after) == kept
        listed = after.run("datasets", "list")
        assert listed.returncode == 0, listed.stderr
        assert "answers" in listed.stdout


# In the place of Docker: a command for the container of the database is run here, where its server is.
DOCKER = """#!/bin/sh
[ "$2" = exec ] || exit 0
[ "$3 $4" = "-T postgres" ] || exit 1
shift 4
exec "$@"
"""


def test_the_commands_for_docker_compose_put_the_backup_in_the_place_of_what_is_there(tmp_path: Path) -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert {"web", "worker"} <= set(services)
    names = services["postgres"]["environment"]
    assert names["POSTGRES_USER"] == names["POSTGRES_DB"] == "rubricweb"
    programs = postgres_programs()
    if programs is None:
        pytest.skip("this test starts a PostgreSQL of its own: initdb must be installed")
    (tmp_path / "docker").write_text(DOCKER)
    (tmp_path / "docker").chmod(0o755)
    with tempfile.TemporaryDirectory(prefix="rubricweb-compose-") as folder:  # PostgreSQL's user may enter
        server = Postgres(programs, Path(folder))
        try:
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute("CREATE ROLE rubricweb SUPERUSER LOGIN")  # as the image makes them
                connection.execute("CREATE DATABASE rubricweb OWNER rubricweb")
            address = server.url.replace("postgres@", "rubricweb@").removesuffix("postgres") + "rubricweb"
            with psycopg.connect(address) as connection:
                connection.execute("CREATE TABLE kept AS SELECT 'before' AS said")
            host, _, port = server.url.rpartition("@")[2].removesuffix("/postgres").partition(":")
            path = f"{tmp_path}:{programs}:{os.environ['PATH']}"
            env = {**os.environ, "PATH": path, "PGHOST": host, "PGPORT": port}
            subprocess.run(["sh", "-ec", command("compose backup")], cwd=tmp_path, env=env, check=True)
            with psycopg.connect(address) as connection:
                connection.execute("UPDATE kept SET said = 'after'")
            subprocess.run(["sh", "-ec", command("compose restore")], cwd=tmp_path, env=env, check=True)
            with psycopg.connect(address) as connection:
                assert connection.execute("SELECT said FROM kept").fetchall() == [("before",)]
        finally:
            server.end()
