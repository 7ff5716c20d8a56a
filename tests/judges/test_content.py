"""Two questions are the same when everything that decides the answer is."""

import dataclasses
import hashlib
import uuid

import pytest

from rubricweb.engine import Rubric, Submission
from rubricweb.engine.autograders import AUTOGRADERS
from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.autograders.outputs import OneShotOutput, PerCriterionOutput
from rubricweb.engine.judging.sampling import Sampling
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.content import content_key
from tests.sampling import SAID

CONFIG = JudgeConfig(name="j", base_url="http://localhost/v1", model="m")
PROMPT = Prompt("Judge.", "Paris.", PerCriterionOutput, (0,))

DECIDING = {
    "base_url": "http://localhost:8080/v1",
    "model": "other",
    **SAID,
    "extra_headers": (("X-Provider", "b"),),
    "fallback_model": "smaller",
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
    "cache_marks": True,
}


def test_every_field_of_a_judge_either_decides_or_does_not():
    fields = {field.name for field in dataclasses.fields(JudgeConfig)} - {"sampling"}
    assert fields | Sampling.model_fields.keys() == DECIDING.keys() | NOT_DECIDING.keys()


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


# As the engine made them before criteria had ids: answers kept since then are still found.
KEPT = {
    "per_criterion": (
        "8e9efac8-2669-c064-10f4-84ddea910bd2",
        "42b11472-940a-eebe-da8d-e0fd37135967",
        "2e9c950c-e8c3-2242-aebb-82ee0db613fa",
    ),
    "one_shot": ("d30aa5c9-1dd7-4307-a163-c51515152810",),
    "rubric_as_judge": ("feb14f9e-6d1f-e8cb-7adf-bc8ae5e6ae3a",),
}


@pytest.mark.parametrize("autograder", KEPT)
def test_questions_are_asked_in_the_words_of_earlier_releases(autograder: str) -> None:
    rubric = Rubric.from_dict(
        {
            "title": "Support replies",
            "guidelines": "Judge the reply alone.",
            "criteria": [
                {
                    "name": "rule",
                    "weight": 10,
                    "requirement": "States the rule.",
                    "guidance": "Quoted or told.",
                    "group": "Accuracy",
                    "met_example": "After 30 days.",
                    "unmet_example": "Maybe.",
                },
                {"name": "blame", "weight": -6, "requirement": "Blames the customer."},
                {
                    "name": "tone",
                    "weight": 4,
                    "requirement": "How does it sound?",
                    "scale_type": "ordinal",
                    "options": [
                        {"label": "Cold", "value": 0},
                        {"label": "Warm", "value": 1},
                        {"label": "Cannot tell", "na": True},
                    ],
                },
                {
                    "name": "short",
                    "weight": 1,
                    "check": "length_between",
                    "params": {"unit": "words", "max": 150},
                },
            ],
        }
    )
    asked = Submission(
        output="It broke after 31 days.",
        query="Can I return it?",
        reference="No: 30 days.",
        thinking="Hm.",
    )
    judge = JudgeConfig(name="any", base_url="http://127.0.0.1:1/v1", model="m")
    prompts = AUTOGRADERS[autograder]().prompts(asked, rubric)
    assert tuple(str(content_key(judge, prompt, 0)) for prompt in prompts) == KEPT[autograder]
