"""A rate limiter's permits: handed out in order, given back, and what several configurations come to."""

import asyncio

from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.rate_limit.limiters import RateLimiters
from rubricweb.judges.rate_limit.store import OwnStore
from tests.judges.rate_limit.virtual_time import Endpoint, Moody, Unlimited, ask_for, judge_of, run

RELEASED = {"status": 200, "headers": {}, "tokens": None, "latency_seconds": 0.1}


def limiters():
    return RateLimiters(OwnStore(now=asyncio.get_running_loop().time))


def test_a_stop_ends_the_wait_for_a_permit_at_once():
    async def scene():
        limiter, cancellation = limiters().of(judge_of(1)), Cancellation(60.0)
        await limiter.acquire(1, cancellation)
        waiting = asyncio.ensure_future(limiter.acquire(1, cancellation))
        await asyncio.sleep(1.0)
        assert (limiter.state().in_flight, limiter.state().waiting) == (1, 1)
        cancellation.cancel()
        assert await waiting is None
        assert await limiter.acquire(1, cancellation) is None
        assert limiter.state().in_flight == 1

    run(scene)


def test_a_wait_that_is_cancelled_as_its_turn_comes_hands_the_permit_on():
    async def scene():
        limiter, cancellation = limiters().of(judge_of(1)), Cancellation(0.0)
        first = await limiter.acquire(1, cancellation)
        second, third = (asyncio.ensure_future(limiter.acquire(1, cancellation)) for _ in range(2))
        await asyncio.sleep(1.0)
        first.release(**RELEASED)
        first.release(**RELEASED)  # releasing twice frees one permit only
        second.cancel()
        assert await third is not None
        assert (limiter.state().in_flight, limiter.state().waiting) == (1, 0)

    run(scene)


def test_of_several_configurations_in_use_the_strictest_rate_counts():
    async def scene():
        everybody, cancellation = limiters(), Cancellation(0.0)
        for per_minute in (None, 120, 600):
            limiter = everybody.of(judge_of(16, requests_per_minute=per_minute))
            (await limiter.acquire(1, cancellation)).release(**RELEASED)
        await asyncio.sleep(2.0)
        (await limiter.acquire(1, cancellation)).release(**RELEASED)
        await asyncio.sleep(0.1)
        return limiter.state().requests_per_minute

    assert run(scene) == 0.985 * 120


def test_another_key_is_another_endpoint():
    async def scene():
        everybody = limiters()
        one, other = (everybody.of(judge_of(1, api_key=key)) for key in ("one", "other"))
        return one is other, one is everybody.of(judge_of(1, api_key="one"))

    assert run(scene) == (False, True)


def test_a_run_that_is_cancelled_says_nothing_about_the_endpoint():
    async def scene():
        everybody, cancellation = limiters(), Cancellation(0.0)
        limiter = everybody.of(judge_of(8))
        permits = [await limiter.acquire(1, cancellation) for _ in range(8)]
        for permit in permits:  # all in the same moment
            permit.release(status=None, headers={}, tokens=None, latency_seconds=1.0)
        return limiter.state().limit, everybody.decisions()

    assert run(scene) == (8, [])


def test_an_endpoint_that_fails_under_the_load_is_asked_fewer_at_once():
    # It fails all but 16 at once.
    class Overloaded(Endpoint):
        async def answer(self, tokens):
            if self.in_flight < 16:
                return await super().answer(tokens)
            await asyncio.sleep(self.random.uniform(0.1, 0.2))
            return 503, {}, None, 0.15

    endpoint = Overloaded(Unlimited(), latency=0.5)
    outcome = ask_for(120.0, endpoint, concurrency=64)
    assert outcome.states[0].limit <= 32
    assert outcome.allowed >= 0.8 * 120 / 0.5 * 16


def test_one_fault_in_ten_leaves_the_number_at_once_alone():
    endpoint = Moody(Unlimited(), moods={"500": 0.05, "reset": 0.05}, latency=0.2)
    assert ask_for(60.0, endpoint, concurrency=32).states[0].limit == 32
