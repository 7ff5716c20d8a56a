"""Killed in mid-run and started again: every verdict exactly once, only calls in flight repeated."""

import time
from collections.abc import Callable

import pytest

from tests.installation import Installation
from tests.processes.conftest import Serve, SlowJudge, wait_for
from tests.processes.kills.demo_calls import ALL, CALLS, HALF, PAID, VERDICTS

pytestmark = [pytest.mark.processes]


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
