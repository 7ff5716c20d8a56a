"""Trying again while the database is away, for whoever holds what must not be lost."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

log = logging.getLogger(__name__)

DATABASE_AWAY = (OperationalError, InterfaceError)
"""What the driver raises while the database cannot be reached, is starting up, or is locked."""
PATIENCE_SECONDS = 90.0
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 2.0

T = TypeVar("T")


def retry_while_away(
    do: Callable[[], T],
    *,
    patience_seconds: float = PATIENCE_SECONDS,
    on_first_failure: Callable[[], object] = lambda: None,
) -> tuple[T, float]:
    """Does it, again and again while the database is away; its result, and the seconds that were lost.

    After `patience_seconds` the error is raised: other workers then do what this one could not store. Inside
    a transaction, which is lost, it is raised at once.
    """
    pause = FIRST_PAUSE_SECONDS
    began = time.monotonic()
    lost = 0.0
    while True:
        try:
            return do(), lost
        except DATABASE_AWAY as error:
            if connection.in_atomic_block or time.monotonic() - began > patience_seconds:
                raise
            if not lost:
                log.warning("the database is away, trying again: %s", error)
                on_first_failure()
            connection.close()
            time.sleep(pause)
            lost = time.monotonic() - began
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
