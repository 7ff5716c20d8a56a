"""Following a run at the terminal: a live display, or a line for every change."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import Error as DatabaseError
from django.db import connection
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rubricweb.engine.number_format import counted
from rubricweb.management.runs import gates
from rubricweb.management.terminal.actor import note
from rubricweb.management.terminal.printed import say, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Run, RunEvent, RunState, User
from rubricweb.selectors.runs.log import run_log
from rubricweb.selectors.runs.progress import Progress, progress
from rubricweb.selectors.runs.results import result
from rubricweb.selectors.shared.clock import database_now
from rubricweb.selectors.withheld_runs import WITHHELD
from rubricweb.templatetags.display import count, duration, percent, usd

ENDED = (RunState.FINISHED, RunState.CANCELLED, RunState.FAILED)
# Differ at every look, though nothing has happened.
RESTLESS = {"calls_per_second", "seconds_left", "workers", "in_flight", "working", "held_usd"}
LOG_SHOWN = 8
# A database that is away is waited for this long.
PATIENCE_SECONDS = 60.0


def watch(look: Callable[[], Run], *, viewer: User, as_json: bool, every_seconds: float) -> int:
    """Follows the run that `look` reads until it has ended for good: 0 when it is finished, else 1.

    It is 1 as well where nothing could be scored. Shows what the viewer may see of the run.

    With `as_json` one line of standard output for every change; at a terminal a live display; elsewhere a
    line of text for every change and every line of the log. Ctrl+C ends the watching alone.
    """
    try:
        with _display(viewer, as_json) as show:
            for run, seen in _looks(look, viewer, every_seconds):
                show(run, seen)
    except KeyboardInterrupt:
        note("Watching has stopped; the run goes on.")
        raise
    if run.state != RunState.FINISHED and not as_json:
        note(f"The run is {run.state}{f': {seen.stop_reason}' if seen.stop_reason != run.state else ''}.")
    if run.state != RunState.FINISHED:
        return 1
    run_result = result(run, viewer=viewer)
    if run_result.mean.value is None and not run_result.hidden:
        note(gates.nothing_scored(run_result.errored))
        return gates.NOTHING
    return 0


def _looks(look: Callable[[], Run], viewer: User, every_seconds: float) -> Iterator[tuple[Run, Progress]]:
    """The run as it is now, again and again; the last look is one at which nothing moves any more."""
    answered = time.monotonic()
    while True:
        try:
            run = look()
            seen = progress(run, viewer=viewer, now=database_now())
        except DatabaseError:
            if time.monotonic() - answered > PATIENCE_SECONDS:
                raise
            connection.close()
        else:
            answered = time.monotonic()
            yield run, seen
            if run.state in ENDED and not seen.is_moving:
                return
        time.sleep(every_seconds)


Show = Callable[[Run, Progress], None]


@contextmanager
def _display(viewer: User, as_json: bool) -> Iterator[Show]:
    if as_json:
        yield _JsonLines().show
    elif not sys.stdout.isatty():
        yield _TextLines(viewer).show
    else:
        with Live(console=terminal(), auto_refresh=False) as live:
            yield lambda run, seen: live.update(_screen(run, seen, viewer), refresh=True)


class _JsonLines:
    """How far the run is as the API answers it, a JSON object a line, whenever something has changed."""

    def __init__(self) -> None:
        self._last: Any = None

    def show(self, run: Run, seen: Progress) -> None:
        from rubricweb.api.runs.watching_schemas import Progress as Shown

        steady = Shown.model_validate(seen).model_dump(exclude=RESTLESS)
        if steady != self._last:
            self._last = steady
            print_shape(Shown, seen)
            sys.stdout.flush()


class _TextLines:
    """A line whenever something has changed, with the lines of the log among them."""

    def __init__(self, viewer: User) -> None:
        self._viewer = viewer
        self._last = ""
        self._newest: dict[int, int] = {}

    def show(self, run: Run, seen: Progress) -> None:
        for event in reversed(run_log(run, viewer=self._viewer, size=LOG_SHOWN).rows):
            if self._newest.get(event.pk) != event.count:
                self._newest[event.pk] = event.count
                say(event_line(event))
        line = f"{run.state}: {seen.graded:,} of {seen.items:,} items graded, "
        line += f"errors and cost {WITHHELD}" if seen.withheld else f"{seen.errors:,} errors, {_spent(seen)}"
        line += f". {waiting(seen)}" if seen.waiting else ""
        if line != self._last:
            self._last = line
            say(line)
        sys.stdout.flush()


def _screen(run: Run, seen: Progress, viewer: User) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in lines(seen):
        table.add_row(name, Text(value))
    parts: list[RenderableType] = [
        Text(f"{run}  {run.state}", style="bold"),
        ProgressBar(total=max(seen.items, 1), completed=seen.graded, width=60),
        table,
    ]
    if seen.waiting:
        parts.append(Text(waiting(seen), style="yellow"))
    events = run_log(run, viewer=viewer, size=LOG_SHOWN).rows
    if events:
        parts += [Text(""), *(Text(event_line(event), style="dim") for event in events)]
    return Group(*parts)


# ── Words ────────────────────────────────────────────────────────────────────────────────────────


def lines(seen: Progress) -> Sequence[tuple[str, str]]:
    """Names and values, for people."""
    found = [("items", f"{count(seen.graded)} of {count(seen.items)} graded, {percent(seen.share)}")]
    if seen.waiting:
        found.append(("waiting", waiting(seen)))
    if seen.withheld:
        found += [(name, WITHHELD) for name in ("verdicts", "errors", "calls", "tokens", "spent")]
    else:
        found += _about_calls(seen)
    if seen.month_budget_usd is not None:
        spent = WITHHELD if seen.month_usd is None else usd(seen.month_usd)
        found.append(("this month", f"{spent} of {usd(seen.month_budget_usd)}"))
    if seen.state == RunState.RUNNING and not seen.withheld:
        rate = "–" if seen.calls_per_second is None else f"{seen.calls_per_second:,.1f} calls/s"
        left = "" if seen.seconds_left is None else f", about {duration(seen.seconds_left)} left"
        found.append(("speed", f"{rate}, {count(seen.in_flight)} in flight{left}"))
    if seen.workers:
        found.append(("workers", ", ".join(worker.name for worker in seen.workers[:6])))
    return found


def _about_calls(seen: Progress) -> Sequence[tuple[str, str]]:
    calls = count(seen.calls)
    if seen.cached:
        calls += f", {count(seen.cached)} more from earlier answers"
    if seen.retries:
        calls += f", {count(seen.retries)} sent again"
    return [
        ("verdicts", count(seen.verdicts)),
        ("errors", count(seen.errors)),
        ("calls", calls),
        ("tokens", tokens_words(seen)),
        ("spent", _spent(seen)),
    ]


def waiting(seen: Progress) -> str:
    """What the run waits for, with the command that ends the waiting where there is one."""
    more = f" Start one: {seen.start_command}" if seen.start_command else ""
    return f"{seen.waiting_words}{more}"


def tokens_words(seen: Progress) -> str:
    """Tokens in and out, and how many of those in providers had in their caches."""
    cached = f", {percent(seen.cached_share)} of in cached" if seen.cached_prompt_tokens else ""
    return f"{count(seen.prompt_tokens)} in, {count(seen.completion_tokens)} out{cached}"


def saved_words(seen: Progress) -> str:
    """What providers' caches of prompts saved, "" where that is nothing."""
    share = seen.cache_saved_share
    if share is None or share <= 0:
        return ""
    return f", {usd(seen.cache_saved_usd)} ({percent(share)}) saved by cached prompts"


def _spent(seen: Progress) -> str:
    spent = "unknown" if seen.cost_usd is None else usd(seen.cost_usd)
    if seen.budget_usd is not None:
        spent += f" of {usd(seen.budget_usd)}"
    if seen.unpriced and seen.cost_usd is not None:
        spent += f" and {count(seen.unpriced)} calls of unknown cost"
    if seen.lost_calls:
        lost = counted(seen.lost_calls, "request")
        spent += f" and at most {usd(seen.lost_at_most_usd)} by {lost} without an answer"
    if seen.held_usd:
        spent += f", {usd(seen.held_usd)} set aside"
    return spent + saved_words(seen)


def event_line(event: RunEvent) -> str:
    times = f" × {event.count:,}" if event.count > 1 else ""
    return f"{event.latest_at.astimezone():%H:%M:%S}  {event.kind:<10}  {event.message}{times}"
