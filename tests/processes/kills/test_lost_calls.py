"""A worker is killed in mid-call: what its calls may have cost is booked, as the judge's own count says."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.installation import ROOT, Installation
from tests.processes.conftest import SlowJudge, wait_for
from tests.processes.kills import grader
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.processes]

MET = '{"explanation": "It is there.", "criterion_status": "MET"}'
PROMPT, COMPLETION = 100, 300
# What the judge charges for every request it took: 100 × 10 / 1,000,000 + 300 × 100 / 1,000,000 = 0.031.
EACH = (PROMPT * grader.INPUT_USD + COMPLETION * grader.OUTPUT_USD) / 1_000_000
QUESTIONS = 60


def says(*delays_seconds: float) -> dict[str, Any]:
    """One answer after another, each after its delay; the last delay is that of all later ones."""
    tokens = {"prompt_tokens": PROMPT, "completion_tokens": COMPLETION}
    met = {"kind": "say", "text": MET, **tokens}
    return {"actions": [met | {"delay_seconds": seconds} for seconds in delays_seconds]}


def told(installation: Installation, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.processes.kills.grader", *arguments],
        cwd=ROOT,
        env=dict(installation.env),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_a_killed_worker_had_in_flight_is_booked_as_at_most(
    installation: Installation, judge: SlowJudge
) -> None:
    # Half are answered; what is asked then waits for the kill, however late that comes.
    judge.script(says(*[0.02] * (QUESTIONS // 2), PATIENCE_SECONDS))
    run = told(installation, "prepare", f"{judge.root}/v1").strip()
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.processes.kills.grader", "grade", run],
        cwd=ROOT,
        env=dict(installation.env),
    )
    try:
        wait_for(lambda: judge.asked() > QUESTIONS // 2)
    finally:
        worker.kill()
        worker.wait()
    asked = judge.asked()
    assert asked < QUESTIONS
    judge.script(says(0.02))

    told(installation, "sweep")
    killed = json.loads(told(installation, "spending", run))
    at_most = killed["spent_usd"] + killed["lost_at_most_usd"]
    assert killed["lost_calls"] > 0
    assert killed["spent_usd"] <= asked * EACH + 1e-9
    assert asked * EACH <= at_most + 1e-9
    # It counts against the cap of 1,000, and nothing else is held any more.
    assert killed["held_usd"] == 0
    told(installation, "sweep")
    assert json.loads(told(installation, "spending", run)) == killed

    told(installation, "grade", run)
    ended = json.loads(told(installation, "spending", run))
    assert ended["state"] == "finished"
    # Every question's answer is known by now, and what was lost stays lost.
    assert ended["spent_usd"] == pytest.approx(QUESTIONS * EACH)
    assert (ended["lost_calls"], ended["lost_at_most_usd"]) == (
        killed["lost_calls"],
        killed["lost_at_most_usd"],
    )
    paid = (asked + judge.asked()) * EACH
    assert ended["spent_usd"] <= paid + 1e-9
    assert paid <= ended["spent_usd"] + ended["lost_at_most_usd"] + 1e-9
