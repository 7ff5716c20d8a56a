"""Celery shells: each loads by id and calls one service. A task run twice is a no-op."""

import logging
import threading
import time
from typing import Any

from celery import Task, shared_task
from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from kombu.exceptions import OperationalError

from rubricweb.models import Notice
from rubricweb.selectors.shared.clock import database_clock, database_now
from rubricweb.services import notices
from rubricweb.services.combinations import combinations
from rubricweb.services.datasets import imports
from rubricweb.services.deletions import deletions
from rubricweb.services.grading import session
from rubricweb.services.grading.workers import reaper, registry, shutdown_flag
from rubricweb.services.shared import idempotency, shared_cache, uploads
from rubricweb.services.shared.database_retry import retry_while_away
from rubricweb.services.teams import retention

log = logging.getLogger(__name__)


class BrokerMemory:
    """Remembers that the broker did not answer: then one sender a while tries it, and nobody else waits.

    A broker that is connected to and never answers takes each sender two seconds: to start eight runs would
    mean to wait for it eight times.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._away_until: float | None = None

    def is_worth_a_try(self, now: float) -> bool:
        """Whether it answered the last time, or nobody has tried for SWEEP_SECONDS: who is told so tries."""
        with self._lock:
            if self._away_until is None:
                return True
            if now < self._away_until:
                return False
            self._away_until = now + settings.SWEEP_SECONDS
            return True

    def answered(self) -> None:
        with self._lock:
            self._away_until = None

    def did_not_answer(self, now: float) -> None:
        with self._lock:
            self._away_until = now + settings.SWEEP_SECONDS


broker_memory = BrokerMemory()
"""Of this process."""


def notify(run_id: int) -> None:
    """Wakes a worker: what services are handed as `enqueue`. A broker that is away is no reason to fail: rows
    are the queue, and the reaper notifies again.
    """
    _send(grade, run_id)


def notify_import(import_id: int) -> None:
    """Wakes a worker for an import; lost, the reaper sends it again."""
    _send(import_file, import_id, expires=settings.SWEEP_SECONDS)


def notify_deletion(deletion_id: int) -> None:
    """Wakes a worker for a deletion; lost, the reaper sends it again."""
    _send(remove, deletion_id, expires=settings.SWEEP_SECONDS)


def notify_combination(combination_id: int) -> None:
    """Wakes a worker for datasets that are to be combined; lost, the reaper sends it again."""
    _send(combine, combination_id, expires=settings.SWEEP_SECONDS)


def reap() -> None:
    """No task: every worker does this in its main process, whether its others are busy or not."""
    # With the SDK, a second to import: only for those who work.
    from rubricweb.services.grading.batches import schedule

    now = database_now()
    reaper.reap(enqueue=notify, now=now)
    for run_id in schedule.due(now):
        _send(batch, run_id, expires=settings.SWEEP_SECONDS)
    for import_id in imports.due(now, is_dead=reaper.is_dead):
        notify_import(import_id)
    for deletion_id in deletions.due(now, is_dead=reaper.is_dead):
        notify_deletion(deletion_id)
    for combination_id in combinations.due(now, is_dead=reaper.is_dead):
        notify_combination(combination_id)
    if notices.mail_is_due(now):
        _send(mail, expires=settings.SWEEP_SECONDS)


def notify_tidying() -> None:
    _send(tidy, expires=3600)


@shared_task
def grade(run_id: int) -> None:
    clock, _ = retry_while_away(database_clock)
    left = session.grade(run_id, now=clock, shutting_down=shutdown_flag.is_set)
    if left:
        notify(left[0])  # a wake-up for each that came: who comes looks at the other runs as well


@shared_task
def batch(run_id: int) -> None:
    from rubricweb.services.grading.batches import schedule

    schedule.advance(run_id, now=database_clock(), enqueue=notify)


@shared_task
def import_file(import_id: int) -> None:
    imports.work(import_id, worker=registry.worker_name(), now=database_clock())


@shared_task
def remove(deletion_id: int) -> None:
    deletions.work(deletion_id, worker=registry.worker_name(), now=database_clock())


@shared_task
def combine(combination_id: int) -> None:
    combinations.work(combination_id, worker=registry.worker_name(), now=database_clock())


@shared_task
def tidy() -> None:
    now = database_now()
    registry.forget_silent(now)
    idempotency.forget_keys(now)
    shared_cache.forget_expired(now)
    uploads.forget_old(now=now)
    if retention.prune_all(now=now) >= retention.AT_MOST:
        notify_tidying()


@shared_task
def mail() -> None:
    notices.send_mails(now=timezone.now, link=_link)


def _link(notice: Notice) -> str:
    return f"{settings.SITE_URL}" + reverse("notification", args=[notice.team.slug, notice.pk])


def _send(task: "Task[..., Any]", *arguments: Any, **options: Any) -> None:
    if not broker_memory.is_worth_a_try(time.monotonic()):
        return  # what is left out is in the rows, and a reaper sends it
    try:
        task.apply_async(arguments, retry=False, **options)
    except OperationalError as error:
        broker_memory.did_not_answer(time.monotonic())
        log.warning(
            "wake-up for %s not sent, nor any other for %s s; the reaper will send them: %s",
            *(task.name, settings.SWEEP_SECONDS, error),
        )
    else:
        broker_memory.answered()
