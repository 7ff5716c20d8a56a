"""The same work by other libraries and by us, in turn, in one run."""

import argparse
import json
import statistics
import subprocess
from dataclasses import dataclass

from benchmarks.grading.installation import Bench
from benchmarks.grading.libraries import WARM_ITEMS
from benchmarks.grading.report import Report
from benchmarks.grading.workload import CRITERIA, IN_FLIGHT, ITEMS, LATENCY_SECONDS, limit_seconds
from benchmarks.machine import ROOT, workers

TIMES_FASTER = {"rubric": 4.0, "autorubric": 9.0}
"""What is promised where the judge takes no time; why there: docs/decisions/0012."""
ITEMS_AT_ONCE = 500


@dataclass(frozen=True)
class Took:
    """Grading once: seconds from start to end, and the CPU time of who graded."""

    wall_seconds: float
    cpu_seconds: float


def peers(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    for library in TIMES_FASTER:
        subprocess.run(["make", "--silent", f".venv-peer-{library}/.stamp"], cwd=ROOT, check=True)
    for latency_seconds, items in ((LATENCY_SECONDS, ITEMS), (0.0, ITEMS_AT_ONCE)):
        _compare(bench, report, latency_seconds, items, options.times)


def _compare(bench: Bench, report: Report, latency_seconds: float, items: int, times: int) -> None:
    calls, delay = items * CRITERIA, f"{latency_seconds * 1000:.0f} ms"
    report.heading(
        f"Beside other libraries, {calls:,} calls of {delay}, {IN_FLIGHT} in flight, medians of {times}; "
        "ours stores every verdict in the database, they do not"
    )
    found: dict[str, list[Took]] = {"ours": [], **{library: [] for library in TIMES_FASTER}}
    with workers(bench.folder, 1) as running:
        bench.behave(latency_seconds=latency_seconds)
        bench.graded(bench.dataset(WARM_ITEMS), running.process_id)
        for _ in range(times):  # in turn: what else this machine does slows all alike
            ours = bench.graded(bench.dataset(items), running.process_id)
            found["ours"].append(Took(ours.wall_seconds, ours.cpu_seconds))
            for library in TIMES_FASTER:
                found[library].append(_graded_by(library, bench, items))
    took = {who: statistics.median(one.wall_seconds for one in those) for who, those in found.items()}
    for who, those in found.items():
        cpu_ms = statistics.median(one.cpu_seconds for one in those) / calls * 1000
        walls = " ".join(f"{one.wall_seconds:.2f}" for one in those)
        report.line(f"{who}: {took[who]:.2f} s, {cpu_ms:.2f} ms CPU per call ({walls})")
    for library, promised in TIMES_FASTER.items():
        ratio = took[library] / took["ours"]
        if latency_seconds:
            most = took[library] / limit_seconds(calls)
            beyond = f", which is below {promised:g}: nobody can be so much faster here" * (most < promised)
            report.line(
                f"ours is {ratio:.1f} × faster than {library}; "
                f"the limit of {limit_seconds(calls):.2f} s itself is {most:.1f} ×{beyond}"
            )
        else:
            report.promise(f"ours is {ratio:.1f} × faster than {library} (≥ {promised:g})", ratio >= promised)


def _graded_by(library: str, bench: Bench, items: int) -> Took:
    """Insists on a verdict for every criterion, one request for each, and no more in flight than agreed."""
    bench.judge.behave(**bench.behaviour)
    python = ROOT / f".venv-peer-{library}/bin/python"
    argv = [str(python), "-m", "benchmarks.grading.libraries", library]
    argv += ["--base-url", bench.judge.base_url, "--items", str(items)]
    done = subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    said, seen = json.loads(done.stdout.splitlines()[-1]), bench.judge.count()
    assert said["verdicts"] == items * CRITERIA, said
    assert seen["answered"] == (items + WARM_ITEMS) * CRITERIA, seen
    assert seen["max_in_flight"] <= IN_FLIGHT, seen
    return Took(said["wall_seconds"], said["cpu_seconds"])
