"""Forms of reply and parameters that endpoints refuse."""

import json

import pytest

from rubricweb.engine.autograders.outputs import OneShotOutput, PerCriterionOutput, RubricAsJudgeOutput
from rubricweb.judges.client.reply_formats import (
    OPTIONAL_PARAMETERS,
    RECHECK_SECONDS,
    RUNGS,
    EndpointCapabilities,
    strict_schema,
)
from rubricweb.judges.offline.script import Fail, Lexical, Say, Script
from rubricweb.judges.pool import ask_all


def rungs(script):
    return [request.rung for request in script.requests]


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize("refused", [1, 2, 3])
def test_a_refused_rung_is_stepped_down_and_remembered(serve, config, question, status, refused):
    script = Script(refused_rungs=dict.fromkeys(RUNGS[:refused], status))
    judge = config(serve(script), concurrency=1)
    replies = list(ask_all(judge, [question("first"), question("second")]))
    assert [reply.error for reply in replies] == [None, None]
    assert [reply.rung for reply in replies] == [RUNGS[refused]] * 2
    assert rungs(script) == [*RUNGS[: refused + 1], RUNGS[refused]]
    assert [reply.attempts for reply in replies] == [refused + 1, 1]


def test_stepping_down_does_not_use_up_attempts(serve, ask):
    script = Script(refused_rungs=dict.fromkeys(RUNGS[:3], 400))
    assert ask(serve(script), max_attempts=1).error is None


def test_a_fastapi_style_422_is_understood(serve, ask):
    body = '{"detail": [{"loc": ["body", "response_format", "type"], "msg": "unexpected value"}]}'
    script = Script(lambda request: Fail(422, body=body) if request.rung == "json_schema" else Lexical())
    assert ask(serve(script)).rung == "json_object_schema"


def test_every_rung_below_the_first_carries_the_schema_in_words(serve, ask):
    script = Script(refused_rungs=dict.fromkeys(RUNGS[:3], 400))
    ask(serve(script))
    systems = [request.body["messages"][0]["content"] for request in script.requests]
    assert ["JSON schema" in system for system in systems] == [False, True, True, True]
    formats = [request.body.get("response_format", {}).get("type") for request in script.requests]
    assert formats == ["json_schema", "json_object", "json_object", None]


def test_an_outage_is_not_mistaken_for_a_refused_rung(serve, config, question, met):
    script = Script(Fail(500), Fail(500), Fail(500), Fail(500), Say(met))
    judge = config(serve(script), concurrency=1)
    replies = list(ask_all(judge, [question("during"), question("after")]))
    assert [reply.rung for reply in replies] == ["json_schema", "json_schema"]
    assert rungs(script) == [*RUNGS, "json_schema", "json_schema"]


def test_a_rung_that_worked_is_not_left_for_a_500(serve, config, question, met):
    script = Script(Say(met), Fail(500), Say(met))
    replies = list(ask_all(config(serve(script), concurrency=1), [question("one"), question("two")]))
    assert [reply.rung for reply in replies] == ["json_schema", "json_schema"]


def test_what_a_500_taught_is_checked_again_later_but_a_400_is_not():
    capabilities = EndpointCapabilities()
    capabilities.learn(1, refused=False, failed=True, now=0.0)
    assert capabilities.first_rung(RECHECK_SECONDS - 1) == 1
    assert capabilities.first_rung(RECHECK_SECONDS) == 0
    capabilities.learn(2, refused=True, failed=False, now=0.0)
    assert capabilities.first_rung(10 * RECHECK_SECONDS) == 2


def test_a_yes_no_question_is_asked_as_text_without_a_schema(serve, ask):
    script = Script(Say("Yes. It names Paris.\n\nNo doubt."))
    reply = ask(serve(script), about={"reply_format": "yes_no"})
    assert (reply.rung, str(reply.reading.answers[0].verdict)) == ("text", "MET")
    assert "response_format" not in script.requests[0].body
    assert "JSON schema" not in script.requests[0].body["messages"][0]["content"]


def reasoning_model(request):
    """Refuses what OpenAI's reasoning models refuse, one complaint at a time."""
    if "max_tokens" in request.body:
        message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return Fail(400, message, code="unsupported_parameter", param="max_tokens")
    if "temperature" in request.body:
        message = "Unsupported value: 'temperature' does not support 0 with this model."
        return Fail(400, message, code="unsupported_value", param="temperature")
    if "seed" in request.body:
        return Fail(
            422, body='{"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}'
        )
    return Lexical()


def test_parameters_a_model_refuses_are_given_up_and_remembered(serve, config, question):
    script = Script(reasoning_model)
    judge = config(serve(script), concurrency=1, max_output_tokens=500, seed=7)
    replies = list(ask_all(judge, [question("one"), question("two")]))
    assert [reply.error for reply in replies] == [None, None]
    assert [reply.attempts for reply in replies] == [4, 1]
    sent = script.requests[-1].body
    assert sent["max_completion_tokens"] == 500
    assert not {"max_tokens", "temperature", "seed"} & set(sent)


def test_parameters_that_are_none_are_left_out(serve, ask):
    script = Script()
    ask(serve(script), temperature=None)
    assert not {"temperature", "max_tokens", "seed"} & set(script.requests[0].body)


def test_a_400_about_something_else_is_final(serve, ask):
    script = Script(Fail(400, "the prompt is too long"))
    assert ask(serve(script), seed=1).error.kind == "bad_request"
    assert script.count == 1


def objects(schema):
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


@pytest.mark.parametrize("model", [PerCriterionOutput, OneShotOutput, RubricAsJudgeOutput])
def test_strict_schemas_are_closed_and_complete(model):
    schema = strict_schema(model)
    found = list(objects(schema))
    assert found
    for part in found:
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    names = list(schema["properties"])
    assert names == list(model.model_json_schema()["properties"])  # the explanation stays before the verdict


def test_what_a_request_was_sent_with_is_read_from_json_and_fits_into_what_providers_keep_of_a_batch():
    everything = EndpointCapabilities(
        floor=1, proven=set(range(len(RUNGS))), without=set(OPTIONAL_PARAMETERS), completion_tokens_name=True
    )
    written = json.dumps(everything.dump())
    assert EndpointCapabilities.parse(written) == everything
    assert len(written) <= 512  # of a value in a batch's metadata, at OpenAI


@pytest.mark.parametrize("said", [None, 5, "", "{oops", "[1]", "null", "[" * 100_000])
def test_what_is_no_form_of_a_request_is_none(said):
    assert EndpointCapabilities.parse(said) is None


def test_only_what_was_refused_to_a_request_that_still_had_it_is_news():
    asked = EndpointCapabilities(floor=1, without={"seed"}, completion_tokens_name=True)
    found = EndpointCapabilities(floor=1, proven={1}, without={"seed", "top_p"}, completion_tokens_name=True)
    assert found.beyond(asked) == EndpointCapabilities(proven={1}, without={"top_p"})
