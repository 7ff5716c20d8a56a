"""Which `rubricweb serve` runs on this data folder: there is one at most."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from django.conf import settings

from rubricweb.errors import Conflict


def running_at() -> str | None:
    """The address of the `rubricweb serve` that runs on this data folder, None when none does."""
    lines = _lock_file().read_text().splitlines() if is_running() else []
    return lines[1] if len(lines) > 1 else None


def is_running() -> bool:
    """Whether a `rubricweb serve` runs on this data folder, or is being started."""
    try:
        with _lock_file().open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


@contextmanager
def only_one() -> Iterator[TextIO]:
    """One `rubricweb serve` per data folder: two would take each other's wake-ups. Gives the locked file."""
    settings.VAR_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _lock_file().open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(
                f"rubricweb already runs on {settings.VAR_DIR}{_whereabouts()}. "
                "Stop it first, or name another folder with --data."
            ) from error
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield lock


def _lock_file() -> Path:
    """Holds the process number and, once it answers, the address; locked while that process lives."""
    return Path(settings.VAR_DIR) / "serve.lock"


def _whereabouts() -> str:
    process, *address = _lock_file().read_text().splitlines() or ["unknown"]
    return f" (process {process}{''.join(f', {one}' for one in address)})"
