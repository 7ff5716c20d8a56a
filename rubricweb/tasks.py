"""Celery shells: each loads by id and calls one service. A task run twice is a no-op."""

from celery import shared_task
from django.utils import timezone

from rubricweb.services import grading, runs


def ring(run_id: int) -> None:
    """The bell services are handed as `enqueue`."""
    grade.delay(run_id)


@shared_task
def grade(run_id: int) -> None:
    if grading.grade_chunk(run_id, now=timezone.now):
        ring(run_id)


@shared_task
def sweep() -> None:
    runs.sweep(enqueue=ring, now=timezone.now())
