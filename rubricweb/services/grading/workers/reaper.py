"""The reaper: what was left lying is freed, and wake-ups that were lost are sent again.

It may run several times at once: freeing twice frees once, and a wake-up too many finds nothing to do.
"""

import os
import socket
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

from rubricweb.engine.number_format import counted
from rubricweb.models import ReviewQueue, Run, RunItem, RunState, RunTally, Worker
from rubricweb.selectors.shared import workers
from rubricweb.selectors.spending.spending import month_of
from rubricweb.services.reviews import assignments
from rubricweb.services.runs import control
from rubricweb.services.runs.events import note
from rubricweb.services.runs.lost_calls import book_lost
from rubricweb.services.runs.work_queue import WAKE_UPS, Enqueue, unclaimed
from rubricweb.services.shared.run_summaries import summarise, summarise_stopped

# A process elsewhere that gave no sign for six beats is taken for dead before its leases run out.
SILENT_AFTER = timedelta(seconds=30)


def reap(*, enqueue: Enqueue, now: datetime) -> list[int]:
    """Frees what dead workers and silent reviewers held, and notifies for runs that have work nobody does.

    A run that nobody works on is notified for as at its start; where somebody does, processes that stand idle
    are called to help. Who comes looks at all runs, so there are no more wake-ups than processes that could
    come: what is sent while all are busy only heaps up. Returns the ids of the runs it notified for.
    """
    assignments.release_silent(ReviewQueue.objects.all(), now=now)
    running = list(Run.objects.filter(state=RunState.RUNNING).order_by("pk"))
    holders = {run.pk: _holders(run, now) for run in running}
    lost = _lapse(now)
    busy = {owner for owners in holders.values() for owner in owners}
    processes = sum(worker.processes for worker in workers.alive(now))
    idle = processes - len(busy)
    wake_ups_left = max(idle, 1) if processes else WAKE_UPS
    notified = []
    for run in running:
        chunks = _chunks_left(run, now)
        if not chunks and not holders[run.pk]:
            control.finish_if_done(run, now)
        wake_ups = min(chunks, wake_ups_left, max(idle, 0) if holders[run.pk] else WAKE_UPS)
        idle -= wake_ups
        wake_ups_left -= wake_ups
        for _ in range(wake_ups):
            enqueue(run.pk)
        if wake_ups:
            notified.append(run.pk)
    for run in Run.objects.filter(pk__in=lost).exclude(state=RunState.RUNNING):
        summarise(run)
    summarise_stopped()  # takes a second for a large run: no worker that is notified waits for it
    return notified


def _chunks_left(run: Run, now: datetime) -> int:
    """How many claims the free items are, counted as far as wake-ups are sent."""
    chunk: int = settings.GRADING_CHUNK_ITEMS
    free = RunItem.objects.filter(unclaimed(now), run=run).values_list("pk")
    return -(-len(free[: WAKE_UPS * chunk]) // chunk)


def _holders(run: Run, now: datetime) -> set[str]:
    """Who works on the run, once what dead processes held is free again."""
    held = RunItem.objects.filter(run=run, graded_at=None, leased_until__gt=now)
    owners = set(held.order_by().values_list("leased_by", flat=True).distinct())
    dead = {owner for owner in owners if is_dead(owner, now)}
    for owner in sorted(dead):
        freed = held.filter(leased_by=owner).update(leased_by="", leased_until=None)
        if freed:
            items = counted(freed, "item")
            note(run.pk, "taken_over", f"{owner} is gone; {items} it held are free again.")
    return owners - dead


def _lapse(now: datetime) -> set[int]:
    """What a dead process had set aside for its calls is set aside no more; what it may have sent is booked
    as lost. Returns the ids of runs that lost calls.
    """
    lately = month_of(now - timedelta(days=31))  # what was set aside earlier holds no cap any more
    held = Q(reserved_usd__gt=0) | Q(in_flight__gt=0) | Q(at_risk_calls__gt=0)
    holding = RunTally.objects.filter(held, month__gte=lately)
    lost: set[int] = set()
    for owner in holding.order_by().values_list("worker", flat=True).distinct():
        if is_dead(owner, now):
            lost |= book_lost(holding.filter(worker=owner))
            holding.filter(worker=owner).update(reserved_usd=0.0, in_flight=0)
    return lost


def is_dead(owner: str, now: datetime) -> bool:
    """Whether the process that signs as `owner`, "host:pid", is surely gone.

    On this machine the kernel knows. Elsewhere every sign must have been silent for 30 seconds: its own in
    the tallies, and all workers of its host; one that never gave any is left to its leases. A provider's
    batch is no process.
    """
    if not workers.is_process(owner):
        return False
    host, _, pid = owner.rpartition(":")
    if host == socket.gethostname() and pid.isdigit():
        return not _is_process(int(pid))
    signs = _signs(owner, host)
    return bool(signs) and max(signs) < now - SILENT_AFTER


def _signs(owner: str, host: str) -> list[datetime]:
    from_it = RunTally.objects.filter(worker=owner, beat_at__isnull=False).order_by("-beat_at")
    from_host = Worker.objects.filter(name__startswith=f"{host}:").order_by("-beat_at")
    found: Iterable[datetime | None] = (
        from_it.values_list("beat_at", flat=True).first(),
        from_host.values_list("beat_at", flat=True).first(),
    )
    return [sign for sign in found if sign is not None]


def _is_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
