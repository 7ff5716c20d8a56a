"""A helper process that answers questions and is ended when one takes too long."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from rubricweb.engine.checks.base import CannotCheck

START_SECONDS = 60.0
_at_once: ContextVar[bool] = ContextVar("at_once", default=False)
_PROGRAM = Path(__file__).with_name("helper_process.py")


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """While this lasts, nothing waits for a helper process: for the requests of pages.

    A check that needs one declines with ``needs_a_run``.
    """
    token = _at_once.set(True)
    try:
        yield
    finally:
        _at_once.reset(token)


class LimitedProcess:
    """One helper process for one task, started by the first question and kept for the next ones.

    Threads take turns; a process forked from this one starts a helper of its own. A helper that is too
    late, or is gone, is replaced at the next question.
    """

    def __init__(self, task: str, *, timeout_seconds: float) -> None:
        self.task = task
        self.timeout_seconds = timeout_seconds
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        os.register_at_fork(after_in_child=self._forget)

    def ask(self, question: dict[str, Any]) -> Any:
        """The helper's answer, plain JSON data.

        Raises CannotCheck: ``needs_a_run`` within ``at_once``, ``timed_out`` after ``timeout_seconds``, or if
        the helper died, as it does when its memory is used up; RuntimeError with the helper's own words when
        its function crashed.
        """
        if _at_once.get():
            raise CannotCheck("needs_a_run", "not measured on a page, as it may take seconds: a run does")
        with self._turn:
            try:
                answer = self._answer(question)
            except BaseException:
                # An answer that comes later would be taken for the next question's.
                self.end()
                raise
        if "crash" in answer:
            raise RuntimeError(answer["crash"])
        return answer["answer"]

    def end(self) -> None:
        """End the helper; the next question starts another."""
        process, self._process, self._unread = self._process, None, b""
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _forget(self) -> None:
        """Let a forked process start anew: the lock may be held by no thread of it, the pipes are shared."""
        self._turn = threading.Lock()
        self._process, self._unread = None, b""

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        process = self._process or self._start()
        assert process.stdin is not None
        asked = {"seconds": self.timeout_seconds, "question": question}
        try:
            process.stdin.write(json.dumps(asked).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise CannotCheck("timed_out", f"the {self.task} process had ended") from None
        answer: dict[str, Any] = json.loads(self._line(process, self.timeout_seconds))
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(  # noqa: S603 - our own file, run by this very interpreter
            [sys.executable, "-P", str(_PROGRAM), self.task],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._process = process
        self._line(process, START_SECONDS)
        return process

    def _line(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        assert process.stdout is not None
        deadline = time.monotonic() + seconds
        while b"\n" not in self._unread:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                raise CannotCheck("timed_out", f"no answer within {seconds:g} seconds")
            more = os.read(process.stdout.fileno(), 1 << 16)
            if not more:
                raise CannotCheck("timed_out", f"the {self.task} process ended before it answered")
            self._unread += more
        line, self._unread = self._unread.split(b"\n", 1)
        return line
