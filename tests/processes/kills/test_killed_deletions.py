"""Whoever removes the rows of what was deleted is killed: somebody else goes on, and nothing is left."""

import json
import os
import signal
import subprocess
from collections.abc import Callable

import pytest

from tests.installation import COMMAND, ROOT, Installation
from tests.processes.conftest import Serve, wait_for

pytestmark = [pytest.mark.processes]
ITEMS, KEPT = 20_000, 200


def test_a_deletion_whose_process_is_killed_is_finished_by_a_worker_that_is_killed_too(
    serve: Callable[..., Serve], installation: Installation
) -> None:
    def removed() -> int:
        return installation.number("SELECT max(rows_removed) FROM rubricweb_deletion")

    def state() -> str:
        [[found]] = installation.query("SELECT state FROM rubricweb_deletion")
        return str(found)

    assert installation.run("create-team", "Big", "--owner", "olga").returncode == 0
    for name, items in (("kept", KEPT), ("large", ITEMS)):
        file = installation.folder / f"{name}.jsonl"
        lines = (json.dumps({"id": f"i{n}", "submission": f"Text {n}."}) for n in range(items))
        file.write_text("\n".join(lines))
        assert installation.run("datasets", "import", file, "--name", name).returncode == 0
    at_terminal = subprocess.Popen(
        [*COMMAND, "delete", "dataset", "large", "--yes-delete", "large"],
        cwd=ROOT,
        env=dict(installation.env),
    )
    wait_for(lambda: installation.query("SELECT id FROM rubricweb_deletion WHERE rows_removed > 0"))
    at_terminal.send_signal(signal.SIGKILL)
    at_terminal.wait()
    assert state() == "running", "killed too late to prove anything"
    before = removed()

    serving = serve()
    wait_for(lambda: removed() > before, serving)
    if state() == "running":
        for pid in serving.descendants(running="rubricweb.management.serving.worker"):
            os.kill(pid, signal.SIGKILL)
    wait_for(lambda: state() == "done", serving)

    # Each of the large dataset's items has a case of its own; only those of the other one are left.
    for table in ("item", "case"):
        assert installation.number(f"SELECT count(*) FROM rubricweb_{table}") == KEPT
    assert installation.query("SELECT name FROM rubricweb_dataset") == [("kept",)]
    assert installation.number("SELECT count(*) FROM rubricweb_team") == 1
    assert removed() == 2 * ITEMS + 4  # its import, its first version, itself and its bin
    assert serving.stop() == 0
