"""What is tried again, what is not, and what each ends as."""

import datetime
import email.utils
import json
import time

import pytest

from rubricweb.engine.rubric import Criterion
from rubricweb.engine.verdict import Verdict
from rubricweb.judges.client.failures import retry_after
from rubricweb.judges.client.transport import MAX_ANSWER_BYTES
from rubricweb.judges.offline.script import (
    Drop,
    Fail,
    Garbage,
    Hang,
    Say,
    Script,
    rate_limited,
    refusal,
    truncated,
)


def verdict(reply):
    return reply.reading.answers[0].verdict


@pytest.mark.parametrize("status", [408, 409, 429, 502, 503, 504, 529])
def test_passing_troubles_are_tried_again(serve, ask, met, status):
    script = Script(Fail(status), Fail(status), Say(met))
    reply = ask(serve(script))
    assert (verdict(reply), reply.error, reply.attempts) == (Verdict.MET, None, 3)
    assert script.count == 3


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (408, "timeout"),
        (409, "server_error"),
        (429, "rate_limited"),
        (500, "server_error"),
        (503, "server_error"),
    ],
)
def test_lasting_troubles_end_as_an_error_that_may_be_retried_later(serve, ask, status, kind):
    script = Script(Fail(status, "try later"), refused_rungs=None)
    reply = ask(serve(script), max_attempts=2, about={"reply_format": "yes_no"})
    assert (reply.reading, reply.error.kind, reply.error.retryable) == (None, kind, True)
    assert "try later" in reply.error.message
    assert script.count == 2


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "bad_request"),
        (401, "unauthorized"),
        (402, "forbidden"),
        (403, "forbidden"),
        (404, "not_found"),
        (413, "bad_request"),
        (422, "bad_request"),
    ],
)
def test_refusals_of_the_request_are_final(serve, ask, status, kind):
    script = Script(Fail(status))
    reply = ask(serve(script))
    assert (reply.error.kind, reply.error.retryable, script.count) == (kind, False, 1)


def test_a_used_up_quota_is_final_though_it_comes_as_429(serve, ask):
    script = Script(Fail(429, "You exceeded your current quota", code="insufficient_quota"))
    assert ask(serve(script)).error.kind == "rate_limited"
    assert script.count == 1


def test_retry_after_in_seconds_is_waited_out(serve, ask, met):
    started = time.monotonic()
    reply = ask(serve(Script(rate_limited("0.3"), Say(met))))
    assert reply.error is None
    assert time.monotonic() - started >= 0.3


def test_retry_after_never_waits_longer_than_the_cap(serve, ask, met):
    assert ask(serve(Script(rate_limited("3600"), Say(met))), retry_after_cap_seconds=0.05).error is None


def test_retry_after_is_read_as_seconds_milliseconds_or_date():
    now = datetime.datetime(2026, 11, 20, 10, 0, 0, tzinfo=datetime.UTC)
    later = email.utils.format_datetime(now + datetime.timedelta(seconds=30), usegmt=True)
    assert retry_after({"retry-after": "7"}) == 7
    assert retry_after({"retry-after-ms": "250", "retry-after": "7"}) == 0.25
    assert retry_after({"retry-after": later}, now) == 30
    assert retry_after({"retry-after": later}, now + datetime.timedelta(minutes=5)) == 0
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({"retry-after": "-3"}) is None
    assert retry_after({}) is None


def test_the_sum_of_pauses_is_bounded(serve, ask):
    script = Script(rate_limited("0.2"))
    reply = ask(serve(script), max_attempts=50, max_wait_seconds=0.5)
    assert reply.error.kind == "rate_limited"
    # Pauses of 0.2 and 0.4 s fit into 0.5 s, a third would not: 1 + 2 retries; the gate may take time too.
    assert script.count in (2, 3)


def test_pauses_grow_and_jitter_spreads_their_upper_half(serve, ask):
    def seconds(jitter):
        started = time.monotonic()
        ask(serve(Script(Fail(503))), backoff_seconds=0.1, jitter=jitter)
        return time.monotonic() - started

    assert seconds(lambda: 0.0) >= 0.15  # 0.1 / 2 + 0.2 / 2
    assert seconds(lambda: 1.0) >= 0.30  # 0.1 + 0.2


def test_no_answer_in_time_is_a_timeout(serve, ask, met):
    assert ask(serve(Script(Hang(5), Say(met))), timeout_seconds=1).error is None
    reply = ask(serve(Script(Hang(5))), timeout_seconds=0.1, max_attempts=2)
    assert (reply.error.kind, reply.attempts) == ("timeout", 2)
    assert "0.1 s" in reply.error.message


def test_a_broken_connection_is_tried_again(serve, ask, met):
    assert ask(serve(Script(Drop(), Say(met)))).error is None
    assert ask(serve(Script(Drop()))).error.kind == "connection"


def test_nobody_listening_is_a_connection_error_that_names_the_endpoint(ask):
    reply = ask("http://127.0.0.1:9/v1", max_attempts=2)
    assert (reply.error.kind, reply.attempts) == ("connection", 2)
    assert "127.0.0.1:9" in reply.error.message


def test_an_endpoint_without_tls_is_a_connection_error(serve, ask):
    script = Script()
    assert ask(serve(script).replace("http:", "https:")).error.kind == "connection"
    assert script.count == 0


