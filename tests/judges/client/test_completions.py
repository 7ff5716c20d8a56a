"""What providers answer with 200, in all its dialects."""

import json

import pytest

from rubricweb.engine.verdict import Verdict
from rubricweb.judges.client.completions import read_completion, split_thinking
from rubricweb.judges.client.request_body import encoded
from rubricweb.judges.offline.script import Garbage, Say, Script
from tests.judges.completion import completion

UNMET = '{"explanation": "It is not there.", "criterion_status": "UNMET"}'


def verdict(reply):
    assert reply.error is None, reply.error
    return reply.reading.answers[0].verdict


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_in_a_field_of_its_own_is_kept_apart(serve, ask, met, field):
    reply = ask(serve(Script(completion(met, **{field: "Paris is named, so UNMET is out."}))))
    assert (verdict(reply), reply.text) == (Verdict.MET, met)
    assert reply.reasoning == "Paris is named, so UNMET is out."


@pytest.mark.parametrize(
    "content",
    [
        f"<think>\nSurely {UNMET}?\n</think>\n\n{{met}}",
        f"<thinking>Surely {UNMET}?</thinking>{{met}}",
        # A template that opens the block in the prompt leaves only its end in the answer.
        f"Surely {UNMET}?\n</think>\n\n{{met}}",
    ],
)
def test_thinking_in_front_of_an_answer_is_neither_read_nor_kept_with_it(serve, ask, met, content):
    reply = ask(serve(Script(completion(content.replace("{met}", met)))))
    assert (verdict(reply), reply.text.strip()) == (Verdict.MET, met)
    assert reply.reasoning.strip() == f"Surely {UNMET}?"


@pytest.mark.parametrize(
    ("content", "thought", "answer"),
    [
        ("YES", "", "YES"),
        ("<think>Paris? Yes.</think>YES", "Paris? Yes.", "YES"),
        ("  <THINK>a</THINK> NO", "a", " NO"),
        ("<think>I never came to an end", "I never came to an end", ""),
        ("Hm.\n</think>\nYES. It ends with </think>.", "Hm.", "YES. It ends with </think>."),
        ("YES. It says </think> somewhere.", "", "YES. It says </think> somewhere."),
        ('{"explanation": "It has\n</think>\nin it"}', "", '{"explanation": "It has\n</think>\nin it"}'),
        ("", "", ""),
    ],
)
def test_where_thinking_ends(content, thought, answer):
    found, start = split_thinking(content)
    assert (found, content[start:]) == (thought, answer)


def test_a_docstring_gives_the_place_where_the_answer_begins():
    assert split_thinking("<think>Paris? Yes.</think>YES") == ("Paris? Yes.", 26)  # 7 + 11 + 8


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_every_spelling_of_a_reached_limit_is_truncation(serve, ask, met, finish):
    script = Script(completion(met, finish=finish))
    reply = ask(serve(script))
    assert (reply.reading, reply.error.kind, script.count) == (None, "truncated", 1)
    assert "cut off" in reply.error.message


@pytest.mark.parametrize(
    "answer",
    [
        completion("", finish="length", reasoning_content="Let me see"),
        completion("<think>Let me see", finish="length"),
        completion(
            None,
            finish="length",
            usage={
                "prompt_tokens": 9,
                "completion_tokens": 64,
                "completion_tokens_details": {"reasoning_tokens": 64},
            },
        ),
    ],
)
def test_a_limit_used_up_by_thinking_is_said_to_be(serve, ask, answer):
    reply = ask(serve(Script(answer)), max_output_tokens=64)
    assert reply.error.kind == "truncated"
    assert (
        reply.error.message == "the output token limit of 64 was used up by thinking, before the reply began"
    )


@pytest.mark.parametrize(
    "answer",
    [
        completion("", finish="content_filter"),
        completion("", finish="SAFETY"),
        completion("", finish="refusal"),
        completion(None, refusal="I would rather not."),
        completion('{"explanation": "half a', finish="content_filter"),
    ],
)
def test_every_spelling_of_a_refusal_is_final(serve, ask, answer):
    script = Script(answer)
    reply = ask(serve(script))
    assert (reply.reading, reply.error.kind, script.count) == (None, "refused", 1)


def test_a_refusal_in_plain_words_is_asked_once_more_then_is_a_refusal(serve, ask, met):
    words = "I'm sorry, but I can't help with grading this."
    reply = ask(serve(Script(Say(words))))
    assert (reply.error.kind, reply.attempts) == ("refused", 3)
    assert ask(serve(Script(Say(words), Say(met)))).error is None


def test_words_of_refusal_in_a_readable_reply_are_no_refusal(serve, ask):
    said = {"explanation": "I cannot find Paris.", "criterion_status": "UNMET"}
    assert verdict(ask(serve(Script(Say(json.dumps(said)))))) is Verdict.UNMET
    prose = "I cannot say that it does. No."
    reply = ask(serve(Script(Say(prose))), about={"reply_format": "yes_no"})
    assert verdict(reply) is Verdict.UNMET


def test_a_provider_that_breaks_down_midway_is_asked_again(serve, ask, met):
    broken = completion('{"explanation": "ha', finish="error")
    assert verdict(ask(serve(Script(broken, Say(met))))) is Verdict.MET
    assert ask(serve(Script(broken))).error.kind == "server_error"


def test_an_error_inside_a_choice_counts_as_the_error_it_is(serve, ask):
    body = json.dumps({"choices": [{"error": {"code": 402, "message": "no credits"}}]})
    script = Script(Garbage(body))
    reply = ask(serve(script))
    assert (reply.error.kind, script.count) == ("forbidden", 1)
    assert "no credits" in reply.error.message


