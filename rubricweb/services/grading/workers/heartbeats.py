"""What a process says of itself while it grades: that its leases hold, and how much it has in flight."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError, connection

from rubricweb.judges.turns import QueueKey
from rubricweb.models import RunTally
from rubricweb.selectors.spending.spending import month_of
from rubricweb.services.grading import leases
from rubricweb.services.grading.worker_run import WorkerRun

log = logging.getLogger(__name__)

BEAT_SECONDS = 1.0


class LeaseHeartbeat:
    """Renews the leases of a session, and says how much it has in flight, whatever the session is doing.

    `runs` are those the session works on, as they are at each beat.

    A database that is busy for a moment is no reason to lose the leases: the next beat tries again.
    """

    def __init__(
        self,
        worker: str,
        runs: Mapping[int, WorkerRun],
        in_flight: Callable[[QueueKey], int],
        now: Callable[[], datetime],
    ) -> None:
        self._worker = worker
        self._runs = runs
        self._in_flight = in_flight
        self._now = now
        self._over = threading.Event()
        self._renewed = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="leases", daemon=True)

    def start(self) -> None:
        """Beats from now on, in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Ends once a beat under way is over."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._over.wait(min(settings.GRADING_LEASE_SECONDS / 3, BEAT_SECONDS)):
                try:
                    self._beat()
                except DatabaseError as error:
                    log.warning("heartbeat missed: %s", error)
                    connection.close()
        finally:
            connection.close()

    def _beat(self) -> None:
        now = self._now()
        runs = list(self._runs.values())
        for one in runs:
            RunTally.objects.filter(run=one.run, worker=self._worker, month=month_of(now)).update(
                in_flight=self._in_flight(one.queue_key), beat_at=now
            )
        if time.monotonic() - self._renewed >= settings.GRADING_LEASE_SECONDS / 3:
            leases.renew(self._worker, [pk for one in runs for pk in one.leased_rows], now)
            self._renewed = time.monotonic()
