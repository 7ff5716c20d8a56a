"""Where the record of an endpoint's pace is kept, and what becomes of it when that place is away."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.rate_limit.ledger import settle
from rubricweb.judges.rate_limit.record import Grant, Record, Report

log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
"""How long a store that was away is left alone."""


class StoreAway(Exception):
    """The place where the pace is shared cannot be reached at the moment."""


class PaceStore(Protocol):
    """Keeps the records. `sharing` says with whom: "redis", "database" or "alone".

    `pause_seconds` is how long a process should wait between two exchanges about one endpoint.
    """

    sharing: str
    pause_seconds: float

    async def exchange(self, key: str, report: Report) -> Grant:
        """Settle a report with the record of this endpoint, atomically. Never blocks the event loop.

        Raises StoreAway.
        """
        ...

    def close(self) -> None:
        """Let connections and threads go."""
        ...


class OwnStore:
    """Records in the memory of this process."""

    sharing = "alone"
    pause_seconds = 0.0

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._records: dict[str, Record] = {}

    async def exchange(self, key: str, report: Report) -> Grant:
        """See `PaceStore.exchange`."""
        return settle(self._records.setdefault(key, Record()), report, self._now())

    def begin(self, key: str, rate: float | None, epoch: int) -> None:
        """Start the record of an endpoint anew, with a rate in requests per second known to be good."""
        self._records[key] = Record(epoch=epoch, ceiling=rate, curve_seconds=30.0)

    def close(self) -> None:
        """Nothing to let go."""


class SteadyStore:
    """A shared store that may go away: meanwhile each process keeps to its share of what was allowed.

    The share is one part in as many workers as were last seen, at least `guess_workers` when none were.
    """

    def __init__(
        self,
        shared: PaceStore,
        *,
        guess_workers: int = 1,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._shared = shared
        self._own = OwnStore(now)
        self._now = now
        self._guess_workers = guess_workers
        self._last: dict[str, Grant] = {}
        self._workers: dict[str, int] = {}
        self._away_until = 0.0
        self._away = False
        self.sharing = shared.sharing
        self.pause_seconds = shared.pause_seconds

    async def exchange(self, key: str, report: Report) -> Grant:
        """As `PaceStore.exchange`, but never StoreAway."""
        if self._now() >= self._away_until:
            try:
                grant = await self._shared.exchange(key, report)
            except StoreAway as error:
                self._leave(error)
            else:
                self._last[key] = grant
                return self._back(grant)
        return await self._alone(key, report)

    def close(self) -> None:
        """Close the shared store."""
        self._shared.close()

    def _leave(self, error: StoreAway) -> None:
        self._away_until = self._now() + RETRY_SECONDS
        if not self._away:
            self._away = True
            self.sharing = "alone"
            self._own = OwnStore(self._now)
            log.warning("the pace is not shared for the moment, each worker keeps to its part: %s", error)

    def _back(self, grant: Grant) -> Grant:
        if not self._away:
            return grant
        self._away = False
        self.sharing = self._shared.sharing
        log.warning("the pace is shared again, by way of the %s", self.sharing)
        return replace(grant, notes=(*grant.notes, ("shared", "the pace is shared by all workers again")))

    async def _alone(self, key: str, report: Report) -> Grant:
        last = self._last.pop(key, None)
        workers = max(last.workers if last else 0, self._guess_workers)
        if last is not None:
            per_minute = last.requests_per_minute
            rate = None if per_minute is None else per_minute / 60 / workers
            self._own.begin(key, rate, last.epoch + 1)
            self._workers[key] = workers
        share = self._workers.setdefault(key, workers)
        return await self._own.exchange(
            key,
            replace(
                report,
                requests_per_minute=_part(report.requests_per_minute, share),
                tokens_per_minute=_part(report.tokens_per_minute, share),
            ),
        )


def endpoint_key(config: JudgeConfig) -> str:
    """A digest of address, key and model: what has one limit, under a name that gives none of it away."""
    parts = "\0".join((config.base_url, config.api_key or "", config.model))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()


def _part(limit: float | None, workers: int) -> float | None:
    return None if limit is None else limit / workers
