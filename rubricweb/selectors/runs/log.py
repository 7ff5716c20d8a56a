"""The log of a run: what was decided, newest first."""

from rubricweb.models import Run, RunEvent, User
from rubricweb.selectors.shared.pages import Page, keyset_page
from rubricweb.selectors.withheld_runs import WITHHELD, is_withheld_run

# Of a run whose calls are withheld: lines that are told, and those of which only that they happened is. All
# others are about calls, and left out: that there is one tells.
TOLD = ("started", "extended", "cancelled")
HAPPENED = ("paused", "resumed", "finished", "gave_up")


def run_log(run: Run, *, viewer: User | None, cursor: str | None = None, size: int = 20) -> Page[RunEvent]:
    """One page of the run's log, newest first; a line that happened several times in a row has a count.

    Lines quote neither submissions nor replies, so whoever may see the run may read it, but for a viewer from
    whom its calls are withheld: see TOLD. None is nobody who reviews. One query, at most five for raters.
    """
    lines = RunEvent.objects.filter(run=run)
    if not is_withheld_run(run, viewer):
        return keyset_page(lines, order=("-pk",), cursor=cursor, size=size)
    page = keyset_page(lines.filter(kind__in=TOLD + HAPPENED), order=("-pk",), cursor=cursor, size=size)
    for line in page.rows:
        if line.kind in HAPPENED:
            line.message = f"What was said is {WITHHELD}."
    return page
