"""How many requests one process has in flight at once: additive increase, multiplicative decrease (AIMD)."""

from __future__ import annotations

from rubricweb.judges.rate_limit.knobs import Knobs

FORGETTING = 1.002
"""The quickest answer is taken for so much slower with each other one: an endpoint may become slower."""
LONGEST_GAP_SECONDS = 0.02
"""Requests leave at most so far apart: a judge that thinks for a minute is not asked for a minute."""
CREDIT_SECONDS = 0.01
"""Requests of so long may make up for a time in which none left: timers are late by a millisecond."""


class Concurrency:
    """One process's limit at one endpoint. `ceiling` is what the judge's configuration allows.

    It grows by `increase` for every second in which all were in use, until the first decrease by one with
    every answer as well, which doubles it per round trip.
    """

    def __init__(self, ceiling: int, knobs: Knobs) -> None:
        self._knobs = knobs
        self._most = min(float(ceiling), knobs.most)
        self._limit = min(float(knobs.start), self._most)
        self._decreased_at: float | None = None
        self._grew_at = 0.0
        # By the mean a busy process would slow itself down: its own delays are in there.
        self._quickest = 0.0
        self.next_at = 0.0  # when the next request may leave

    @property
    def now(self) -> int:
        """Requests that may be in flight."""
        return int(self._limit)

    def set_ceiling(self, ceiling: int) -> None:
        """What the judge's configuration allows from now on."""
        self._most = min(float(ceiling), self._knobs.most)
        self._limit = min(self._limit, self._most)

    def begin_at(self, limit: float) -> None:
        """What was in use before a restart."""
        self._limit = min(max(self._limit, limit), self._most)

    def answered(self, latency_seconds: float) -> None:
        """A request came back."""
        self._quickest = min(self._quickest * FORGETTING or latency_seconds, latency_seconds)
        if self._decreased_at is None:
            self._limit = min(self._limit + 1, self._most)

    def all_in_use(self, now: float) -> None:
        """More could be sent if more were allowed."""
        self._limit = min(self._limit + min(now - self._grew_at, 1.0) * self._knobs.increase, self._most)
        self._grew_at = now

    def decrease(self, now: float) -> bool:
        """The endpoint has too much to do; whether the limit was lowered, once per cooldown."""
        if self._decreased_at is not None and now - self._decreased_at < self._knobs.cooldown_seconds:
            return False
        self._decreased_at = self._grew_at = now
        before = self.now
        self._limit = max(self._limit * self._knobs.decrease_factor, min(self._knobs.least, self._most))
        return self.now < before

    def may_leave(self, now: float) -> bool:
        """Whether the request before left long enough ago; if so, another one leaves.

        Requests spread over a round trip: in a burst, all that are sent before the first refusal came back
        would be refused.
        """
        gap = min(self._quickest / self._limit, LONGEST_GAP_SECONDS)
        due = max(self.next_at, now - max(4 * gap, CREDIT_SECONDS))
        if due > now:
            return False
        self.next_at = due + gap
        return True
