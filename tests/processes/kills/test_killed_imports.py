"""Whoever brings a file in is killed, then worker and web: somebody else goes on, and it is there once."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.installation import COMMAND, ROOT, Installation
from tests.processes.conftest import Serve, wait_for

pytestmark = [pytest.mark.processes]
ITEMS = 30_000


def test_an_import_whose_process_is_killed_is_finished_by_a_worker_that_is_killed_too(
    serve: Callable[..., Serve], installation: Installation
) -> None:
    def state() -> str:
        [[found]] = installation.query("SELECT state FROM rubricweb_datasetimport")
        return str(found)

    assert installation.run("create-team", "Big", "--owner", "olga").returncode == 0
    file = installation.folder / "items.jsonl"
    file.write_text("\n".join(json.dumps({"id": f"i{n}", "submission": f"Text {n}."}) for n in range(ITEMS)))
    at_terminal = subprocess.Popen(
        [*COMMAND, "datasets", "import", file, "--name", "large"], cwd=ROOT, env=dict(installation.env)
    )
    wait_for(lambda: installation.query("SELECT id FROM rubricweb_datasetimport WHERE rows_read > 0"))
    at_terminal.send_signal(signal.SIGKILL)
    at_terminal.wait()
    assert state() == "running", "killed too late to prove anything"
    assert installation.number("SELECT count(*) FROM rubricweb_item") == 0

    serving = serve()
    wait_for(lambda: installation.query("SELECT id FROM rubricweb_datasetimport WHERE worker <> ''"), serving)
    for program in ("rubricweb.management.serving.worker", "gunicorn"):
        for pid in serving.descendants(running=program):
            with suppress(ProcessLookupError):  # a child goes with its parent
                os.kill(pid, signal.SIGKILL)
    wait_for(lambda: state() == "done", serving)

    for table in ("item", "case"):
        assert installation.number(f"SELECT count(*) FROM rubricweb_{table}") == ITEMS
    assert installation.query("SELECT name FROM rubricweb_dataset") == [("large",)]
    # What was kept on the way is gone.
    for table in ("importbatch", "keptfile"):
        assert installation.number(f"SELECT count(*) FROM rubricweb_{table}") == 0
    assert serving.stop() == 0
