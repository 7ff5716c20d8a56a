"""What an endpoint may do to a worker: nothing. It ends soon, as a verdict or an error with a name."""

import asyncio
import gzip
import json
import math
import time

import pytest

from rubricweb.engine.verdict import Verdict
from rubricweb.judges.client.attempts import MAX_REPLY_CHARACTERS, MAX_TOKENS
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Fail, Garbage, Say, Script
from tests.judges.completion import completion, token
from tests.judges.raw_server import http, raw_server

SOON_CPU_SECONDS = 20.0
"""Of the processor, so a machine may be busy; what this was written against took minutes, or for ever."""
MEGABYTE = 1024 * 1024


@pytest.fixture
def said(ask):
    """said(*answers, …) asks a server that answers with these bytes; the reply must come soon."""

    def one(*answers, **changed):
        with raw_server(*answers) as url:
            began = time.process_time()
            try:
                return ask(url, **({"max_attempts": 1} | changed))
            finally:
                assert time.process_time() - began < SOON_CPU_SECONDS
                close_clients()

    return one


@pytest.mark.parametrize("blank", [" ", "\n", " \n\t\r", "\u00a0", "\u200b", ". ", "</think> \n"])
@pytest.mark.parametrize("form", ["{}x", "x{}x", "{{{}x", "<think>{}</think>{}x", "I'm sorry{}x"])
@pytest.mark.parametrize("asked_for", ["json", "yes_no"])
def test_megabytes_of_blanks_are_read_in_no_time(said, blank, form, asked_for):
    content = form.replace("{}", blank * (MEGABYTE // len(blank.encode())))
    reply = said(http(completion(content).body.encode()), about={"reply_format": asked_for})
    assert reply.error.kind == "unreadable_reply"
    assert len(reply.text) <= MAX_REPLY_CHARACTERS


@pytest.mark.parametrize("blank", [" ", "\n", "\u2003"])
def test_nothing_but_blanks_is_an_empty_reply_or_no_answer(said, blank):
    blanks = blank * MEGABYTE
    assert said(http(completion(blanks).body.encode())).error.message == "the reply is empty"
    assert said(http(blanks.encode())).error.kind == "unreadable_reply"
    assert said(http(blanks.encode(), status="400 Bad Request")).error.message == "HTTP 400 Bad Request"
    wordy = json.dumps({"error": {"message": blanks + "no"}}).encode()
    assert said(http(wordy, status="400 Bad Request")).error.message == "HTTP 400 Bad Request"


def nested(depth, inner="1"):
    return '{"a":' * depth + inner + "}" * depth


@pytest.mark.parametrize("depth", [150, 199, 201, 500, 950, 5000, 200_000])
@pytest.mark.parametrize(
    "form",
    [
        "{}",
        '{"error": {}}',
        '{"error": {"code": 400, "message": {}}}',
        '{"error": {"message": "temperature is not supported", "param": {}}}',
        '{"model": {}, "choices": [{"message": {"content": "x"}}]}',
        '{"id": {}, "choices": [{"message": {"content": "half \\ud83d"}}]}',
        '{"choices": [{"message": {}}]}',
        "data: {}\n\ndata: [DONE]",
    ],
)
@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "500 Internal Server Error"])
def test_json_nested_however_deep_is_an_error_of_a_known_kind(said, status, form, depth):
    body = form.replace("{}", nested(depth)).encode()
    reply = said(http(body, status=status))
    kinds = {"200": {"unreadable_reply", "bad_request"}, "400": {"bad_request"}, "500": {"server_error"}}
    assert reply.error.kind in kinds[status[:3]]


@pytest.mark.parametrize("depth", [150, 500, 5000, 20_000])
@pytest.mark.parametrize(
    "form", ["{}", "Sure: {} There.", "{} {}", '{"explanation": {}, "criterion_status": "MET"}']
)
def test_json_nested_deep_in_a_reply_is_an_unreadable_reply(said, form, depth):
    body = completion(form.replace("{}", nested(depth))).body.encode()
    assert said(http(body)).error.kind == "unreadable_reply"


