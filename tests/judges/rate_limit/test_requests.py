"""Every request takes a permit of its endpoint and model, and releases it whatever happens."""

import asyncio
import dataclasses
import time

import pytest

from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.client.openai import JudgeClient
from rubricweb.judges.offline.script import Drop, Fail, Garbage, Hang, Say, Script, rate_limited, refusal
from rubricweb.judges.permits import FixedLimiter
from rubricweb.judges.rate_limit.limiters import RateLimiters


class RecordingLimiter:
    """Lets everything through after `wait` seconds, and keeps what it was told."""

    def __init__(self, wait=0.0):
        self.wait = wait
        self.tokens, self.released, self.inside = [], [], 0

    async def acquire(self, tokens, cancellation):
        if not await cancellation.pause(self.wait):
            return None
        self.tokens.append(tokens)
        self.inside += 1
        return self

    def release(self, **told):
        self.inside -= 1
        self.released.append(told)


def ask_through(limiter, judge, question, *, cancellation=None, limiters=None):
    async def asked():
        client = JudgeClient(
            judge.base_url,
            judge.api_key,
            allow_private_hosts=True,
            limiter_of=lambda config: (limiters or {}).get(config.model, limiter),
        )
        try:
            return await client.ask(judge, question, cancellation=cancellation, jitter=lambda: 0.0)
        finally:
            await client.aclose()

    return asyncio.run(asked())


def test_an_answer_tells_the_limiter_its_status_headers_tokens_and_time(serve, config, question, met):
    limiter = RecordingLimiter()
    said = Say(met, delay_seconds=0.05, prompt_tokens=120, completion_tokens=30)
    assert ask_through(limiter, config(serve(Script(said))), question()).error is None
    (told,) = limiter.released
    assert (told["status"], told["tokens"], limiter.inside) == (200, 150, 0)
    assert told["headers"]["content-type"].startswith("application/json")
    assert told["latency_seconds"] >= 0.05


def test_an_endpoint_that_only_says_429_is_waited_for_no_longer_than_allowed(serve, config, question):
    limiters, judge = RateLimiters(), config(serve(Script(Fail(429))), max_attempts=5, max_wait_seconds=1.0)
    try:
        reply = ask_through(limiters.of(judge), judge, question())
    finally:
        limiters.close()
    assert reply.error is not None
    assert reply.error.kind == "rate_limited"


def test_the_guess_at_tokens_is_the_text_and_the_answers_limit(serve, config, question, met):
    limiter = RecordingLimiter()
    script = Script(Say(met))
    ask_through(limiter, config(serve(script), max_output_tokens=1000), question(submission="x" * 4000))
    assert limiter.tokens[0] > 4000 / 4 + 1000
    assert limiter.tokens[0] < 4000 / 4 + 1000 + 1500  # the criterion and the instructions


@pytest.mark.parametrize(
    ("action", "status"),
    [
        (Fail(404), 404),
        (rate_limited("0"), 429),
        (Hang(5), None),
        (Drop(), None),
        (Garbage(), 200),
        (refusal(), 200),
    ],
)
def test_whatever_comes_of_a_request_its_permit_is_released(serve, config, question, action, status):
    limiter = RecordingLimiter()
    # Only what never answers is given little time: on a busy machine an answer takes as long.
    timeout = {"timeout_seconds": 0.1} if isinstance(action, Hang) else {}
    judge = config(serve(Script(action)), max_attempts=1, **timeout)
    ask_through(limiter, judge, question())
    assert [told["status"] for told in limiter.released] == [status]
    assert limiter.inside == 0


def test_a_429_inside_a_200_is_a_429_to_the_limiter_too(serve, config, question, met):
    limiter = RecordingLimiter()
    inside = Garbage('{"error": {"code": 429, "message": "slow down"}}')
    reply = ask_through(limiter, config(serve(Script(inside, Say(met)))), question())
    assert (reply.error, reply.throttled) == (None, 1)
    assert [told["status"] for told in limiter.released] == [429, 200]


def test_every_request_takes_a_permit_attempts_and_steps_down_the_ladder_alike(serve, config, question, met):
    limiter = RecordingLimiter()
    script = Script(Fail(503), Fail(400, "response_format is not supported"), Say(met))
    assert ask_through(limiter, config(serve(script)), question()).error is None
    assert [told["status"] for told in limiter.released] == [503, 400, 200]


