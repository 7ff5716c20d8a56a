"""The commands docs/operations.md gives for backing up and restoring, run as they stand."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.installation import ROOT, Installation, scratch_installation

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
