"""Workers that say they live: a row each, renewed every few seconds."""

import logging
import os
import random
import socket
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, connection

from rubricweb.models import Worker
from rubricweb.selectors.shared.clock import database_now
from rubricweb.selectors.shared.workers import alive

log = logging.getLogger(__name__)

BEAT_SECONDS = 5.0
TIDY_SECONDS = 3600.0
FORGOTTEN_AFTER = timedelta(days=1)


def worker_name() -> str:
    """What this process signs leases, tallies and its heartbeat with: host and process number."""
    return f"{socket.gethostname()}:{os.getpid()}"[-100:]


def beat(name: str, processes: int, now: datetime) -> None:
    """Says that the worker called `name` is alive, with `processes` that grade."""
    Worker.objects.update_or_create(
        name=name,
        defaults={"processes": processes, "beat_at": now},
        create_defaults={"processes": processes, "beat_at": now, "started_at": now},
    )


def sign_off(name: str) -> None:
    """Takes away the row of a worker that ended as it should."""
    Worker.objects.filter(name=name).delete()


def forget_silent(now: datetime) -> int:
    """Takes away the rows of workers not heard of for a day; how many."""
    return Worker.objects.filter(beat_at__lt=now - FORGOTTEN_AFTER).delete()[0]


class PeriodicTask:
    """A thread that does one small thing again and again until told to stop.

    Whatever goes wrong is logged and tried again at the next round: a database or a broker may be away. It
    keeps no connection to the database between two rounds, for a process forked meanwhile would inherit it.
    """

    def __init__(self, name: str, do: Callable[[], object], pause_seconds: Callable[[], float]) -> None:
        self._name = name
        self._do = do
        self._pause_seconds = pause_seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, patience_seconds: float = 2.0) -> None:
        self._over.set()
        self._thread.join(timeout=patience_seconds)

    def _run(self) -> None:
        pause = 0.0
        while not self._over.wait(pause):
            try:
                self._do()
                pause = self._pause_seconds()
            except Exception as error:  # a round missed is made up for, a thread that ended is not
                log.warning("%s missed: %s", self._name, error)
                pause = BEAT_SECONDS
            finally:
                connection.close()


class WorkerHeartbeat:
    """A worker's signs of life from its start until `leave`: heartbeat, reaper, and a wake-up for tidying.

    Every worker reaps, so that no process of its own has to, in a thread of its main process: those that
    grade may all be busy for a while. The more workers there are, the more seldom each does it: together they
    reap about every SWEEP_SECONDS, and notify once an hour for what takes longer.
    """

    def __init__(
        self, processes: int, reap: Callable[[], object], notify_tidying: Callable[[], object]
    ) -> None:
        name = worker_name()
        self._name = name
        self._tasks = (
            PeriodicTask("heartbeat", lambda: beat(name, processes, database_now()), lambda: BEAT_SECONDS),
            PeriodicTask("reaper", reap, lambda: _staggered_pause(settings.SWEEP_SECONDS)),
            PeriodicTask("wake-up for tidying", notify_tidying, lambda: _staggered_pause(TIDY_SECONDS)),
        )
        for task in self._tasks:
            task.start()

    def leave(self) -> None:
        """Stops, and signs off so that nobody waits for this worker."""
        for task in self._tasks:
            task.stop()
        try:
            sign_off(self._name)
        except DatabaseError as error:  # a row that stays is forgotten after a day
            log.warning("could not sign off: %s", error)
        finally:
            connection.close()


def _staggered_pause(seconds: float) -> float:
    """How long this worker pauses so that all together do it once in so many seconds, never in step."""
    return seconds * (len(alive(database_now())) or 1) * random.uniform(0.7, 1.3)  # noqa: S311  no secret