def test_content_in_parts_is_one_text(serve, ask, met):
    parts = [{"type": "text", "text": met[:20]}, {"type": "other"}, {"type": "text", "text": met[20:]}]
    assert ask(serve(Script(completion(parts)))).text == met


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 80}},
        {"prompt_tokens": 100, "completion_tokens": 10, "prompt_cache_hit_tokens": 80},
    ],
)
def test_tokens_from_the_providers_cache_are_told_and_cost_less(serve, ask, met, usage):
    prices = {"input_usd_per_million": 2, "cached_input_usd_per_million": 0.5, "output_usd_per_million": 8}
    reply = ask(serve(Script(completion(met, usage=usage))), **prices)
    assert (reply.prompt_tokens, reply.cached_prompt_tokens, reply.completion_tokens) == (100, 80, 10)
    assert reply.cost_usd == pytest.approx(0.00016)  # (20 × 2 + 80 × 0.5 + 10 × 8) / 10⁶


@pytest.mark.parametrize(
    "said",
    [
        {"prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 80}},
        {"prompt_tokens_details": {"cached_tokens": 0, "cache_creation_tokens": 80}},
        {"cache_creation_input_tokens": 80, "prompt_tokens_details": {"cached_tokens": 0}},
    ],
)
def test_tokens_written_into_the_providers_cache_cost_a_quarter_more(serve, ask, met, said):
    prices = {"input_usd_per_million": 2, "cached_input_usd_per_million": 0.2, "output_usd_per_million": 8}
    usage = {"prompt_tokens": 100, "completion_tokens": 10} | said
    reply = ask(serve(Script(completion(met, usage=usage))), **prices)
    assert reply.cost_usd == pytest.approx(0.00032)  # (20 × 2 + 80 × 2.5 + 10 × 8) / 10⁶
    assert reply.cache_saved_usd == pytest.approx(-0.00004)  # 80 × 0.5 / 10⁶ more than without


def test_what_cached_tokens_saved_is_the_difference_of_their_prices(serve, ask, met):
    prices = {"input_usd_per_million": 2, "cached_input_usd_per_million": 0.5, "output_usd_per_million": 8}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 80}}
    script = Script(completion(met, usage=usage))
    assert ask(serve(script), **prices).cache_saved_usd == pytest.approx(0.00012)  # 80 × 1.5 / 10⁶
    assert ask(serve(script)).cache_saved_usd == 0.0  # nobody knows what they cost


def test_thinking_that_is_counted_in_the_total_alone_is_paid_for(serve, ask, met):
    usage = {"prompt_tokens": 10_120, "completion_tokens": 1_499, "total_tokens": 14_428}
    prices = {"input_usd_per_million": 2, "output_usd_per_million": 10}
    reply = ask(serve(Script(completion(met, usage=usage))), **prices)
    assert (reply.prompt_tokens, reply.completion_tokens) == (10_120, 4_308)  # 14,428 − 10,120
    assert reply.cost_usd == pytest.approx(0.06332)  # (10,120 × 2 + 4,308 × 10) / 10⁶


@pytest.mark.parametrize("total", [110, 109, 0, -1, None, "900", 900.5, True, 2**31, [900]])
def test_a_total_that_is_no_more_than_its_parts_or_makes_no_sense_changes_nothing(serve, ask, met, total):
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": total}
    assert ask(serve(Script(completion(met, usage=usage)))).completion_tokens == 10


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (None, (None, None)),
        ([], (None, None)),
        ({"prompt_tokens": "many", "completion_tokens": 10}, (None, None)),
        ({"prompt_tokens": -1, "completion_tokens": 10}, (None, None)),
        ({"prompt_tokens": 2**40, "completion_tokens": 10}, (None, None)),
        ({"prompt_tokens": True, "completion_tokens": 10}, (None, None)),
        ({"prompt_tokens": 7, "total_tokens": 9}, (None, None)),
        ({"prompt_tokens": 7, "completion_tokens": 1, "prompt_tokens_details": "none"}, (7, 1)),
    ],
)
def test_usage_that_makes_no_sense_is_no_usage_and_no_reason_to_fail(serve, ask, met, usage, tokens):
    reply = ask(serve(Script(completion(met, usage=usage))))
    assert (verdict(reply), (reply.prompt_tokens, reply.completion_tokens)) == (Verdict.MET, tokens)


@pytest.mark.parametrize(
    "odd", [{"model": 3}, {"refusal": []}, {"reasoning_content": {"a": 1}}, {"finish": None}]
)
def test_fields_of_an_unheard_of_type_read_as_absent(serve, ask, met, odd):
    reply = ask(serve(Script(completion(met, **odd))))
    assert (verdict(reply), reply.reasoning) == (Verdict.MET, "")


@pytest.mark.parametrize(
    "body", [b"", b"null", b"3", b"[]", b"\xff\xfe", b'{"a":', b"[" * 100_000, b'"text"', b"<html>"]
)
def test_a_body_that_is_no_object_is_no_completion(body):
    assert read_completion(body) is None


def test_half_a_surrogate_pair_costs_one_character_not_the_answer():
    body = b'{"choices": [{"message": {"content": "so \\ud83d it is"}}]}'
    assert read_completion(body).choice.message.text == "so ? it is"
    latin = '{"choices": [{"message": {"content": "café"}}]}'.encode("latin-1")
    assert read_completion(latin).choice.message.text == "caf\ufffd"


def test_a_surrogate_in_what_is_asked_is_sent_escaped(serve, ask):
    script = Script()
    reply = ask(serve(script), about={"submission": "Paris \ud83d"})
    assert reply.error is None
    assert "\ud83d" in script.requests[0].body["messages"][1]["content"]
    assert b"\\ud83d" in encoded(reply.request)  # as it is kept, too
