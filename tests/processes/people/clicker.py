"""One person at a keyboard, as a process: does what a line on standard input says, answers with a line.

`pause 7` pauses run 7 and answers with JSON: what the service returned, the name of what it raised, or how
often it notified. `order 7 KEY NAME` asks the API for a run of that name like run 7: the status and the new
run.
"""

import json
import sys
from functools import cache

import django

django.setup()

from django.utils import timezone  # noqa: E402  tables need Django

from rubricweb.models import Run  # noqa: E402  tables need Django
from rubricweb.services.grading.workers import reaper  # noqa: E402  tables need Django
from rubricweb.services.runs import lifecycle  # noqa: E402  tables need Django
from rubricweb.services.teams import teams  # noqa: E402  tables need Django
from tests import factories  # noqa: E402  tables need Django
from tests.api.client import ApiClient  # noqa: E402  tables need Django


def start(_: str) -> int:
    people = factories.cast()
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
    )
    return run.pk


def add(run: Run) -> int:
    """One more item in the run's dataset, all others graded."""
    count = run.dataset.items.count()
    data = json.dumps({"id": f"late {count}", "submission": f"Paris {count}."}).encode()
    factories.all_graded(run)
    return factories.add_items(run.dataset, by=None, data=data, filename="more.jsonl")


def order(run: Run, key: str, name: str) -> list[object]:
    """A request with an Idempotency-Key, through everything a request goes through."""
    body = {
        "dataset_id": run.dataset_id,
        "rubric_version_id": run.rubric_version_id,
        "judge": "offline",
        "name": name,
    }
    answer = client(run).call("POST", "/runs", body, headers={"Idempotency-Key": key})
    return [answer.status_code, answer.json().get("id")]


@cache
def client(run: Run) -> ApiClient:
    ed = run.team.memberships.get(user=run.created_by)
    _, secret = teams.create_token(ed, name="clicker", may_write=True, days=1, now=timezone.now())
    made = ApiClient(secret)
    made.client.defaults["SERVER_NAME"] = "127.0.0.1"
    return made


def click(action: str, run: Run) -> object:
    now = timezone.now()
    wake_ups = factories.WakeUps()
    if action == "pause":
        return lifecycle.pause_run(run, by=None)
    if action == "cancel":
        return lifecycle.cancel_run(run, by=None, now=now)
    if action == "resume":
        return [lifecycle.resume_run(run, by=None, enqueue=wake_ups), len(wake_ups.notified)]
    if action == "extend":
        return lifecycle.extend_run(run, by=None, enqueue=wake_ups)
    if action == "finish":
        return lifecycle.finish_if_done(run, now)
    if action == "give-up":
        lifecycle.give_up(run, "The judge did not answer.", now)
        return None
    if action == "sweep":
        return len(reaper.reap(enqueue=wake_ups, now=now))
    return add(run)


answer: object
print("ready", flush=True)
for line in sys.stdin:
    action, number, *words = line.split()
    try:
        if action == "start":
            answer = start(number)
        elif action == "order":
            answer = order(Run.objects.get(pk=number), *words)
        else:
            answer = click(action, Run.objects.get(pk=number))
    except Exception as error:
        answer = type(error).__name__
    print(json.dumps(answer), flush=True)
