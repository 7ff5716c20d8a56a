"""How far a run is, as a bar at the terminal that grades it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import connection
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rubricweb.models import Run, User
from rubricweb.selectors.runs.progress import progress
from rubricweb.selectors.shared.clock import database_now


@contextmanager
def progress_bar(run: Run, viewer: User) -> Iterator[None]:
    """A bar on standard error, drawn from the rows by a thread of its own."""
    bar = Progress(
        TextColumn("Grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("items · {task.fields[errors]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    over = Event()

    def follow() -> None:
        task = bar.add_task("", total=None, errors="")
        try:
            while not over.wait(0.5):
                seen = progress(run, viewer=viewer, now=database_now())
                errors = "" if seen.errors is None else f"{seen.errors} errors"
                bar.update(task, total=seen.items, completed=seen.graded, errors=errors)
        finally:
            connection.close()

    with bar:
        thread = Thread(target=follow, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
