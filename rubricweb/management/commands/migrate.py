"""`manage migrate`: Django's own, by one process at a time and on no database of a newer release."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connection

from rubricweb.errors import Conflict
from rubricweb.management.terminal import prepare

LOCK = 0x7275_6272_6963
"""What PostgreSQL knows the lock by: "rubric" in ASCII."""


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with _one_at_a_time():
            try:
                prepare.migration_executor()
            except Conflict as error:
                raise CommandError(str(error)) from error
            super().handle(*args, **options)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Two containers that start at once would make the same tables: the second waits, and finds them made.

    The lock goes with a transaction on a connection of its own, so that it is gone whatever happens to this
    process, and holds behind PgBouncer too. SQLite keeps others out by itself.
    """
    if connection.vendor != "postgresql":
        yield
        return
    with closing(connection.copy()) as lock:
        lock.set_autocommit(False)
        with lock.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        yield
