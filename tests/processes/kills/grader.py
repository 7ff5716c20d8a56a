"""A worker of one run, to be killed in mid-call.

    python -m tests.processes.kills.grader prepare JUDGE_URL
    python -m tests.processes.kills.grader grade RUN
    python -m tests.processes.kills.grader sweep
    python -m tests.processes.kills.grader spending RUN

`prepare` starts a run of 60 different questions and prints its id; `grade` works on it until it has ended;
`sweep` does what a living worker does every few seconds; `spending` prints what was spent and what may have
been, as JSON.
"""

import json
import os
import sys

import django

INPUT_USD, OUTPUT_USD = 10.0, 100.0  # per million tokens


def prepare(url: str) -> None:
    from rubricweb.judges.base import JudgeConfig
    from tests import factories

    people = factories.cast()
    judge = JudgeConfig(
        name="judge",
        base_url=url,
        model="m",
        allow_private_hosts=True,
        concurrency=8,
        input_usd_per_million=INPUT_USD,
        output_usd_per_million=OUTPUT_USD,
    )
    criteria = [
        {"name": f"c{number}", "weight": 1.0, "requirement": f"Names town {number}."} for number in range(10)
    ]
    items = [{"id": f"i{number}", "submission": f"Town {number} is nice."} for number in range(6)]
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=items),
        rubric_version=factories.version(people.team, people.ed, criteria=criteria),
        judge_id="command-line",
        judge=judge,
        budget_usd=1000.0,
    )
    print(run.pk)


def grade(run_id: int) -> None:
    from django.utils import timezone

    from rubricweb.services.grading import session

    while session.grade(run_id, now=timezone.now, only_this_run=True):
        pass


def sweep() -> None:
    from django.utils import timezone

    from rubricweb.services.grading.workers import reaper

    reaper.reap(enqueue=lambda run_id: None, now=timezone.now())


def spending(run_id: int) -> None:
    from dataclasses import asdict

    from django.utils import timezone

    from rubricweb.models import Run
    from rubricweb.selectors.spending.spending import run_spending

    run = Run.objects.select_related("team").get(pk=run_id)
    print(json.dumps(asdict(run_spending(run, now=timezone.now())) | {"state": run.state}))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rubricweb.settings")
    os.environ.setdefault("SECRET_KEY", "grader-" + "x" * 40)
    django.setup()
    match sys.argv[1:]:
        case ["prepare", url]:
            prepare(url)
        case ["grade", number]:
            grade(int(number))
        case ["sweep"]:
            sweep()
        case ["spending", number]:
            spending(int(number))