CHARSETS = [
    *("banana", "utf-16", "utf-32", "utf-7", "idna", "punycode", "unicode_escape", "undefined", "hex"),
    *("base64", "zlib", "rot13", "uu", '""', "\udcff", "u" * 4000),
]


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_charset_is_not_the_endpoints_to_name(said, met, charset):
    named = f"Content-Type: application/json; charset={charset}"
    assert said(http(completion(met).body.encode(), named)).reading.answers[0].verdict is Verdict.MET
    refused = json.dumps({"error": {"message": "café"}}, ensure_ascii=False).encode()
    for status, kind in (("404 Not Found", "not_found"), ("500 Internal Server Error", "server_error")):
        error = said(http(refused, named, status=status)).error
        assert (error.kind, error.message) == (kind, f"HTTP {status}: café")


def test_an_error_body_that_takes_hours_to_decode_is_not_decoded(said):
    body = b"a-" + b"b" * MEGABYTE
    reply = said(http(body, "Content-Type: text/plain; charset=punycode", status="400 Bad Request"))
    assert reply.error.message == "HTTP 400 Bad Request"


def test_a_byte_order_mark_before_an_answer_is_no_reason_to_fail(said, met):
    body = b"\xef\xbb\xbf" + completion(met).body.encode()
    assert said(http(body)).error is None


@pytest.mark.parametrize(
    "value",
    [
        *("-1", "nan", "inf", "1e999", "1e308", "", "\udcff\udcfe", "9" * 5000, ",", "(" * 4000),
        "Fri, 20 Nov 99999999999999999999 10:00:30 GMT",
        "1 Jan 20 99999999999:1:1",
        "Fri, 20 Nov 2026 10:00:30 +99999999999",
        "Fri, 20 Nov 9999 23:59:59 -2359",
    ],
)
@pytest.mark.parametrize("name", ["Retry-After", "retry-after-ms"])
@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_no_pause_an_endpoint_asks_for_breaks_or_stops_anything(said, met, status, name, value):
    busy = http(b"{}", f"{name}: {value}", status=status)
    reply = said(busy, http(completion(met).body.encode()), max_attempts=2, retry_after_cap_seconds=0.01)
    assert reply.error is None


@pytest.mark.parametrize(
    "answer",
    [
        http(b"not packed", "Content-Encoding: gzip"),
        http(b"not packed", "Content-Encoding: br"),
        lambda: http(gzip.compress(b" " * 100 * MEGABYTE), "Content-Encoding: gzip"),
        b"",
        b"\x16\x03\x01 that was TLS",
        b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
        b"HTTP/1.1 1000 Too Much\r\n\r\n",
        http(b"{}", "X: " + "a" * 9000),
        http(b"{}", *["X: a"] * 5000),
        http(b"{}", "X-\udcff: a"),
    ],
)
def test_what_is_no_http_is_a_broken_connection_told_without_its_bytes(said, answer):
    error = said(answer() if callable(answer) else answer).error
    assert error.kind == "connection"
    for foreign in ("b'", "not packed", "aaaa", "127.0.0.1:", "TLS"):
        assert foreign not in error.message.partition(": ")[2]


def endless(head, part, seconds=0.0):
    async def answer():
        yield head
        while True:
            await asyncio.sleep(seconds)
            yield part

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 0.1),
        endless(b"HTTP/1.1 200 OK\r\n", b"X: a\r\n", 0.1),
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
        endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=", b"a" * 1000),
    ],
)
def test_an_answer_without_end_is_over_when_its_time_is(said, answer):
    reply = said(answer, timeout_seconds=0.5)
    assert (reply.reading, reply.error.kind) == (None, "timeout")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"choices": [' + b",".join([b"{}"] * 10**6) + b"]}", "unreadable_reply"),
        (
            b'{"choices": [{"message": {"content": [' + b",".join([b"{}"] * 10**6) + b"]}}]}",
            "unreadable_reply",
        ),
        (completion("x" * 4 * MEGABYTE).body.encode(), "unreadable_reply"),
        (completion(None, refusal="x" * 4 * MEGABYTE).body.encode(), "refused"),
        (completion("x", model="m" * MEGABYTE, reasoning="r" * MEGABYTE).body.encode(), "unreadable_reply"),
        (b'{"choices": ' + b"1" * MEGABYTE + b"}", "unreadable_reply"),
        ('["é", '.encode() + b",".join([b"{}"] * 2 * 10**6) + b"]", "unreadable_reply"),
    ],
)
def test_of_an_answer_out_of_all_proportion_little_is_kept(said, body, kind):
    reply = said(http(body))
    assert reply.error.kind == kind
    for text, most in ((reply.text, MAX_REPLY_CHARACTERS), (reply.reasoning, MAX_REPLY_CHARACTERS)):
        assert len(text) <= most
    assert len(reply.model) <= 200


