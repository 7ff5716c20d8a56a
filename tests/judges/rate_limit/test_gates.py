"""Every request goes through the gate of its endpoint and model, and leaves it whatever happens."""

import asyncio
import dataclasses
import time

import pytest

from rubricweb.judges.cancellation import Cancellation as Halt
from rubricweb.judges.client.openai import JudgeClient
from rubricweb.judges.offline.script import Drop, Fail, Garbage, Hang, Say, Script, rate_limited, refusal
from rubricweb.judges.pace import OpenGate
from rubricweb.judges.rate_limit.gate import Gates


class RecordingGate:
    """Lets everything through after `wait` seconds, and keeps what it was told."""

    def __init__(self, wait=0.0):
        self.wait = wait
        self.tokens, self.left, self.inside = [], [], 0

    async def enter(self, tokens, halt):
        if not await halt.pause(self.wait):
            return None
        self.tokens.append(tokens)
        self.inside += 1
        return self

    def leave(self, **told):
        self.inside -= 1
        self.left.append(told)


def ask_through(gate, judge, question, *, halt=None, gates=None):
    async def asked():
        client = JudgeClient(
            judge.base_url,
            judge.api_key,
            allow_private_hosts=True,
            gate_of=lambda config: (gates or {}).get(config.model, gate),
        )
        try:
            return await client.ask(judge, question, cancellation=halt, jitter=lambda: 0.0)
        finally:
            await client.aclose()

    return asyncio.run(asked())


def test_an_answer_tells_the_gate_its_status_headers_tokens_and_time(serve, config, question, met):
    gate = RecordingGate()
    said = Say(met, delay_seconds=0.05, prompt_tokens=120, completion_tokens=30)
    assert ask_through(gate, config(serve(Script(said))), question()).error is None
    (told,) = gate.left
    assert (told["status"], told["tokens"], gate.inside) == (200, 150, 0)
    assert told["headers"]["content-type"].startswith("application/json")
    assert told["latency_seconds"] >= 0.05


def test_an_endpoint_that_only_says_429_is_waited_for_no_longer_than_allowed(serve, config, question):
    gates, judge = Gates(), config(serve(Script(Fail(429))), max_attempts=5, max_wait_seconds=1.0)
    try:
        reply = ask_through(gates.of(judge), judge, question())
    finally:
        gates.close()
    assert reply.error is not None
    assert reply.error.kind == "rate_limited"


def test_the_guess_at_tokens_is_the_text_and_the_answers_limit(serve, config, question, met):
    gate = RecordingGate()
    script = Script(Say(met))
    ask_through(gate, config(serve(script), max_output_tokens=1000), question(submission="x" * 4000))
    assert gate.tokens[0] > 4000 / 4 + 1000
    assert gate.tokens[0] < 4000 / 4 + 1000 + 1500  # the criterion and the instructions


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
def test_whatever_comes_of_a_request_it_leaves_the_gate_and_says_so(serve, config, question, action, status):
    gate = RecordingGate()
    judge = config(serve(Script(action)), max_attempts=1, timeout_seconds=0.1)
    ask_through(gate, judge, question())
    assert [told["status"] for told in gate.left] == [status]
    assert gate.inside == 0


def test_a_429_inside_a_200_is_a_429_to_the_gate_too(serve, config, question, met):
    gate = RecordingGate()
    inside = Garbage('{"error": {"code": 429, "message": "slow down"}}')
    reply = ask_through(gate, config(serve(Script(inside, Say(met)))), question())
    assert (reply.error, reply.throttled) == (None, 1)
    assert [told["status"] for told in gate.left] == [429, 200]


def test_every_request_passes_the_gate_attempts_and_steps_down_the_ladder_alike(serve, config, question, met):
    gate = RecordingGate()
    script = Script(Fail(503), Fail(400, "response_format is not supported"), Say(met))
    assert ask_through(gate, config(serve(script)), question()).error is None
    assert [told["status"] for told in gate.left] == [503, 400, 200]


