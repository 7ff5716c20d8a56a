"""Eight people at one queue, with bad computers and a bad network: all reviewed thrice, nothing lost."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.installation import ROOT, Installation
from tests.processes.conftest import Serve
from tests.processes.people.reviewer import label
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.processes]

PEOPLE, RATERS_PER_ITEM = 8, 3
KILL_EVERY_SECONDS, AWAY_EVERY_SECONDS = 1.0, 2.0

OPEN = """
import json, sys
import django
django.setup()
from django.utils import timezone
from rubricweb.models import Role
from rubricweb.services.datasets import datasets
from rubricweb.services.reviews import queues
from rubricweb.services.rubrics import rubrics
from rubricweb.services.teams import teams
items, people, raters_per_item, order = json.loads(sys.argv[1])
owner = teams.create_person("olga")
team = teams.create_team("Desk", owner=owner)
raters = [teams.create_person(f"rater{n}", name=f"rater{n}") for n in range(people)]
memberships = [teams.add_member(team, rater, Role.ANNOTATOR, by=owner) for rater in raters]
names = ("right", "short")
criteria = [{"name": name, "weight": 1.0, "requirement": f"Is {name}."} for name in names]
draft = {"title": "Desk", "criteria": criteria}
version = rubrics.publish(rubrics.create_rubric(team, by=owner, title="Desk", draft=draft), by=owner)
lines = "\\n".join(json.dumps({"id": f"item-{n}", "submission": f"Text {n}."}) for n in range(items))
dataset = datasets.import_dataset_file(
    team, by=owner, data=lines.encode(), filename="i.jsonl", name="items"
).dataset
asked = queues.QueueRequest(
    "All", dataset, version, raters, raters_per_item=raters_per_item, order=order,
)
queue = queues.create_queue(team, asked, by=owner)
now = timezone.now()
secrets = [teams.create_token(one, name="desk", may_write=True, days=1, now=now)[1] for one in memberships]
print(json.dumps({"queue": queue.pk, "tokens": {str(r): s for r, s in zip(raters, secrets)}}))
"""


@dataclass
class Client:
    """One person's program, started again after each SIGKILL."""

    argv: list[str]
    said: Path
    process: "subprocess.Popen[bytes] | None" = None
    starts: int = 0
    exits: list[int] = field(default_factory=list)

    def start(self) -> None:
        self.starts += 1
        with self.said.open("ab") as said:
            self.process = subprocess.Popen([*self.argv, str(self.starts)], cwd=ROOT, stderr=said)

    def is_done(self) -> bool:
        """Whether it ended by itself, finding nothing left to do; one that failed fails the test."""
        assert self.process is not None
        code = self.process.poll()
        assert code in (None, 0), self.said.read_text()
        return code == 0

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()


@pytest.mark.parametrize(
    ("order", "items"),
    [("shuffled", 24), pytest.param("dataset", 400, marks=pytest.mark.long)],
)
def test_every_item_gets_its_reviews_whoever_is_killed_or_cut_off(
    serve: Callable[..., Serve], installation: Installation, order: str, items: int
) -> None:
    server = serve("--workers", "1")
    desk = opened(installation, order, items)
    wanted = items * RATERS_PER_ITEM
    port, queue = server.address.rpartition(":")[2], desk["queue"]
    logs = {name: installation.folder / f"{name}.log" for name in desk["tokens"]}
    # -S: it needs nothing that is installed, and starts again and again.
    program = (sys.executable, "-S", "-m", "tests.processes.people.reviewer", port)
    clients = [
        Client([*program, name, token, str(queue), str(logs[name])], installation.folder / f"{name}.txt")
        for name, token in desk["tokens"].items()
    ]
    for client in clients:
        client.start()
    try:
        kills, away = disturb(clients, installation)
    finally:
        for client in clients:
            client.kill()

    assert kills >= {400: 10, 24: 1}[items]
    assert away >= {400: 3, 24: 1}[items]
    reviews = installation.query(
        "SELECT r.id, i.key, p.name, r.state, r.holds_place FROM rubricweb_review r "
        "JOIN rubricweb_item i ON i.id = r.item_id JOIN rubricweb_rater p ON p.id = r.rater_id"
    )
    submitted = [(item, rater) for _, item, rater, state, _ in reviews if state == "submitted"]
    assert len(submitted) == wanted == {400: 1200, 24: 72}[items]
    assert len({(item, rater) for _, item, rater, _, _ in reviews}) == len(reviews)
    per_item = [sum(one == item for one, _ in submitted) for item in {item for item, _ in submitted}]
    assert per_item == [RATERS_PER_ITEM] * items
    assert {bool(holds) for *_, state, holds in reviews if state == "draft"} <= {False}
    assert installation.query(
        "SELECT MIN(room), MAX(room), MIN(wanted), MAX(wanted) FROM rubricweb_queueitem"
    ) == [(0, 0, RATERS_PER_ITEM, RATERS_PER_ITEM)]

    stored = {
        (review, criterion): (verdict, item, rater, name)
        for review, criterion, verdict, item, rater, name in installation.query(
            "SELECT j.review_id, j.criterion_id, j.verdict, i.id, p.name, c.name FROM rubricweb_judgement j "
            "JOIN rubricweb_review r ON r.id = j.review_id JOIN rubricweb_item i ON i.id = r.item_id "
            "JOIN rubricweb_rater p ON p.id = r.rater_id JOIN rubricweb_criterion c ON c.id = j.criterion_id"
        )
    }
    said = [line.split() for log in logs.values() for line in log.read_text().splitlines()]
    assert len(said) >= 2 * wanted - PEOPLE * 2
    lost = [line for line in said if stored.get((int(line[0]), int(line[1])), [""])[0] != line[2]]
    assert not lost
    assert all(verdict == label(rater, str(item), name) for verdict, item, rater, name in stored.values())


def opened(installation: Installation, order: str, items: int) -> Any:
    """A queue of so many items for eight people: its id, and their tokens by name."""
    wanted = json.dumps([items, PEOPLE, RATERS_PER_ITEM, order])
    env = {"DJANGO_SETTINGS_MODULE": "rubricweb.settings", "RUBRICWEB_LOCAL": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", OPEN, wanted],
        cwd=ROOT,
        env={**installation.env, **env, "OFFLINE_JUDGE_URL": "http://127.0.0.1:9/v1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def disturb(clients: list[Client], installation: Installation) -> tuple[int, int]:
    """Kills and restarts people at random, and has others be away too long, until all find nothing left."""
    chance = random.Random(5)
    kills = away = 0
    next_kill = next_away = time.monotonic() + 1.0
    while not all(client.is_done() for client in clients):
        time.sleep(0.1)
        now = time.monotonic()
        if now >= next_kill:
            victim = chance.choice(clients)
            if not victim.is_done():
                victim.kill()
                victim.start()
                kills += 1
            next_kill = now + chance.uniform(0.5, 1.5) * KILL_EVERY_SECONDS
        if now >= next_away:
            # Half of those at an item are away for longer than their places are held.
            installation.change(
                "UPDATE rubricweb_review SET held_until = '2001-01-01 00:00:00+00:00' "
                "WHERE state = 'draft' AND holds_place AND id % 2 = 0"
            )
            away += 1
            next_away = now + AWAY_EVERY_SECONDS
    return kills, away
