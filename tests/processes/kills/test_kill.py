"""Killed in mid-run and started again: every verdict exactly once, only calls in flight repeated."""

import os
import signal
import time
from collections.abc import Callable

import pytest

from tests.installation import Installation
from tests.processes.conftest import Serve, SlowJudge, wait_for
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.processes]

# The demo: 8 replies of each of four versions × 9 criteria, those of the newest once more with all criteria
# in one call, and 10 notes × 6 criteria, one of them a check that no judge is asked about.
CALLS = 4 * 8 * 9 + 8 + 10 * 5
VERDICTS = 5 * 8 * 9 + 10 * 6
PAID = "SELECT count(*) FROM rubricweb_judgecall WHERE cached_from_id IS NULL"


# Half are answered; what is asked then waits for the kill, however late a busy machine comes to it.
HALF = {
    "actions": [
        *[{"kind": "lexical", "delay_seconds": 0.1}] * (CALLS // 2),
        {"kind": "lexical", "delay_seconds": PATIENCE_SECONDS},
    ]
}
ALL = {"actions": [{"kind": "lexical"}]}


def test_killed_in_mid_run_and_started_again_every_verdict_is_there_once(
    serve: Callable[..., Serve], installation: Installation, judge: SlowJudge
) -> None:
    def calls() -> int:
        return installation.number("SELECT count(*) FROM rubricweb_judgecall")

    judge.script(HALF)
    first = serve("--demo", OFFLINE_JUDGE_URL=f"{judge.root}/v1")
    wait_for(lambda: calls() > CALLS // 4, first)
    first.kill_everything()
    wait_for(lambda: not first.survivors(), first)
    time.sleep(1)  # what a database was told in the last moment, it may still finish
    stored, kept = calls(), installation.number(PAID)
    assert CALLS // 4 < stored <= CALLS // 2
    assert installation.number("SELECT count(*) FROM rubricweb_run WHERE state = 'running'") > 0

    judge.script(ALL)
    second = serve("--demo", OFFLINE_JUDGE_URL=f"{judge.root}/v1")
    running = "SELECT count(*) FROM rubricweb_run WHERE state = 'running'"
    wait_for(lambda: installation.number(running) == 0, second)

    # What was stored is never asked for again: only what was on its way at the kill is paid twice.
    assert judge.asked() == installation.number(PAID) - kept
    assert installation.number(PAID) == CALLS  # no two are the same question
    found = installation.query(
        "SELECT run_id, item_id, criterion_id FROM rubricweb_judgement WHERE run_id > 0"
    )
    assert len(found) == len(set(found)) == VERDICTS
    assert installation.query("SELECT DISTINCT state FROM rubricweb_run") == [("finished",)]
    assert installation.number("SELECT count(*) FROM rubricweb_judgement WHERE error_kind IS NOT NULL") == 0
    assert installation.number("SELECT count(*) FROM rubricweb_runitem WHERE score IS NULL") == 0
    assert calls() == CALLS
    assert second.stop() == 0
    assert second.survivors() == set()


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
