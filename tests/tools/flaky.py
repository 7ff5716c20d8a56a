"""Runs a test command again and again beside programs that keep every core busy, and lists whatever failed.

`python -m tests.tools.flaky 10 -- make test` runs `make test` ten times; the exit code is 1 when any test
failed.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

BURNER = "while True: pass"


@contextmanager
def busy_cores() -> Iterator[None]:
    """One program per core that never rests."""
    burners = [subprocess.Popen([sys.executable, "-c", BURNER]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for one in burners:
            one.kill()
            one.wait()


def failed(report: Path) -> list[str]:
    """The tests that failed by a report in JUnit's format; a run that wrote none failed as a whole."""
    if not report.exists():
        return ["the run itself: it wrote no report"]
    tests = ElementTree.parse(report).iter("testcase")
    return [
        f"{one.get('classname')}::{one.get('name')}"
        for one in tests
        if one.find("failure") is not None or one.find("error") is not None
    ]


def main(times: int, command: list[str]) -> int:
    """Prints each test that failed, with how often."""
    failures: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, busy_cores():
        for number in range(1, times + 1):
            report = Path(folder, f"{number}.xml")
            arguments = f"{os.environ.get('ARGS', '')} --junitxml={report}".strip()
            print(f"── Run {number} of {times}", flush=True)
            ended = subprocess.run([*command, f"ARGS={arguments}"])
            found = failed(report)
            failures.update(found or (["the run itself"] if ended.returncode else []))
    for name, count in failures.most_common():
        print(f"{count} of {times}: {name}")
    print(f"{times} runs, {len(failures)} tests failed in any of them.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[sys.argv.index("--") + 1 :]))
