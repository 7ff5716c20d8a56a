"""Endpoints with limits, asked through limiters, in time that passes only when everybody waits."""

import asyncio
import itertools
import math
import random
import selectors
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.permits import FixedLimiter, Limiter, LimiterState
from rubricweb.judges.rate_limit.bucket import settle
from rubricweb.judges.rate_limit.knobs import Knobs
from rubricweb.judges.rate_limit.limiters import RateLimiters, RateLimitEvent
from rubricweb.judges.rate_limit.record import Lease, ProcessReport, Record
from rubricweb.judges.rate_limit.store import OwnStore, Store

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer when there is nothing to do."""

    def __init__(self) -> None:
        self.clock = 1000.0
        super().__init__(_Jumping(self))
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self.clock


class _Jumping(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout:
            self._loop.clock += timeout
        return super().select(0)


def run(coroutine_function: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run to the end in virtual time; gives the result."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(coroutine_function())
    finally:
        loop.close()


class Limit(Protocol):
    """What an endpoint lets through, and what its answers say of it. `told` is what Retry-After says."""

    told: str | None
    with_headers: bool

    def take(self, now: float, amount: float = 1.0) -> bool:
        """Whether it lets so much through at this moment; if so, it is used."""
        ...

    def wait(self, now: float) -> float:
        """Seconds until it lets something through again."""
        ...

    def headers(self, now: float) -> dict[str, str]:
        """What every answer says of it."""
        ...

    def allowance(self, seconds: float) -> float:
        """What a client that knew the limit could have been allowed in so many seconds."""
        ...


Answer = tuple[int | None, dict[str, str], int | None, float]
"""Status, headers, tokens, seconds: what `release` is told."""


class TokenBucket:
    """`per_minute` requests, and `burst` of them at once."""

    def __init__(
        self, per_minute: float, burst: float, *, told: str | None = None, headers: bool = False
    ) -> None:
        self.rate, self.burst, self.left = per_minute / 60, burst, float(burst)
        self.at: float | None = None
        self.told, self.with_headers = told, headers

    def take(self, now: float, amount: float = 1.0) -> bool:
        self.at = now if self.at is None else self.at
        self.left = min(self.burst, self.left + (now - self.at) * self.rate)
        self.at = now
        allowed = self.left >= min(amount, self.burst)
        if allowed:
            self.left -= amount
        return allowed

    def wait(self, now: float) -> float:
        return (1 - self.left) / self.rate

    def headers(self, now: float) -> dict[str, str]:
        return {
            "x-ratelimit-limit-requests": f"{self.burst:.0f}",
            "x-ratelimit-remaining-requests": f"{int(self.left)}",
            "x-ratelimit-reset-requests": f"{1000 * (self.burst - self.left) / self.rate:.0f}ms",
        }

    def allowance(self, seconds: float) -> float:
        return self.burst + self.rate * seconds


class FixedWindow:
    """`limit` requests in each window of so many seconds; the windows lie anyhow."""

    def __init__(
        self,
        limit: float,
        seconds: float = 60.0,
        *,
        offset: float = 0.0,
        told: str | None = None,
        headers: bool = False,
    ) -> None:
        self.limit, self.seconds, self.offset = limit, seconds, offset
        self.window: float | None = None
        self.used = 0.0
        self.told, self.with_headers = told, headers

    def _turn(self, now: float) -> None:
        window = (now + self.offset) // self.seconds
        if window != self.window:
            self.window, self.used = window, 0.0

    def take(self, now: float, amount: float = 1.0) -> bool:
        self._turn(now)
        allowed = self.used + amount <= self.limit
        if allowed:
            self.used += amount
        return allowed

    def wait(self, now: float) -> float:
        return self.seconds - (now + self.offset) % self.seconds

    def headers(self, now: float) -> dict[str, str]:
        self._turn(now)
        return {
            "x-ratelimit-limit-requests": f"{self.limit:.0f}",
            "x-ratelimit-remaining-requests": f"{int(self.limit - self.used)}",
            "x-ratelimit-reset-requests": f"{self.wait(now):.3f}s",
        }

    def allowance(self, seconds: float, start: float = 1000.0) -> float:
        """What a steady client could be allowed: all of the first window, its part of the last."""
        first = self.seconds - (start + self.offset) % self.seconds
        return self.limit * (1 + max(0.0, seconds - first) / self.seconds)


class Unlimited:
    """Lets everything through."""

    told: str | None = None
    with_headers = False

    def take(self, now: float, amount: float = 1.0) -> bool:
        return True

    def wait(self, now: float) -> float:
        return 0.0

    def headers(self, now: float) -> dict[str, str]:
        return {}

    def allowance(self, seconds: float) -> float:
        return math.inf


@dataclass
class Endpoint:
    """A server: its limit, its latency, and how long a 429 takes to come.

    `latency` is seconds, or a function of (requests in flight, random) to seconds. `told` of the limit is
    what Retry-After says: None for nothing, "exact", or "whole" for seconds rounded up.
    """

    limit: Limit
    latency: float | Callable[[int, random.Random], float] = 0.05
    refusal: float = 0.02
    tokens: Limit | None = None  # a limit of tokens beside that of requests
    tokens_each: int = 100
    jitter: float = 0.002
    seed: int = 1
    in_flight: int = 0
    most_in_flight: int = 0
    allowed: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    async def answer(self, tokens: int) -> Answer:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.sleep(self.random.uniform(0, self.jitter))
        now = loop.time()
        if self.tokens is not None:
            allowed = self.limit.take(now) and self.tokens.take(now, tokens)
        else:
            allowed = self.limit.take(now)
        headers = self.limit.headers(now) if self.limit.with_headers else {}
        if not allowed:
            self.refused.append(now)
            if self.limit.told:
                wait = self.limit.wait(now)
                headers["retry-after"] = (
                    str(-int(-wait // 1)) if self.limit.told == "whole" else f"{wait:.3f}"
                )
            await asyncio.sleep(self.refusal)
            return 429, headers, None, loop.time() - began
        self.allowed.append(now)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        latency = self.latency(self.in_flight, self.random) if callable(self.latency) else self.latency
        await asyncio.sleep(latency)
        self.in_flight -= 1
        return 200, headers, tokens, loop.time() - began

    def most_in(self, seconds: float) -> int:
        """The most requests allowed in any stretch of so many seconds."""
        most = start = 0
        for end, at in enumerate(self.allowed):
            while at - self.allowed[start] >= seconds:
                start += 1
            most = max(most, end - start + 1)
        return most


@dataclass
class Moody(Endpoint):
    """A server that besides its limit fails at random, whatever the pace.

    `moods` maps "429", "500", "reset", "garbage" and "hang" to the share of requests that meet it. `asks` is
    the Retry-After of a 429 that came at random.
    """

    moods: Mapping[str, float] = field(default_factory=dict)
    asks: str | None = None
    hang: float = 2.0

    async def answer(self, tokens: int) -> Answer:
        loop = asyncio.get_running_loop()
        began, lot = loop.time(), self.random.random()
        mood = next((mood for mood, upto in self._upto() if lot < upto), None)
        if mood is None:
            return await super().answer(tokens)
        latency = self.latency(self.in_flight, self.random) if callable(self.latency) else self.latency
        await asyncio.sleep({"429": self.refusal, "hang": self.hang, "garbage": latency}.get(mood, 0.01))
        if mood == "429":
            self.refused.append(began)
        headers = {"retry-after": self.asks} if mood == "429" and self.asks else {}
        status = {"429": 429, "500": 500, "garbage": 200}.get(mood)
        return status, headers, None, loop.time() - began

    def _upto(self) -> Iterator[tuple[str, float]]:
        return zip(self.moods, itertools.accumulate(self.moods.values()), strict=True)


class SlowStore:
    """A store as Redis or a database is: shared by several processes, and some milliseconds away."""

    sharing = "redis"

    def __init__(self, seconds: float = 0.003, pause_seconds: float = 0.25) -> None:
        self.seconds, self.pause_seconds = seconds, pause_seconds
        self.records: dict[str, Record] = {}
        self.exchanges = 0

    async def exchange(self, key: str, report: ProcessReport) -> Lease:
        await asyncio.sleep(self.seconds)
        self.exchanges += 1
        now = asyncio.get_running_loop().time() + 5_000.0  # its clock is its own
        lease = settle(self.records.setdefault(key, Record()), report, now, Knobs())
        await asyncio.sleep(self.seconds)
        return lease

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Outcome:
    """What came of asking: `used` is the share of the allowance, `refused_share` that of the requests."""

    allowed: int
    refused: int
    seconds: float
    used: float
    refused_share: float
    by_worker: list[int]  # answers each worker was given
    states: list[LimiterState]  # of the limiters at the end
    decisions: list[RateLimitEvent]


class Worker:
    """A process that asks as much as its limiter allows, until it stops or is killed."""

    def __init__(
        self,
        store: Store,
        endpoint: Endpoint,
        judge: JudgeConfig,
        *,
        name: str = "worker",
        guess: int = 100,
        calls: int | None = None,
        without_limits: bool = False,
    ) -> None:
        self.limiters = RateLimiters(store, worker=name)
        self.judge, self.endpoint, self.guess, self.calls = judge, endpoint, guess, calls
        self.fixed = FixedLimiter(judge.concurrency) if without_limits else None
        self.cancellation = Cancellation(0.0)
        self.answers = 0
        self.tasks = [asyncio.ensure_future(self._ask()) for _ in range(judge.concurrency)]

    async def _ask(self) -> None:
        limiter: Limiter = self.fixed or self.limiters.of(self.judge)
        while (permit := await limiter.acquire(self.guess, self.cancellation)) is not None:
            status, headers, tokens, latency = await self.endpoint.answer(self.endpoint.tokens_each)
            permit.release(status=status, headers=headers, tokens=tokens, latency_seconds=latency)
            self.answers += status == 200
            if self.calls is not None and self.answers >= self.calls:
                self.cancellation.cancel()
            if "retry-after" in headers:  # a question waits as it is told
                await self.cancellation.pause(float(headers["retry-after"]))

    async def kill(self) -> None:
        """It reports to nobody any more."""
        self.limiters.close()
        doomed = asyncio.all_tasks() - {asyncio.current_task()}  # its conversation with the store too
        for task in doomed:
            task.cancel()
        await asyncio.gather(*doomed, return_exceptions=True)


def ask_for(
    seconds: float | None,
    endpoint: Endpoint,
    *,
    workers: int = 1,
    concurrency: int = 16,
    store: Store | None = None,
    guess: int = 100,
    calls: int | None = None,
    without_limits: bool = False,
    **config: Any,
) -> Outcome:
    """Ask as much as the limiters allow, for so long, or so many calls of each worker; the outcome."""

    async def scene() -> Outcome:
        loop = asyncio.get_running_loop()
        started = loop.time()
        judge = judge_of(concurrency, **config)
        shared = store or OwnStore(now=loop.time)
        crew = [
            Worker(
                shared,
                endpoint,
                judge,
                name=f"worker {number}",
                guess=guess,
                calls=calls,
                without_limits=without_limits,
            )
            for number in range(workers)
        ]
        if seconds:
            await asyncio.sleep(seconds)
            for worker in crew:
                worker.cancellation.cancel()
        await asyncio.gather(*(task for worker in crew for task in worker.tasks))
        elapsed = seconds or loop.time() - started
        allowed, refused = len(endpoint.allowed), len(endpoint.refused)
        allowance = endpoint.limit.allowance(elapsed)
        states = [worker.limiters.of(judge).state() for worker in crew]
        while pending := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(pending)
        return Outcome(
            allowed=allowed,
            refused=refused,
            seconds=elapsed,
            used=allowed / allowance,
            refused_share=refused / (allowed + refused),
            by_worker=[worker.answers for worker in crew],
            states=states,
            decisions=crew[0].limiters.decisions(),
        )

    return run(scene)


def judge_of(concurrency: int, **config: Any) -> JudgeConfig:
    """A judge that is only asked in virtual time."""
    return JudgeConfig(
        name="judge", base_url="http://judge.test/v1", model="m", concurrency=concurrency, **config
    )
