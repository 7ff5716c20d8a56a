"""The supervisor with small children of its own: what it restarts, when it gives up, whom it kills."""

import os
import sys
import time
from pathlib import Path

import pytest

from rubricweb.management.serving.supervisor import Child, GaveUp, Supervisor
from tests.processes.conftest import wait_for

pytestmark = pytest.mark.processes


class Small:
    """A supervisor with short pauses, and what it said."""

    def __init__(self, folder: Path, *, grace_seconds: float = 5.0) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.supervisor = Supervisor(
            self.said.append, grace_seconds=grace_seconds, pauses_seconds=(0.05, 0.05)
        )

    def start(self, code: str) -> Child:
        argv = [sys.executable, "-c", code]
        return self.supervisor.start("small", argv, env=dict(os.environ), log=self.folder / "small.log")


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_child_that_cannot_stay_up_is_given_up_with_the_end_of_its_log(small: Small) -> None:
    small.start("import sys; print('no such broker'); sys.exit(3)")
    with pytest.raises(GaveUp) as gave_up:
        small.supervisor.watch()
    # Started, and once more after each of the two pauses.
    assert "small ended with code 3, 3 times" in str(gave_up.value)
    assert "no such broker" in str(gave_up.value)
    assert len(small.said) == 2


def test_a_child_deaf_to_term_is_killed_after_the_grace(tmp_path: Path) -> None:
    small = Small(tmp_path, grace_seconds=0.5)
    child = small.start(
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True);"
        "time.sleep(60)"
    )
    wait_for(lambda: "deaf" in child.tail())
    began = time.monotonic()
    small.supervisor.stop()
    assert time.monotonic() - began >= 0.5
    assert child.process is not None
    assert child.process.returncode == -9


def test_what_a_crashed_child_left_behind_is_killed(small: Small) -> None:
    child = small.start(
        "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); sys.exit(1)"
    )
    wait_for(lambda: child.tail().strip())
    left_behind = int(child.tail().split()[0])
    wait_for(lambda: child.process is not None and child.process.poll() is not None)
    assert is_alive(left_behind)
    small.supervisor.look_after()
    wait_for(lambda: not is_alive(left_behind))
    small.supervisor.stop()


def test_not_getting_ready_in_time_is_told_with_the_log(small: Small) -> None:
    child = small.start("import time; print('still warming up', flush=True); time.sleep(60)")
    wait_for(lambda: child.tail())
    with pytest.raises(GaveUp, match=r"small was not ready after 0 s(?s:.*)still warming up"):
        small.supervisor.wait_until(child, lambda: False, timeout_seconds=0.2)
    small.supervisor.stop()


def test_a_long_log_is_put_aside_at_the_next_start(small: Small, tmp_path: Path) -> None:
    (tmp_path / "small.log").write_bytes(b"x" * (5 * 1024 * 1024 + 1))
    child = small.start("print('fresh')")
    wait_for(lambda: "fresh" in child.tail())
    assert (tmp_path / "small.log").stat().st_size < 100
    assert (tmp_path / "small.log.1").exists()
    small.supervisor.stop()
