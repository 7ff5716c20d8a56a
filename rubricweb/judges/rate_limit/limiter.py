"""One process's permits for one endpoint and model.

The process decides how many requests are in flight at once; the bucket of all processes decides how fast.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.permits import LimiterState
from rubricweb.judges.rate_limit.concurrency import Concurrency
from rubricweb.judges.rate_limit.configured import ConfiguredLimits
from rubricweb.judges.rate_limit.headers import allowance, asked_to_wait
from rubricweb.judges.rate_limit.knobs import Knobs
from rubricweb.judges.rate_limit.record import Lease, ProcessReport
from rubricweb.judges.rate_limit.store import Store, endpoint_key

log = logging.getLogger(__name__)

REPORT_SECONDS = 1.0
"""A limiter in use reports at least so often, so that it hears of what others met."""
TURN_LIFE_SECONDS = 0.5
"""How long after its time a turn may still be used."""
LONGEST_REFUSAL_SECONDS = 5.0
"""Slower ones are taken for so long, so that a single one does not hold up everybody."""
SAME_MOMENT_SECONDS = 0.01
URGENT_RUN = 2.0
"""So many refusals close together are reported at once."""


@dataclass(slots=True)
class _Waiting:
    """A question in the queue. Its turn is True once it has a permit, False when its batch was stopped."""

    turn: asyncio.Future[bool]
    tokens: int
    permit: RatePermit | None = None


# Long because its methods share one state that no lock protects: the event loop does.
class RateLimiter:
    """Permits for one endpoint and model, for one process; see `permits.Limiter`."""

    def __init__(
        self,
        config: JudgeConfig,
        store: Store,
        worker: str,
        note: Callable[[JudgeConfig, str, str], None],
        knobs: Knobs,
    ) -> None:
        self.closed = False
        self._config = config
        self._store = store
        self._key = endpoint_key(config)
        self._note = note
        self._knobs = knobs
        self._concurrency = Concurrency(config.concurrency, knobs)
        self._configured = ConfiguredLimits()
        self._queue: deque[_Waiting] = deque()
        self._in_flight = 0
        self._throttled = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        # What the last lease allows
        self._lease: Lease | None = None
        self._unlimited = False
        self._turns: deque[float] = deque()
        self._again_at = 0.0
        # What the next report will tell
        self._report = ProcessReport(worker)
        self._is_urgent = False
        self._reported_at = 0.0
        self._wait_until = 0.0
        self._sent_per_second = 0.0
        self._exchanging: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        # What was seen here
        self._run = 0.0  # refusals close together
        self._forgiven = knobs.forgiven
        self._refusal_seconds = 0.1
        self._failures = 0.0  # the same of requests that brought no answer
        self._failed_at = 0.0
        self._has_headers = False
        self._token_ratio = 1.0  # used by guessed

    def use_limits_of(self, config: JudgeConfig) -> None:
        """Obey the limits of this configuration; while several are in use, the strictest rates count."""
        self._config = config
        if self._configured.use(config):
            self._concurrency.set_ceiling(self._configured.concurrency)
            self._unlimited = self._unlimited and not self._configured.has_rate

    async def acquire(self, tokens: int, cancellation: Cancellation) -> RatePermit | None:
        """See `permits.Limiter.acquire`."""
        if cancellation.is_cancelled:
            return None
        loop = self._loop = asyncio.get_running_loop()
        has_room = not self._queue and self._in_flight < self._concurrency.now
        if self._unlimited and has_room and self._concurrency.may_leave(loop.time()):
            return self._grant(tokens)
        waiting = _Waiting(loop.create_future(), tokens)
        self._queue.append(waiting)
        self._advance()
        try:
            with cancellation.wakes(waiting.turn):
                granted = await waiting.turn
        except asyncio.CancelledError:
            waiting.turn.cancel()
            if waiting.permit is not None:
                waiting.permit.give_back()  # the turn came in the same moment
            raise
        return waiting.permit if granted else None

    def state(self) -> LimiterState:
        """See `permits.Limiter.state`."""
        lease, now = self._lease, self._loop.time() if self._loop is not None else 0.0
        paused_until = self._reported_at + lease.paused_seconds if lease is not None else 0.0
        return LimiterState(
            model=self._config.model,
            limit=self._concurrency.now,
            in_flight=self._in_flight,
            waiting=sum(not waiting.turn.done() for waiting in list(self._queue)),
            requests_per_minute=lease.requests_per_minute if lease else None,
            tokens_per_minute=lease.tokens_per_minute if lease else None,
            paused_seconds=max(0.0, paused_until - now),
            throttled=self._throttled,
            sharing=self._store.sharing,
        )

    # ── Permits out and back ─────────────────────────────────────────────────────────────────────

    def _grant(self, guess: int) -> RatePermit:
        self._in_flight += 1
        self._report.sent += 1
        epoch = -1 if self._lease is None else self._lease.epoch
        return RatePermit(self, guess, guess * self._token_ratio, epoch)

    def released(
        self,
        permit: RatePermit,
        status: int | None,
        headers: Mapping[str, str],
        tokens: int | None,
        latency_seconds: float,
    ) -> None:
        """A request is over: count it, learn from it, send the next one."""
        loop = self._loop = self._loop or asyncio.get_running_loop()
        now = loop.time()
        self._in_flight -= 1
        self._throttled += status == 429
        wait = asked_to_wait(status, headers)
        if status == 429 or wait is not None:
            self._refusal_seconds = min(latency_seconds, LONGEST_REFUSAL_SECONDS)
            self._refused(permit, wait, now)
        else:
            self._run = max(0.0, self._run - self._forgiven)
            if self._lease is not None and permit.epoch == self._lease.epoch:
                self._report.answered += 1
                self._is_urgent = self._is_urgent or self._lease.stopped
            if status is None or status >= 500:
                self._failed(now)
            else:
                self._failures = max(0.0, self._failures - self._knobs.forgiven)
                self._concurrency.answered(latency_seconds)
        if tokens is not None:
            self._learn_tokens(permit, tokens)
        if status is not None:
            self._read_allowance(headers)
        if self._queue or self._is_urgent or now - self._reported_at > REPORT_SECONDS:
            self._advance()

    def _refused(self, permit: RatePermit, wait: float | None, now: float) -> None:
        """A single refusal is its question's own matter; a run, or a share, slows others down."""
        if wait is not None:
            self._wait_until = max(self._wait_until, now + min(wait, self._config.retry_after_cap_seconds))
        if self._lease is not None and permit.epoch != self._lease.epoch:
            self._report.stale += 1
            return
        self._report.refused += 1
        self._run += 1
        self._is_urgent = self._is_urgent or not self._unlimited or self._run >= URGENT_RUN
        if self._run >= self._knobs.run:
            is_free = self._unlimited
            # Until the bucket has decided for all, nobody here goes on.
            self._unlimited = False
            self._turns.clear()
            self._again_at = 0.0
            # We already know the rate limit, so a 429 means we exceeded it; concurrency is not the cause.
            if is_free:
                self._decrease(now, "after a run of 429s")

    def _failed(self, now: float) -> None:
        # What fails in the same moment is one event: a connection that broke, a run that was cancelled.
        self._failures += now - self._failed_at > SAME_MOMENT_SECONDS
        self._failed_at = now
        if self._failures >= self._knobs.run:
            self._decrease(now, "because the endpoint fails under the load")

    def _decrease(self, now: float, why: str) -> None:
        if self._concurrency.decrease(now):
            self._note(self._config, "paced", f"{self._concurrency.now} requests at once {why}")

    def _learn_tokens(self, permit: RatePermit, used: int) -> None:
        report = self._report
        report.extra_tokens += used - permit.expected_tokens
        report.mean_tokens += 0.05 * (used - report.mean_tokens) if report.mean_tokens else used
        report.largest_tokens = max(report.largest_tokens * 0.999, used)
        if permit.guess > 0:
            ratio = min(max(used / permit.guess, 0.1), 20.0)
            self._token_ratio += 0.05 * (ratio - self._token_ratio)

    def _read_allowance(self, headers: Mapping[str, str]) -> None:
        if (read := allowance(headers)) is not None:
            self._report.allowance = read
            # The headers' limits take over from here.
            self._is_urgent = self._is_urgent or not self._has_headers
            self._unlimited, self._has_headers = False, True

    def given_back(self, permit: RatePermit) -> None:
        """A permit was never used."""
        self._in_flight -= 1
        self._report.sent -= 1
        is_current = self._lease is not None and permit.epoch == self._lease.epoch
        if is_current and not self._unlimited and self._loop is not None:
            self._turns.appendleft(self._loop.time())
        if self._queue:
            self._advance()

    # ── The queue ────────────────────────────────────────────────────────────────────────────────

    def _advance(self) -> None:
        """Give permits to whoever may have one, and see to it that turns come for the others."""
        assert self._loop is not None
        now = self._loop.time()
        self._drop_done()
        if self._queue and self._in_flight >= self._concurrency.now:
            self._concurrency.all_in_use(now)
        while self._queue and self._in_flight < self._concurrency.now and self._take_turn(now):
            waiting = self._queue.popleft()
            waiting.permit = self._grant(waiting.tokens)
            waiting.turn.set_result(True)
            self._drop_done()
        is_short = not self._unlimited and now >= self._again_at and self._wanted() > 0
        has_news = is_short or self._is_urgent or now - self._reported_at > REPORT_SECONDS
        if has_news and self._exchanging is None and not self.closed:
            self._exchanging = self._loop.create_task(self._exchange())
        if self._queue:
            self._set_timer(now)

    def _drop_done(self) -> None:
        while self._queue and self._queue[0].turn.done():
            self._queue.popleft()

    def _take_turn(self, now: float) -> bool:
        if self._unlimited:
            return self._concurrency.may_leave(now)
        turns = self._turns
        while turns and turns[0] < now - TURN_LIFE_SECONDS:
            turns.popleft()
        if turns and turns[0] <= now:
            turns.popleft()
            return True
        return False

    def _wanted(self) -> int:
        """Turns that could be used until the next report and are not held."""
        if not self._queue:
            return 0
        usable = min(len(self._queue), self._concurrency.now - self._in_flight)
        ahead = int(1.5 * self._sent_per_second * max(self._store.pause_seconds, 0.1))
        return max(usable, min(ahead, 4 * self._configured.concurrency), 0) - len(self._turns)

    def _set_timer(self, now: float) -> None:
        """Look again when the next turn comes, or it is time to report."""
        assert self._loop is not None
        at = self._reported_at + REPORT_SECONDS
        if self._in_flight >= self._concurrency.now:
            at = min(at, now + REPORT_SECONDS / 4)
        elif self._unlimited:
            at = min(at, self._concurrency.next_at)
        elif self._turns:
            at = min(at, self._turns[0])
        if not self._unlimited and self._wanted() > 0:
            at = min(at, self._again_at)
        at = max(at, now + 0.001)
        if self._timer is not None:
            if now < self._timer_at <= at:
                return
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._loop.call_at(at, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._advance()

    # ── Reports and leases ───────────────────────────────────────────────────────────────────────

    async def _exchange(self) -> None:
        """One report and its lease; again at once while there is something urgent to tell."""
        assert self._loop is not None
        try:
            self._is_urgent = True
            while self._is_urgent:
                self._is_urgent = False
                report = self._take_report(self._loop.time())
                self._apply(await self._store.exchange(self._key, report), self._loop.time())
        except Exception:
            log.exception("the pace of %s cannot be shared", self._config.model)
            self._again_at = self._loop.time() + REPORT_SECONDS
            self._run = 0.0
        finally:
            self._exchanging = None
        self._advance()

    def _take_report(self, now: float) -> ProcessReport:
        """The report so far, completed; the next one begins."""
        report = self._report
        self._report = ProcessReport(
            report.worker, mean_tokens=report.mean_tokens, largest_tokens=report.largest_tokens
        )
        if (seconds := now - self._reported_at) > 0.02:
            self._sent_per_second += 0.5 * (report.sent / seconds - self._sent_per_second)
        wanted = max(0, self._wanted())
        if self._lease is None and not self._configured.has_rate:
            wanted = max(wanted, self._concurrency.now)  # more than the first question is about to come
        guesses = [waiting.tokens for waiting in itertools.islice(self._queue, wanted)]
        mean_guess = sum(guesses) / len(guesses) if guesses else 0.0
        self._reported_at = now
        wait, self._wait_until = self._wait_until - now, 0.0
        return replace(
            report,
            epoch=-1 if self._lease is None else self._lease.epoch,
            wanted=wanted,
            # Those not in the queue yet like the mean of these.
            wanted_tokens=wanted * mean_guess * self._token_ratio,
            held=len(self._turns),
            run=self._run,
            in_flight=self._in_flight,
            concurrency=self._concurrency.now,
            wait_seconds=wait if wait > 0 else None,
            refusal_seconds=self._refusal_seconds,
            requests_per_minute=self._configured.requests_per_minute,
            tokens_per_minute=self._configured.tokens_per_minute,
        )

    def _apply(self, lease: Lease, now: float) -> None:
        before, self._lease = self._lease, lease
        for kind, words in lease.notes:
            self._note(self._config, kind, words)
        if before is None:
            self._concurrency.begin_at(lease.concurrency)
        elif lease.epoch != before.epoch:
            self._turns.clear()
            # What came meanwhile belongs to the epoch that is over.
            self._report.stale += self._report.refused
            self._report.refused = self._report.answered = 0
            self._run = 0.0
        if self._run >= self._knobs.run:
            return  # another run was met meanwhile: what was granted is void
        self._forgiven = lease.forgiven
        self._unlimited = lease.unlimited
        if lease.unlimited:
            self._turns.clear()
        self._turns.extend(now + seconds for seconds in lease.turns)
        self._again_at = now + max(lease.again_seconds, self._store.pause_seconds, 0.005)


class RatePermit:
    """Leave to send one request; see `permits.Permit`."""

    __slots__ = ("_limiter", "epoch", "expected_tokens", "guess")

    def __init__(self, limiter: RateLimiter, guess: int, expected_tokens: float, epoch: int) -> None:
        self._limiter: RateLimiter | None = limiter
        self.guess = guess
        self.expected_tokens = expected_tokens
        self.epoch = epoch

    def release(
        self, *, status: int | None, headers: Mapping[str, str], tokens: int | None, latency_seconds: float
    ) -> None:
        """See `permits.Permit.release`."""
        limiter, self._limiter = self._limiter, None
        if limiter is not None:
            limiter.released(self, status, headers, tokens, latency_seconds)

    def give_back(self) -> None:
        """It was not used."""
        limiter, self._limiter = self._limiter, None
        if limiter is not None:
            limiter.given_back(self)
