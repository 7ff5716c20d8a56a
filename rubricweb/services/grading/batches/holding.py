"""A batch holds its items by lease, as a worker does."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from rubricweb.models import BatchJob, Run, RunItem, RunTally
from rubricweb.selectors.shared.workers import BATCH, BATCH_HELD_FOR
from rubricweb.services.grading import leases


def holder(job: BatchJob) -> str:
    """Who holds its items, in the place of a worker's name."""
    return f"{BATCH}:{job.pk}"


def set_aside(job: BatchJob, rows: Sequence[int]) -> None:
    """These items wait for a batch that is not handed in yet. A run that is stopped meanwhile can be deleted,
    for nothing is in flight.
    """
    RunItem.every.filter(pk__in=rows).update(leased_by=holder(job), leased_until=None)


def hold(job: BatchJob, rows: Sequence[int], now: datetime) -> None:
    """These items are away with the batch from now on."""
    RunItem.every.filter(pk__in=rows).update(leased_by=holder(job), leased_until=now + BATCH_HELD_FOR)


@transaction.atomic
def lay_by(run: Run, job: BatchJob) -> None:
    """Nothing was handed in, and nothing is until the run is resumed: its items are nobody's work, no money
    is set aside for it.
    """
    RunItem.every.filter(run=run, leased_by=holder(job), graded_at=None).update(leased_until=None)
    RunTally.objects.filter(run=run, worker=holder(job)).update(reserved_usd=0.0)
    BatchJob.objects.filter(pk=job.pk).update(requests=0, checked_at=None)


def give_back(run: Run, job: BatchJob, now: datetime) -> None:
    """Ends a batch: its items are free, and nothing is reserved for it any more."""
    held = RunItem.every.filter(run=run, leased_by=holder(job), graded_at=None)
    with transaction.atomic():
        leases.release(holder(job), list(held.values_list("pk", flat=True)))
        RunTally.objects.filter(run=run, worker=holder(job)).update(reserved_usd=0.0)
        BatchJob.objects.filter(pk=job.pk).update(stored_at=now, error_message="")