def test_an_endless_answer_is_cut_off(serve, ask):
    reply = ask(serve(Script(Garbage("x" * (MAX_ANSWER_BYTES + 1)))), max_attempts=1)
    assert reply.error.kind == "connection"
    assert "longer than" in reply.error.message


@pytest.mark.parametrize(
    "answer", [Garbage(), Garbage("[]"), Garbage('{"choices": []}'), Say("I like it."), Say("")]
)
def test_garbage_is_asked_again_and_ends_as_unreadable_never_as_a_verdict(serve, ask, met, answer):
    assert ask(serve(Script(answer, Say(met)))).error is None
    script = Script(answer)
    reply = ask(serve(script))
    assert (reply.reading, reply.error.kind, script.count) == (None, "unreadable_reply", 3)


def test_after_an_unreadable_reply_the_schema_is_spelled_out(serve, ask, met):
    script = Script(Say("I like it."), Say(met))
    ask(serve(script))
    first, second = (request.body["messages"][0]["content"] for request in script.requests)
    assert "JSON schema" not in first
    assert '"criterion_status"' in second.split("JSON schema")[1]


def test_an_error_inside_a_200_counts_as_the_error_it_is(serve, ask):
    body = json.dumps({"error": {"code": 403, "message": "moderated"}})
    script = Script(Garbage(body))
    reply = ask(serve(script))
    assert (reply.error.kind, script.count) == ("forbidden", 1)
    assert "moderated" in reply.error.message


@pytest.mark.parametrize(
    "answer",
    [
        refusal("I will not."),
        Say(None, finish_reason="content_filter"),
        Fail(400, "filtered", code="content_filter"),
    ],
)
def test_a_refusal_is_final(serve, ask, answer):
    script = Script(answer)
    reply = ask(serve(script))
    assert (reply.reading, reply.error.kind, reply.error.retryable) == (None, "refused", False)
    assert script.count == 1


def test_a_truncated_reply_is_an_error_even_if_something_could_be_read(serve, ask, met):
    script = Script(truncated())
    reply = ask(serve(script), max_output_tokens=16)
    assert (reply.error.kind, script.count, reply.text) == ("truncated", 1, '{"explanation": "It beg')
    assert "16" in reply.error.message
    assert ask(serve(Script(truncated(met)))).reading is None


def one_shot_reply(*numbers):
    entries = [
        {"criterion_number": number, "explanation": "…", "criterion_status": "MET"} for number in numbers
    ]
    return json.dumps({"criteria_evaluations": entries})


CRITERIA = {
    "grader": "one_shot",
    "criteria": [Criterion(weight=1, requirement=f"Requirement {number}") for number in (1, 2, 3)],
}


def test_a_missing_criterion_is_asked_for_again(serve, ask):
    script = Script(Say(one_shot_reply(1, 3)), Say(one_shot_reply(1, 2, 3)))
    reply = ask(serve(script), about=CRITERIA)
    assert (sorted(reply.reading.answers), reply.error, script.count) == ([0, 1, 2], None, 2)


def test_what_a_partial_reply_did_answer_stands_beside_the_error(serve, ask):
    replies = [one_shot_reply(1), one_shot_reply(1, 3), one_shot_reply(2)]
    reply = ask(serve(Script(*map(Say, replies))), about=CRITERIA)
    assert reply.error.kind == "missing_criterion"
    assert reply.error.retryable
    assert "criterion 2" in reply.error.message
    assert sorted(reply.reading.answers) == [0, 2]  # the fullest of the three
    assert reply.text == replies[1]


def test_tokens_and_cost_are_those_of_every_attempt(serve, ask, met):
    answers = [
        Say("no", prompt_tokens=1000, completion_tokens=5),
        Say(met, prompt_tokens=1000, completion_tokens=195),
    ]
    reply = ask(serve(Script(*answers)), input_usd_per_million=2.5, output_usd_per_million=10)
    assert (reply.prompt_tokens, reply.completion_tokens) == (2000, 200)
    assert reply.cost_usd == pytest.approx(0.007)  # 2,000 × 2.5 / 10⁶ + 200 × 10 / 10⁶
    assert reply.latency_seconds > 0


def test_without_a_price_there_is_no_cost_and_without_usage_no_count(serve, ask, met):
    assert ask(serve(Script(Say(met)))).cost_usd is None
    assert ask(serve(Script(Say(met))), input_usd_per_million=1).cost_usd is None
    reply = ask(serve(Script(Fail(401))), input_usd_per_million=1, output_usd_per_million=1)
    assert (reply.prompt_tokens, reply.cost_usd) == (None, None)


def test_errors_never_repeat_the_key_nor_much_of_a_foreign_body(serve, ask):
    key = "sk-secret-0123456789"
    assert key not in ask(serve(Script(Fail(401, f"Incorrect API key: {key}"))), api_key=key).error.message
    long = ask(serve(Script(Fail(400, "x" * 5000))), api_key=key).error.message
    assert len(long) < 240
    internal = ask(serve(Script(Fail(400, body="<h1>internal wiki</h1> password: 1234"))), api_key=key)
    assert internal.error.message == "HTTP 400 Bad Request"
