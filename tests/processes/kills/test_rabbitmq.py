"""RabbitMQ instead of Redis: wake-ups arrive, and runs go on and end while it is killed and comes back."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.installation import DATABASE_URL, Installation
from tests.processes.conftest import Serve, SlowJudge, wait_for
from tests.processes.fleet import RabbitMQ

pytestmark = [pytest.mark.processes]

CALLS = "SELECT count(*) FROM rubricweb_judgecall"
RUNNING = "SELECT count(*) FROM rubricweb_run WHERE state = 'running'"


@pytest.fixture
def rabbitmq(tmp_path: Path) -> Iterator[RabbitMQ]:
    if not DATABASE_URL:
        pytest.skip("RabbitMQ is tried where a database server is: set DATABASE_URL")
    if not RabbitMQ.PROGRAM.exists():
        pytest.fail(f"this test starts a RabbitMQ of its own, and {RabbitMQ.PROGRAM} is not installed")
    one = RabbitMQ(tmp_path)
    yield one
    one.end()


def test_runs_go_on_while_rabbitmq_is_killed_and_end_when_it_is_back(
    serve: Callable[..., Serve], installation: Installation, judge: SlowJudge, rabbitmq: RabbitMQ
) -> None:
    def answers_after(seconds: float) -> None:
        judge.script({"actions": [{"kind": "lexical", "delay_seconds": seconds}]})

    answers_after(1.0)
    serving = serve("--demo", OFFLINE_JUDGE_URL=f"{judge.root}/v1", CELERY_BROKER_URL=rabbitmq.url)
    wait_for(lambda: installation.number(CALLS) > 50, serving)

    rabbitmq.kill()
    stored = installation.number(CALLS)
    wait_for(lambda: installation.number(CALLS) > stored + 50, serving)  # work in hand goes on
    answers_after(10)  # so that there is work left when the broker is back
    rabbitmq.look_after()
    wait_for(rabbitmq.answers, serving)

    # Who was killed with work in hand is replaced, and its items are notified for by way of the broker.
    assert installation.number(RUNNING) > 0
    for pid in serving.descendants(running="rubricweb.management.serving.worker"):
        os.kill(pid, signal.SIGKILL)
    answers_after(0)
    wait_for(lambda: installation.number(RUNNING) == 0, serving)
    units = installation.query(
        "SELECT run_id, item_id, criterion_id FROM rubricweb_judgement WHERE run_id > 0"
    )
    assert len(units) == len(set(units)) == 5 * 8 * 9 + 10 * 6
    assert installation.number("SELECT count(*) FROM rubricweb_judgement WHERE error_kind IS NOT NULL") == 0
    assert serving.stop() == 0
