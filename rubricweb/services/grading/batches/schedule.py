"""Runs that ask by the provider's batch interface: slower, for half the price.

The items of a run are dealt out to batches, each a row of BatchJob that holds its items by lease. A sweep
comes by now and then and takes each batch one step further: hand it in, ask how far it is, store its answers.
A step that is repeated, also after a kill at any moment, finds what the one before it did: a batch opened but
not written down is found by its mark, answers stored twice are stored once. What a batch did not answer, and
the later stages of what it did, are asked live once all its run's batches are stored.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from rubricweb.errors import Refusal
from rubricweb.models import BatchJob, JudgeEndpoint, Run, RunItem, RunMode, RunState
from rubricweb.services.endpoints import endpoints
from rubricweb.services.grading.batches.holding import give_back, lay_by, set_aside
from rubricweb.services.grading.batches.questions import MOST_QUESTIONS
from rubricweb.services.grading.batches.step import LOOK_AGAIN, BatchStep
from rubricweb.services.runs import control, panels
from rubricweb.services.runs.events import note
from rubricweb.services.runs.work_queue import Enqueue

# A step that has not come back by now was killed, and may be taken again.
STEP_LASTS = timedelta(minutes=15)


def due(now: datetime) -> list[int]:
    """Runs whose batches want a step: to be dealt out, or to be looked at again."""
    unplanned = Q(state=RunState.RUNNING, mode=RunMode.BATCH, batches=None)
    # Of a run that was stopped, what was never handed in waits for it to be resumed, and was laid by. Where
    # `checked_at` is set a step was killed before it came to that: items and money are to be given back.
    under_way = Q(run__state=RunState.RUNNING) | Q(requests__gt=0) | Q(checked_at__isnull=False)
    waiting = BatchJob.objects.filter(under_way, stored_at=None).filter(
        Q(checked_at=None) | Q(checked_at__lte=now - LOOK_AGAIN)
    )
    runs = Run.objects.filter(unplanned | Q(pk__in=waiting.order_by().values("run")))
    return list(runs.order_by("pk").values_list("pk", flat=True).distinct())


def advance(run_id: int, *, now: Callable[[], datetime], enqueue: Enqueue) -> bool:
    """Takes every batch of the run one step further. False when the run has none to wait for: it is live.

    A worker is woken for a batch run whose batches are all stored: what is left of it is asked live.
    """
    run = (
        Run.objects.select_related("endpoint", "team", "dataset", "rubric_version").filter(pk=run_id).first()
    )
    if run is None or run.mode != RunMode.BATCH:
        return False
    if run.state == RunState.RUNNING and not run.batches.exists():
        _deal_out(run)
    if not run.batches.filter(stored_at=None).exists():
        return False
    try:
        judges = panels.judges_of(run)
    except Refusal as error:
        control.give_up(run, f"The judge cannot be used: {error}", now())
        _leave_alone(run, now)
        return True
    for job in run.batches.filter(stored_at=None):
        if not judges:  # checks alone: there is nobody to hand it to
            give_back(run, job, now())
        elif _taken(job, now()):
            BatchStep(run, job, judges, now).take()
    if not run.batches.filter(stored_at=None).exists() and not control.finish_if_done(run, now()):
        enqueue(run.pk)
    return True


@transaction.atomic
def _deal_out(run: Run) -> None:
    """One batch for every so many items; the items are the batch's from now on."""
    locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if locked.batches.exists():
        return
    rows = list(RunItem.objects.filter(run=run, graded_at=None).order_by("pk").values_list("pk", flat=True))
    version = run.rubric_version
    per_item = max(version.criteria.count(), 1) if version and run.autograder == "per_criterion" else 1
    size = max(MOST_QUESTIONS // per_item, 1)
    for start in range(0, len(rows), size):
        job = BatchJob.objects.create(run=run, judge=run.judge.name)
        set_aside(job, rows[start : start + size])


def _taken(job: BatchJob, now: datetime) -> bool:
    """Whether this process takes the next step: one that is being taken, or was just now, is left alone."""
    free = Q(checked_at=None) | Q(checked_at__lte=now - LOOK_AGAIN)
    # Looked at again LOOK_AGAIN after the moment that stands here; a step that ends says so.
    lasts = now + STEP_LASTS - LOOK_AGAIN
    return bool(BatchJob.objects.filter(free, pk=job.pk, stored_at=None).update(checked_at=lasts))


def _leave_alone(run: Run, now: Callable[[], datetime]) -> None:
    """Nobody can be asked about the batches. What an endpoint that was removed had taken is given up, for its
    key is forgotten; what may be mended is looked at again later.
    """
    asked = [endpoints.endpoint_of(judge.id) for judge in run.asked_judges]
    endpoints_of = {pk for pk in asked if pk is not None}
    left = JudgeEndpoint.objects.filter(pk__in=endpoints_of, removed_at=None).count()
    for job in run.batches.filter(stored_at=None):
        if left < len(endpoints_of):
            if _taken(job, now()):
                BatchStep(run, job, panels.frozen_judges(run), now).give_up()
                said = "The endpoint was removed; answers it may have cannot be fetched any more."
                note(run.pk, "batch", said)
        elif job.requests:
            BatchJob.objects.filter(pk=job.pk).update(checked_at=now())
        elif _taken(job, now()):  # a step was killed before it was handed in
            lay_by(run, job)
