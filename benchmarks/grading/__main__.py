"""What a run costs beyond the judge's own time: `python -m benchmarks.grading`.

Real Celery workers grade against a judge server of its own (`benchmarks.judge_server`), storing every
verdict with its call. With DATABASE_URL (postgres://…) and CELERY_BROKER_URL (redis://…) set, on a new
database of that server; without, on SQLite and the embedded broker in a scratch folder. Both are gone
afterwards.

    wall       2,000 calls of 50 ms, 64 in flight, one process: wall from start to finished, CPU per call
    sqlite     the same on SQLite and the embedded broker, when the others run on PostgreSQL
    rate       no latency: verdicts stored per second by one and by two grading processes
    sizes      no latency, two processes: rate and peak memory over --sizes items × 10
    behind     a run of 5 items alone, and started behind one of --big items
    bucket     a judge that lets 300 requests a minute through, a token bucket: share used, share of 429
    windows    the same with windows of a minute, one after the other from the first request on
    again      a finished run again, unchanged and with one of ten criteria changed: calls the judge counted
    plan       100,000 items × 10: seconds and memory to start the run
    chaos      tests/processes/kills/test_chaos.py: everything is killed while the judge misbehaves
    peers      rubric and autorubric beside us, at 50 ms and at none; only with --peers, which installs them
    endpoints  servers that others wrote; only with --endpoints, which installs them

`--only wall,rate` selects, `--times 3` repeats `wall`, `rate` and `peers` and takes the median, `--core 1`
keeps the judge server on that core. Lines end in *holds* or *misses* where there is a promise; exit code 1
when one misses and --strict is given.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable

from benchmarks.grading.installation import Bench, installation
from benchmarks.grading.peers import peers
from benchmarks.grading.programs import chaos, endpoints
from benchmarks.grading.report import Report
from benchmarks.grading.restraint import again, behind, bucket, windows
from benchmarks.grading.speed import plan, rate, sizes, sqlite, wall

MEASUREMENTS: dict[str, Callable[[Bench, Report, argparse.Namespace], None]] = {
    "wall": wall,
    "sqlite": sqlite,
    "rate": rate,
    "sizes": sizes,
    "behind": behind,
    "bucket": bucket,
    "windows": windows,
    "again": again,
    "plan": plan,
    "chaos": chaos,
    "peers": peers,
    "endpoints": endpoints,
}


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    report = Report()
    with installation(options.core) as bench:
        for name in options.only:
            MEASUREMENTS[name](bench, report, options)
    if report.missed:
        report.heading(f"{len(report.missed)} missed: {'; '.join(report.missed)}")
    return 1 if report.missed and options.strict else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.grading",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", type=lambda text: text.split(","), help="names from the list above")
    parser.add_argument("--peers", action="store_true", help="measure rubric and autorubric too")
    parser.add_argument("--endpoints", action="store_true", help="ask the servers that others wrote too")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--sizes", type=_numbers, default=[500, 2_000, 10_000])
    parser.add_argument("--rate-items", type=int, default=500, help="items × 10 that `rate` grades")
    parser.add_argument("--big", type=int, default=5_000, help="items of the run that is in the way")
    parser.add_argument(
        "--minutes", type=int, default=3, help="minutes of questions for `bucket` and `windows`"
    )
    parser.add_argument("--core", type=int, help="the core the judge server stays on")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a promise misses")
    options = parser.parse_args()
    if options.only is None:
        left_out = {"peers": not options.peers, "endpoints": not options.endpoints}
        left_out["sqlite"] = not os.environ.get("DATABASE_URL")
        options.only = [name for name in MEASUREMENTS if not left_out.get(name)]
    if options.minutes < 2:
        parser.error("--minutes: at least 2, for a window of a minute has to pass")
    if unknown := [name for name in options.only if name not in MEASUREMENTS]:
        parser.error(f"--only {','.join(unknown)}: allowed are {', '.join(MEASUREMENTS)}")
    return options


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
