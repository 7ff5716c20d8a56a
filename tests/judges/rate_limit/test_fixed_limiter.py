"""A limiter that only bounds the requests at once."""

import asyncio

from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.permits import FixedLimiter

RELEASED = {"status": 200, "headers": {}, "tokens": None, "latency_seconds": 0.1}


def run(coroutine):
    return asyncio.run(coroutine)


class TestFixedLimiter:
    def test_permits_as_many_as_it_may_and_the_next_when_one_is_released(self):
        async def scene():
            limiter, cancellation = FixedLimiter(2), Cancellation(0.0)
            first, _ = await limiter.acquire(1, cancellation), await limiter.acquire(1, cancellation)
            third = asyncio.ensure_future(limiter.acquire(1, cancellation))
            await asyncio.sleep(0)
            assert (limiter.state().in_flight, limiter.state().waiting) == (2, 1)
            first.release(**RELEASED)
            first.release(**RELEASED)  # releasing twice frees one place only
            assert await third is not None
            assert (limiter.state().in_flight, limiter.state().waiting) == (2, 0)

        run(scene())

    def test_a_stop_ends_the_wait_at_once(self):
        async def scene():
            limiter, cancellation = FixedLimiter(1), Cancellation(60.0)
            await limiter.acquire(1, cancellation)
            waiting = asyncio.ensure_future(limiter.acquire(1, cancellation))
            await asyncio.sleep(0)
            cancellation.cancel()
            assert await waiting is None
            assert await limiter.acquire(1, cancellation) is None
            assert limiter.state().in_flight == 1

        run(scene())

    def test_a_cancelled_wait_keeps_no_place(self):
        async def scene():
            limiter, cancellation = FixedLimiter(1), Cancellation(0.0)
            first = await limiter.acquire(1, cancellation)
            second, third = (asyncio.ensure_future(limiter.acquire(1, cancellation)) for _ in range(2))
            await asyncio.sleep(0)
            first.release(**RELEASED)  # the second's turn has come,
            second.cancel()  # and in the same moment it is cancelled
            assert await third is not None
            assert limiter.state().in_flight == 1

        run(scene())
