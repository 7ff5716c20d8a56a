"""All rate limiters of one process, and the decisions they took about the pace."""

from __future__ import annotations

import itertools
import logging
import os
import socket
import time
from collections import deque
from dataclasses import dataclass

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.permits import LimiterState
from rubricweb.judges.rate_limit.knobs import Knobs
from rubricweb.judges.rate_limit.limiter import RateLimiter
from rubricweb.judges.rate_limit.store import OwnStore, Store, endpoint_key

log = logging.getLogger(__name__)

DECISIONS_KEPT = 500


@dataclass(frozen=True, slots=True)
class RateLimitEvent:
    """Something that was decided about the pace, for a log that people read.

    `number` counts the decisions of this process from 1. `kind` is "throttled" or "paced". `at` is seconds
    since the epoch. `endpoint` names the limiter, as `endpoint_key` does.
    """

    number: int
    at: float
    endpoint: str
    kind: str
    words: str


class RateLimiters:
    """One limiter for each address, key and model, in one event loop.

    `of` belongs to the event loop's thread, the rest to any.

    `worker` names this process to the others that share the store.
    """

    def __init__(
        self, store: Store | None = None, *, worker: str | None = None, knobs: Knobs | None = None
    ) -> None:
        self._knobs = knobs or Knobs()
        self._store = store or OwnStore(self._knobs)
        self._worker = worker or f"{socket.gethostname()}:{os.getpid()}"
        self._limiters: dict[tuple[str, str | None, str], RateLimiter] = {}
        self._decisions: deque[RateLimitEvent] = deque(maxlen=DECISIONS_KEPT)
        self._numbers = itertools.count(1)

    def of(self, config: JudgeConfig) -> RateLimiter:
        """The limiter of this judge's endpoint and model."""
        key = (config.base_url, config.api_key, config.model)
        limiter = self._limiters.get(key)
        if limiter is None:
            limiter = RateLimiter(config, self._store, self._worker, self._note, self._knobs)
            self._limiters[key] = limiter
        limiter.use_limits_of(config)
        return limiter

    def states(self) -> dict[tuple[str, str], LimiterState]:
        """What every limiter does now, by (base_url, model)."""
        return {(url, model): limiter.state() for (url, _, model), limiter in list(self._limiters.items())}

    def decisions(self, after: int = 0) -> list[RateLimitEvent]:
        """The decisions numbered higher than `after`, oldest first; the last 500 are kept."""
        return [decision for decision in list(self._decisions) if decision.number > after]

    def close(self) -> None:
        """Let go of the store; what is still in flight reports to nobody."""
        for limiter in self._limiters.values():
            limiter.closed = True
        self._store.close()

    def _note(self, config: JudgeConfig, kind: str, words: str) -> None:
        decision = RateLimitEvent(next(self._numbers), time.time(), endpoint_key(config), kind, words)
        self._decisions.append(decision)
        log.info("%s: %s", config.model, words)
