"""Limits of a real server, in real time: short, since limits are found in virtual time elsewhere."""

import threading
import time

from rubricweb.judges import event_loop
from rubricweb.judges.offline.script import Fail, Lexical, Script
from rubricweb.judges.pool import ask_all


def test_a_configured_limit_spaces_the_requests(serve, config, question):
    arrived = []

    def answer(_):
        arrived.append(time.monotonic())
        return Lexical()

    judge = config(serve(Script(answer)), requests_per_minute=600, concurrency=16)
    replies = list(ask_all(judge, [question(key=f"q{number}") for number in range(21)]))
    assert all(reply.error is None for reply in replies)
    # 98.5 % of ten a second: twenty distances of 0.1015 s are 2.03 s.
    assert arrived[-1] - arrived[0] >= 1.9
    state = event_loop.rate_limiters().states()[(judge.base_url, judge.model)]
    assert round(state.requests_per_minute) == 591


def test_an_unknown_limit_is_found_and_every_question_answered(serve, config, question):
    # Fifty a second, ten at once: 3,000 a minute.
    left, at, lock, counts = [10.0], [time.monotonic()], threading.Lock(), {"allowed": 0, "refused": 0}

    def answer(_):
        with lock:
            now = time.monotonic()
            left[0] = min(10.0, left[0] + 50 * (now - at[0]))
            at[0] = now
            if left[0] < 1:
                counts["refused"] += 1
                return Fail(429, "slow down")
            left[0] -= 1
            counts["allowed"] += 1
            return Lexical()

    judge = config(serve(Script(answer)), concurrency=16, max_attempts=8)
    replies = list(ask_all(judge, [question(key=f"q{number}") for number in range(200)]))
    assert [reply.error for reply in replies if reply.error is not None] == []
    assert counts["allowed"] == 200
    # Unpaced, sixteen that try again at once are refused hundreds of times; paced 20 to 40 times, more often
    # where a busy machine has several of them arrive at once.
    assert counts["refused"] <= 100
    kinds = {decision.kind for decision in event_loop.rate_limiters().decisions()}
    assert {"throttled", "paced"} <= kinds
