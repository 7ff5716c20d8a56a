"""What a command says of work that goes on meanwhile: its own, or what others do or go on with."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import connection

from rubricweb.management.terminal.actor import note
from rubricweb.selectors.shared import workers
from rubricweb.selectors.shared.clock import database_now
from rubricweb.services.shared.database_retry import DATABASE_AWAY


def note_without_workers() -> None:
    """Says so where nobody is there to take up what was just started."""
    if not workers.alive(database_now()):
        note(f"No worker is running. Start one: {workers.start_command()}")


@contextmanager
def left_to_workers() -> Iterator[None]:
    """Around a job that this process does: where the database goes away, says who goes on with it."""
    try:
        yield
    except DATABASE_AWAY:
        note("The database went away. A worker goes on with this once it is back.")
        raise


@contextmanager
def meanwhile(say: Callable[[], None], *, every_seconds: float) -> Iterator[None]:
    """Around a job of this process: a thread of its own says again and again how far it is."""
    over = Event()

    def follow() -> None:
        try:
            while not over.wait(every_seconds):
                say()
        finally:
            connection.close()

    thread = Thread(target=follow, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
