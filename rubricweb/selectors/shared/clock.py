"""The time as the database has it, so that the machines of one deployment need not agree on it."""

from collections.abc import Callable
from datetime import datetime

from django.db import connection
from django.utils import timezone


def database_clock() -> Callable[[], datetime]:
    """A clock that goes with this machine's and stands as the database's does now; asks the database once.

    Leases and signs of life go by it: by the clock of a machine that is a minute late, what it holds would be
    free to all others, and be asked, and paid for, twice. SQLite has no clock but this machine's.
    """
    if connection.vendor != "postgresql":
        return timezone.now
    before = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [there] = cursor.fetchone()
    ahead = there - before - (timezone.now() - before) / 2
    return lambda: timezone.now() + ahead


def database_now() -> datetime:
    """What time it is there."""
    return database_clock()()
