"""Says how far a run of the tests is and how long it will take: `pytest --progress`, as `make test` does.

A browser test takes as long as a thousand others, so a share of tests says nothing. What is done is weighed
by the seconds a test of each file took (`tests/data/seconds.json`); `--renew-seconds` writes them anew.
"""

import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from time import monotonic

import pytest

SECONDS = Path(__file__).parent / "data" / "seconds.json"
EVERY = 20
"""Seconds between two lines."""
UNKNOWN = 0.1
"""Seconds of a test of a new file."""


def read_seconds() -> dict[str, float]:
    """Test file, by its path below tests/ → the seconds one of its tests took on average."""
    seconds: dict[str, float] = json.loads(SECONDS.read_text())
    return seconds


class Progress:
    """A line at the beginning, one every 20 seconds and one for each failure, where pytest has dots."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.seconds = read_seconds()
        self.total = self.done = 0.0
        self.tests = self.ended = 0
        self.began = self.said = monotonic()
        self.took: defaultdict[str, float] = defaultdict(float)
        self.counted: Counter[str] = Counter()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:  # without xdist; with it the processes collect, and the first to end says what
            self._begin([item.nodeid for item in session.items], processes=1)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        if not self.tests:
            self._begin(ids, processes=int(self.config.getoption("numprocesses") or 1))

    def pytest_report_teststatus(self, report: object) -> tuple[str, str, str] | None:
        if not isinstance(report, pytest.TestReport) or report.skipped:
            return None
        if report.failed:
            return ("failed", "", "FAILED") if report.when == "call" else ("error", "", "ERROR")
        return ("passed" if report.when == "call" else "", "", "")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        place = _place(report.nodeid)
        self.took[place] += report.duration
        if report.failed:
            self._say(f"failed: {report.nodeid}")
        if report.when != "teardown":
            return
        self.ended += 1
        self.counted[place] += 1
        self.done += self.seconds.get(place, UNKNOWN)
        if monotonic() - self.said >= EVERY:
            self.said = monotonic()
            self._say(f"{self.done / self.total:4.0%} done, {_left(self.began, self.done / self.total)}")

    def pytest_sessionfinish(self) -> None:
        if self.config.getoption("--renew-seconds"):
            kept = self.seconds | {place: round(self.took[place] / n, 3) for place, n in self.counted.items()}
            there = {place: took for place, took in kept.items() if (SECONDS.parent.parent / place).exists()}
            SECONDS.write_text(json.dumps(dict(sorted(there.items())), indent=0) + "\n")

    def _begin(self, ids: list[str], *, processes: int) -> None:
        self.tests = len(ids)
        self.total = sum(self.seconds.get(_place(one), UNKNOWN) for one in ids) or 1.0
        self.began = self.said = monotonic()
        cores = min(processes, os.cpu_count() or 1)
        self._say(f"{self.tests:,} tests, about {_minutes(self.total / cores)} on {cores} free cores")

    def _say(self, words: str) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            minutes, seconds = divmod(int(monotonic() - self.began), 60)
            reporter.ensure_newline()
            reporter.write_line(f"{minutes:2d}:{seconds:02d}  {words}")


def _place(nodeid: str) -> str:
    return nodeid.partition("::")[0].removeprefix("tests/")


def _left(began: float, share: float) -> str:
    left = (monotonic() - began) * (1 - share) / share if share else 0.0
    return f"about {_minutes(left)} left"


def _minutes(seconds: float) -> str:
    whole = round(seconds / 60)
    return "a minute" if whole <= 1 else f"{whole} minutes"
