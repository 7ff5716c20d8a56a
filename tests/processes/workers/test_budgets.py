"""Several worker processes spend at once: the caps hold."""

import subprocess
import sys

import pytest

from tests.installation import ROOT, Installation
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.processes]

SPENDER = (sys.executable, "-m", "tests.processes.workers.spender")
ESTIMATE, COST = 0.05, 0.06  # every call turns out a fifth dearer than thought


def spender(installation: Installation, run_id: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*SPENDER, "spend", run_id, str(ESTIMATE), str(COST)],
        cwd=ROOT,
        env=installation.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_workers_together_keep_to_a_runs_budget_and_to_the_teams(installation: Installation) -> None:
    prepared = subprocess.run(
        [*SPENDER, "prepare"], cwd=ROOT, env=installation.env, capture_output=True, text=True, check=False
    )
    assert prepared.returncode == 0, prepared.stderr
    first, second = prepared.stdout.split()
    workers = [spender(installation, run_id) for run_id in (first, first, first, second, second)]
    try:
        # Whoever had started first would have spent everything before the others came.
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.close()
        for worker in workers:
            assert worker.wait(timeout=PATIENCE_SECONDS) == 0
    finally:
        for worker in workers:
            worker.kill()
    spent = {
        str(run_id): usd
        for run_id, usd in installation.query(
            "SELECT run_id, sum(cost_usd) FROM rubricweb_runtally GROUP BY run_id"
        )
    }
    assert installation.query("SELECT count(*) FROM rubricweb_runtally WHERE reserved_usd > 0") == [(0,)]
    # A worker has one call in flight: each may be wrong about that one, by a cent.
    wrong = COST - ESTIMATE
    assert spent.get(first, 0.0) <= 1.0 + 3 * wrong + 1e-6
    assert sum(spent.values()) <= 1.5 + 5 * wrong + 1e-6
    # And nothing is left lying about but what is too little for another call.
    assert sum(spent.values()) > 1.5 - ESTIMATE - 1e-6
