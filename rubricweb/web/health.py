"""For load balancers and monitoring: the process answers; what it needs answers too."""

from collections.abc import Iterator
from contextlib import contextmanager

from celery import current_app
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from kombu.exceptions import OperationalError

from rubricweb.selectors.shared.clock import database_now
from rubricweb.selectors.shared.workers import alive

BROKER_SECONDS = 2
DATABASE_SECONDS = 2


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
        with _answering_soon():
            return len(alive(database_now()))
    except DatabaseError:
        return None


@contextmanager
def _answering_soon() -> Iterator[None]:
    """PostgreSQL has two seconds for a new connection, and for each query: a DatabaseError after that.

    A server that hangs lets who is connected wait for ever, and cannot keep to a time-out of its own. So a
    new connection is tried before the open one is asked.
    """
    if connection.vendor != "postgresql":
        yield
        return
    probe = connection.copy()
    probe.settings_dict["OPTIONS"]["connect_timeout"] = DATABASE_SECONDS
    try:
        probe.ensure_connection()
    finally:
        probe.close()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = '{DATABASE_SECONDS}s'")
        yield


def _broker_answers() -> bool:
    broker = current_app.connection_for_write(connect_timeout=BROKER_SECONDS)
    try:
        broker.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
    except (OperationalError, OSError):
        return False
    finally:
        broker.release()
    return True
