"""Whether people wait while millions of rows are removed: `python -m benchmarks.deletions`.

A dataset with 10,000 items, ten runs and 1,000,000 verdicts is deleted by a process of its own, as a worker
does it, while eight people review another dataset of the team: each verdict they save is timed, first without
a deletion, then during it. On a scratch SQLite database, or a new one of the server in DATABASE_URL; both are
gone afterwards. Prints how long saving took, the memory of the process that removes the rows, what is left of
them, and what the month has cost before and after; says whether nobody waited longer than is promised.
"""

import argparse
import statistics
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import scratch_django

if TYPE_CHECKING:
    from rubricweb.models import Dataset, ReviewQueue, Team, User

PROMISED_MS = 200.0
RUNS = 10
CRITERIA = 10
REVIEWERS = 8
THINKING_SECONDS = 0.1
QUIET_SECONDS = 20.0


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("--verdicts", type=int, default=1_000_000)
    asked.add_argument("--work", type=int, help=argparse.SUPPRESS)  # the deletion a child process is to do
    options = asked.parse_args()
    if options.work is not None:
        return work(options.work)
    with scratch_django():
        longest = measure(options.verdicts)
    return 0 if longest < PROMISED_MS else 1


def measure(verdicts: int) -> float:
    """The longest a reviewer waited during the deletion, in milliseconds; prints all else."""
    from django.db import connection

    from rubricweb.models import Deletion, JudgeCall, Judgement, Run
    from rubricweb.selectors.deletions import plan
    from rubricweb.selectors.spending.month_figures import month_figures
    from rubricweb.services.deletions import deletions
    from rubricweb.services.teams import teams

    owner = teams.create_person("olga")
    team = teams.create_team("Big", owner=owner, slug="big")
    dataset = graded(team, owner, verdicts)
    people = Reviewers(team, owner)
    # As autovacuum does within a minute, where it is on.
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    now = datetime.now(UTC)
    cost = month_figures(team, viewer=None, now=now).spending
    began = time.perf_counter()
    planned = plan(dataset, now=now)
    say(f"previewed in {time.perf_counter() - began:.2f} s: {', '.join(planned.goes)}")

    with people:
        time.sleep(QUIET_SECONDS)
        quiet = people.waits()
        began = time.perf_counter()
        found = deletions.delete(dataset, dataset.name, by=owner, now=now, enqueue=None)
        say(f"out of sight in {time.perf_counter() - began:.2f} s")
        began = time.perf_counter()
        command = [sys.executable, "-m", "benchmarks.deletions", "--work", str(found.pk)]
        memory = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        taken = time.perf_counter() - began
        busy = people.waits()
    found = Deletion.objects.get(pk=found.pk)
    assert found.state == "done", (found.state, found.message)
    say(f"{found.rows_removed:,} rows removed in {taken:.0f} s, {found.rows_removed / taken:,.0f} a second")
    say(f"memory of the process: {memory}")
    shown("reviewers without it", quiet)
    shown("reviewers during it", busy)
    say(
        f"median {statistics.median(busy) / statistics.median(quiet):.1f} times, longest "
        f"{max(busy) / max(quiet):.1f} times as long"
    )
    left = (Run.objects.count(), JudgeCall.objects.count(), Judgement.objects.exclude(run=None).count())
    say("left: {} runs, {} calls, {} verdicts of judges".format(*left))
    same = month_figures(team, viewer=None, now=now).spending == cost
    say(f"the month's spending is {'the same' if same else 'ANOTHER'}: {cost and cost.spent_usd:.2f} USD")
    say(f"promised: nobody waits {PROMISED_MS:.0f} ms: {'holds' if max(busy) < PROMISED_MS else 'misses'}")
    return max(busy)


