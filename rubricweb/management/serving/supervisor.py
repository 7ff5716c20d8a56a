"""A small process supervisor: starts children, restarts crashed ones, leaves none behind.

Every child leads its own process group, so that Ctrl+C reaches only the supervisor and a crashed child's
own children can be cleared away with it.
"""

import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from rubricweb.services.shared import parent_death

PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
CRASHES_COUNT_SECONDS = 120.0
LOG_MAX_BYTES = 5 * 1024 * 1024


class GaveUp(Exception):
    """A child that would not stay up; the message holds the end of its log."""


@dataclass
class Child:
    """One program to keep running. `argv` and `env` may change between two starts."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    crashes: deque[float] = field(default_factory=deque)
    start_at: float | None = None

    def tail(self, lines: int = 20) -> str:
        """The last lines of the child's log."""
        with suppress(OSError):
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        return ""


class Supervisor:
    """Runs children until `KeyboardInterrupt`, which SIGINT, SIGTERM and SIGHUP raise once installed.

    `say` gets one line per event worth a person's attention. `grace_seconds` is how long children may take
    to end before they are killed. A child that crashes is started again after each of `pauses_seconds` in
    turn, and given up when it crashes once more within two minutes.
    """

    def __init__(
        self,
        say: Callable[[str], object],
        *,
        grace_seconds: float = 8.0,
        pauses_seconds: Sequence[float] = PAUSES_SECONDS,
    ) -> None:
        self._say = say
        self._grace_seconds = grace_seconds
        self._pauses_seconds = pauses_seconds
        self._children: list[Child] = []
        self._stopping = False
        self._forced = False

    def catch_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._signalled)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        if self._stopping:
            self._forced = True
            return
        self._stopping = True
        raise KeyboardInterrupt

    def start(self, name: str, argv: Sequence[str], *, env: Mapping[str, str], log: Path) -> Child:
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_MAX_BYTES:
            log.replace(log.with_suffix(".log.1"))
        child = Child(name, argv, env, log)
        self._children.append(child)
        self._spawn(child)
        return child

    def wait_until(self, child: Child, ready: Callable[[], bool], *, timeout_seconds: float) -> None:
        """Waits for a child to be ready, restarting it when it crashes. Raises GaveUp."""
        deadline = time.monotonic() + timeout_seconds
        while not ready():
            if time.monotonic() > deadline:
                raise GaveUp(f"{child.name} was not ready after {timeout_seconds:.0f} s.\n{child.tail()}")
            self.look_after()
            time.sleep(0.05)

    def watch(self) -> None:
        """Looks after the children for ever. Raises GaveUp, or KeyboardInterrupt when asked to stop."""
        while True:
            self.look_after()
            time.sleep(0.2)

    def look_after(self) -> None:
        """Notices crashes and starts again what is due."""
        now = time.monotonic()
        for child in self._children:
            if child.process is not None and child.process.poll() is not None:
                self._crashed(child, now)
            if child.process is None and child.start_at is not None and child.start_at <= now:
                self._spawn(child)

    def _crashed(self, child: Child, now: float) -> None:
        assert child.process is not None
        code = child.process.returncode
        self._kill_group(child, signal.SIGKILL)  # whatever it started and left behind
        child.process = None
        while child.crashes and now - child.crashes[0] > CRASHES_COUNT_SECONDS:
            child.crashes.popleft()
        child.crashes.append(now)
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        if len(child.crashes) > len(self._pauses_seconds):
            raise GaveUp(
                f"{child.name} {how}, {len(child.crashes)} times in "
                f"{CRASHES_COUNT_SECONDS:.0f} s. The end of {child.log}:\n{child.tail()}"
            )
        pause = self._pauses_seconds[len(child.crashes) - 1]
        child.start_at = now + pause
        self._say(f"{child.name} {how}; starting it again in {pause:g} s ({child.log})")

    def _spawn(self, child: Child) -> None:
        supervisor = os.getpid()
        with child.log.open("ab") as log:
            child.process = subprocess.Popen(  # noqa: S603  our own programs, no shell
                list(child.argv),
                env=dict(child.env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: (
                    parent_death.follow(supervisor, signal.SIGTERM) if parent_death.KERNEL else None
                ),
            )
        child.start_at = None

    def stop(self) -> None:
        """Ends every child: TERM, and KILL after the grace or at a second signal."""
        self._stopping = True
        running = [child for child in self._children if child.process is not None]
        for child in running:
            assert child.process is not None
            if child.process.poll() is None:
                with suppress(ProcessLookupError):
                    child.process.terminate()
        deadline = time.monotonic() + self._grace_seconds
        while any(child.process and child.process.poll() is None for child in running):
            if self._forced or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        for child in running:
            self._kill_group(child, signal.SIGKILL)
            assert child.process is not None
            child.process.wait()

    def _kill_group(self, child: Child, number: signal.Signals) -> None:
        """Signals the child and everything it started; the group is its own, so nobody else's."""
        assert child.process is not None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.process.pid, number)
