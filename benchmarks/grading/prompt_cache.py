"""What beginnings paid once save and cost in time: `python -m benchmarks.grading.prompt_cache`.

A Celery worker grades items of 3,000 words with ten criteria against the scripted server, which caches the
beginnings of prompts as providers do: from the first token of an answer on, from 1,024 tokens on, in steps of
128. By turns at a price, where one question of an item goes ahead, and at none, where all are sent at once.
With DATABASE_URL and CELERY_BROKER_URL set, on those servers; else on SQLite and the embedded broker.

    --items 60       items of a run: ten calls each
    --latency 1.0    seconds an answer takes; its first token comes after half of them
    --in-flight 16   calls at once
    --times 3        runs either way, of which the median counts

Exit code 1 when a promise misses and --strict is given.
"""

import argparse
import json
import os
import statistics
import sys
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.grading.installation import Bench, installation
from benchmarks.grading.report import Report
from benchmarks.grading.workload import CRITERIA
from benchmarks.machine import workers

if TYPE_CHECKING:
    from rubricweb.models import Dataset

# What is promised: of the input when all questions of an item are sent at once, and of the wall.
PAID, WALL = 0.35, 1.15
WORDS = 3_000
PRICES = {"input_usd_per_million": 1.0, "cached_input_usd_per_million": 0.1, "output_usd_per_million": 4.0}


@dataclass(frozen=True)
class Graded:
    wall_seconds: float
    paid_share: float


def main() -> int:
    options = _options()
    os.environ["JUDGE_ALLOW_PRIVATE_HOSTS"] = "1"
    report = Report()
    with installation(None) as bench, workers(bench.folder, 1):
        report.heading(
            f"{options.items} items of {WORDS:,} words × {CRITERIA} criteria, {options.latency:g} s an "
            f"answer, {options.in_flight} in flight"
        )
        graded(bench, options, 4, ahead=True)
        found: dict[bool, list[Graded]] = {True: [], False: []}
        for _ in range(options.times):
            for ahead, measured in found.items():
                measured.append(graded(bench, options, options.items, ahead=ahead))
                words = "one ahead" if ahead else "all at once"
                took, share = measured[-1].wall_seconds, measured[-1].paid_share
                report.line(f"{words}: {took:.2f} s, {share:.1%} of the tokens paid")
        wall = {ahead: statistics.median(one.wall_seconds for one in of) for ahead, of in found.items()}
        paid = {ahead: statistics.median(one.paid_share for one in of) for ahead, of in found.items()}
        times, share = wall[True] / wall[False], paid[True] / paid[False]
        report.promise(f"input paid: {share:.1%} of what it is at once (≤ {PAID:.0%})", share <= PAID)
        report.promise(f"wall: {times:.2f} × what it is at once (≤ {WALL})", times <= WALL)
    return 1 if report.missed and options.strict else 0


def graded(bench: Bench, options: argparse.Namespace, items: int, *, ahead: bool) -> Graded:
    """Grades new items at an endpoint of its own; at a price of 0 nothing goes ahead of anything."""
    from rubricweb import tasks
    from rubricweb.judges.offline.script import PromptCache, Say, Script
    from rubricweb.judges.offline.server import running_server
    from rubricweb.services.endpoints import endpoints
    from rubricweb.services.runs import lifecycle
    from rubricweb.services.runs.starting import RunOptions

    cache = PromptCache()
    answer = '{"explanation": "It says so.", "criterion_status": "MET"}'
    script = Script(Say(answer, delay_seconds=options.latency), prompt_cache=cache)
    with running_server(script) as url:
        endpoint = endpoints.add_endpoint(
            bench.team,
            by=bench.owner,
            name=uuid.uuid4().hex,
            base_url=url,
            model="cached",
            max_concurrency=options.in_flight,
            **(PRICES if ahead else dict.fromkeys(PRICES, 0.0)),  # type: ignore[arg-type]  # prices, all of them
        )
        dataset = _dataset(bench, items)
        began = time.monotonic()
        run = lifecycle.start_run(
            bench.team,
            by=bench.owner,
            dataset=dataset,
            rubric_version=bench.version,
            options=RunOptions(judge_id=endpoint.judge_id),
            enqueue=tasks.notify,
            no_cap=True,
        )
        while run.state == "running":
            time.sleep(0.02)
            run.refresh_from_db(fields=["state", "finished_at", "created_at"])
            if time.monotonic() - began > 600:
                raise RuntimeError(f"run {run.pk} stands still")
        assert run.state == "finished", run.state
        assert run.finished_at is not None
        assert len(cache.bills) == items * CRITERIA
    paid = sum(bill.paid for bill in cache.bills) / sum(bill.tokens for bill in cache.bills)
    return Graded((run.finished_at - run.created_at).total_seconds(), paid)


def _dataset(bench: Bench, items: int) -> "Dataset":
    from rubricweb.services.datasets import datasets
    from rubricweb.services.datasets.previews import AS_IT_IS

    mark = uuid.uuid4().hex[:8]
    lines = [
        json.dumps({"id": str(n), "submission": f"{mark} {n}: " + " ".join(f"word{m}" for m in range(WORDS))})
        for n in range(items)
    ]
    return datasets.import_dataset_file(
        bench.team,
        by=bench.owner,
        data="\n".join(lines).encode(),
        filename=f"cached-{mark}.jsonl",
        choices=AS_IT_IS,
    ).dataset


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.grading.prompt_cache",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--items", type=int, default=60)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--in-flight", type=int, default=16)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--strict", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
