"""Two questions are the same when everything that decides the answer is."""

import dataclasses
import hashlib
import uuid

import pytest

from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.autograders.outputs import OneShotOutput, PerCriterionOutput
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.content import content_key

CONFIG = JudgeConfig(name="j", base_url="http://localhost/v1", model="m")
PROMPT = Prompt("Judge.", "Paris.", PerCriterionOutput, (0,))

DECIDING = {
    "base_url": "http://localhost:8080/v1",
    "model": "other",
    "temperature": 0.7,
    "max_output_tokens": 10,
    "seed": 1,
    "top_p": 0.5,
    "reasoning_effort": "low",
    "extra_headers": (("X-Provider", "b"),),
    "fallback_model": "smaller",
    "logprobs": True,
    "identity": "offline",
}
NOT_DECIDING = {
    "name": "another",
    "api_key": "sk-other",
    "timeout_seconds": 1.0,
    "max_attempts": 1,
    "concurrency": 1,
    "allow_private_hosts": True,
    "input_usd_per_million": 1.0,
    "output_usd_per_million": 1.0,
    "backoff_seconds": 1.0,
    "retry_after_cap_seconds": 1.0,
    "max_wait_seconds": 1.0,
    "stop_grace_seconds": 1.0,
    "requests_per_minute": 1,
    "tokens_per_minute": 1,
    "cached_input_usd_per_million": 1.0,
    "price_source": "endpoint",
    "fallback_input_usd_per_million": 1.0,
    "fallback_cached_input_usd_per_million": 1.0,
    "fallback_output_usd_per_million": 1.0,
}


def test_every_field_of_a_judge_either_decides_or_does_not():
    assert {field.name for field in dataclasses.fields(JudgeConfig)} == DECIDING.keys() | NOT_DECIDING.keys()


@pytest.mark.parametrize("name", DECIDING)
def test_what_decides_the_answer_changes_the_key(name):
    changed = dataclasses.replace(CONFIG, **{name: DECIDING[name]})
    assert content_key(changed, PROMPT, 0) != content_key(CONFIG, PROMPT, 0)


@pytest.mark.parametrize("name", NOT_DECIDING)
def test_what_does_not_leaves_it(name):
    changed = dataclasses.replace(CONFIG, **{name: NOT_DECIDING[name]})
    assert content_key(changed, PROMPT, 0) == content_key(CONFIG, PROMPT, 0)


def test_words_schema_way_of_reading_and_repeat_are_part_of_it_the_criterion_is_not():
    changes = [
        {"system": "Judge!"},
        {"user": "Paris!"},
        {"schema": OneShotOutput},
        {"reply_format": "yes_no"},
        {"system": "Judge.Pa", "user": "ris."},
    ]
    keys = {content_key(CONFIG, dataclasses.replace(PROMPT, **change), 0) for change in changes}
    keys |= {content_key(CONFIG, PROMPT, 0), content_key(CONFIG, PROMPT, 1)}
    assert len(keys) == len(changes) + 2
    assert content_key(CONFIG, dataclasses.replace(PROMPT, criteria=(7,)), 0) == content_key(
        CONFIG, PROMPT, 0
    )


def test_numbers_that_are_sent_alike_and_unpaired_surrogates_are_no_trouble():
    whole = dataclasses.replace(CONFIG, temperature=0)
    assert content_key(whole, PROMPT, 0) == content_key(CONFIG, PROMPT, 0)
    content_key(CONFIG, dataclasses.replace(PROMPT, user="\ud800"), 0)


def test_the_key_is_the_documented_digest_so_it_is_the_same_tomorrow():
    # the canonical JSON written out by hand; it may change only together with content.FORMAT
    lines = (
        '{"format":1,"base_url":"http://localhost/v1","model":"m","fallback_model":"","temperature":0.0,'
        '"top_p":null,"seed":null,"max_output_tokens":null,"reasoning_effort":"","logprobs":false,"headers":[]}',
        "null",
        '["yes_no","Judge.","Paris \\u00e9",2]',
        "",
    )
    expected = uuid.UUID(bytes=hashlib.sha256("\n".join(lines).encode()).digest()[:16])
    bare = Prompt("Judge.", "Paris é", None, (0,), reply_format="yes_no")
    assert content_key(CONFIG, bare, 2) == expected
