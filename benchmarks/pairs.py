"""How long two runs over two system versions take to pair by case: `python -m benchmarks.pairs`.

A dataset of 40,000 cases with an answer of two versions each, and a graded run over each version. On a
scratch SQLite database, or a new one of the server in DATABASE_URL on this machine; both are gone afterwards.
Prints the milliseconds of CPU from the first query to the list of paired cases, those of this process and of
the database's together, so that a busy machine changes little, and whether they keep under the promised 300.
The time on the clock stands beside them.
"""

import argparse
import os
import statistics
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.machine import scratch_django, used_by

if TYPE_CHECKING:
    from rubricweb.models import Run

PROMISED_MS = 300.0


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("--cases", type=int, default=40_000)
    asked.add_argument("--times", type=int, default=15, help="pairings")
    options = asked.parse_args()
    with scratch_django():
        taken = measure(*runs(options.cases), options)
    return 0 if taken < PROMISED_MS else 1


def runs(cases: int) -> "tuple[Run, Run]":
    """A run over the answers of v4 and one over those of v3, all graded; every third case fell."""
    from django.db import connection
    from django.db.models.functions import Now

    from rubricweb.models import Case, Item, Run, RunItem, RunState
    from rubricweb.services.datasets.systems import named_versions
    from rubricweb.services.teams import teams
    from tests import factories

    owner = teams.create_person("olga")
    team = teams.create_team("Big", owner=owner, slug="big")
    rubric_version = factories.version(team, owner)
    dataset = factories.dataset(team, owner, items=[{"id": "first", "submission": "Text."}], name="big")
    judge = factories.run(team, owner, dataset=dataset, rubric_version=rubric_version).judge
    stored = Case.objects.bulk_create(
        (Case(dataset=dataset, key=f"c{at}", position=at) for at in range(1, cases + 1)), batch_size=5_000
    )
    found: list[Run] = []
    for number, version in enumerate(named_versions(team, ["assistant@v3", "assistant@v4"]).values()):
        first = 1 + number * cases
        items = Item.objects.bulk_create(
            (
                Item(
                    dataset=dataset,
                    case=case,
                    system_version=version,
                    key=f"{case.key}@{version}",
                    position=first + at,
                    submission=f"Answer {at} of {version}.",
                )
                for at, case in enumerate(stored)
            ),
            batch_size=5_000,
        )
        run = Run.objects.create(
            team=team,
            dataset=dataset,
            rubric_version=rubric_version,
            name=f"run of {version}",
            autograder="per_criterion",
            judge=judge,
            system_version=version,
            state=RunState.FINISHED,
            finished_at=dataset.created_at,
        )
        RunItem.objects.bulk_create(
            (
                RunItem(
                    run=run,
                    item=item,
                    rubric_version=rubric_version,
                    graded_at=Now(),
                    score=(at % 5) / 5 if number == 0 or at % 3 else 0.0,
                    coverage=1.0,
                )
                for at, item in enumerate(items)
            ),
            batch_size=5_000,
        )
        found.append(run)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    before, after = found
    return after, before


def measure(run: "Run", baseline: "Run", options: argparse.Namespace) -> float:
    """The milliseconds of CPU of pairing the two and putting the cases in order."""
    from django.db import connection

    from rubricweb.selectors.runs.diff.items import item_changes

    changes = item_changes(run, baseline, set())
    assert (changes.by, len(changes)) == ("case", options.cases), (changes.by, len(changes))
    pids = [os.getpid()]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            pids += cursor.fetchone()
    taken, before = [], [used_by(pid).cpu_seconds for pid in pids]
    for _ in range(options.times):
        began = time.perf_counter()
        item_changes(run, baseline, set())
        taken.append((time.perf_counter() - began) * 1_000)
    # Ticks are 10 ms, so the sum over all times is told and not the median.
    used = [
        (used_by(pid).cpu_seconds - start) * 1_000 / options.times
        for pid, start in zip(pids, before, strict=True)
    ]
    sys.stdout.write(
        f"{options.cases:,} cases of two runs: {sum(used):.0f} ms of CPU "
        f"({' here, '.join(f'{one:.0f}' for one in used)} {'in the database' if len(used) > 1 else 'here'}), "
        f"mean of {options.times}; {statistics.median(taken):.0f} ms on the clock, "
        f"{min(taken):.0f} to {max(taken):.0f}\n"
    )
    verdict = "holds" if sum(used) < PROMISED_MS else "misses"
    sys.stdout.write(f"promised: under {PROMISED_MS:.0f} ms of CPU: {verdict}\n")
    return float(sum(used))


if __name__ == "__main__":
    sys.exit(main())
