"""Token probabilities become the confidence of a verdict, or nothing does."""

import json
import math

import pytest

from rubricweb.engine.rubric import Criterion
from rubricweb.engine.verdict import Verdict
from rubricweb.judges.client.completions import Token
from rubricweb.judges.client.confidence import SpelledTokens, label_confidence
from rubricweb.judges.offline.script import Fail, Lexical, Script
from tests.judges.completion import completion, token

VERDICTS = {str(verdict): str(verdict) for verdict in Verdict}


def spelled(*tokens):
    return SpelledTokens([Token.model_validate(each) for each in tokens])


def answered(*tokens, **more):
    content = "".join(each["token"] for each in tokens)
    return completion(content, logprobs={"content": list(tokens)}, **more)


START = [token('{"explanation":', 1.0), token(' "Yes.",', 1.0), token(' "criterion_status":', 1.0)]


def test_the_worked_value():
    chances = spelled(token("MET", 0.80, UN=0.15, CAN=0.03, The=0.02))
    # 0.80 / (0.80 + 0.15 + 0.03); "The" begins no label
    assert label_confidence(chances, 0, VERDICTS, "MET") == pytest.approx(0.80 / 0.98)


def test_every_token_that_begins_a_label_counts_for_it():
    chances = spelled(token("ME", 0.5, **{"MET": 0.2, " met": 0.1, "UNMET": 0.1, "U": 0.1}), token("T", 1.0))
    assert label_confidence(chances, 0, VERDICTS, "MET") == pytest.approx(0.8)  # (0.5 + 0.2 + 0.1) / 1.0


def test_a_token_that_holds_more_than_the_label_is_cut_to_it():
    chances = spelled(token('": "MET"}', 0.6, **{'": "UNMET': 0.2, '": "C': 0.1, '":"UN': 0.1}))
    # the last begins otherwise, so where it leads is not the same place; 0.6 / (0.6 + 0.2 + 0.1)
    assert label_confidence(chances, 4, VERDICTS, "MET") == pytest.approx(0.6 / 0.9)


def test_labels_that_begin_alike_are_told_apart_where_they_part():
    labels = {"Good": "Good", "Good enough": "Good enough", "Bad": "Bad"}
    chances = spelled(token("Good", 0.8, Bad=0.2), token(" enough", 0.75, **{'"': 0.25}))
    # Good enough: 0.8 × 0.75 = 0.6, Good: 0.8 × 0.25 = 0.2, Bad: 0.2
    assert label_confidence(chances, 0, labels, "Good enough") == pytest.approx(0.6)
    short = spelled(token("Good", 0.8, Bad=0.2), token('"', 0.25, **{" enough": 0.75}))
    assert label_confidence(short, 0, labels, "Good") == pytest.approx(0.2)


def test_a_label_that_cannot_be_followed_has_no_confidence():
    assert label_confidence(spelled(token("Perhaps", 1.0)), 0, VERDICTS, "MET") is None
    assert label_confidence(spelled(token("MET", 1.0)), 3, VERDICTS, "MET") is None  # nothing stands there
    assert label_confidence(spelled(token("UN", 0.9, ME=0.1)), 0, VERDICTS, "CANNOT_ASSESS") is None


def test_a_sampled_token_outside_the_likeliest_counts_too():
    rare = token("UN", 0.1)
    rare["top_logprobs"] = [{"token": "MET", "logprob": math.log(0.9)}]
    assert label_confidence(spelled(rare), 0, VERDICTS, "UNMET") == pytest.approx(0.1)


def test_a_verdict_gets_its_confidence(serve, ask):
    tokens = [*START, token(' "', 1.0), token("MET", 0.75, UN=0.25), token('"}', 1.0)]
    script = Script(answered(*tokens))
    reply = ask(serve(script), logprobs=True)
    assert reply.reading.answers[0].confidence == pytest.approx(0.75)
    assert (script.requests[0].body["logprobs"], script.requests[0].body["top_logprobs"]) == (True, 5)


def test_bytes_of_tokens_that_are_no_text_by_themselves_count(serve, ask):
    whole = '{"explanation": "é", "criterion_status": "MET"}'
    half = [{**token("\\xc3", 1.0), "bytes": [0xC3]}, {**token("\\xa9", 1.0), "bytes": [0xA9]}]
    tokens = [
        token('{"explanation": "', 1.0),
        *half,
        token('", "criterion_status": "', 1.0),
        token("MET", 0.9, UN=0.1),
        token('"}', 1.0),
    ]
    reply = ask(serve(Script(completion(whole, logprobs={"content": tokens}))), logprobs=True)
    assert reply.reading.answers[0].confidence == pytest.approx(0.9)


