"""Files read in a process of its own, which is ended when they take too much time or memory."""

from __future__ import annotations

import fcntl
import gc
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from rubricweb.engine.errors import Fault, Invalid, InvalidFile

READ_HERE_BYTES = 64 * 1024
"""A file up to this size is read where it is asked for: whatever it holds, that takes less than a second."""
CPU_SECONDS = 20
MEMORY_BYTES = 4 * 1024**3
_WAIT_RATIO = 6
"""On a busy machine a process gets a part of a processor: it is waited for so many times its CPU seconds."""

T = TypeVar("T")


class ReadersBusy(Exception):
    """As many files are being read on this machine as may be at once."""


def read_limited(
    read: Callable[..., T],
    data: bytes | Path,
    *,
    read_here_bytes: int = READ_HERE_BYTES,
    cpu_seconds: int = CPU_SECONDS,
    at_once: int | None = None,
    wait_seconds: float = 0.0,
    **options: Any,
) -> T:
    """``read(data, **options)``, where ``read`` is a reader of this package such as ``read_dataset``.

    Gives what it gives and raises what it raises, an Invalid; InvalidFile where reading takes more than
    ``cpu_seconds`` of a processor or 4 GB of memory. Files of at most ``read_here_bytes`` are read here.
    With ``at_once`` only so many are read by processes of this user on this machine at the same time:
    ReadersBusy where none of them is done within ``wait_seconds``.
    """
    size = data.stat().st_size if isinstance(data, Path) else len(data)
    if size <= read_here_bytes:
        return read(data, **options)
    with _reader(at_once, wait_seconds) as turn, _process(False, turn) as process:
        try:
            asked = pickle.dumps((cpu_seconds, read, data, options))
            stdout, stderr = process.communicate(asked, timeout=cpu_seconds * _WAIT_RATIO)
        except subprocess.TimeoutExpired:
            process.kill()
            raise _too_long(cpu_seconds) from None
    if process.returncode:
        raise _ended(process.returncode, stderr, cpu_seconds)
    # Written by our own code, never by the file: what it says is data in there.
    given, refused = pickle.loads(stdout)  # noqa: S301  written by our own process just now
    if refused is not None:
        raise refused
    result: T = given
    return result


def stream_limited(
    read: Callable[..., Iterator[T]],
    path: Path,
    *,
    cpu_seconds: int = CPU_SECONDS,
    at_once: int | None = None,
    wait_seconds: float = 0.0,
    **options: Any,
) -> Iterator[T]:
    """What ``read(path, **options)`` yields, read in a process of its own under the limits of `read_limited`.

    The process waits where nobody asks for more, and is ended where nobody will.
    """
    with (
        _reader(at_once, wait_seconds) as turn,
        tempfile.TemporaryFile() as errors,
        _process(True, turn, errors.fileno()) as process,
    ):
        assert process.stdin is not None, "it is a pipe"
        assert process.stdout is not None, "it is a pipe"
        try:
            process.stdin.write(pickle.dumps((cpu_seconds, read, path, options)))
            process.stdin.close()
            while True:
                try:
                    given, refused, is_end = pickle.load(process.stdout)  # noqa: S301  as in `read_limited`
                except (EOFError, pickle.UnpicklingError):
                    errors.seek(0)
                    raise _ended(process.wait(), errors.read(), cpu_seconds) from None
                if refused is not None:
                    raise refused
                if is_end:
                    return
                yield given
        finally:
            process.kill()


@contextmanager
def _reader(at_once: int | None, wait_seconds: float) -> Iterator[tuple[int, ...]]:
    """One of `at_once` turns, as a locked file. The reading process inherits it, and is counted to its end
    even where the one that started it is killed.
    """
    if at_once is None:
        yield ()
        return
    folder = Path(tempfile.gettempdir(), f"rubricweb-readers-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    until = time.monotonic() + wait_seconds
    while (turn := _free_turn(folder, at_once)) is None:
        if time.monotonic() >= until:
            raise ReadersBusy
        time.sleep(0.1)
    try:
        yield (turn,)
    finally:
        os.close(turn)


def _free_turn(folder: Path, at_once: int) -> int | None:
    for number in range(at_once):
        file = os.open(folder / str(number), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
        else:
            return file
    return None


def _process(streamed: bool, turn: tuple[int, ...], stderr: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    # The path is handed on, for a wheel, a checkout and a test find this package in different places.
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(  # noqa: S603  our own program, no shell
        [sys.executable, "-m", "rubricweb.engine.formats.limited_reading", *(["stream"] if streamed else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=env,
        pass_fds=turn,
    )


def _ended(code: int, stderr: bytes, cpu_seconds: int) -> Exception:
    """Why a process ended before it said everything."""
    if code < 0:  # by the kernel, at one limit or the other
        return _too_long(cpu_seconds)
    return RuntimeError(f"reading a file crashed: {stderr.decode(errors='replace')[-1000:]}")


def _too_long(cpu_seconds: int) -> InvalidFile:
    found = f"a file that takes more than {cpu_seconds} seconds or 4 GB of memory to read"
    return InvalidFile([Fault("", found, "several smaller files, or the same data as JSONL or Parquet")])


def main(*, streamed: bool) -> None:
    """Read what standard input asks for; the limits hold before the file is looked at."""
    cpu_seconds, read, data, options = pickle.load(sys.stdin.buffer)  # noqa: S301 - from `read_limited`
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    with suppress(OSError):  # where memory runs out, this process goes rather than one that others need
        Path("/proc/self/oom_score_adj").write_text("1000")
    given, refused = None, None
    try:
        given = read(data, **options)
        if streamed:
            for one in given:
                pickle.dump((one, None, False), sys.stdout.buffer)
                sys.stdout.buffer.flush()
    except Invalid as error:
        refused = error
    except MemoryError:
        refused = _too_long(cpu_seconds)
    if streamed:
        pickle.dump((None, refused, True), sys.stdout.buffer)
    else:
        pickle.dump((None if refused else given, refused), sys.stdout.buffer)


if __name__ == "__main__":
    main(streamed=sys.argv[1:] == ["stream"])
    gc.freeze()  # the process ends: it need not look for garbage first
