"""What a run costs beyond the judge's own time: `python -m benchmarks.grading`.

Real Celery workers grade against a judge server of its own (`benchmarks.judge_server`), storing every
verdict with its call. With DATABASE_URL (postgres://…) and CELERY_BROKER_URL (redis://…) set, on a new
database of that server; without, on SQLite and the embedded broker in a scratch folder. Both are gone
afterwards.

    wall      2,000 calls of 50 ms, 64 in flight, one process: wall from start to finished, CPU per call
    sqlite    the same on SQLite and the embedded broker, when the others run on PostgreSQL
    rate      no latency: verdicts stored per second by one and by two grading processes
    sizes     no latency, two processes: rate and peak memory over --sizes items × 10
    behind    a run of 5 items alone, and started behind one of --big items
    limit     a judge that lets 300 requests a minute through: share used, share of 429
    again     a finished run again, unchanged and with one of ten criteria changed: calls the judge counted
    plan      100,000 items × 10: seconds and memory to start the run
    peers     rubric and autorubric with the same 2,000 calls; only with --peers, which installs them

`--only wall,rate` selects, `--times 3` repeats `wall`, `rate` and `peers` and takes the median, `--core 1`
keeps the judge server on that core. Lines end in *holds* or *misses* where there is a promise; exit code 1
when one misses and --strict is given.
"""

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.machine import (
    ROOT,
    JudgeServer,
    cpu_of_programs,
    empty_queue,
    scratch_database,
    scratch_folder,
    used_by,
    wait_for,
    workers,
)
from benchmarks.peers import requirements, submission

if TYPE_CHECKING:
    from rubricweb.models import Dataset, RubricVersion, Run

ITEMS, CRITERIA, LATENCY_SECONDS, IN_FLIGHT = 200, 10, 0.05, 64
CALLS = ITEMS * CRITERIA
STALL_SECONDS = 60.0
LIMIT_SECONDS = CALLS / IN_FLIGHT * LATENCY_SECONDS
# What a pass must reach; see docs/sizing.md.
WALL_OF_LIMIT, SQLITE_OF_LIMIT, CPU_MS = 1.4, 2.0, 1.0
RATE_PER_CORE, SECOND_WORKER, RSS_MB = 1_000, 1.8, 300
CORES_FOR_TWO = 4
BEHIND, ALLOWANCE, TOO_MANY = 3.0, 0.90, 0.03
TIMES_FASTER = {"rubric": 4.0, "autorubric": 9.0}


@dataclass
class Report:
    """Lines as they come, and which promises missed."""

    missed: list[str] = field(default_factory=list)

    def heading(self, text: str) -> None:
        print(f"\n{text}", flush=True)

    def line(self, text: str) -> None:
        print(f"  {text}", flush=True)

    def promise(self, text: str, holds: bool) -> None:
        self.line(f"{text}: {'holds' if holds else 'misses'}")
        if not holds:
            self.missed.append(text)


@dataclass(frozen=True)
class Measured:
    """One run from start to finished, and what the workers used meanwhile."""

    wall_seconds: float
    cpu_seconds: float
    database_cpu_seconds: float
    judge_cpu_seconds: float
    calls: int
    # Of the wall: before the judge's first request, and after its last began; and the most it had at once.
    before_seconds: float
    after_seconds: float
    most_in_flight: int

    @property
    def cpu_ms_per_call(self) -> float:
        return self.cpu_seconds / self.calls * 1000

    @property
    def per_second(self) -> float:
        return self.calls / self.wall_seconds