def test_thinking_before_the_answer_is_not_mistaken_for_it(serve, ask):
    thought = token('<think>"criterion_status": "MET"</think>', 1.0)
    tokens = [thought, *START, token(' "', 1.0), token("UN", 0.6, MET=0.4), token('MET"}', 1.0)]
    reply = ask(serve(Script(answered(*tokens))), logprobs=True)
    assert (reply.reading.answers[0].verdict, reply.reading.answers[0].confidence) == (
        Verdict.UNMET,
        pytest.approx(0.6),
    )


def test_a_yes_in_prose_has_one(serve, ask):
    tokens = [token("Yes", 0.7, No=0.2, It=0.1), token(". It does.", 1.0)]
    reply = ask(serve(Script(answered(*tokens))), logprobs=True, about={"reply_format": "yes_no"})
    assert reply.reading.answers[0].confidence == pytest.approx(0.7 / 0.9)


def test_an_option_is_known_by_label_and_by_number(serve, ask):
    criterion = Criterion(
        weight=1,
        requirement="How good?",
        options=[
            {"label": "Good", "value": 1.0},
            {"label": "Good enough", "value": 0.5},
            {"label": "Bad", "value": 0},
        ],
    )
    tokens = [
        token('{"explanation": "x", "option": "', 1.0),
        token("Good", 0.5, **{"1": 0.1, "3": 0.2, "Bad": 0.2}),
        token('"', 0.6, **{" enough": 0.4}),
        token("}", 1.0),
    ]
    reply = ask(serve(Script(answered(*tokens))), logprobs=True, about={"criteria": [criterion]})
    answer = reply.reading.answers[0]
    # Good: 0.5 × 0.6 + 0.1 (its number) = 0.4; Good enough: 0.5 × 0.4 = 0.2; Bad: 0.2 + 0.2 = 0.4
    assert (answer.option, answer.confidence) == ("Good", pytest.approx(0.4))


def one_shot(*entries):
    """Tokens of a reply about several criteria: (number, label token, its probability)."""
    tokens = [token('{"criteria_evaluations": [', 1.0)]
    for place, (number, label, chance) in enumerate(entries):
        tokens.append(token(", " if place else "", 1.0))
        tokens.append(
            token(f'{{"criterion_number": {number}, "explanation": "e", "criterion_status": "', 1.0)
        )
        tokens.append(token(label, chance, CAN=1 - chance))
        tokens.append(token('"}', 1.0))
    return [each for each in [*tokens, token("]}", 1.0)] if each["token"]]


ALL_AT_ONCE = {
    "grader": "one_shot",
    "criteria": [Criterion(weight=1, requirement=f"Requirement {number}") for number in (1, 2)],
}


def test_each_verdict_of_a_reply_about_all_has_its_own_whatever_the_order(serve, ask):
    script = Script(answered(*one_shot((2, "MET", 0.6), (1, "UNMET", 0.9))))
    reply = ask(serve(script), logprobs=True, about=ALL_AT_ONCE)
    found = {index: answer.confidence for index, answer in reply.reading.answers.items()}
    assert found == {0: pytest.approx(0.9), 1: pytest.approx(0.6)}


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"content": None},
        {"content": []},
        {"content": [token("something else", 1.0)]},
        {"content": [{"token": 3, "logprob": "x"}]},
        {"content": "MET"},
        "none",
    ],
)
def test_without_usable_probabilities_there_is_no_confidence_and_no_trouble(serve, ask, met, logprobs):
    reply = ask(serve(Script(completion(met, logprobs=logprobs))), logprobs=True)
    assert (reply.error, reply.reading.answers[0].confidence) == (None, None)


def test_probabilities_are_asked_for_only_on_request(serve, ask):
    script = Script()
    ask(serve(script))
    assert not {"logprobs", "top_logprobs"} & set(script.requests[0].body)


def test_an_endpoint_that_refuses_probabilities_is_asked_without(serve, config, question):
    from rubricweb.judges.pool import ask_all

    def refuses(request):
        if "top_logprobs" in request.body:
            return Fail(400, "top_logprobs is not supported", param="top_logprobs")
        if "logprobs" in request.body:
            body = {"detail": [{"loc": ["body", "logprobs"], "msg": "Extra inputs are not permitted"}]}
            return Fail(422, body=json.dumps(body))
        return Lexical()

    script = Script(refuses)
    replies = list(ask_all(config(serve(script), concurrency=1, logprobs=True), [question(1), question(2)]))
    assert [(reply.error, reply.attempts) for reply in replies] == [(None, 3), (None, 1)]
    assert replies[0].log == (
        "asked without top_logprobs, which the endpoint refuses",
        "asked without logprobs, which the endpoint refuses",
    )
