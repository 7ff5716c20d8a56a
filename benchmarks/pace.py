"""How well a limit that nobody configured is used: real requests, real time, a judge server that counts.

    python -m benchmarks.pace                         300 per minute, 150 s each: a bucket and a window
    python -m benchmarks.pace --only window --seconds 130 --concurrency 64
    python -m benchmarks.pace --workers 3 --redis redis://127.0.0.1:6379/3
    python -m benchmarks.pace --only cost             CPU time of a permit where nobody waits

Prints for each server the share of its allowance that was used, and the share of calls answered 429; exits
with 1 when less than 80 % was used or 5 % or more were 429. The allowance of a token bucket is its burst and
what flows in; that of windows all of those that have passed. A 429 does not say how long to wait. Workers are
processes.

`benchmarks.grading --only bucket,windows` measures the same through a whole run, with one worker.
"""

import argparse
import asyncio
import multiprocessing
import os
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.machine import JudgeServer, scratch_folder
from rubricweb.engine.autograders.base import Prompt, Reading
from rubricweb.engine.autograders.outputs import PerCriterionOutput
from rubricweb.judges.base import JudgeConfig, Question
from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.rate_limit.limiters import RateLimiters

# What `--only` knows: the words for it, and what `judge_server.Behaviour` is told.
LIMITS: dict[str, tuple[str, dict[str, Any]]] = {
    "bucket": ("token bucket, a minute's burst", {"window": "bucket"}),
    "small-bucket": ("token bucket, burst 10", {"window": "bucket", "burst": 10}),
    "window": ("windows of a minute", {"window": "fixed"}),
}


def ask(base_url: str, model: str, concurrency: int, seconds: float, redis_url: str) -> None:
    """One worker: asks as much as it may."""
    if redis_url:
        import django

        django.setup()
        from rubricweb.judges import event_loop
        from rubricweb.judges.rate_limit.store import FallbackStore
        from rubricweb.services.grading.shared_limits import RedisStore

        event_loop.use_rate_limiters(lambda: RateLimiters(FallbackStore(RedisStore(redis_url))))
    from rubricweb.judges.event_loop import rate_limiters
    from rubricweb.judges.pool import ask_all

    config = JudgeConfig(
        name="limited",
        base_url=base_url,
        model=model,
        concurrency=concurrency,
        allow_private_hosts=True,
        max_attempts=50,
        max_wait_seconds=600.0,
    )
    stop = threading.Event()
    timer = threading.Timer(seconds, stop.set)
    timer.start()

    def questions() -> Iterator[Question]:
        number = 0
        while True:
            number += 1
            prompt = Prompt("You judge.", f"Submission {number}", PerCriterionOutput, ())
            yield Question(number, prompt, _read)

    errors: dict[str, int] = {}
    for reply in ask_all(config, questions(), stop=stop):
        if reply.error is not None and reply.error.kind != "stopped":
            errors[reply.error.kind] = errors.get(reply.error.kind, 0) + 1
    own = rate_limiters()
    if own is not None:
        for decision in own.decisions():
            print(f"    {time.strftime('%H:%M:%S', time.localtime(decision.at))} {decision.words}")
    if errors:
        print(f"    errors: {errors}")
    timer.cancel()


def measure(name: str, judge: JudgeServer, options: argparse.Namespace) -> bool:
    """One kind of limit; whether the promise held."""
    words, limit = LIMITS[name]
    print(
        f"{words}, {options.workers} worker(s), {options.concurrency} at once, {options.seconds:g} s",
        flush=True,
    )
    limit = {"per_minute": options.per_minute, "burst": options.per_minute, **limit}
    judge.behave(latency_seconds=0.05, limit_is_silent=True, **limit)
    context = multiprocessing.get_context("spawn")
    arguments = (judge.base_url, name, options.concurrency, options.seconds, options.redis)
    workers = [context.Process(target=ask, args=arguments) for _ in range(options.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    count = judge.count()
    used: float = count["let_through"] / count["allowed"]
    share: float = count["outcomes"].get("over_limit", 0) / count["requests"]
    holds = used >= 0.8 and share < 0.05
    print(
        f"  {count['requests']} requests in {count['seconds']:.0f} s: {used:.1%} of the allowance used, "
        f"{share:.1%} of calls 429 {'' if holds else '  <-- PROMISE BROKEN'}",
        flush=True,
    )
    return holds


def cost() -> bool:
    """CPU time of a permit where nobody waits; whether it is at most 20 µs."""
    config = JudgeConfig(name="open", base_url="http://judge.test/v1", model="m", concurrency=64)

    async def acquire_and_release(rounds: int) -> float:
        limiters, cancellation = RateLimiters(), Cancellation(0.0)

        async def once() -> None:
            permit = await limiters.of(config).acquire(500, cancellation)
            assert permit is not None
            permit.release(status=200, headers={}, tokens=520, latency_seconds=0.0)  # as it was here

        for _ in range(1000):
            await once()
        began = time.process_time()
        for _ in range(rounds):
            await once()
        return (time.process_time() - began) / rounds

    seconds = min(asyncio.run(acquire_and_release(50_000)) for _ in range(3))
    print(f"acquiring and releasing a permit where nobody waits: {1e6 * seconds:.1f} µs of CPU")
    return seconds <= 20e-6


def _read(_: str) -> Reading:
    return Reading({})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=[*LIMITS, "cost"], help="one of them")
    parser.add_argument("--seconds", type=float, default=150.0)
    parser.add_argument("--per-minute", type=int, default=300)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--redis", default="", help="the address of a Redis to share the pace by")
    options = parser.parse_args()
    held = [cost()] if options.only in (None, "cost") else []
    with scratch_folder() as folder:
        os.environ.update(
            DJANGO_SETTINGS_MODULE="rubricweb.settings",
            RUBRICWEB_VAR_DIR=str(folder),
            SECRET_KEY=secrets.token_hex(32),
        )
        judge = JudgeServer(folder)
        try:
            held += [measure(name, judge, options) for name in LIMITS if options.only in (None, name)]
        finally:
            judge.stop()
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
