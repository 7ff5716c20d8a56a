"""A run's rows are its queue: which of them are free, and the wake-ups that call workers to them."""

from collections.abc import Callable, Collection
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from rubricweb.models import BatchJob, Run, RunItem, RunMode, RunState

Enqueue = Callable[[int], object]

# How many wake-ups one start sends: enough for a handful of worker processes to join in.
WAKE_UPS = 8


def asked_live() -> Q:
    """Runs whose questions are asked one by one now: not those that wait for a provider's batches."""
    batches = BatchJob.objects.filter(run=OuterRef("pk"))
    return Q(mode=RunMode.LIVE) | (Q(Exists(batches)) & ~Q(Exists(batches.filter(stored_at=None))))


def unclaimed(now: datetime) -> Q:
    """Rows without a verdict that nobody holds a live lease on."""
    return Q(graded_at=None) & (Q(leased_until=None) | Q(leased_until__lte=now))


def running() -> QuerySet[Run]:
    """Runs that workers grade now, oldest first."""
    return Run.objects.filter(asked_live(), state=RunState.RUNNING).order_by("pk")


def with_free_items(
    runs: QuerySet[Run], now: datetime, *, but: Collection[int] = ()
) -> list[tuple[int, int]]:
    """(run, team) of those that have items nobody holds, rows `but` aside."""
    free = RunItem.objects.filter(unclaimed(now), run=OuterRef("pk"))
    if but:
        free = free.exclude(pk__in=but)
    return list(runs.filter(Exists(free)).values_list("pk", "team_id"))


def notify(run_id: int, items: int, enqueue: Enqueue) -> None:
    """Calls as many workers as these items keep busy, at most WAKE_UPS."""
    for _ in range(min(WAKE_UPS, -(-items // settings.GRADING_CHUNK_ITEMS))):
        enqueue(run_id)


def notify_on_commit(run_id: int, items: int, enqueue: Enqueue) -> None:
    """The same once the transaction is committed: who came before would find nothing."""
    transaction.on_commit(lambda: notify(run_id, items, enqueue))