def test_a_question_that_is_cancelled_releases_its_permit(serve, config, question):
    limiter = RecordingLimiter()
    judge = config(serve(Script(Hang(5))))

    async def cancelled():
        client = JudgeClient(
            judge.base_url, None, allow_private_hosts=True, limiter_of=lambda config: limiter
        )
        task = asyncio.create_task(client.ask(judge, question()))
        while not limiter.inside:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        await client.aclose()

    asyncio.run(cancelled())
    assert (limiter.inside, [told["status"] for told in limiter.released]) == (0, [None])


def test_a_bug_in_a_reader_releases_the_permit_too(serve, config, question, met):
    def buggy(text):
        raise ZeroDivisionError

    limiter = RecordingLimiter()
    with pytest.raises(ZeroDivisionError):
        ask_through(limiter, config(serve(Script(Say(met)))), dataclasses.replace(question(), read=buggy))
    assert limiter.inside == 0


def test_waiting_for_a_permit_uses_up_no_patience_and_no_latency(serve, config, question, met):
    limiter = RecordingLimiter(wait=0.3)
    judge = config(serve(Script(Fail(503), Say(met))), max_attempts=2, max_wait_seconds=0.1)
    started = time.monotonic()
    reply = ask_through(limiter, judge, question())
    assert (reply.error, reply.attempts) == (None, 2)
    took = time.monotonic() - started
    assert took >= 0.6  # two turns
    assert reply.latency_seconds <= took - 0.3  # the first of them was before the first request


def test_what_a_question_is_told_to_wait_is_bounded_wherever_it_waits(serve, config, question):
    script = Script(rate_limited("0.2"))
    judge = config(serve(script), max_attempts=50, max_wait_seconds=0.5)
    reply = ask_through(RecordingLimiter(), judge, question())
    assert (reply.error.kind, script.count) == ("rate_limited", 3)  # 0.2 and 0.4 s fit into 0.5, 0.6 does not


def test_a_stop_while_waiting_for_a_permit_sends_nothing(serve, config, question):
    async def asked():
        cancellation = Cancellation(1.0)
        client = JudgeClient(
            judge.base_url, None, allow_private_hosts=True, limiter_of=lambda config: limiter
        )
        asyncio.get_running_loop().call_later(0.05, cancellation.cancel)
        try:
            return await client.ask(judge, question(), cancellation=cancellation)
        finally:
            await client.aclose()

    limiter, script = RecordingLimiter(wait=60), Script()
    judge = config(serve(script))
    reply = asyncio.run(asked())
    assert (reply.error.kind, reply.attempts, reply.latency_seconds, reply.request) == (
        "stopped",
        0,
        0.0,
        None,
    )
    assert script.count == 0


def test_a_stop_in_the_moment_of_the_permit_leaves_the_request_its_grace_only(serve, config, question):
    class StopsAsItPermits(RecordingLimiter):
        async def acquire(self, tokens, cancellation):
            permit = await super().acquire(tokens, cancellation)
            cancellation.cancel()
            return permit

    async def asked():
        client = JudgeClient(
            judge.base_url, None, allow_private_hosts=True, limiter_of=lambda config: limiter
        )
        try:
            return await client.ask(judge, question(), cancellation=Cancellation(0.1))
        finally:
            await client.aclose()

    limiter = StopsAsItPermits()
    judge = config(serve(Script(Hang(3600))))
    assert asyncio.run(asked()).error.kind == "stopped"
    assert limiter.inside == 0


def test_a_fallback_model_has_a_limiter_of_its_own(serve, config, question, met):
    script = Script(lambda request: refusal() if request.body["model"] == "big" else Say(met))
    limiters = {"big": RecordingLimiter(), "small": RecordingLimiter()}
    judge = config(serve(script), model="big", fallback_model="small")
    assert ask_through(None, judge, question(), limiters=limiters).error is None
    assert [len(limiter.released) for limiter in limiters.values()] == [1, 1]


@pytest.mark.parametrize("make", [lambda judge: FixedLimiter(4), lambda judge: RateLimiters().of(judge)])
def test_what_a_429_asks_for_is_waited_out_by_the_question_with_any_limiter(
    serve, config, question, met, make
):
    judge = config(serve(Script(rate_limited("0.2"), Say(met))))
    started = time.monotonic()
    reply = ask_through(make(judge), judge, question())
    assert (reply.error, reply.throttled, reply.attempts) == (None, 1, 2)
    assert time.monotonic() - started >= 0.2
