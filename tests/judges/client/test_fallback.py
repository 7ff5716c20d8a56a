"""A second model for what the first one failed at for good."""

import pytest

from rubricweb.judges.client.failures import FALLBACK_KINDS
from rubricweb.judges.offline.script import Fail, Garbage, Say, Script, rate_limited, refusal, truncated
from rubricweb.judges.pool import ask_all
from tests.judges.completion import completion

PRICES = {"input_usd_per_million": 1.0, "output_usd_per_million": 10.0}
FALLBACK_PRICES = {"fallback_input_usd_per_million": 0.5, "fallback_output_usd_per_million": 2.0}


def two_models(first, second, *, later=None):
    """A script: model "big" does `first`, the other one `second`, and from its second request on `later`."""
    seen = []

    def answer(request):
        seen.append(request.body["model"])
        if request.body["model"] == "big":
            return first
        return later if later is not None and seen.count("small") > 1 else second

    return Script(answer)


def models(script):
    return [request.body["model"] for request in script.requests]


@pytest.mark.parametrize(
    "failure",
    [refusal(), truncated(), Fail(400, "too long"), Fail(404, "no such model"), Fail(403, "not for you")],
)
def test_a_final_failure_of_the_model_goes_to_the_fallback_model(serve, ask, met, failure):
    script = two_models(failure, Say(met))
    reply = ask(serve(script), model="big", fallback_model="small")
    assert models(script) == ["big", "small"]
    assert (reply.error, reply.fallback, reply.model, reply.text) == (None, True, "small", met)
    assert reply.attempts == 2
    assert reply.request["model"] == "small"
    assert [line for line in reply.log if line.startswith("fell back to small: ")]


def test_replies_unreadable_to_the_last_attempt_go_to_it(serve, ask, met):
    script = two_models(Say("I like it."), Say(met))
    reply = ask(serve(script), model="big", fallback_model="small")
    assert models(script) == ["big", "big", "big", "small"]
    assert (reply.error, reply.attempts) == (None, 4)


@pytest.mark.parametrize("status", [401, 408, 429, 500, 503])
def test_trouble_of_the_endpoint_as_a_whole_does_not(serve, ask, met, status):
    script = two_models(Fail(status), Say(met))
    reply = ask(serve(script), model="big", fallback_model="small", about={"reply_format": "yes_no"})
    assert set(models(script)) == {"big"}
    assert (reply.reading, reply.fallback) == (None, False)


def test_both_models_are_paid_for_each_at_its_own_price(serve, ask, met):
    script = two_models(refusal("No."), Say(met, prompt_tokens=200, completion_tokens=30))
    reply = ask(serve(script), model="big", fallback_model="small", **PRICES, **FALLBACK_PRICES)
    assert (reply.prompt_tokens, reply.completion_tokens) == (300, 40)  # 100 + 200 and 10 + 30
    # (100 × 1 + 10 × 10 + 200 × 0.5 + 30 × 2) / 10⁶ = (200 + 160) / 10⁶
    assert reply.cost_usd == pytest.approx(0.00036)


def test_a_model_that_was_refused_before_it_answered_costs_nothing(serve, ask, met):
    script = two_models(Fail(404, "no such model"), Say(met, prompt_tokens=200, completion_tokens=30))
    reply = ask(serve(script), model="big", fallback_model="small", **PRICES, **FALLBACK_PRICES)
    assert reply.cost_usd == pytest.approx(0.00016)  # (200 × 0.5 + 30 × 2) / 10⁶


def test_answers_of_both_models_that_do_not_say_what_they_used_are_counted(serve, ask, met):
    unmetered = Garbage('{"choices": [{"message": {"content": "", "refusal": "No."}}]}')
    script = two_models(unmetered, Say(met, prompt_tokens=200, completion_tokens=30))
    reply = ask(serve(script), model="big", fallback_model="small", **PRICES, **FALLBACK_PRICES)
    assert (reply.unmetered, reply.cost_usd) == (1, pytest.approx(0.00016))  # (200 × 0.5 + 30 × 2) / 10⁶
    script = two_models(refusal("No."), unmetered)
    reply = ask(serve(script), model="big", fallback_model="small", **PRICES, **FALLBACK_PRICES)
    assert (reply.unmetered, reply.cost_usd) == (1, pytest.approx(0.0002))  # (100 × 1 + 10 × 10) / 10⁶


def test_two_models_at_a_price_of_0_cost_nothing_without_a_word_of_what_they_used(serve, ask, met):
    prices = dict.fromkeys((*PRICES, *FALLBACK_PRICES), 0.0)
    for first in (Fail(404, "no such model"), Garbage('{"choices": [{"message": {"refusal": "No."}}]}')):
        script = two_models(first, completion(met, usage=None))
        reply = ask(serve(script), model="big", fallback_model="small", **prices)
        assert (reply.fallback, reply.error, reply.unmetered, reply.cost_usd) == (True, None, 0, 0.0)


def test_what_a_fallback_model_without_a_price_cost_is_unknown_and_not_the_price_of_the_other(
    serve, ask, met
):
    script = two_models(refusal("No."), Say(met))
    reply = ask(serve(script), model="big", fallback_model="small", **PRICES)
    assert (reply.error, reply.cost_usd) == (None, None)


def test_passing_trouble_of_the_fallback_model_is_waited_out(serve, ask, met):
    script = two_models(refusal(), rate_limited("0.01"), later=Say(met))
    reply = ask(serve(script), model="big", fallback_model="small")
    assert models(script) == ["big", "small", "small"]
    assert (reply.error, reply.throttled) == (None, 1)


def test_when_both_fail_the_error_tells_of_both(serve, ask):
    script = two_models(refusal("Not me."), Fail(404, "no such model"))
    reply = ask(serve(script), model="big", fallback_model="small")
    assert (reply.error.kind, reply.fallback, script.count) == ("not_found", True, 2)
    assert "big: the model declined to answer: Not me." in reply.error.message
    assert "small: HTTP 404 Not Found: no such model" in reply.error.message


def test_the_fallback_model_has_habits_of_its_own(serve, config, question, met):
    def answer(request):
        if request.body["model"] == "big":
            return refusal()
        if "temperature" in request.body:
            return Fail(400, "temperature is not supported", param="temperature")
        return Say(met)

    script = Script(answer)
    judge = config(serve(script), concurrency=1, model="big", fallback_model="small")
    replies = list(ask_all(judge, [question(1), question(2)]))
    assert [(reply.error, reply.attempts) for reply in replies] == [(None, 3), (None, 2)]
    asked_of_big = [request.body for request in script.requests if request.body["model"] == "big"]
    assert all("temperature" in body for body in asked_of_big)


@pytest.mark.parametrize("fallback_model", ["", "big"])
def test_without_another_model_to_fall_back_to_the_failure_stands(serve, ask, fallback_model):
    script = Script(refusal())
    reply = ask(serve(script), model="big", fallback_model=fallback_model)
    assert (reply.error.kind, reply.fallback, script.count) == ("refused", False, 1)


def test_the_kinds_that_fall_back_leave_out_what_may_pass_and_what_is_the_endpoints():
    assert "missing_criterion" not in FALLBACK_KINDS
    assert "stopped" not in FALLBACK_KINDS
    assert "unauthorized" not in FALLBACK_KINDS
