"""Everything is killed at random while a judge misbehaves: the run ends by itself, complete, paid once."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from rubricweb.management.serving.serve import WORKER_CLASS
from tests.installation import DATABASE_URL, OWN, ROOT, Installation
from tests.processes.fleet import Kept, Postgres, Redis, free_port, postgres_programs, wait_until
from tests.waiting import PATIENCE_SECONDS

ITEMS, CRITERIA, BAD_ITEMS = 200, 10, 3
QUESTIONS = ITEMS * CRITERIA
# Of all together. On the embedded form every second one hits the worker, which takes seconds to come back.
KILLS, KILLS_EMBEDDED = int(os.environ.get("CHAOS_KILLS", "8")), 8

pytestmark = [pytest.mark.processes]

SEED = 4
BAD = "refused-by-the-judge"
# Of all requests: 10 % 429, 5 % 500, 3 % cut off, 3 % garbage, 2 % never answered.
BEHAVIOUR = {
    "latency_seconds": 0.1,
    "rate_limited": 0.10,
    "retry_after": 0.2,
    "server_error": 0.05,
    "reset": 0.03,
    "garbage": 0.03,
    "hang": 0.02,
    "seed": SEED,
    "refuse": BAD,
    "tell_apart": True,
}
# 23 % of the attempts fail. That so many in a row do for one of 2,000 questions: 2,000 × 0.23^14 = 2e-6.
ATTEMPTS = 14

PLAN = """
import json, sys
import django
django.setup()
from django.utils import timezone
from rubricweb import tasks
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Membership
from rubricweb.services.datasets import datasets
from rubricweb.services.rubrics import rubrics
from rubricweb.services.runs import lifecycle as runs
from rubricweb.services.runs.starting import RunOptions
from rubricweb.services.teams import teams
url, items, criteria, bad_items, bad, attempts = json.loads(sys.argv[1])
owner = teams.create_person("olga")
team = teams.create_team("Chaos", owner=owner)
draft = {"criteria": [{"weight": 1, "requirement": f"Says thing number {n}."} for n in range(criteria)]}
rubric = rubrics.create_rubric(team, by=owner, title="Chaos", draft=draft)
lines = [
    json.dumps({"id": str(n), "submission": f"Text {n}." + (f" {bad}" if n < bad_items else "")})
    for n in range(items)
]
dataset = datasets.import_dataset_file(
    team, by=owner, data="\\n".join(lines).encode(), filename="chaos.jsonl"
).dataset
judge = JudgeConfig(
    name="chaos", base_url=url, model="bench", concurrency=16, allow_private_hosts=True,
    timeout_seconds=2, max_attempts=attempts, backoff_seconds=0.1, stop_grace_seconds=1,
)
run = runs.start_run(
    team, by=owner, dataset=dataset, rubric_version=rubrics.publish(rubric, by=owner),
    options=RunOptions(judge_id="environment", judge=judge), enqueue=tasks.notify, no_cap=True,
)
membership = Membership.objects.get(user=owner, team=team)
_, secret = teams.create_token(membership, name="chaos", may_write=False, days=1, now=timezone.now())
print(json.dumps([run.pk, secret]))
"""


@dataclass
class Fleet:
    """What runs, what may be killed, and how to look at it from outside."""

    installation: Installation
    judge: Kept
    judge_root: str
    web: Kept
    web_root: str
    worker: Kept
    postgres: Postgres | None = None
    redis: Redis | None = None
    unstored: list[int] = field(default_factory=list)

    @property
    def mortal(self) -> list[Kept]:
        return [one for one in (self.worker, self.web, self.redis, self.postgres) if one is not None]

    def count(self) -> dict[str, Any]:
        """What the judge has seen so far."""
        with urllib.request.urlopen(f"{self.judge_root}/count", timeout=PATIENCE_SECONDS) as answer:
            return dict(json.load(answer))

    def has_answered(self, questions: int) -> bool:
        """Whether the judge has; a run that ended before that is a failure of the test."""
        if self.count()["distinct"] >= questions:
            return True
        with suppress(psycopg.OperationalError):
            ended = self.installation.query(
                "SELECT state, stop_reason FROM rubricweb_run WHERE state NOT IN ('running', 'finished')"
            )
            assert not ended, f"the run ended: {ended}; the judge saw {self.count()}"
        return False

    def stored(self) -> int:
        """Questions whose answers are in the tables, as soon as the database can be asked."""
        answered: list[int] = []

        def ask() -> bool:
            with suppress(psycopg.OperationalError):
                sql = "SELECT count(*) FROM rubricweb_judgement WHERE verdict IS NOT NULL"
                answered.append(self.installation.number(sql))
            return bool(answered)

        wait_until(ask, *self.mortal)
        return answered[-1]

    def kill(self, victim: Kept) -> None:
        """Kills it, and notes what was begun and not stored yet: only that may be paid for twice."""
        if victim in (self.worker, self.postgres):
            stored = self.stored()
            victim.stop_moving()
            seen = self.count()
            self.unstored.append(seen["in_flight"] + seen["distinct"] - stored)
        victim.kill()

    def state(self, run_id: int, secret: str) -> str:
        """The run's state as the API tells it; "" while web or database cannot say."""
        request = urllib.request.Request(
            f"{self.web_root}/api/v1/runs/{run_id}", headers={"Authorization": f"Bearer {secret}"}
        )
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return str(json.load(answer)["state"])
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise
        except (OSError, ValueError):
            pass
        return ""


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    """On a PostgreSQL and Redis of its own when the test run is on such, else on the embedded form.

    All of it is in one folder, on free ports, and gone afterwards.
    """
    kept: list[Kept] = []
    folder = Path(tempfile.mkdtemp(prefix="rubricweb-chaos-"))  # one that PostgreSQL's user may enter
    env = {name: value for name, value in os.environ.items() if name not in OWN}
    env |= {
        "RUBRICWEB_VAR_DIR": str(folder / "var"),
        "RUBRICWEB_LOCAL": "1",
        "SECRET_KEY": "chaos-" + "x" * 40,
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "DJANGO_SETTINGS_MODULE": "rubricweb.settings",
        "OPENAI_API_KEY": "chaos",
        "SWEEP_SECONDS": "1",
    }
    judge_port, web_port = free_port(), free_port()
    env["OPENAI_BASE_URL"] = f"http://127.0.0.1:{judge_port}/v1"
    (folder / "var").mkdir()
    try:
        postgres = redis = None
        if DATABASE_URL.startswith("postgres"):
            programs = postgres_programs()
            missing = [] if programs else ["initdb"]
            missing += [] if shutil.which("redis-server") else ["redis-server"]
            if programs is None or missing:
                pytest.fail(f"this test starts servers of its own, and {', '.join(missing)} is not installed")
            kept.append(postgres := Postgres(programs, folder))
            kept.append(redis := Redis(folder))
            env |= {"DATABASE_URL": postgres.url, "CELERY_BROKER_URL": redis.url}
        installation = Installation(folder / "var", env, postgres.url if postgres else "")
        python = sys.executable
        subprocess.run([python, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=env, check=True)

        def start(name: str, *argv: str) -> Kept:
            kept.append(one := Kept(name, [python, "-m", *argv], env, folder))
            return one

        settings = json.dumps(BEHAVIOUR)
        judge = start("judge", "benchmarks.judge_server", "--port", str(judge_port), "--settings", settings)
        bind = ["--bind", f"127.0.0.1:{web_port}", "--workers", "2", "--threads", "4"]
        bind += ["--preload", "--no-control-socket"]
        web = start("web", "gunicorn", "rubricweb.wsgi", "--worker-class", WORKER_CLASS, *bind)
        worker = start("worker", "rubricweb.management.serving.worker", "--concurrency", "2")
        judge_root, web_root = f"http://127.0.0.1:{judge_port}", f"http://127.0.0.1:{web_port}"
        yield Fleet(installation, judge, judge_root, web, web_root, worker, postgres, redis)
        installation.close()  # a server that is told to stop waits for whoever is connected
    finally:
        for one in reversed(kept):
            one.end()
        shutil.rmtree(folder, ignore_errors=True)


def test_killed_at_random_with_a_judge_that_misbehaves_every_verdict_is_there_once(fleet: Fleet) -> None:
    run_id, secret = plan(fleet)
    began = time.monotonic()
    lot = random.Random(SEED)
    kills = KILLS if fleet.postgres else KILLS_EMBEDDED
    victims = [fleet.mortal[number % len(fleet.mortal)] for number in range(kills)]
    lot.shuffle(victims)
    # When so many questions have been answered, the next is killed; all within the first nine tenths.
    moments = sorted(lot.sample(range(20, QUESTIONS * 9 // 10), kills))
    for victim, moment in zip(victims, moments, strict=True):
        wait_until(lambda moment=moment: fleet.has_answered(moment), *fleet.mortal)
        fleet.kill(victim)
        time.sleep(lot.uniform(0, 0.5))
    wait_until(lambda: fleet.state(run_id, secret) not in ("", "running"), *fleet.mortal)
    took = time.monotonic() - began
    seen = fleet.count()
    lost = sum(fleet.unstored)
    killed = ", ".join(f"{one.name} {one.kills}" for one in fleet.mortal)
    print(f"{took:.0f} s; killed: {killed}; judge: {seen}; begun and not stored at kills: {fleet.unstored}")

    installation = fleet.installation
    assert fleet.state(run_id, secret) == "finished"
    units = installation.query("SELECT item_id, criterion_id FROM rubricweb_judgement")
    assert len(units) == len(set(units)) == QUESTIONS
    failed = "SELECT {} FROM rubricweb_judgement WHERE error_kind IS NOT NULL"
    assert installation.query(failed.format("DISTINCT error_kind")) == [("bad_request",)]
    assert installation.number(failed.format("count(*)")) == BAD_ITEMS * CRITERIA
    assert installation.number(failed.format("count(DISTINCT item_id)")) == BAD_ITEMS
    assert installation.number("SELECT count(*) FROM rubricweb_runitem WHERE graded_at IS NULL") == 0
    scores = "SELECT DISTINCT score FROM rubricweb_runitem WHERE errors = 0"
    assert installation.query(scores) == [(1.0,)]

    # The judge's own count: every question answered, and a second time only what was on its way at a kill.
    verdicts = QUESTIONS - BAD_ITEMS * CRITERIA
    assert seen["distinct"] == verdicts
    assert seen["answered"] - seen["distinct"] == seen["repeated"] <= lost
    retries = sum(
        seen["outcomes"][fault] for fault in ("rate_limited", "server_error", "reset", "garbage", "hang")
    )
    assert seen["requests"] <= QUESTIONS + retries + lost
    # Every call that was stored is counted once, in the same transaction.
    calls = installation.number("SELECT count(*) FROM rubricweb_judgecall")
    assert installation.number("SELECT sum(calls) FROM rubricweb_runtally") == calls


def plan(fleet: Fleet) -> tuple[int, str]:
    """A run over all items, started; its id, and a token that may look at it."""
    asked = json.dumps([f"{fleet.judge_root}/v1", ITEMS, CRITERIA, BAD_ITEMS, BAD, ATTEMPTS])
    done = subprocess.run(
        [sys.executable, "-c", PLAN, asked],
        cwd=ROOT,
        env=fleet.installation.env,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    run_id, secret = json.loads(done.stdout.splitlines()[-1])
    return int(run_id), str(secret)
