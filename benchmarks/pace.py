"""How well a limit that nobody configured is used: real requests, real time, a judge server that counts.

    python -m benchmarks.pace                         300 per minute, 150 s each: a bucket and a window
    python -m benchmarks.pace --only window --seconds 130 --concurrency 64
    python -m benchmarks.pace --workers 3 --redis redis://127.0.0.1:6379/3
    python -m benchmarks.pace --only cost             CPU time of entering and leaving an open gate

Prints for each server the share of its allowance that was used, and the share of calls answered 429; exits
with 1 when less than 90 % was used or 3 % or more were 429. The allowance of a token bucket is its burst and
what flows in; that of a fixed window all of the first and its part of the last. Workers are processes.
"""

import argparse
import asyncio
import json
import multiprocessing
import sys
import threading
import time
from dataclasses import dataclass

from rubricweb.engine.autograders.base import Prompt, Reading
from rubricweb.judges.base import JudgeConfig, Question
from rubricweb.judges.halt import Halt
from rubricweb.judges.offline.script import Fail, Request, Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.judges.pace_gate import Gates

SAID = json.dumps({"explanation": "It is there.", "criterion_status": "MET"})


class Bucket:
    """So many requests per minute, `burst` of them at once."""

    def __init__(self, per_minute: float, burst: float) -> None:
        self.rate, self.burst, self.left = per_minute / 60, burst, burst
        self.at = time.monotonic()

    def take(self) -> bool:
        now = time.monotonic()
        self.left = min(self.burst, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True

    def allowance(self, seconds: float) -> float:
        return self.burst + self.rate * seconds


class Window:
    """So many requests in each minute, counted from the first request."""

    def __init__(self, limit: float, seconds: float = 60.0) -> None:
        self.limit, self.seconds = limit, seconds
        self.began, self.used = 0.0, 0.0

    def take(self) -> bool:
        now = time.monotonic()
        if now - self.began >= self.seconds:
            self.began, self.used = (
                now if not self.began else now - (now - self.began) % self.seconds,
                0.0,
            )
        if self.used >= self.limit:
            return False
        self.used += 1
        return True

    def allowance(self, seconds: float) -> float:
        return self.limit * (1 + max(0.0, seconds - self.seconds) / self.seconds)


@dataclass
class Limited:
    """A judge that answers after `delay_seconds`, or at once with 429."""

    limit: Bucket | Window
    delay_seconds: float = 0.05
    allowed: int = 0
    refused: int = 0
    began: float = 0.0

    def __call__(self, _: Request) -> Say | Fail:
        self.began = self.began or time.monotonic()
        if self.limit.take():
            self.allowed += 1
            return Say(SAID, delay_seconds=self.delay_seconds)
        self.refused += 1
        return Fail(429, "slow down")


def ask(base_url: str, concurrency: int, seconds: float, redis_url: str = "") -> None:
    """One worker: asks as much as it may."""
    if redis_url:
        import django

        django.setup()
        from rubricweb.judges import pool
        from rubricweb.judges.pace_store import SteadyStore
        from rubricweb.services.shared_pace import RedisStore

        pool.pace_with(lambda: Gates(SteadyStore(RedisStore(redis_url))))
    from rubricweb.judges.pool import ask_all, gates

    config = JudgeConfig(
        name="limited",
        base_url=base_url,
        model="limited",
        concurrency=concurrency,
        allow_private_hosts=True,
        max_attempts=50,
        max_wait_seconds=600.0,
    )
    stop = threading.Event()
    timer = threading.Timer(seconds, stop.set)
    timer.start()

    def questions():
        number = 0
        while True:
            number += 1
            yield Question(number, Prompt("You judge.", f"Submission {number}", None, ()), _read)

    errors: dict[str, int] = {}
    for reply in ask_all(config, questions(), stop=stop):
        if reply.error is not None and reply.error.kind != "stopped":
            errors[reply.error.kind] = errors.get(reply.error.kind, 0) + 1
    own = gates()
    if own is not None:
        for decision in own.decisions():
            print(f"    {time.strftime('%H:%M:%S', time.localtime(decision.at))} {decision.words}")
    if errors:
        print(f"    errors: {errors}")
    timer.cancel()


def measure(name: str, limit: Bucket | Window, options: argparse.Namespace) -> bool:
    """One server; whether the promise held."""
    answerer = Limited(limit)
    print(
        f"{name}, {options.workers} worker(s), {options.concurrency} at once, {options.seconds:g} s",
        flush=True,
    )
    with running_server(Script(answerer)) as base_url:
        context = multiprocessing.get_context("spawn")
        arguments = (base_url, options.concurrency, options.seconds, options.redis)
        workers = [context.Process(target=ask, args=arguments) for _ in range(options.workers)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    seconds = min(options.seconds, time.monotonic() - answerer.began)
    used = answerer.allowed / limit.allowance(seconds)
    calls = answerer.allowed + answerer.refused
    share = answerer.refused / calls
    holds = used >= 0.9 and share < 0.03
    print(
        f"  allowed {answerer.allowed}, refused {answerer.refused}: {used:.1%} of the allowance used, "
        f"{share:.1%} of calls 429 {'' if holds else '  <-- PROMISE BROKEN'}",
        flush=True,
    )
    return holds


def cost() -> bool:
    """CPU time per request of a gate that holds nobody back; whether it is at most 20 µs."""
    config = JudgeConfig(name="open", base_url="http://judge.test/v1", model="m", concurrency=64)

    async def enter_and_leave(rounds: int) -> float:
        gates, halt = Gates(), Halt(0.0)

        async def once() -> None:
            passage = await gates.of(config).enter(500, halt)
            assert passage is not None
            passage.leave(status=200, headers={}, tokens=520, latency_seconds=0.05)

        for _ in range(1000):
            await once()
        began = time.process_time()
        for _ in range(rounds):
            await once()
        return (time.process_time() - began) / rounds

    seconds = min(asyncio.run(enter_and_leave(50_000)) for _ in range(3))
    print(f"entering and leaving an open gate: {1e6 * seconds:.1f} µs of CPU")
    return seconds <= 20e-6


def _read(_: str) -> Reading:
    return Reading({})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=["bucket", "small-bucket", "window", "cost"], help="one of them")
    parser.add_argument("--seconds", type=float, default=150.0)
    parser.add_argument("--per-minute", type=float, default=300.0)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--redis", default="", help="share the pace there; needs the app's settings")
    options = parser.parse_args()
    per_minute = options.per_minute
    servers = {
        "bucket": ("token bucket, a minute's burst", lambda: Bucket(per_minute, per_minute)),
        "small-bucket": ("token bucket, burst 10", lambda: Bucket(per_minute, 10)),
        "window": ("fixed window of a minute", lambda: Window(per_minute)),
    }
    held = [cost()] if options.only in (None, "cost") else []
    for name, (words, limit) in servers.items():
        if options.only in (None, name):
            held.append(measure(words, limit(), options))
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
