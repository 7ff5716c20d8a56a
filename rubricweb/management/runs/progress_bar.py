"""How far a run is, as a bar at the terminal that grades it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rubricweb.management.terminal.background import meanwhile
from rubricweb.models import Run, User
from rubricweb.selectors.runs.progress import progress
from rubricweb.selectors.shared.clock import database_now


@contextmanager
def progress_bar(run: Run, viewer: User) -> Iterator[None]:
    """A bar on standard error, drawn from the rows."""
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
    task = bar.add_task("", total=None, errors="")

    def draw() -> None:
        seen = progress(run, viewer=viewer, now=database_now())
        errors = "" if seen.errors is None else f"{seen.errors} errors"
        bar.update(task, total=seen.items, completed=seen.graded, errors=errors)

    with bar, meanwhile(draw, every_seconds=0.5):
        yield