def test_a_question_that_is_cancelled_leaves_the_gate(serve, config, question):
    gate = RecordingGate()
    judge = config(serve(Script(Hang(5))))

    async def cancelled():
        client = JudgeClient(judge.base_url, None, allow_private_hosts=True, gate_of=lambda config: gate)
        task = asyncio.create_task(client.ask(judge, question()))
        while not gate.inside:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        await client.aclose()

    asyncio.run(cancelled())
    assert (gate.inside, [told["status"] for told in gate.left]) == (0, [None])


def test_a_bug_in_a_reader_leaves_the_gate_too(serve, config, question, met):
    def buggy(text):
        raise ZeroDivisionError

    gate = RecordingGate()
    with pytest.raises(ZeroDivisionError):
        ask_through(gate, config(serve(Script(Say(met)))), dataclasses.replace(question(), read=buggy))
    assert gate.inside == 0


def test_waiting_for_a_turn_uses_up_no_patience_and_no_latency(serve, config, question, met):
    gate = RecordingGate(wait=0.3)
    judge = config(serve(Script(Fail(503), Say(met))), max_attempts=2, max_wait_seconds=0.1)
    started = time.monotonic()
    reply = ask_through(gate, judge, question())
    assert (reply.error, reply.attempts) == (None, 2)
    took = time.monotonic() - started
    assert took >= 0.6  # two turns
    assert reply.latency_seconds <= took - 0.3  # the first of them was before the first request


def test_what_a_question_is_told_to_wait_is_bounded_wherever_it_waits(serve, config, question):
    script = Script(rate_limited("0.2"))
    judge = config(serve(script), max_attempts=50, max_wait_seconds=0.5)
    reply = ask_through(RecordingGate(), judge, question())
    assert (reply.error.kind, script.count) == ("rate_limited", 3)  # 0.2 and 0.4 s fit into 0.5, 0.6 does not


def test_a_stop_at_the_gate_sends_nothing(serve, config, question):
    async def asked():
        halt = Halt(1.0)
        client = JudgeClient(judge.base_url, None, allow_private_hosts=True, gate_of=lambda config: gate)
        asyncio.get_running_loop().call_later(0.05, halt.trip)
        try:
            return await client.ask(judge, question(), cancellation=halt)
        finally:
            await client.aclose()

    gate, script = RecordingGate(wait=60), Script()
    judge = config(serve(script))
    reply = asyncio.run(asked())
    assert (reply.error.kind, reply.attempts, reply.latency_seconds, reply.request) == (
        "stopped",
        0,
        0.0,
        None,
    )
    assert script.count == 0


def test_a_stop_in_the_moment_of_the_turn_leaves_the_request_its_grace_only(serve, config, question):
    class StopsWhileLettingIn(RecordingGate):
        async def enter(self, tokens, halt):
            passage = await super().enter(tokens, halt)
            halt.trip()
            return passage

    async def asked():
        client = JudgeClient(judge.base_url, None, allow_private_hosts=True, gate_of=lambda config: gate)
        try:
            return await client.ask(judge, question(), cancellation=Halt(0.1))
        finally:
            await client.aclose()

    gate = StopsWhileLettingIn()
    judge = config(serve(Script(Hang(3600))))
    assert asyncio.run(asked()).error.kind == "stopped"
    assert gate.inside == 0


def test_a_fallback_model_has_a_gate_of_its_own(serve, config, question, met):
    script = Script(lambda request: refusal() if request.body["model"] == "big" else Say(met))
    gates = {"big": RecordingGate(), "small": RecordingGate()}
    judge = config(serve(script), model="big", fallback_model="small")
    assert ask_through(None, judge, question(), gates=gates).error is None
    assert [len(gate.left) for gate in gates.values()] == [1, 1]


@pytest.mark.parametrize("make", [lambda judge: OpenGate(4), lambda judge: Gates().of(judge)])
def test_what_a_429_asks_for_is_waited_out_by_the_question_at_any_gate(serve, config, question, met, make):
    judge = config(serve(Script(rate_limited("0.2"), Say(met))))
    started = time.monotonic()
    reply = ask_through(make(judge), judge, question())
    assert (reply.error, reply.throttled, reply.attempts) == (None, 1, 2)
    assert time.monotonic() - started >= 0.2
