"""Whatever an endpoint says, it ends as a reading or as an error of a known kind; nothing is raised."""

import asyncio
import dataclasses
import json

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from rubricweb.judges.base import ERROR_KINDS, JudgeConfig
from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.client.attempts import AttemptContext, Attempts
from rubricweb.judges.client.reply_formats import RUNGS, EndpointCapabilities
from rubricweb.judges.client.transport import HttpAnswer
from rubricweb.judges.permits import FixedLimiter

NAMES = [
    *("choices", "message", "content", "refusal", "reasoning", "reasoning_content", "finish_reason", "text"),
    *("usage", "prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens"),
    *("logprobs", "token", "logprob", "top_logprobs", "bytes", "error", "code", "detail", "param", "model"),
    *("explanation", "criterion_status", "criterion_number", "criteria_evaluations"),
]
WORDS = [
    "MET",
    "length",
    "content_filter",
    '{"explanation": "e", "criterion_status": "UNMET"}',
    "<think>a</think>",
    "\ud83d",
    "\x00",
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(st.characters(exclude_categories=[]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=25,
)
MESSAGE = st.fixed_dictionaries(
    {"content": st.sampled_from(WORDS) | JSON}, optional={"refusal": JSON, "reasoning": JSON}
)
TOKEN = st.fixed_dictionaries(
    {"token": st.sampled_from([*WORDS, "M", "ET", '"']) | JSON, "logprob": st.floats() | JSON},
    optional={"bytes": JSON, "top_logprobs": JSON},
)
CHOICE = st.fixed_dictionaries(
    {"message": MESSAGE | JSON},
    optional={
        "finish_reason": st.sampled_from(WORDS) | JSON,
        "logprobs": st.fixed_dictionaries({"content": st.lists(TOKEN, max_size=4) | JSON}) | JSON,
    },
)
BODY = (
    st.fixed_dictionaries({"choices": st.lists(CHOICE, max_size=2)}, optional={"usage": JSON, "model": JSON})
    | st.fixed_dictionaries({"error": JSON})
    | JSON
).map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60)


class Says:
    """An endpoint that gives one answer, whatever it is asked."""

    def __init__(self, answer: HttpAnswer) -> None:
        self.answer = answer

    async def post(self, config: JudgeConfig, body: bytes) -> HttpAnswer:
        return self.answer


@pytest.mark.parametrize("grader", ["per_criterion", "one_shot", "rubric_as_judge"])
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    status=st.just(200) | st.sampled_from([204, 301, 400, 422, 429, 500, 503, 799]),
    body=BODY,
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "content-type"]), st.text(st.characters(codec="latin-1"), max_size=8)
    ),
)
def test_any_answer_ends_as_a_reading_or_a_known_error(config, question, grader, status, body, headers):
    judge = config(
        "http://127.0.0.1:9/v1", logprobs=True, max_attempts=2, backoff_seconds=0.0, max_wait_seconds=0.0
    )
    raw = tuple((name.encode(), value.encode("latin-1")) for name, value in headers.items())
    asked = AttemptContext(
        Says(HttpAnswer(status, headers, raw, body)),
        EndpointCapabilities(),
        FixedLimiter(1),
        Cancellation(0.0),
        lambda: 0.0,
    )

    async def ask():
        return await Attempts(asked, judge, question(grader=grader)).run()

    reply = asyncio.run(ask())
    assert (reply.reading is not None) or reply.error.kind in ERROR_KINDS
    assert reply.rung in RUNGS
    for count in (reply.prompt_tokens, reply.completion_tokens, reply.cached_prompt_tokens):
        assert count is None or 0 <= count < 2**32
    for text in (
        reply.text,
        reply.reasoning,
        reply.model,
        *(() if reply.error is None else (reply.error.message,)),
    ):
        text.encode()  # can be stored
    assert dataclasses.asdict(reply)["attempts"] >= 1