class Bench:
    """A team with rubrics and datasets on the scratch installation, and the judge everybody asks."""

    def __init__(self, judge: JudgeServer, folder: Path) -> None:
        from rubricweb import tasks  # noqa: F401  the first import of Celery is not part of a run
        from rubricweb.services import rubrics, teams

        self.judge = judge
        self.behaviour: dict[str, Any] = {}
        self.folder = folder
        self.owner = teams.create_person(f"bench-{uuid.uuid4().hex[:12]}")
        self.team = teams.create_team(f"Bench {uuid.uuid4().hex[:12]}", owner=self.owner)
        self.rubric = rubrics.create_rubric(
            self.team, by=self.owner, title="Bench", draft={"criteria": requirements(CRITERIA)}
        )
        self.version = rubrics.publish(self.rubric, by=self.owner)

    def behave(self, **settings: Any) -> None:
        """How the judge behaves in what is graded from now on; it counts anew for each."""
        self.behaviour = settings
        self.judge.behave(**settings)

    def dataset(self, items: int, words: int | None = None) -> "Dataset":
        """Items nobody has graded before: their texts hold a word of their own, and so many of all of it."""
        from rubricweb.services import datasets

        word = uuid.uuid4().hex[:8]
        lines = (
            json.dumps({"id": str(n), "submission": " ".join([word, *submission(n).split()[:words]])})
            for n in range(items)
        )
        data = "\n".join(lines).encode()
        return datasets.import_dataset(
            self.team, by=self.owner, data=data, filename=f"bench-{items}-{word}.jsonl"
        )

    def start(self, dataset: "Dataset", version: "RubricVersion | None" = None) -> "Run":
        from rubricweb import tasks
        from rubricweb.services import runs

        return runs.start_run(
            self.team,
            by=self.owner,
            dataset=dataset,
            rubric_version=version or self.version,
            judge_id="environment",
            enqueue=tasks.ring,
            no_cap=True,  # the judge has no price
        )

    def finish(self, run: "Run") -> "Run":
        """Waits until the run has ended, and insists that it finished.

        Gives up when the judge was not asked anything for STALL_SECONDS.
        """
        asked = -1

        def ended() -> bool:
            run.refresh_from_db(fields=["state", "finished_at", "stop_reason"])
            return run.state not in ("running", "paused")

        while True:
            try:
                wait_for(ended, f"run {run.pk}", STALL_SECONDS, every=0.05)
                break
            except TimeoutError:
                if (now := self.judge.count()["requests"]) == asked:
                    logs = sorted(self.folder.glob("worker-*.log"), key=lambda log: log.stat().st_mtime)
                    raise RuntimeError(
                        f"run {run.pk} stands still:\n{logs[-1].read_text()[-4000:]}"
                    ) from None
                asked = now
        assert run.state == "finished", f"run {run.pk} is {run.state}: {run.stop_reason}"
        return run

    def graded(self, dataset: "Dataset", process_id: int) -> Measured:
        """Grades the dataset; wall from before it is started to when it was marked finished."""
        from django.utils import timezone

        from rubricweb.models import Judgement, RunItem

        self.judge.behave(**self.behaviour)
        before, database = used_by(process_id), cpu_of_programs("postgres")
        began, began_monotonic = timezone.now(), time.monotonic()
        run = self.finish(self.start(dataset))
        assert run.finished_at is not None
        wall = (run.finished_at - began).total_seconds()
        after = used_by(process_id)
        database_cpu = cpu_of_programs("postgres") - database
        judge = self.judge.count()
        stored = Judgement.objects.filter(run=run, verdict="MET").count()
        calls = RunItem.objects.filter(run=run).count() * CRITERIA
        assert stored == calls, f"{stored} of {calls} verdicts stored"
        first_after = judge["first_at"] - began_monotonic
        return Measured(
            wall_seconds=wall,
            cpu_seconds=after.cpu_seconds - before.cpu_seconds,
            database_cpu_seconds=database_cpu,
            judge_cpu_seconds=judge["cpu_seconds"],
            calls=calls,
            before_seconds=first_after,
            after_seconds=wall - first_after - judge["seconds"],
            most_in_flight=judge["max_in_flight"],
        )


# ── What is measured ─────────────────────────────────────────────────────────────────────────────


