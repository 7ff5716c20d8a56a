"""The words every judge client shares: what is asked, of whom, what came back, and what went wrong.

JudgeConfig   an endpoint, a model and how patiently to ask it
Question      one prompt under a key of the caller's, with the function that reads the reply
Reply         a reading, an error, or (a reply that answered only some criteria) both
JudgeError    one of ERROR_KINDS in words a person can act on
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from rubricweb.engine.autograders.base import Prompt, Reading

ERROR_KINDS: dict[str, str] = {
    "timeout": "No answer in time, at every attempt.",
    "connection": "The endpoint could not be reached, or broke off.",
    "rate_limited": "The endpoint kept saying 429: too many requests, or the quota is used up.",
    "server_error": "The endpoint kept failing (5xx or 409).",
    "bad_request": "The endpoint refused the request as it stands (400, 422 and other 4xx).",
    "unauthorized": "The endpoint wants a valid API key (401).",
    "forbidden": "The API key may not do this (402, 403).",
    "not_found": "The endpoint has no such path or model (404).",
    "refused": "The model declined to answer.",
    "truncated": "The reply hit the output token limit before it was complete.",
    "unreadable_reply": "Replies came, but none carried an answer in the form asked for.",
    "missing_criterion": "The reply left criteria out, at every attempt.",
    "blocked_address": "The address may not be called from here.",
    "stopped": "The run was stopped before the answer came.",
}
"""Every kind of error a judge can end with, and what it means to a person."""

RETRYABLE_KINDS = frozenset(
    {
        "timeout",
        "connection",
        "rate_limited",
        "server_error",
        "unreadable_reply",
        "missing_criterion",
        "stopped",
    }
)
"""Kinds for which asking the same question again, unchanged, may well succeed."""


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    """One judge: an OpenAI-compatible endpoint, a model, and how to ask it.

    `base_url` ends before `/chat/completions`, as in `https://api.openai.com/v1`. `api_key` None sends no
    Authorization header; no key is ever taken from the environment. `temperature`, `max_output_tokens` and
    `seed` are left out of the request when None (reasoning models refuse some of them; the client also learns
    that from the first 400). `timeout_seconds` bounds one attempt, `max_attempts` the attempts at one
    question, `max_wait_seconds` the sum of the pauses between them, `retry_after_cap_seconds` a single one of
    those pauses whatever Retry-After says. `backoff_seconds` is the ceiling of the first pause, doubled at
    each attempt. `concurrency` bounds requests in flight per `ask_all`. After a stop, requests in flight have
    `stop_grace_seconds` to finish. Prices are per million tokens; without both there is no cost. Raises
    ValueError naming the field when a value is out of range.
    """

    name: str
    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    temperature: float | None = 0.0
    max_output_tokens: int | None = None
    seed: int | None = None
    timeout_seconds: float = 60.0
    max_attempts: int = 5
    concurrency: int = 16
    allow_private_hosts: bool = False
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    backoff_seconds: float = 0.5
    retry_after_cap_seconds: float = 60.0
    max_wait_seconds: float = 180.0
    stop_grace_seconds: float = 2.0

    def __post_init__(self) -> None:
        for text in ("base_url", "model"):
            if not getattr(self, text).strip():
                raise ValueError(f"JudgeConfig.{text} is empty; allowed is a non-empty text")
        for count in ("max_attempts", "concurrency"):
            _require(count, getattr(self, count), getattr(self, count) >= 1, "1 or more")
        _require("timeout_seconds", self.timeout_seconds, 0 < self.timeout_seconds < math.inf, "more than 0")
        for duration in (
            "backoff_seconds",
            "retry_after_cap_seconds",
            "max_wait_seconds",
            "stop_grace_seconds",
        ):
            _require(duration, getattr(self, duration), 0 <= getattr(self, duration) < math.inf, "0 or more")
        for price in ("input_usd_per_million", "output_usd_per_million"):
            value = getattr(self, price)
            _require(price, value, value is None or 0 <= value < math.inf, "0 or more, or None")

    def cost_usd(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """US dollars for these tokens; None when a price or a count is unknown: that is not free.

        1,000 in at 2.5 and 200 out at 10 per million: 0.0025 + 0.002 = 0.0045.
        """
        if self.input_usd_per_million is None or self.output_usd_per_million is None:
            return None
        if prompt_tokens is None or completion_tokens is None:
            return None
        total = prompt_tokens * self.input_usd_per_million + completion_tokens * self.output_usd_per_million
        return total / 1_000_000


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt to ask. `key` comes back on the reply; `read` turns its text into a reading.

    `read` raises `rubricweb.engine.errors.UnreadableReply` when nothing can be read, and is called in the
    thread of the client: it must be quick and touch no shared state.
    """

    key: Hashable
    prompt: Prompt
    read: Callable[[str], Reading]


@dataclass(frozen=True, slots=True)
class JudgeError:
    """Why a question has no (full) answer: one of `ERROR_KINDS`, and a message fit to show to a person.

    The message never holds the API key, nor more of a remote body than 200 characters of the provider's own
    error message.
    """

    kind: str
    message: str

    def __post_init__(self) -> None:
        if self.kind not in ERROR_KINDS:
            raise ValueError(f"JudgeError.kind is {self.kind!r}; allowed are {', '.join(ERROR_KINDS)}")

    @property
    def retryable(self) -> bool:
        """Whether asking the same question again later, unchanged, may succeed."""
        return self.kind in RETRYABLE_KINDS


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one question.

    `reading` alone: answered. `error` alone: not answered. Both: a reply that still left criteria out after
    the last attempt (`missing_criterion`); what it did answer stands. `text` is the last text the model gave,
    "" when there was none. `model` is what the endpoint says answered, else the one asked for. `rung` is the
    form the last attempt asked for (see `judges.reply_formats`). `attempts` counts requests sent. Tokens
    and cost are sums over all attempts that reported usage, since each is billed; None when none did.
    `latency_seconds` runs from the first request to the end, pauses included.
    """

    key: Hashable
    reading: Reading | None
    error: JudgeError | None
    text: str
    model: str
    rung: str
    attempts: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    latency_seconds: float


class JudgeFailure(Exception):
    """A question asked through the coroutine interface ended in a JudgeError."""

    def __init__(self, error: JudgeError) -> None:
        super().__init__(error.message)
        self.error = error

    @property
    def kind(self) -> str:
        """The error's kind, one of ERROR_KINDS."""
        return self.error.kind


def _require(name: str, value: object, holds: bool, allowed: str) -> None:
    if not holds:
        raise ValueError(f"JudgeConfig.{name} is {value!r}; allowed is {allowed}")
