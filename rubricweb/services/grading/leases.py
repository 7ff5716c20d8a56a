"""Which items of a run a worker may grade: it leases some, keeps the leases alive, and gives them back."""

import math
import time
from collections import Counter, deque
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction

from rubricweb.engine.number_format import counted
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Run, RunItem
from rubricweb.services.runs.events import note
from rubricweb.services.runs.work_queue import unclaimed

# Items are claimed for about this long in advance: a killed worker holds little, and asks for it soon.
PREFETCH_SECONDS = 1.0
# Rendering the questions of many items would keep the event loop from asking, and other runs waiting.
MOST_ITEMS_AT_ONCE, MOST_ITEMS_BESIDE_OTHERS = 32, 12


def claim(run: Run, worker: str, now: datetime, limit: int, *, but: Collection[int] = ()) -> list[int]:
    """Leases the next items of the run to this worker, none of the rows `but`; the ids of their rows.

    Two workers never get the same one. A lease that ran out is taken over, and the run's log says from whom.
    """
    free = RunItem.objects.filter(unclaimed(now), run=run).order_by("pk")
    if but:
        free = free.exclude(pk__in=but)
    with transaction.atomic():
        if connection.features.has_select_for_update_skip_locked:
            free = free.select_for_update(skip_locked=True)
        claimed = list(free.values_list("pk", "leased_by")[:limit])
        RunItem.objects.filter(pk__in=[pk for pk, _ in claimed]).update(
            leased_by=worker, leased_until=lease_end(now)
        )
        for owner, count in Counter(owner for _, owner in claimed if owner not in ("", worker)).items():
            items = counted(count, "item")
            note(run.pk, "taken_over", f"The lease of {owner} ran out; {items} it held are taken over.")
    return [pk for pk, _ in claimed]


def renew(worker: str, rows: Collection[int], now: datetime) -> None:
    """Makes the leases on these rows last from now; those that somebody took over stay with them."""
    RunItem.every.filter(pk__in=rows, leased_by=worker, graded_at=None).update(leased_until=lease_end(now))


def release(worker: str, rows: Collection[int]) -> None:
    """Gives the leases on these rows back."""
    RunItem.every.filter(pk__in=rows, leased_by=worker, graded_at=None).update(
        leased_by="", leased_until=None
    )


def lease_end(now: datetime) -> datetime:
    """When a lease taken or renewed now runs out."""
    return now + timedelta(seconds=settings.GRADING_LEASE_SECONDS)


class ClaimSize:
    """How many items to claim, by how fast judges answer and how many questions an item brings."""

    def __init__(self, run: Run, judges: Mapping[str, JudgeConfig]) -> None:
        self._run = run
        of_endpoint = {(judge.base_url, judge.model): judge.concurrency for judge in judges.values()}
        self._keeps_busy = 2 * sum(of_endpoint.values())
        self._questions_per_item = 0.0
        self._recent_answers: deque[tuple[float, int]] = deque()

    def items(self, unanswered: int, most: int) -> int:
        """Enough for PREFETCH_SECONDS and to keep every judge busy; 0 while more than half of that waits.

        Until an item was opened it goes by the criteria of the rubric; then `most` is the most. At 100
        answers a second, 20 questions unanswered and 10 questions an item: 8 items.
        """
        chunk: int = settings.GRADING_CHUNK_ITEMS
        if not self._keeps_busy:
            return chunk
        target = max(self._keeps_busy, self.answers_per_second() * PREFETCH_SECONDS)
        if unanswered > target / 2:
            return 0
        if not self._questions_per_item:
            version = self._run.rubric_version
            criteria = 1 if version is None else max(version.criteria.count(), 1)
            return min(math.ceil(target / criteria), chunk)
        return min(math.ceil((target - unanswered) / self._questions_per_item), most)

    def opened(self, items: int, questions: int) -> None:
        """So many items brought so many questions."""
        if items:
            mean = self._questions_per_item
            self._questions_per_item = (mean + questions / items) / 2 if mean else questions / items

    def answered(self, count: int) -> None:
        """So many answers were stored just now."""
        self._recent_answers.append((time.monotonic(), count))

    def answers_per_second(self) -> float:
        """Answers in the last second."""
        now = time.monotonic()
        while self._recent_answers and self._recent_answers[0][0] < now - 1.0:
            self._recent_answers.popleft()
        return float(sum(count for _, count in self._recent_answers))
