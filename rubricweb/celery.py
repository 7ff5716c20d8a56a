"""The Celery app: brokers carry wake-ups only, so a lost or doubled message changes nothing."""

import gc
import os
import signal
from typing import Any

from celery import Celery
from celery.signals import (
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rubricweb.settings")
# Django's checks read every page and operation, which no worker serves: a second and 30 MB in each of its
# processes. `rubricweb manage migrate` does them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

from django.conf import settings

from rubricweb import file_broker
from rubricweb.services.grading.workers import shutdown_flag

app = Celery("rubricweb")
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    task_serializer="json",
    accept_content=["json"],
    result_backend=None,
    task_ignore_result=True,
    # A wake-up is acknowledged when its work is done; a worker that dies before leaves it for another.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    # Work in hand goes on while the broker is away: its rows are in the database, and calls are paid for.
    worker_cancel_long_running_tasks_on_connection_loss=False,
    task_default_queue="rubricweb",
    # A worker takes no more wake-ups than it has processes: the next one may be free before it is.
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    timezone="UTC",
)
if settings.CELERY_BROKER_URL.startswith("filesystem"):
    file_broker.install()
    app.conf.update(broker_url="filesystem://localhost/")  # without a host Kombu warns that it takes this one
    for folder in ("messages", "processed", "control"):
        (settings.BROKER_DIR / folder).mkdir(parents=True, exist_ok=True)
    app.conf.broker_transport_options = {
        "data_folder_in": str(settings.BROKER_DIR / "messages"),
        "data_folder_out": str(settings.BROKER_DIR / "messages"),
        "processed_folder": str(settings.BROKER_DIR / "processed"),
        "control_folder": str(settings.BROKER_DIR / "control"),
        "polling_interval": 0.05,
    }
elif settings.CELERY_BROKER_URL.startswith(("redis", "sentinel")):
    app.conf.broker_transport_options = {
        # Redis gives a wake-up to somebody else when nobody acknowledged it for so long. Sooner is safe as
        # well: rows are leased, and a wake-up too many finds nothing to do.
        "visibility_timeout": 3600,
        # A broker that does not answer is soon an error, which whoever notifies can do without. One that
        # hangs is still connected to, so reading from it needs a limit too. Workers read only what has come.
        "socket_connect_timeout": 1,
        "socket_timeout": 1,
    }
# Whoever notifies can do without a broker that is away, and has a person waiting: one more try, at once.
app.conf.broker_transport_options |= {"max_retries": 1, "interval_start": 0, "interval_max": 0}
app.autodiscover_tasks(["rubricweb"])


# ── A worker's own life ──────────────────────────────────────────────────────────────────────────
# What touches tables is imported late: Django is set up when a worker starts, not when this is read.

# Replies and their rows are freed by counting references; what is left for the collector comes slowly.
COLLECTED_EVERY = (50_000, 20, 50)

_worker = 0
_heartbeats: list[Any] = []


@worker_init.connect
def _begin(**_: Any) -> None:
    global _worker
    _worker = os.getpid()
    # What stays for good is loaded once, before the processes that grade are forked, and not walked by the
    # collector any more: with a few hundred thousand objects that stops all calls for a quarter of a second.
    import rubricweb.judges.client.openai  # noqa: F401  a second to import

    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTED_EVERY)


@worker_ready.connect  # again whenever the broker comes back
def _arrive(sender: Any, **_: Any) -> None:
    if not _heartbeats:
        from rubricweb import tasks
        from rubricweb.services.grading.workers.registry import WorkerHeartbeat

        _heartbeats.append(WorkerHeartbeat(sender.controller.concurrency, tasks.reap, tasks.notify_tidying))


@worker_shutting_down.connect
def _end_soon(**_: Any) -> None:
    """What is being graded is put down after the calls in flight, rather than at the end of a session."""
    shutdown_flag.raise_flag()


@worker_shutdown.connect
def _leave(**_: Any) -> None:
    while _heartbeats:
        _heartbeats.pop().leave()


@worker_process_init.connect
def _follow(**_: Any) -> None:
    """A process that grades ends with its worker, even a killed one: nobody would count it any more."""
    from rubricweb.services.shared import parent_death

    if _worker != os.getpid():  # as it is where the pool is the worker itself
        parent_death.follow(_worker, signal.SIGKILL)


@worker_process_init.connect
def _share_limits(**_: Any) -> None:
    """Processes that grade keep to the limits of an endpoint together."""
    from rubricweb.services.grading import shared_limits

    shared_limits.install()
