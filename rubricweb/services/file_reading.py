"""Files read in processes of their own, so many at once: each may take 4 GB of memory."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings

from rubricweb.engine.formats import limited_reading
from rubricweb.errors import Busy

T = TypeVar("T")

WAIT_SECONDS = 10.0
"""How long a person waits until one of the files that are being read is done."""


def read_limited(read: Callable[..., T], data: bytes | Path, **options: Any) -> T:
    """As `limited_reading.read_limited`. Raises Busy where FILES_READ_AT_ONCE others go on being read."""
    at_once = settings.FILES_READ_AT_ONCE
    try:
        return limited_reading.read_limited(read, data, at_once=at_once, wait_seconds=WAIT_SECONDS, **options)
    except limited_reading.ReadersBusy:
        raise _busy() from None


def stream_limited(
    read: Callable[..., Iterator[T]], path: Path, *, cpu_seconds: int, **options: Any
) -> Iterator[T]:
    """As `limited_reading.stream_limited`. Raises Busy at once where as many others are being read."""
    try:
        yield from limited_reading.stream_limited(
            read, path, cpu_seconds=cpu_seconds, at_once=settings.FILES_READ_AT_ONCE, **options
        )
    except limited_reading.ReadersBusy:
        raise _busy() from None


def _busy() -> Busy:
    n = settings.FILES_READ_AT_ONCE
    are = "another file is" if n == 1 else f"{n} other files are"
    return Busy(f"The file was not read: {are} being read. Send it again in a minute; nothing was stored.")
