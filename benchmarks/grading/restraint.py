"""What a run holds back from: the turn of a shorter one, an endpoint's limit, questions that have answers."""

import argparse
import statistics
import time
from typing import TYPE_CHECKING

from benchmarks.grading.installation import Bench
from benchmarks.grading.report import Report
from benchmarks.grading.workload import CRITERIA, LATENCY_SECONDS, requirements
from benchmarks.machine import workers

if TYPE_CHECKING:
    from rubricweb.models import RubricVersion

# What is promised.
BEHIND, ALLOWANCE, TOO_MANY = 3.0, 0.80, 0.05
PER_MINUTE = 300


def behind(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    report.heading(f"5 items behind {options.big:,}, calls of 50 ms, two grading processes")
    bench.behave(latency_seconds=LATENCY_SECONDS)
    from django.utils import timezone

    from rubricweb.services.runs import lifecycle

    with workers(bench.folder, 2) as running:
        bench.graded(bench.dataset(40), running.process_id)
        alone = [bench.graded(bench.dataset(5), running.process_id).wall_seconds for _ in range(3)]
        small = [bench.dataset(5) for _ in range(3)]
        big = bench.start(bench.dataset(options.big))
        time.sleep(2)
        late = [bench.graded(dataset, running.process_id).wall_seconds for dataset in small]
        big.refresh_from_db()
        assert big.state == "running", "the big run ended too soon to be in the way"
        lifecycle.cancel_run(big, by=bench.owner, now=timezone.now())
    one, other = statistics.median(alone), statistics.median(late)
    report.line(f"alone {one:.2f} s, behind {other:.2f} s (medians of 3: {_list(alone)} and {_list(late)})")
    report.promise(f"behind is {other / one:.2f} × alone (≤ {BEHIND:g})", other / one <= BEHIND)


def bucket(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    _limit(bench, report, options, "bucket", "a token bucket")


def windows(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    _limit(bench, report, options, "fixed", "windows of a minute")


def _limit(bench: Bench, report: Report, options: argparse.Namespace, window: str, words: str) -> None:
    report.heading(f"A judge that lets {PER_MINUTE} requests a minute through ({words}), one grading process")
    bench.behave(latency_seconds=0.2, per_minute=PER_MINUTE, window=window)
    dataset = bench.dataset(PER_MINUTE * options.minutes // CRITERIA)
    with workers(bench.folder, 1) as running:
        # A model of its own: what was learned of the other's limit is not known of this one's.
        measured = bench.graded(dataset, running.process_id, model=f"bench-{window}")
    count = bench.judge.count()
    let_through, allowed = count["let_through"], count["allowed"]
    report.line(
        f"{measured.calls} answers in {count['seconds']:.0f} s; {let_through} of {allowed:.0f} requests "
        "let through while the allowance is counted"
    )
    used = let_through / allowed
    too_many = count["outcomes"].get("over_limit", 0) / count["requests"]
    report.promise(f"{used:.1%} of the allowance used (≥ {ALLOWANCE:.0%})", used >= ALLOWANCE)
    report.promise(f"{too_many:.1%} of the requests were 429 (< {TOO_MANY:.0%})", too_many < TOO_MANY)


def again(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    from rubricweb.services.rubrics import rubrics

    report.heading("A finished run again, 20 items × 10 criteria")
    dataset = bench.dataset(20)
    calls = 20 * CRITERIA

    def requests(version: "RubricVersion | None" = None) -> int:
        bench.behave(latency_seconds=0.01)
        bench.finish(bench.start(dataset, version))
        return int(bench.judge.count()["requests"])

    with workers(bench.folder, 1):
        first, unchanged = requests(), requests()
        criteria = requirements()
        criteria[3]["requirement"] += " And says it well."
        draft = {"title": "Bench", "criteria": criteria}
        bench.rubric.refresh_from_db()
        rubrics.save_draft(bench.rubric, draft=draft, revision=bench.rubric.draft_revision)
        changed = requests(rubrics.publish(bench.rubric, by=bench.owner))
    report.line(f"the first made {first} calls")
    report.promise(f"unchanged: {unchanged} calls (0)", unchanged == 0)
    report.promise(f"one criterion of ten changed: {changed} calls ({calls // 10})", changed == calls // 10)


def _list(seconds: list[float]) -> str:
    return " ".join(f"{one:.2f}" for one in seconds)
