"""What one run takes: time, processor and memory, and how they grow with its size."""

import argparse
import os
import statistics
import subprocess
import sys
import time

from benchmarks.grading.installation import Bench, Measured
from benchmarks.grading.report import Report
from benchmarks.grading.workload import CALLS, CRITERIA, IN_FLIGHT, ITEMS, LATENCY_SECONDS, limit_seconds
from benchmarks.machine import ROOT, used_by, workers

# What is promised.
WALL_OF_LIMIT, SQLITE_OF_LIMIT, CPU_MS = 1.4, 2.0, 1.0
RATE_PER_CORE, SECOND_WORKER, RSS_MB, GROWTH = 1_000, 1.8, 300, 1.2
CORES_FOR_TWO = 4


def wall(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    on_sqlite = not os.environ.get("DATABASE_URL")
    broker = os.environ.get("CELERY_BROKER_URL", "").partition("://")[0] or "embedded broker"
    where = f"{'SQLite' if on_sqlite else 'PostgreSQL'}, {broker}"
    report.heading(f"{CALLS:,} calls of 50 ms, {IN_FLIGHT} in flight, one grading process ({where})")
    bench.behave(latency_seconds=LATENCY_SECONDS)
    limit, found = limit_seconds(CALLS), []
    with workers(bench.folder, 1) as running:
        for number in range(options.times + 1):
            measured = bench.graded(bench.dataset(ITEMS), running.process_id)
            fresh = ", the process's first" if not number else ""
            report.line(
                f"{measured.wall_seconds:.2f} s = {measured.wall_seconds / limit:.2f} × the limit of "
                f"{limit:.2f} s, {measured.cpu_ms_per_call:.2f} ms CPU per call{fresh}; "
                f"{measured.before_seconds:.2f} s before the first request, "
                f"{measured.after_seconds:.2f} s after the last, at most {measured.most_in_flight} in flight"
            )
            if number:
                found.append(measured)
    middle = statistics.median(one.wall_seconds for one in found)
    cpu = statistics.median(one.cpu_ms_per_call for one in found)
    allowed = SQLITE_OF_LIMIT if on_sqlite else WALL_OF_LIMIT
    times = middle / limit
    report.promise(f"median wall {middle:.2f} s = {times:.2f} × the limit (≤ {allowed})", times <= allowed)
    if not on_sqlite:
        report.promise(f"median CPU {cpu:.2f} ms per call, storing included (≤ {CPU_MS})", cpu <= CPU_MS)


def sqlite(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    """In a process of its own, since this one's Django is on PostgreSQL."""
    servers = ("DATABASE_URL", "CELERY_BROKER_URL")
    env = {name: value for name, value in bench.outside.items() if name not in servers}
    argv = [sys.executable, "-m", "benchmarks.grading", "--only", "wall", "--times", str(options.times)]
    done = subprocess.run([*argv, "--strict"], cwd=ROOT, env=env, check=False)
    if done.returncode:
        report.missed.append("SQLite")


def rate(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    """One process and two by turns, since these machines are faster in one minute than in the next."""
    report.heading(f"No latency, {IN_FLIGHT} in flight per process, one and two by turns")
    bench.behave()
    found: dict[int, list[Measured]] = {1: [], 2: []}
    for _ in range(options.times):
        for processes, measured in found.items():
            with workers(bench.folder, processes) as running:
                bench.graded(bench.dataset(20 * processes), running.process_id)
                measured.append(bench.graded(bench.dataset(options.rate_items), running.process_id))
    for processes, measured in found.items():
        middle = sorted(measured, key=lambda one: one.per_second)[len(measured) // 2]
        report.line(
            f"{processes} process{'es' * (processes > 1)}: {middle.per_second:,.0f} verdicts/s; "
            f"CPU ms per verdict: workers {middle.cpu_ms_per_call:.2f}, database "
            f"{middle.database_cpu_seconds / middle.calls * 1000:.2f}, judge server "
            f"{middle.judge_cpu_seconds / middle.calls * 1000:.2f}"
        )
        per_core = statistics.median(one.per_core for one in measured)
        report.promise(
            f"{processes}: {per_core:,.0f} stored verdicts per second of a core (≥ {RATE_PER_CORE:,})",
            per_core >= RATE_PER_CORE,
        )
    pairs = list(zip(found[1], found[2], strict=True))
    ratio = statistics.median(two.per_second / one.per_second for one, two in pairs)
    counted_out = statistics.median(2 * two.per_core / one.per_core for one, two in pairs)
    report.line(
        f"two processes store {ratio:.2f} × what one does here, on {os.cpu_count()} cores for everybody"
    )
    if (os.cpu_count() or 1) < CORES_FOR_TWO:
        # Judge server and database need a core of their own before two workers can have two.
        each = ", ".join(f"{2 * two.per_core / one.per_core:.2f}" for one, two in pairs)
        report.promise(
            f"judge server and database counted out, two are {counted_out:.2f} × one (≥ {SECOND_WORKER}; "
            f"by turns {each})",
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
    per_core = measured.calls / measured.cpu_seconds
    report.promise(
        f"the largest: {per_core:,.0f} stored verdicts per second of a core (≥ {RATE_PER_CORE:,})",
        per_core >= RATE_PER_CORE,
    )
    (few, short), (many, long) = seconds[0], seconds[-1]
    growth = (long / many) / (short / few)
    report.line(f"{many / few:.0f} × the calls took {long / short:.1f} × the time")
    report.promise(
        f"a call of the largest takes {growth:.2f} × one of the smallest (≤ {GROWTH})", growth <= GROWTH
    )


def plan(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    from rubricweb.services.runs import lifecycle
    from rubricweb.services.runs.starting import RunOptions

    items = 100_000
    report.heading(f"{items:,} items × {CRITERIA}: a run planned")
    dataset = bench.dataset(items, words=100)
    before = used_by(os.getpid())
    began = time.perf_counter()
    run = lifecycle.start_run(
        bench.team,
        by=bench.owner,
        dataset=dataset,
        rubric_version=bench.version,
        options=RunOptions(judge_id="environment"),
        enqueue=lambda run_id: None,
        no_cap=True,
    )
    took = time.perf_counter() - began
    after = used_by(os.getpid())
    grown = after.peak_rss_mb - before.peak_rss_mb
    report.line(f"started in {took:.1f} s, the peak of memory that the import set grew by {grown:.0f} MB")
    from django.utils import timezone

    lifecycle.cancel_run(run, by=bench.owner, now=timezone.now())
