"""Workers whose machines disagree on the time: the database's counts."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.installation import DATABASE_URL, ROOT, Installation
from tests.processes.fleet import Kept, free_port, wait_until
from tests.waiting import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(
        not DATABASE_URL.startswith("postgres"), reason="SQLite has this machine's clock alone"
    ),
]

ITEMS = 60
LATE_WORKER = """
import datetime
import django
django.setup()
from django.utils import timezone
of_this_machine = timezone.now
timezone.now = lambda: of_this_machine() - datetime.timedelta(minutes=2)
from rubricweb.management.serving import worker
worker.main()
"""
PLAN = """
import sys
import django
django.setup()
from rubricweb import tasks
from rubricweb.services.runs import lifecycle as runs
from rubricweb.services.runs.starting import RunOptions
from tests import factories
people = factories.cast()
lines = [{"id": str(n), "submission": f"Text {n}."} for n in range(int(sys.argv[1]))]
runs.start_run(
    people.team, by=people.ed, options=RunOptions(judge_id="environment"), enqueue=tasks.notify, no_cap=True,
    dataset=factories.dataset(people.team, people.ed, items=lines),
    rubric_version=factories.version(people.team, people.ed, criteria=factories.CRITERIA[:1]),
)
"""
LOOK = """
import django
django.setup()
from rubricweb.selectors.shared.clock import database_now
from rubricweb.selectors.shared.workers import alive
print(len(alive(database_now())))
"""


def test_a_worker_two_minutes_late_is_alive_and_keeps_what_it_holds(
    installation: Installation, tmp_path: Path
) -> None:
    port = free_port()
    env = {
        **installation.env,
        "DJANGO_SETTINGS_MODULE": "rubricweb.settings",
        "OPENAI_API_KEY": "clocks",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
    }
    python = sys.executable
    settings = json.dumps({"latency_seconds": 1.0, "tell_apart": True})
    judge = Kept(
        "judge",
        [python, "-m", "benchmarks.judge_server", "--port", str(port), "--settings", settings],
        env,
        tmp_path,
    )
    kept = [judge]

    def asked() -> dict[str, int]:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/count", timeout=PATIENCE_SECONDS) as answer:
            return dict(json.load(answer))

    def states() -> list[tuple[str, str]]:
        return [
            (str(state), str(why))
            for state, why in installation.query("SELECT state, stop_reason FROM rubricweb_run")
        ]

    try:
        kept.append(Kept("late", [python, "-c", LATE_WORKER, "--concurrency", "1"], env, tmp_path))
        started = subprocess.run(
            [python, "-c", PLAN, str(ITEMS)], cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
        assert started.returncode == 0, started.stderr
        wait_until(lambda: asked()["requests"] > 0, *kept)
        looked = subprocess.run(
            [python, "-c", LOOK], cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
        assert looked.stdout.strip() == "1", looked.stderr
        kept.append(
            Kept(
                "punctual",
                [python, "-m", "rubricweb.management.serving.worker", "--concurrency", "1"],
                env,
                tmp_path,
            )
        )
        wait_until(lambda: states()[0][0] != "running", *kept)
        assert states() == [("finished", "")]
        assert asked()["repeated"] == 0
        assert asked()["distinct"] == ITEMS
    finally:
        for one in reversed(kept):
            one.end()
