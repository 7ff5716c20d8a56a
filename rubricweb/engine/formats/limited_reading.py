"""Files read in a process of its own, which is ended when they take too much time or memory."""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from rubricweb.engine.errors import Fault, Invalid, InvalidFile

READ_HERE_BYTES = 64 * 1024
"""A file up to this size is read where it is asked for: whatever it holds, that takes less than a second."""
CPU_SECONDS = 20
MEMORY_BYTES = 4 * 1024**3
_WAIT_RATIO = 6
"""On a busy machine a process gets a part of a processor: it is waited for so many times its CPU seconds."""

T = TypeVar("T")


def read_limited(
    read: Callable[..., T],
    data: bytes,
    *,
    read_here_bytes: int = READ_HERE_BYTES,
    cpu_seconds: int = CPU_SECONDS,
    **options: Any,
) -> T:
    """``read(data, **options)``, where ``read`` is a reader of this package such as ``read_dataset``.

    Gives what it gives and raises what it raises, an Invalid; InvalidFile where reading takes more than
    ``cpu_seconds`` of a processor or 4 GB of memory. Files of at most ``read_here_bytes`` are read here.
    """
    if len(data) <= read_here_bytes:
        return read(data, **options)
    # The path is handed on, for a wheel, a checkout and a test find this package in different places.
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    asked = pickle.dumps((cpu_seconds, read, data, options))
    try:
        done = subprocess.run(
            [sys.executable, "-m", "rubricweb.engine.formats.limited_reading"],
            input=asked,
            capture_output=True,
            timeout=cpu_seconds * _WAIT_RATIO,
            env=env,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _too_long(cpu_seconds) from None
    if done.returncode < 0:  # ended by the kernel, at one limit or the other
        raise _too_long(cpu_seconds)
    if done.returncode:
        raise RuntimeError(f"reading a file crashed: {done.stderr.decode(errors='replace')[-1000:]}")
    # Written by our own code, never by the file: what it says is data in there.
    given, refused = pickle.loads(done.stdout)  # noqa: S301  written by our own process just now
    if refused is not None:
        raise refused
    result: T = given
    return result


def _too_long(cpu_seconds: int) -> InvalidFile:
    found = f"a file that takes more than {cpu_seconds} seconds or 4 GB of memory to read"
    return InvalidFile([Fault("", found, "several smaller files, or the same data as JSONL or Parquet")])


def main() -> None:
    """Read what standard input asks for; the limits hold before the file is looked at."""
    cpu_seconds, read, data, options = pickle.load(sys.stdin.buffer)  # noqa: S301 - from `read_limited`
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    answer: tuple[Any, Invalid | None]
    try:
        answer = read(data, **options), None
    except Invalid as refusal:
        answer = None, refusal
    except MemoryError:
        answer = None, _too_long(cpu_seconds)
    pickle.dump(answer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
