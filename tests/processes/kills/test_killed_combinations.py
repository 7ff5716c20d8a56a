"""Whoever combines datasets is killed: a worker goes on, and every item is there once."""

import json
import os
import signal
import subprocess
from collections.abc import Callable

import pytest

from tests.installation import COMMAND, ROOT, Installation
from tests.processes.conftest import Serve, wait_for

pytestmark = [pytest.mark.processes]
ITEMS = 4_000


def test_a_combination_whose_process_is_killed_is_finished_by_a_worker_that_is_killed_too(
    serve: Callable[..., Serve], installation: Installation
) -> None:
    def copied() -> int:
        return installation.number("SELECT max(items_copied) FROM rubricweb_combination")

    def state() -> str:
        [[found]] = installation.query("SELECT state FROM rubricweb_combination")
        return str(found)

    assert installation.run("create-team", "Big", "--owner", "olga").returncode == 0
    for name in ("replies v1", "replies v2"):
        rows = [{"id": f"i{n}", "prompt": f"Case {n}?", "submission": f"{name} {n}"} for n in range(ITEMS)]
        file = installation.folder / "items.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)))
        assert installation.run("datasets", "import", file, "--name", name).returncode == 0
    at_terminal = subprocess.Popen(
        [*COMMAND, "datasets", "combine", "replies v1", "replies v2", "--name", "replies"],
        cwd=ROOT,
        env=dict(installation.env),
    )
    wait_for(lambda: installation.query("SELECT id FROM rubricweb_combination WHERE items_copied > 0"))
    at_terminal.send_signal(signal.SIGKILL)
    at_terminal.wait()
    assert state() == "running", "killed too late to prove anything"
    before = copied()

    serving = serve()
    wait_for(lambda: copied() > before, serving)
    if state() == "running":
        for pid in serving.descendants(running="rubricweb.management.serving.worker"):
            os.kill(pid, signal.SIGKILL)
    wait_for(lambda: state() == "done", serving)

    # Both builds answer the same questions: a case for each; the originals keep their items.
    of_new = "FROM rubricweb_{} WHERE dataset_id = (SELECT dataset_id FROM rubricweb_combination)"
    assert installation.number(f"SELECT count(*) {of_new.format('item')}") == 2 * ITEMS
    assert installation.number(f"SELECT count(*) {of_new.format('case')}") == ITEMS
    assert installation.number("SELECT count(*) FROM rubricweb_item") == 4 * ITEMS
    assert installation.number("SELECT count(*) FROM rubricweb_team") == 1
    assert serving.stop() == 0
