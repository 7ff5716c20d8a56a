"""Where the record of an endpoint is kept, and what becomes of it when that place is away."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.rate_limit.bucket import settle
from rubricweb.judges.rate_limit.knobs import Knobs
from rubricweb.judges.rate_limit.record import Lease, ProcessReport, Record

log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
"""How long a store that was away is left alone."""


class StoreAway(Exception):
    """The place where the pace is shared cannot be reached at the moment."""


class Store(Protocol):
    """Keeps the records. `sharing` says with whom: "redis", "database" or "alone".

    `pause_seconds` is how long a process should wait between two exchanges about one endpoint.
    """

    sharing: str
    pause_seconds: float

    async def exchange(self, key: str, report: ProcessReport) -> Lease:
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

    def __init__(self, knobs: Knobs | None = None, *, now: Callable[[], float] = time.time) -> None:
        self._knobs = knobs or Knobs()
        self._now = now
        self.records: dict[str, Record] = {}

    async def exchange(self, key: str, report: ProcessReport) -> Lease:
        """See `Store.exchange`."""
        return settle(self.records.setdefault(key, Record()), report, self._now(), self._knobs)

    def close(self) -> None:
        """Nothing to let go."""


class FallbackStore:
    """A shared store that may go away: meanwhile each process keeps to its part of what was allowed.

    The part is one in as many processes as were last seen, `guess_workers` when none were.
    """

    def __init__(
        self,
        shared: Store,
        *,
        guess_workers: int = 1,
        knobs: Knobs | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._shared = shared
        self._own = OwnStore(knobs, now=now)
        self._now = now
        self._guess_workers = guess_workers
        self._last: dict[str, Lease] = {}
        self._retry_at = 0.0
        self.sharing = shared.sharing
        self.pause_seconds = shared.pause_seconds

    async def exchange(self, key: str, report: ProcessReport) -> Lease:
        """As `Store.exchange`, but never StoreAway."""
        if self._now() < self._retry_at:
            return await self._alone(key, report)
        try:
            lease = self._last[key] = await self._shared.exchange(key, report)
        except StoreAway as error:
            self._retry_at = self._now() + RETRY_SECONDS
            if self.sharing != "alone":
                self.sharing = "alone"
                self._own.records.clear()
                log.warning("the pace is not shared for the moment, each worker keeps to its part: %s", error)
            return await self._alone(key, report)
        if self.sharing == "alone":
            self.sharing = self._shared.sharing
            log.warning("the pace is shared again, by way of the %s", self.sharing)
            lease = replace(lease, notes=(*lease.notes, ("paced", "workers share the pace again")))
        return lease

    def close(self) -> None:
        """Close the shared store."""
        self._shared.close()

    async def _alone(self, key: str, report: ProcessReport) -> Lease:
        last = self._last.get(key)
        workers = max(last.workers if last else 0, self._guess_workers)
        if key not in self._own.records and last is not None:
            rate = last.requests_per_minute
            # Another epoch than the last lease's: turns of before are void.
            self._own.records[key] = Record(
                epoch=last.epoch + 1, rate=None if rate is None else rate / 60 / workers
            )
        return await self._own.exchange(
            key,
            replace(
                report,
                requests_per_minute=_part(report.requests_per_minute, workers),
                tokens_per_minute=_part(report.tokens_per_minute, workers),
            ),
        )


def endpoint_key(config: JudgeConfig) -> str:
    """A digest of address, key and model: what has one limit, under a name that gives none of it away."""
    return key_of(config.base_url, config.api_key or "", config.model)


def key_of(base_url: str, api_key: str, model: str) -> str:
    parts = "\0".join((base_url, api_key, model))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()


def _part(limit: float | None, workers: int) -> float | None:
    return None if limit is None else limit / workers
