"""How many requests may be in flight at once: grows while latency holds, halves when refused.

The growth is that of Netflix's gradient limits (github.com/Netflix/concurrency-limits), one step per round
trip: the mean latency of the last round trip against the lowest such mean, with Gradient2's tolerance and
smoothing. Against the lowest, because a long-term mean follows the load it should warn of: with a server
that queues, Gradient2 creeps up to the ceiling. The start is TCP's slow start (RFC 5681), and a refusal is
answered as TCP answers a lost segment: half at once, then quickly back to below what was too much. And as TCP
paces its segments, requests leave spread over the round trip.
"""

from __future__ import annotations

import math

START = 4
PATIENT_START = 16
"""Grown to by time alone, by half every quarter of a second: a judge may take a minute to answer."""
STEP_SECONDS = 0.25
GROWTH_PER_ANSWER = 2
TOLERANCE = 2.0
"""How many times the lowest latency still counts as holding: judges answer at length or briefly."""
SMOOTHING = 0.2
ROUND_ANSWERS = 8
"""A round has at least so many answers: the mean of fewer says little."""
FORGETTING = 1.002
"""The lowest latency is raised by this at every round, so that an endpoint may become slower for good."""
FAILED_SHARE = 0.1
USUAL_FAILURES = 1.5
CHANCE_FAILURES = 3
"""An endpoint is overloaded when more than this share of a round trip brings no answer, beside 1.5 times the
usual share and three by chance: of eight at first four, of 64 where a tenth usually fails 20."""
USUAL_SMOOTHING = 0.1
SPREAD = 0.9
"""Over so much of a round trip leave the requests that are all out at once."""
LONGEST_GAP_SECONDS = 0.02
"""Further apart spares nothing, since a refusal takes about as long; a judge that thinks for a minute is not
to be asked for a minute."""
CREDIT = 4
CREDIT_SECONDS = 0.01
"""So many requests, or those of so many seconds, may make up for a time in which none left: timers are late
by a millisecond, and where answers come in one, a timer each would cost more than it spares."""


class ConcurrencyLimit:
    """One process's limit at one endpoint, between 1 and `ceiling`. Fed with answers, in one thread.

    `cuts` counts the refusals acted on. A request remembers it when it is sent, so that the refusals of one
    round trip halve once.
    """

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self.limit = float(min(START, ceiling))
        self.cuts = 0
        self.leaves_at = 0.0  # when the next request may leave, on the clock of `may_leave`
        self._quick_until = math.inf  # slow start goes on up to here
        self._lowest: float | None = None
        self._answers = 0
        self._failed = 0
        self._usually_failed = 0.0  # the share of requests
        self._latencies = 0.0

    @property
    def now(self) -> int:
        """Requests that may be in flight."""
        return int(self.limit)

    @property
    def gap_seconds(self) -> float:
        """How far apart requests leave on the way up to the limit; 0.0 before the first answer.

        At 64 at once and 0.2 s to an answer 2.8 ms, which spreads 64 over nine tenths of a round trip.
        """
        latency = self._lowest
        if latency is None:
            latency = self._latencies / self._answers if self._answers else 0.0
        return min(SPREAD * latency / self.limit, LONGEST_GAP_SECONDS)

    def may_leave(self, now: float) -> bool:
        """Whether the request before left long enough ago; if so, another one leaves.

        In bursts a whole crowd is on its way before the first is refused. Spread over the round trip, as TCP
        paces its segments (RFC 9002, 7.7), only those are refused that leave while the refusal comes back.
        """
        gap = self.gap_seconds
        due = max(self.leaves_at, now - max(CREDIT * gap, CREDIT_SECONDS))
        if due > now:
            return False
        self.leaves_at = due + gap
        return True

    def passed(self, seconds: float) -> bool:
        """Time went by in which more wanted to be in flight and none was refused; whether the limit grew."""
        most = min(PATIENT_START, self._quick_until, self.ceiling)
        if self.limit >= most:
            return False
        self.limit = min(self.limit * 1.5 ** min(seconds / STEP_SECONDS, 10.0), most)
        return True

    def set_ceiling(self, ceiling: int) -> None:
        """What the judge's configuration allows from now on."""
        self.ceiling = ceiling
        self.limit = min(self.limit, float(ceiling))

    def answered(self, latency_seconds: float, in_flight: int) -> None:
        """A request came back after `latency_seconds`, when `in_flight` were out, itself included."""
        self._latencies += latency_seconds
        self._answers += 1
        if self.limit < self._quick_until and in_flight * 2 >= self.limit:
            self.limit = min(self.limit + GROWTH_PER_ANSWER, self._quick_until, float(self.ceiling))
        if self._is_round():
            self._round(in_flight)

    def failed(self, in_flight: int) -> None:
        """A request brought no answer in time, or was turned away as too much."""
        self._failed += 1
        if self._is_round():
            self._round(in_flight)

    def refused(self, cuts: int) -> bool:
        """A request that was sent after `cuts` cuts got a 429; whether the limit was halved for it."""
        if cuts != self.cuts:
            return False
        self.cuts += 1
        self._quick_until = 0.85 * self.limit
        self.limit = max(1.0, self.limit / 2)
        return True

    def _is_round(self) -> bool:
        """A round trip, or at the quick start as little as tells anything."""
        quick = self.limit < min(self._quick_until, self.ceiling)
        return self._answers + self._failed >= (ROUND_ANSWERS if quick else max(self.limit, ROUND_ANSWERS))

    def _round(self, in_flight: int) -> None:
        """One round trip is over: compare its mean latency with the lowest."""
        answers, failed, total = self._answers, self._failed, self._latencies
        self._answers = self._failed = 0
        self._latencies = 0.0
        tolerated = FAILED_SHARE + USUAL_FAILURES * self._usually_failed
        overloaded = failed > tolerated * (answers + failed) + CHANCE_FAILURES
        self._usually_failed += USUAL_SMOOTHING * (failed / (answers + failed) - self._usually_failed)
        if overloaded:
            self._quick_until = 0.0
            self.limit = max(min(float(START), self.limit), 0.75 * self.limit)
            return
        if not answers:
            return
        mean = max(total / answers, 1e-6)
        self._lowest = mean if self._lowest is None else min(self._lowest * FORGETTING, mean)
        if in_flight * 2 < self.limit:
            return  # there was not enough to do to learn anything
        gradient = max(0.5, min(1.0, TOLERANCE * self._lowest / mean))
        if gradient < 1.0:
            self._quick_until = 0.0
        wanted = self.limit * gradient + max(4.0, math.sqrt(self.limit))
        self.limit += SMOOTHING * (wanted - self.limit)
        self.limit = max(1.0, min(self.limit, float(self.ceiling)))
