"""What goes out with a question: sampling, and headers of the owner's own."""

import logging

import pytest

from rubricweb.judges.offline.script import Fail, Lexical, Say, Script
from rubricweb.judges.pool import ask_all

ALL = {
    "temperature": 0.5,
    "top_p": 0.9,
    "seed": 7,
    "max_output_tokens": 300,
    "reasoning_effort": "low",
}


def test_sampling_is_sent_as_configured(serve, ask):
    script = Script()
    reply = ask(serve(script), **ALL)
    sent = script.requests[0].body
    assert {name: sent[name] for name in ALL if name != "max_output_tokens"} == {
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 7,
        "reasoning_effort": "low",
    }
    assert sent["max_tokens"] == 300
    assert reply.request == sent


def test_sampling_that_is_not_configured_is_not_sent(serve, ask):
    script = Script()
    ask(serve(script), temperature=None)
    assert set(script.requests[0].body) == {"model", "messages", "response_format"}


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed", "reasoning_effort"])
def test_a_parameter_a_model_refuses_is_given_up_remembered_and_told(serve, config, question, name):
    def refuses(request):
        if name in request.body:
            return Fail(400, f"Unsupported value: '{name}' is not supported with this model.", param=name)
        return Lexical()

    script = Script(refuses)
    judge = config(serve(script), concurrency=1, **ALL)
    replies = list(ask_all(judge, [question(1), question(2)]))
    assert [(reply.error, reply.attempts) for reply in replies] == [(None, 2), (None, 1)]
    assert replies[0].log == (f"asked without {name}, which the endpoint refuses",)
    assert set(ALL) - {name, "max_output_tokens"} <= set(script.requests[-1].body)


def test_the_parameter_an_error_names_is_given_up_not_another_it_mentions(serve, ask):
    script = Script(Fail(400, "temperature and top_p cannot both be given", param="top_p"), Lexical())
    assert ask(serve(script), **ALL).error is None
    assert "temperature" in script.requests[1].body
    assert "top_p" not in script.requests[1].body


def test_a_500_that_names_a_parameter_is_about_the_parameter_not_the_form(serve, ask):
    def refuses(request):
        if "logprobs" in request.body:
            return Fail(500, "logprobs is not supported for models created with logits_all=False")
        return Lexical()

    script = Script(refuses)
    reply = ask(serve(script), logprobs=True)
    assert (reply.error, reply.rung, script.count) == (None, "json_schema", 2)


def test_extra_headers_go_with_every_request_of_that_judge_only(serve, config, question):
    script = Script()
    url = serve(script)
    headers = (("X-Team", "s3cret"), ("HTTP-Referer", "https://example.org"))
    list(ask_all(config(url, api_key="sk-1", extra_headers=headers), [question(1), question(2)]))
    list(ask_all(config(url, api_key="sk-1"), [question(3)]))
    with_them, again, without = (request.headers for request in script.requests)
    for seen in (with_them, again):
        assert (seen["X-Team"], seen["HTTP-Referer"]) == ("s3cret", "https://example.org")
        assert (seen["Authorization"], seen["Content-Type"]) == ("Bearer sk-1", "application/json")
    assert "X-Team" not in without


def test_of_the_sdk_itself_nothing_is_told_to_the_endpoint(serve, ask):
    script = Script()
    ask(serve(script), api_key="sk-1")
    headers = script.requests[0].headers
    assert headers["User-Agent"] == "rubricweb"
    assert {name.lower() for name in headers} == {
        "host",
        "accept",
        "accept-encoding",
        "content-type",
        "content-length",
        "user-agent",
        "authorization",
    }


@pytest.mark.parametrize("answer", [Fail(400, "no"), Fail(401, "who are you?"), Say("nonsense")])
def test_extra_headers_are_in_no_error_no_request_kept_and_no_log(serve, ask, caplog, answer):
    caplog.set_level(logging.DEBUG)
    reply = ask(serve(Script(answer)), extra_headers=(("X-Team", "s3cret"),), api_key="sk-secret")
    assert reply.error is not None
    for secret in ("s3cret", "sk-secret"):
        assert secret not in repr(reply)
        assert secret not in caplog.text
