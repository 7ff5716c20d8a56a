"""What programs of their own prove, each with an installation of its own: the chaos test, others' servers."""

import argparse
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.grading.installation import Bench
from benchmarks.grading.report import Report
from benchmarks.machine import ROOT

CHAOS = "tests/processes/kills/test_chaos.py"
CHAOS_KILLS = 80
"""Twenty of each of the four; the tests of every day are content with a quarter of them."""
ENDPOINTS = ("litellm_mock", "transformers_serve", "llama_cpp")


def chaos(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    report.heading("2,000 calls while worker, web, Redis and PostgreSQL are killed, and the judge misbehaves")
    pytest = ["-m", "pytest", "-q", "--capture=no", "-p", "no:cacheprovider", CHAOS]
    ended_well = _run(bench, pytest, CHAOS_KILLS=str(CHAOS_KILLS))
    report.promise("every verdict is there once, nothing paid for twice but what was on its way", ended_well)


def endpoints(bench: Bench, report: Report, options: argparse.Namespace) -> None:
    for name in ENDPOINTS:
        report.heading(f"benchmarks.endpoints.{name}")
        ended_well = _run(bench, ["-m", f"benchmarks.endpoints.{name}"])
        report.promise(f"{name}: every call ends as a verdict or an error of a known kind", ended_well)


def _run(bench: Bench, arguments: Sequence[str], **env: str) -> bool:
    return not subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env={**bench.outside, **env}, check=False
    ).returncode
