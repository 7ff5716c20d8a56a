"""Gates: turns at an endpoint."""

import asyncio

from rubricweb.judges.cancellation import Cancellation as Halt
from rubricweb.judges.pace import OpenGate

LEFT = {"status": 200, "headers": {}, "tokens": None, "latency_seconds": 0.1}


def run(coroutine):
    return asyncio.run(coroutine)


class TestOpenGate:
    def test_lets_in_as_many_as_it_may_and_the_next_when_one_leaves(self):
        async def scene():
            gate, halt = OpenGate(2), Halt(0.0)
            first, _ = await gate.enter(1, halt), await gate.enter(1, halt)
            third = asyncio.ensure_future(gate.enter(1, halt))
            await asyncio.sleep(0)
            assert (gate.state().in_flight, gate.state().waiting) == (2, 1)
            first.leave(**LEFT)
            first.leave(**LEFT)  # leaving twice frees one place only
            assert await third is not None
            assert (gate.state().in_flight, gate.state().waiting) == (2, 0)

        run(scene())

    def test_a_stop_ends_the_wait_at_once(self):
        async def scene():
            gate, halt = OpenGate(1), Halt(60.0)
            await gate.enter(1, halt)
            waiting = asyncio.ensure_future(gate.enter(1, halt))
            await asyncio.sleep(0)
            halt.trip()
            assert await waiting is None
            assert await gate.enter(1, halt) is None
            assert gate.state().in_flight == 1

        run(scene())

    def test_a_cancelled_wait_keeps_no_place(self):
        async def scene():
            gate, halt = OpenGate(1), Halt(0.0)
            first = await gate.enter(1, halt)
            second, third = (asyncio.ensure_future(gate.enter(1, halt)) for _ in range(2))
            await asyncio.sleep(0)
            first.leave(**LEFT)  # the second's turn has come,
            second.cancel()  # and in the same moment it is cancelled
            assert await third is not None
            assert gate.state().in_flight == 1

        run(scene())
