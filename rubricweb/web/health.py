"""For load balancers and monitoring: the process answers; what it needs answers too."""

from celery import current_app
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from kombu.exceptions import OperationalError

from rubricweb.selectors.shared.clock import database_now
from rubricweb.selectors.shared.workers import alive

BROKER_SECONDS = 2


@login_not_required
def health(request: HttpRequest) -> HttpResponse:
    """The process answers; touches nothing else."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
def ready(request: HttpRequest) -> HttpResponse:
    """Database, broker and workers, each in a word: 200 when all are there, else 503.

    `workers` is how many were heard of within 15 seconds; null while the database is away. Takes a few
    seconds at most.
    """
    workers = _workers()
    answer = {
        "database": "away" if workers is None else "ok",
        "broker": "ok" if _broker_answers() else "away",
        "workers": workers,
    }
    is_ready = bool(workers) and answer["broker"] == "ok"
    return JsonResponse(answer, status=200 if is_ready else 503)


def _workers() -> int | None:
    try:
        return len(alive(database_now()))
    except DatabaseError:
        return None


def _broker_answers() -> bool:
    connection = current_app.connection_for_write(connect_timeout=BROKER_SECONDS)
    try:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
    except (OperationalError, OSError):
        return False
    finally:
        connection.release()
    return True