def wall(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    on_sqlite = not os.environ.get("DATABASE_URL")
    where = "SQLite, embedded broker" if on_sqlite else "PostgreSQL, Redis"
    report.heading(f"{CALLS:,} calls of 50 ms, {IN_FLIGHT} in flight, one grading process ({where})")
    bench.behave(latency_seconds=LATENCY_SECONDS)
    found = []
    with workers(bench.folder, 1) as running:
        for number in range(options.times + 1):
            measured = bench.graded(bench.dataset(ITEMS), running.process_id)
            fresh = ", the process's first" if not number else ""
            report.line(
                f"{measured.wall_seconds:.2f} s = {measured.wall_seconds / LIMIT_SECONDS:.2f} × the limit of "
                f"{LIMIT_SECONDS:.2f} s, {measured.cpu_ms_per_call:.2f} ms CPU per call{fresh}; "
                f"{measured.before_seconds:.2f} s before the first request, "
                f"{measured.after_seconds:.2f} s after the last, at most {measured.most_in_flight} in flight"
            )
            if number:
                found.append(measured)
    middle = statistics.median(one.wall_seconds for one in found)
    cpu = statistics.median(one.cpu_ms_per_call for one in found)
    allowed = SQLITE_OF_LIMIT if on_sqlite else WALL_OF_LIMIT
    times = middle / LIMIT_SECONDS
    report.promise(f"median wall {middle:.2f} s = {times:.2f} × the limit (≤ {allowed})", times <= allowed)
    if not on_sqlite:
        report.promise(f"median CPU {cpu:.2f} ms per call, storing included (≤ {CPU_MS})", cpu <= CPU_MS)
    options.wall_seconds = middle


def sqlite(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    """In a process of its own, since this one's Django is on PostgreSQL."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "CELERY_BROKER_URL", "RUBRICWEB_VAR_DIR")
    }
    argv = [sys.executable, "-m", "benchmarks.grading", "--only", "wall", "--times", str(options.times)]
    done = subprocess.run([*argv, "--strict"], cwd=ROOT, env=env, check=False)
    if done.returncode:
        report.missed.append("SQLite")


def rate(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    report.heading(f"No latency, {IN_FLIGHT} in flight per process")
    bench.behave()
    per_second: dict[int, float] = {}
    per_core: dict[int, float] = {}
    for processes in (1, 2):
        found = []
        with workers(bench.folder, processes) as running:
            bench.graded(bench.dataset(20 * processes), running.process_id)
            for _ in range(options.times):
                found.append(bench.graded(bench.dataset(options.rate_items), running.process_id))
        middle = sorted(found, key=lambda one: one.per_second)[len(found) // 2]
        per_second[processes] = middle.per_second
        per_core[processes] = middle.calls / middle.cpu_seconds
        report.line(
            f"{processes} process{'es' * (processes > 1)}: {middle.per_second:,.0f} verdicts/s; "
            f"CPU ms per verdict: workers {middle.cpu_ms_per_call:.2f}, database "
            f"{middle.database_cpu_seconds / middle.calls * 1000:.2f}, judge server "
            f"{middle.judge_cpu_seconds / middle.calls * 1000:.2f}"
        )
        report.promise(
            f"{processes}: {per_core[processes]:,.0f} stored verdicts per second of a core "
            f"(≥ {RATE_PER_CORE:,})",
            per_core[processes] >= RATE_PER_CORE,
        )
    ratio, counted_out = per_second[2] / per_second[1], 2 * per_core[2] / per_core[1]
    report.line(
        f"two processes store {ratio:.2f} × what one does here, on {os.cpu_count()} cores for everybody"
    )
    if (os.cpu_count() or 1) < CORES_FOR_TWO:
        # Judge server and database need a core of their own before two workers can have two.
        report.promise(
            f"judge server and database counted out, two are {counted_out:.2f} × one (≥ {SECOND_WORKER})",
            counted_out >= SECOND_WORKER,
        )
    else:
        report.promise(f"two processes are {ratio:.2f} × one (≥ {SECOND_WORKER})", ratio >= SECOND_WORKER)


def sizes(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    report.heading("No latency, two processes, memory over sizes")
    bench.behave()
    seconds: list[tuple[int, float]] = []
    for items in options.sizes:
        with workers(bench.folder, 2) as running:
            measured = bench.graded(bench.dataset(items), running.process_id)
            peak = running.used().peak_rss_mb
        seconds.append((measured.calls, measured.wall_seconds))
        report.line(
            f"{items:>6,} × {CRITERIA}: {measured.wall_seconds:7.1f} s, "
            f"{measured.per_second:,.0f} verdicts/s, {measured.cpu_ms_per_call:.2f} ms CPU per call, "
            f"largest process {peak:.0f} MB"
        )
        report.promise(f"{items:,} items: {peak:.0f} MB per process (< {RSS_MB})", peak < RSS_MB)
    (few, short), (many, long) = seconds[0], seconds[-1]
    report.line(f"{many / few:.0f} × the calls took {long / short:.1f} × the time")


def behind(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    report.heading(f"5 items behind {options.big:,}, calls of 50 ms, two grading processes")
    bench.behave(latency_seconds=LATENCY_SECONDS)
    from django.utils import timezone

    from rubricweb.services import runs

    with workers(bench.folder, 2) as running:
        bench.graded(bench.dataset(40), running.process_id)
        alone = [bench.graded(bench.dataset(5), running.process_id).wall_seconds for _ in range(3)]
        small = [bench.dataset(5) for _ in range(3)]
        big = bench.start(bench.dataset(options.big))
        time.sleep(2)
        late = [bench.graded(dataset, running.process_id).wall_seconds for dataset in small]
        big.refresh_from_db()
        assert big.state == "running", "the big run ended too soon to be in the way"
        runs.cancel_run(big, by=bench.owner, now=timezone.now())
    one, other = statistics.median(alone), statistics.median(late)
    report.line(f"alone {one:.2f} s, behind {other:.2f} s (medians of 3: {_list(alone)} and {_list(late)})")
    report.promise(f"behind is {other / one:.2f} × alone (≤ {BEHIND:g})", other / one <= BEHIND)


def limit(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    for window in ("bucket", "fixed"):
        report.heading(f"A judge that lets 300 requests a minute through ({window}), one grading process")
        bench.behave(latency_seconds=0.2, per_minute=300, window=window)
        items = 300 * options.minutes // CRITERIA
        with workers(bench.folder, 1) as running:
            measured = bench.graded(bench.dataset(items), running.process_id)
        count = bench.judge.count()
        # A window's requests may all be used in its first second; a bucket fills as time passes.
        minutes = count["seconds"] / 60
        allowance = 300 * (math.ceil(minutes) if window == "fixed" else minutes)
        used = count["answered"] / allowance
        too_many = count["outcomes"].get("over_limit", 0) / count["requests"]
        report.line(f"{measured.calls} answers in {count['seconds']:.0f} s, {count['requests']} requests")
        report.promise(f"{used:.1%} of the allowance used (≥ {ALLOWANCE:.0%})", used >= ALLOWANCE)
        report.promise(f"{too_many:.1%} of the requests were 429 (< {TOO_MANY:.0%})", too_many < TOO_MANY)


def again(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    from rubricweb.services import rubrics

    report.heading("A finished run again, 20 items × 10 criteria")
    dataset = bench.dataset(20)
    calls = 20 * CRITERIA

    def requests(version: "RubricVersion | None" = None) -> int:
        bench.behave(latency_seconds=0.01)
        bench.finish(bench.start(dataset, version))
        return int(bench.judge.count()["requests"])

    with workers(bench.folder, 1):
        first, unchanged = requests(), requests()
        criteria = requirements(CRITERIA)
        criteria[3]["requirement"] += " And says it well."
        draft = {"title": "Bench", "criteria": criteria}
        bench.rubric.refresh_from_db()
        rubrics.save_draft(bench.rubric, draft=draft, revision=bench.rubric.draft_revision)
        changed = requests(rubrics.publish(bench.rubric, by=bench.owner))
    report.line(f"the first made {first} calls")
    report.promise(f"unchanged: {unchanged} calls (0)", unchanged == 0)
    report.promise(f"one criterion of ten changed: {changed} calls ({calls // 10})", changed == calls // 10)


def plan(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    from rubricweb.services import runs

    items = 100_000
    report.heading(f"{items:,} items × {CRITERIA}: a run planned")
    dataset = bench.dataset(items, words=100)
    before = used_by(os.getpid())
    began = time.perf_counter()
    run = runs.start_run(
        bench.team,
        by=bench.owner,
        dataset=dataset,
        rubric_version=bench.version,
        judge_id="environment",
        enqueue=lambda run_id: None,
        no_cap=True,
    )
    took = time.perf_counter() - began
    after = used_by(os.getpid())
    grown = after.peak_rss_mb - before.peak_rss_mb
    report.line(f"started in {took:.1f} s, the peak of memory that the import set grew by {grown:.0f} MB")
    from django.utils import timezone

    runs.cancel_run(run, by=bench.owner, now=timezone.now())


def peers(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    report.heading(f"Other libraries, {CALLS:,} calls of 50 ms, {IN_FLIGHT} in flight, storing nothing")
    subprocess.run(["make", "--no-print-directory", ".venv-peers/.stamp"], cwd=ROOT, check=True)
    bench.behave(latency_seconds=LATENCY_SECONDS)
    for library, promised in TIMES_FASTER.items():
        argv = [str(ROOT / ".venv-peers/bin/python"), "-m", "benchmarks.peers", library]
        argv += ["--base-url", bench.judge.base_url, "--items", str(ITEMS), "--criteria", str(CRITERIA)]
        argv += ["--in-flight", str(IN_FLIGHT)]
        found = []
        for _ in range(options.times):
            done = subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
            assert found[-1]["verdicts"] == CALLS, found[-1]
        middle = statistics.median(one["wall_seconds"] for one in found)
        cpu = statistics.median(one["cpu_seconds"] for one in found) / CALLS * 1000
        most = middle / LIMIT_SECONDS
        report.line(f"{library}: {middle:.1f} s, {cpu:.1f} ms CPU per call; the limit is {most:.1f} × faster")
        if options.wall_seconds is None:
            continue
        times = middle / options.wall_seconds
        report.promise(f"{library}: ours is {times:.1f} × faster (≥ {promised:g})", times >= promised)


MEASUREMENTS: dict[str, Callable[[Bench, Report, argparse.Namespace], None]] = {
    "wall": wall,
    "sqlite": sqlite,
    "rate": rate,
    "sizes": sizes,
    "behind": behind,
    "limit": limit,
    "again": again,
    "plan": plan,
    "peers": peers,
}


# ── Around it ────────────────────────────────────────────────────────────────────────────────────


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    report = Report()
    with _installation(options.core) as bench:
        for name in options.only:
            MEASUREMENTS[name](bench, report, options)
    if report.missed:
        report.heading(f"{len(report.missed)} missed: {'; '.join(report.missed)}")
    return 1 if report.missed and options.strict else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.grading",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", type=lambda text: text.split(","), help="names from the list above")
    parser.add_argument("--peers", action="store_true", help="measure rubric and autorubric too")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")])
    parser.add_argument("--rate-items", type=int, default=500, help="items × 10 that `rate` grades")
    parser.add_argument("--big", type=int, default=5_000, help="items of the run that is in the way")
    parser.add_argument("--minutes", type=int, default=3, help="how long `limit` lasts, about")
    parser.add_argument("--core", type=int, help="the core the judge server stays on")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a promise misses")
    options = parser.parse_args(arguments)
    options.sizes = options.sizes or [500, 2_000, 10_000]
    options.wall_seconds = None
    if options.only is None:
        skipped = set() if options.peers else {"peers"}
        if not os.environ.get("DATABASE_URL"):
            skipped.add("sqlite")
        options.only = [name for name in MEASUREMENTS if name not in skipped]
    if unknown := [name for name in options.only if name not in MEASUREMENTS]:
        parser.error(f"--only {','.join(unknown)}: allowed are {', '.join(MEASUREMENTS)}")
    return options


@contextmanager
def _installation(core: int | None) -> Iterator[Bench]:
    """The environment of this process and of those it starts, Django set up, tables made."""
    with scratch_folder() as folder, scratch_database(os.environ.get("DATABASE_URL", "")) as database:
        broker = os.environ.get("CELERY_BROKER_URL", "") if database else ""
        for name, value in (("DATABASE_URL", database), ("CELERY_BROKER_URL", broker)):
            os.environ.pop(name, None)
            if value:
                os.environ[name] = value
        judge = JudgeServer(folder, core)
        try:
            os.environ.update(
                SECRET_KEY="benchmarks-only-" + "x" * 40,
                RUBRICWEB_VAR_DIR=str(folder),
                RUBRICWEB_LOCAL="1",
                JUDGE_CONCURRENCY=str(IN_FLIGHT),
                OPENAI_API_KEY="bench",
                OPENAI_BASE_URL=judge.base_url,
                OPENAI_MODEL="bench",
                LOG_LEVEL=os.environ.get("LOG_LEVEL", "WARNING"),
                UPLOAD_MAX_BYTES=str(1 << 30),
                DJANGO_SETTINGS_MODULE="rubricweb.settings",
                PYTHONPATH=str(ROOT),
            )
            empty_queue(broker)
            import django

            django.setup()
            from django.core.management import call_command

            call_command("migrate", verbosity=0, interactive=False)
            yield Bench(judge, folder)
            from django.db import connections

            connections.close_all()
        finally:
            judge.stop()


def _list(seconds: list[float]) -> str:
    return " ".join(f"{one:.2f}" for one in seconds)


if __name__ == "__main__":
    sys.exit(main())
