"""Permits to ask an endpoint: what hands them out, and what it tells about itself.

    permit = await limiter.acquire(estimated_tokens, cancellation)
    if permit is None: ...  # the batch was stopped
    try:
        answer = await send()
    finally:
        permit.release(status=..., headers=..., tokens=..., latency_seconds=...)

A permit that is never released counts as a request in flight for good.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rubricweb.judges.cancellation import Cancellation


class Permit(Protocol):
    """Leave to send one request."""

    def release(
        self, *, status: int | None, headers: Mapping[str, str], tokens: int | None, latency_seconds: float
    ) -> None:
        """Say what came of the request; a second time changes nothing.

        `status` is the HTTP status, None when no answer came (a timeout, a broken connection, a cancelled
        task). `headers` are the answer's, by lower-case names. `tokens` is what the endpoint says was used,
        prompt and completion together; None when it does not say. `latency_seconds` runs from sending to the
        whole answer.
        """
        ...


class Limiter(Protocol):
    """Hands out permits for one endpoint and model, first come first served."""

    async def acquire(self, tokens: int, cancellation: Cancellation) -> Permit | None:
        """Wait for a permit; None as soon as `cancellation` has is_cancelled.

        `tokens` is a guess at what will be used.
        """
        ...

    def state(self) -> LimiterState:
        """What it is doing now."""
        ...


@dataclass(frozen=True, slots=True)
class LimiterState:
    """What one limiter of this process is doing now.

    `limit` is how many requests may be in flight at once, `waiting` how many questions wait for a permit.
    `requests_per_minute` and `tokens_per_minute` are what all workers together may use, None while no limit
    is known. `paused_seconds` is how long nobody will ask, 0.0 when somebody may. `throttled` counts the
    answers 429 that this process was given. `sharing` says with whom the pace is kept: "redis", "database",
    or "alone".
    """

    model: str
    limit: int
    in_flight: int
    waiting: int
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    paused_seconds: float = 0.0
    throttled: int = 0
    sharing: str = "alone"


class FixedLimiter:
    """At most `concurrency` requests at a time, and no other limit."""

    def __init__(self, concurrency: int, model: str = "") -> None:
        self._concurrency = concurrency
        self._model = model
        self._in_flight = 0
        self._throttled = 0
        self._queue: deque[asyncio.Future[bool]] = deque()

    async def acquire(self, tokens: int, cancellation: Cancellation) -> _FixedPermit | None:
        """See `Limiter.acquire`."""
        if cancellation.is_cancelled:
            return None
        if self._in_flight >= self._concurrency or self._queue:
            turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            self._queue.append(turn)
            try:
                with cancellation.wakes(turn):
                    granted = await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled() and turn.result():
                    self._release()  # the turn came in the same moment: hand it on
                raise
            if not granted:
                return None
        else:
            self._in_flight += 1
        return _FixedPermit(self)

    def state(self) -> LimiterState:
        """See `Limiter.state`."""
        waiting = sum(not turn.done() for turn in self._queue)
        return LimiterState(
            self._model, self._concurrency, self._in_flight, waiting, throttled=self._throttled
        )

    def _release(self, status: int | None = None) -> None:
        self._throttled += status == 429
        self._in_flight -= 1
        while self._queue and self._in_flight < self._concurrency:
            turn = self._queue.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(True)


class _FixedPermit:
    __slots__ = ("_limiter", "_released")

    def __init__(self, limiter: FixedLimiter) -> None:
        self._limiter = limiter
        self._released = False

    def release(
        self, *, status: int | None, headers: Mapping[str, str], tokens: int | None, latency_seconds: float
    ) -> None:
        """See `Permit.release`."""
        if not self._released:
            self._released = True
            self._limiter._release(status)
