"""Another worker grades what a killed one had in hand; what is stored is not asked again."""

import os
import signal
from collections.abc import Callable

import pytest

from tests.installation import Installation
from tests.processes.conftest import Serve, SlowJudge, wait_for
from tests.processes.kills.demo_calls import ALL, CALLS, HALF, PAID, VERDICTS

pytestmark = [pytest.mark.processes]


def test_a_killed_worker_is_replaced_and_its_items_are_graded(
    serve: Callable[..., Serve], installation: Installation, judge: SlowJudge
) -> None:
    judge.script(HALF)
    serving = serve("--demo", OFFLINE_JUDGE_URL=f"{judge.root}/v1")
    answered = CALLS // 2
    wait_for(lambda: installation.number(PAID) == answered, serving)
    in_flight_at_most = 2 * 16  # grading processes × JUDGE_CONCURRENCY
    assert judge.asked() - answered <= in_flight_at_most
    judge.script(ALL)  # the new worker asks this one; what hangs goes on hanging
    for pid in serving.descendants(running="rubricweb.management.serving.worker"):
        os.kill(pid, signal.SIGKILL)
    running = "SELECT count(*) FROM rubricweb_run WHERE state = 'running'"
    wait_for(lambda: installation.number(running) == 0, serving)
    # Every answer had been stored: only the questions that hung are asked again.
    assert judge.asked() == CALLS - answered
    found = installation.query(
        "SELECT run_id, item_id, criterion_id FROM rubricweb_judgement WHERE run_id > 0"
    )
    assert len(found) == len(set(found)) == VERDICTS
    assert installation.number("SELECT count(*) FROM rubricweb_judgement WHERE error_kind IS NOT NULL") == 0
    assert serving.stop() == 0