def graded(team: "Team", owner: "User", verdicts: int) -> "Dataset":
    """A dataset with ten runs that judged every item by ten criteria."""
    from django.db import connection, transaction

    from rubricweb.models import Criterion, Item, JudgeCall, Judgement, Run, RunItem, RunState, RunTally
    from tests import factories

    began = time.perf_counter()
    criteria = [{"name": f"c{n}", "weight": 1.0, "requirement": f"Makes point {n}."} for n in range(CRITERIA)]
    version = factories.version(team, owner, criteria=criteria)
    first = [{"id": "first", "submission": "The first."}]
    dataset = factories.dataset(team, owner, name="large", items=first)
    runs = [factories.run(team, owner, dataset=dataset, rubric_version=version) for _ in range(RUNS)]
    RunItem.objects.all().delete()
    dataset.items.all().delete()
    dataset.cases.all().delete()
    factories.many_items(dataset, verdicts // (RUNS * CRITERIA), "An answer of some length. " * 20)
    Run.objects.update(state=RunState.FINISHED, finished_at=datetime.now(UTC))
    month = datetime.now(UTC).date().replace(day=1)
    RunTally.objects.all().delete()
    for run in runs:
        RunTally.objects.create(run=run, team=team, worker="w:1", month=month, calls=1000, cost_usd=1.25)
    run_item, call, judgement, item, criterion, run_table = (
        one._meta.db_table for one in (RunItem, JudgeCall, Judgement, Item, Criterion, Run)
    )
    pairs = f'FROM "{run_table}" r, "{item}" i'
    statements = (
        f'INSERT INTO "{run_item}" (run_id, item_id, rubric_version_id, leased_by, graded_at, score, '
        "length_penalty, errors, reason, error_message) SELECT r.id, i.id, r.rubric_version_id, '', "
        f"r.created_at, 0.5, 0, 0, '', '' {pairs} ORDER BY r.id, i.id",
        f'INSERT INTO "{call}" (run_id, item_id, model, rung, attempts, fallback, reply, reasoning, '
        f"error_message, created_at) SELECT r.id, i.id, 'm', '', 1, {{false}}, 'It is.', '', '', "
        f"r.created_at {pairs} ORDER BY r.id, i.id",
        f'INSERT INTO "{judgement}" (item_id, criterion_id, run_id, judge, repeat, verdict, reason, '
        "error_message, created_at, call_id) SELECT j.item_id, c.id, j.run_id, 'judge', 0, 'MET', "
        f"'So it is.', '', j.created_at, j.id FROM \"{call}\" j, \"{criterion}\" c ORDER BY j.id",
    )
    false = "false" if connection.vendor == "postgresql" else "0"
    for statement in statements:
        with transaction.atomic(), connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                # Rows that point to others that are there: nothing to check one by one.
                cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(statement.format(false=false))
    say(f"{Judgement.objects.count():,} verdicts stored in {time.perf_counter() - began:.0f} s")
    return dataset


class Reviewers:
    """Eight people who save a verdict, think, and save the next, until the block ends."""

    def __init__(self, team: "Team", owner: "User") -> None:
        from rubricweb.models import Role
        from rubricweb.services.teams import teams
        from tests import factories

        self._people = [teams.create_person(f"rater{n}") for n in range(REVIEWERS)]
        for person in self._people:
            teams.add_member(team, person, Role.ANNOTATOR, by=owner)
        items = [{"id": f"i{n}", "submission": f"Answer {n}."} for n in range(40_000)]
        dataset = factories.dataset(team, owner, name="other", items=items)
        version = factories.version(team, owner, title="Other")
        self._criteria = list(version.criteria.values_list("pk", flat=True))
        self._queue: ReviewQueue = factories.queue(
            team, owner, dataset=dataset, rubric_version=version, raters=self._people
        )
        self._over = threading.Event()
        self._waits: list[float] = []
        self._faults: list[BaseException] = []
        self._threads = [threading.Thread(target=self._review, args=(one,)) for one in self._people]

    def __enter__(self) -> "Reviewers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        if self._faults:
            raise self._faults[0]

    def waits(self) -> list[float]:
        """How long each save took since this was asked last, in milliseconds."""
        found, self._waits = self._waits, []
        return found

    def _review(self, person: "User") -> None:
        from django.db import connection
        from django.utils import timezone

        from rubricweb.services.reviews import queues, reviews

        try:
            while not self._over.is_set():
                review = queues.next_review(self._queue, person, now=timezone.now())
                assert review is not None, "more items than anybody can review"
                for criterion in self._criteria:
                    began = time.perf_counter()
                    reviews.save_verdict(review, criterion, verdict="MET")
                    self._waits.append((time.perf_counter() - began) * 1_000)
                    if self._over.wait(THINKING_SECONDS):
                        return
                reviews.submit(review, now=timezone.now())
        except BaseException as fault:
            self._faults.append(fault)
        finally:
            connection.close()


def shown(who: str, waits: list[float]) -> None:
    p99 = statistics.quantiles(waits, n=100)[-1]
    say(
        f"{who}: median {statistics.median(waits):.0f} ms, p99 {p99:.0f} ms, longest {max(waits):.0f} ms "
        f"of {len(waits):,} saves"
    )


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def work(pk: int) -> int:
    """What a worker does with the deletion; prints the memory it took, before and at its highest."""
    import django

    django.setup()
    from django.utils import timezone

    from rubricweb.services.deletions import deletions
    from rubricweb.services.grading.workers.registry import worker_name

    before = highest_mb()
    deletions.work(pk, worker=worker_name(), now=timezone.now)
    say(f"{before:.0f} MB at its start, {highest_mb():.0f} MB at most")
    return 0


def highest_mb() -> float:
    """The highest resident set of this process since it began."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))


if __name__ == "__main__":
    sys.exit(main())