def test_a_reply_of_a_million_entries_is_not_looked_through(said):
    content = json.dumps({"criteria_evaluations": [{}] * 40_000})
    error = said(http(completion(content).body.encode()), about={"grader": "one_shot"}).error
    assert error.kind == "unreadable_reply"
    assert "40000 entries for 1 criteria" in error.message


def test_tokens_of_several_attempts_stay_what_a_column_holds(serve, ask):
    most = {"prompt_tokens": 2**31 - 1, "completion_tokens": 2**31 - 1}
    reply = ask(serve(Script(completion("nonsense", usage=most))), fallback_model="other")
    assert reply.attempts == 6  # three of each model
    assert (reply.prompt_tokens, reply.completion_tokens) == (MAX_TOKENS, MAX_TOKENS)


def test_a_probability_that_is_no_number_gives_no_confidence(serve, ask):
    spelled = ['{"explanation":"e","criterion_status":"', "MET", '"}']
    tokens = [token(spelled[0], 1.0), token(spelled[1], 0.5, UN=0.1), token(spelled[2], 1.0)]
    tokens[1]["logprob"] = tokens[1]["top_logprobs"][0]["logprob"] = math.nan
    answer = completion("".join(spelled), logprobs={"content": tokens})
    reply = ask(serve(Script(answer)), logprobs=True)
    assert reply.reading.answers[0].confidence is None


def test_blanks_before_a_label_and_thousands_of_likely_tokens_cost_no_time(said):
    pad = " " * 150_000
    spelled = ['{"explanation":"e","criterion_status":"', pad, "MET", '"}']
    tokens = [token(part, 1.0) for part in spelled]
    tokens[2]["top_logprobs"] = [{"token": str(n), "logprob": -9.0} for n in range(40_000)]
    body = completion("".join(spelled), logprobs={"content": tokens}).body.encode()
    assert said(http(body), logprobs=True).reading.answers[0].verdict is Verdict.MET


def test_what_a_message_holds_of_half_characters_can_be_stored_and_shown(serve, ask):
    for answer in (
        Fail(400, body='{"error": {"message": "half \\ud83d"}}'),
        Garbage('{"error": {"message": "half \\ud83d"}}'),
    ):
        message = ask(serve(Script(answer))).error.message
        assert message.encode().decode().endswith("half ?")


def test_an_error_in_one_word_is_shown(serve, ask):
    """As ollama spells it."""
    error = ask(serve(Script(Fail(404, body='{"error": "model \'m\' not found"}')))).error
    assert error.message == "HTTP 404 Not Found: model 'm' not found"


def test_a_message_that_repeats_an_extra_header_is_withheld(serve, ask):
    headers = (("X-Gateway-Key", "s3cret-0123"), ("X-Version", "1"))
    answers = Fail(403, "X-Gateway-Key 's3cret-0123' is not known"), Fail(403, "1 thing is wrong")
    said = [ask(serve(Script(one)), extra_headers=headers).error.message for one in answers]
    assert "s3cret" not in said[0]
    assert said[1] == "HTTP 403 Forbidden: 1 thing is wrong"


@pytest.mark.parametrize(
    "status",
    ["101 Switching Protocols", "204 No Content", "205 Reset Content", "099 Low", "302 Found", "304 Same"],
)
def test_a_status_nobody_answers_a_question_with_is_an_error(said, status):
    answer = http(b"", "Location: http://127.0.0.1:22/", status=status)
    assert said(answer).error.kind in ("unreadable_reply", "blocked_address")


@pytest.mark.parametrize("verdict", ["\u200bMET", "MET\u0000", "ME\u0422", "yes", "", 1, None, ["MET"]])
def test_a_label_that_only_looks_like_one_is_no_verdict(serve, ask, verdict):
    said = Say(json.dumps({"explanation": "e", "criterion_status": verdict}))
    assert ask(serve(Script(said))).error.kind == "unreadable_reply"


def test_a_key_given_twice_in_an_answer_is_read_once(said, met):
    once = completion(met).body
    twice = '{"choices": [], ' + once[1:]
    assert said(http(twice.encode())).error is None
