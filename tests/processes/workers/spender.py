"""A worker that does nothing but spend.

    python -m tests.processes.workers.spender prepare
    python -m tests.processes.workers.spender spend RUN ESTIMATE COST

`prepare` makes two runs of one team, the first with a budget of a dollar, the team with one of a dollar and a
half for the month, and prints their ids. `spend` says that it is ready, waits until its input is closed, and
then pays COST for calls that were expected to cost ESTIMATE until it is refused for good.
"""

import os
import sys
import time

import django


def prepare() -> None:
    from tests import factories

    people = factories.cast()
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    people.team.monthly_budget_usd = 1.5
    people.team.save()
    for budget in (1.0, None):
        run = factories.run(
            people.team, people.ed, dataset=dataset, rubric_version=version, budget_usd=budget, no_cap=False
        )
        print(run.pk)


def spend(run_id: int, estimate: float, cost: float) -> None:
    from django.db import transaction
    from django.db.models import F
    from django.utils import timezone

    from rubricweb.models import Run, RunTally
    from rubricweb.selectors.spending.spending import month_of
    from rubricweb.services.runs.budgets import BudgetReservation

    run = Run.objects.select_related("team").get(pk=run_id)
    worker = f"spender:{os.getpid()}"
    budget = BudgetReservation.open(run, worker)
    print("ready", flush=True)
    sys.stdin.read()
    while True:
        now = timezone.now()
        if not budget.reserve(estimate, now):
            if budget.final:
                break
            time.sleep(0.02)
            continue
        time.sleep(0.001)  # the call
        with transaction.atomic():
            tally = RunTally.objects.filter(run=run, worker=worker, month=month_of(now))
            tally.update(
                cost_usd=F("cost_usd") + cost,
                reserved_usd=F("reserved_usd") - estimate,
                calls=F("calls") + 1,
                beat_at=now,
            )
        budget.released(estimate)
    budget.close()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rubricweb.settings")
    os.environ.setdefault("SECRET_KEY", "spender-" + "x" * 40)
    os.environ.setdefault("OFFLINE_JUDGE_URL", "http://127.0.0.1:9/v1")  # named by the runs, never asked
    django.setup()
    what, *numbers = sys.argv[1:]
    if what == "prepare":
        prepare()
    else:
        spend(int(numbers[0]), float(numbers[1]), float(numbers[2]))
