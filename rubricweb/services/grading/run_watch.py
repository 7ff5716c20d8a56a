"""What a grading session asks the database now and then: which runs are running, and what became of its own.

Usually nothing has changed, and seeing that costs one small query.
"""

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from rubricweb.errors import Refusal
from rubricweb.models import JudgeEndpoint, Run
from rubricweb.services.endpoints.endpoints import endpoint_of
from rubricweb.services.runs import panels, work_queue

# How often it is looked whether runs were started, paused or cancelled meanwhile, and how often for items
# that came free in runs there are.
LOOK_SECONDS, LOOK_FOR_ITEMS_SECONDS = 0.05, 1.0

Caps = tuple[float | None, float | None]
"""On a run and on its team's month, in US dollars; None is no cap."""


@dataclass(frozen=True)
class News:
    """`caps` of the runs that are running, by id; `ended` runs of ours, and whether calls in flight may
    finish; `unusable` runs of ours whose judge is gone, and why.
    """

    caps: Mapping[int, Caps]
    ended: Mapping[int, bool]
    unusable: tuple[tuple[Run, str], ...]


class RunWatch:
    """The running runs as they were when they were looked at last; `only` one of them, if it is given."""

    def __init__(self, now: Callable[[], datetime], only: int | None = None) -> None:
        self._now = now
        self._only = only
        self._looked = self._looked_for_items = -math.inf
        self._caps: dict[int, Caps] = {}
        # Endpoints that are asked, and where they were.
        self._addresses: dict[int, str] = {}

    def look(self, ours: Mapping[int, Run], asking: Iterable[Run]) -> News | None:
        """What has changed for our runs, of which some are still asking; None where nothing has, or where it
        was looked a moment ago.
        """
        now = time.monotonic()
        if ours and now - self._looked < LOOK_SECONDS:
            return None
        self._looked = now
        rows = self._running().values_list("pk", "budget_usd", "team__monthly_budget_usd")
        caps = {pk: (of_run, of_month) for pk, of_run, of_month in rows}
        if ours and caps == self._caps and now - self._looked_for_items < LOOK_FOR_ITEMS_SECONDS:
            return None
        self._looked_for_items, self._caps = now, caps
        gone = [pk for pk in ours if pk not in caps]
        may_finish = dict.fromkeys(gone, False)
        if gone:
            may_finish |= Run.objects.filter(pk__in=gone).values_list("pk", "finish_in_flight")
        return News(caps, may_finish, tuple(self._unusable([run for run in asking if run.pk in caps])))

    def free_items(self, but: Collection[int] = ()) -> list[tuple[int, int]]:
        """(run, team) of the running runs that have items nobody holds, those rows left out."""
        return work_queue.with_free_items(self._running(), self._now(), but=but)

    def _running(self) -> QuerySet[Run]:
        running = work_queue.running()
        return running if self._only is None else running.filter(pk=self._only)

    def _unusable(self, asking: Collection[Run]) -> Iterable[tuple[Run, str]]:
        """Runs whose endpoint was removed, or moved to another host: it is sent nothing more."""
        judges = [judge for run in asking for judge in run.asked_judges]
        asked = {pk for judge in judges if (pk := endpoint_of(judge.id)) is not None}
        there = JudgeEndpoint.objects.filter(pk__in=asked, removed_at=None)
        addresses = dict(there.values_list("pk", "base_url"))
        if addresses == self._addresses and len(addresses) == len(asked):
            return
        for run in Run.objects.select_related("endpoint").filter(pk__in=[one.pk for one in asking]):
            try:
                panels.judges_of(run)
            except Refusal as error:
                yield run, f"The judge cannot be used: {error}"
        self._addresses = addresses
