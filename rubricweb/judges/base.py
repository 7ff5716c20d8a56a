"""The words every judge client shares: what is asked, of whom, what came back, and what went wrong.

JudgeConfig   an endpoint, a model and how patiently to ask it
Question      one prompt under a key of the caller's, with the function that reads the reply
Reply         a reading, an error, or (a reply that answered only some criteria) both
JudgeError    one of ERROR_KINDS in words a person can act on
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from rubricweb.engine.autograders.base import Prompt, Reading
from rubricweb.engine.errors import ConfigurationError
from rubricweb.engine.judging.sampling import Sampling, wrong_options

Kind = TypeVar("Kind")

_USUAL = Sampling()

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
    "truncated": "The reply hit the output limit, or the end of the model's context, before it was complete.",
    "unreadable_reply": "Replies came, but none carried an answer in the form asked for.",
    "missing_criterion": "The reply left criteria out, at every attempt.",
    "unreadable_batch": "The file with the answers of a batch could not be read, at every attempt.",
    "blocked_address": "The address may not be called from here.",
    "stopped": "The run was stopped before the answer came.",
}
"""Every kind of error a judge can end with, and what it means to a person."""

BATCH_PRICE_SHARE = 0.5
"""What a question in a batch costs of the price of a live one; providers that offer batches ask half."""

CACHE_WRITE_PRICE_SHARE = 1.25
"""What a token costs of the price of input where the provider says that it wrote it into its cache; those
that bill for writing ask this much for five minutes."""

RETRYABLE_KINDS = frozenset(
    {
        "timeout",
        "connection",
        "rate_limited",
        "server_error",
        "unreadable_reply",
        "missing_criterion",
        "unreadable_batch",
        "stopped",
    }
)
"""Kinds for which asking the same question again, unchanged, may well succeed."""


SHORTEST_SECRET = 6
"""Characters of an extra header's value that may be a secret: a shorter one, such as "1", is in any text."""

_PRICES = tuple(
    f"{model}{what}_usd_per_million"
    for model in ("", "fallback_")
    for what in ("input", "cached_input", "output")
)


def _takes_options_of_sampling(kind: type[Kind]) -> type[Kind]:
    """Lets each option of `Sampling` be said beside the fields of the class."""
    fill: Any = kind.__init__

    @functools.wraps(fill)
    def fill_with_options(self: Any, *args: Any, **said: Any) -> None:
        options = {name: said.pop(name) for name in Sampling.model_fields if name in said}
        for fault in wrong_options(options):
            _require(fault.place, options[fault.place], False, fault.allowed)
        if options:
            said["sampling"] = said.get("sampling", _USUAL).changed(**options)
        fill(self, *args, **said)

    kind.__init__ = fill_with_options  # type: ignore[method-assign]  # with keywords that it hands on
    return kind


@_takes_options_of_sampling
@dataclass(frozen=True, slots=True)
class JudgeConfig:
    """One judge: an OpenAI-compatible endpoint, a model, and how to ask it.

    `base_url` ends before `/chat/completions`, as in `https://api.openai.com/v1`. `api_key` None sends no
    Authorization header; no key is ever taken from the environment. `extra_headers` go with every request;
    they may be secrets and are never shown, logged or stored with a run. They cannot replace the key, the
    host or what describes the body. `identity` says whose answers they are where the address does not, as of
    a judge that is started on another port each time; "" is whoever answers at the address.

    `sampling` is how the model chooses its words. Its options may be said one by one, `JudgeConfig(…,
    temperature=0.7)`, also to `dataclasses.replace`, which leaves the others as they are. What an endpoint
    refuses of it the client learns from the first 400. `fallback_model` is asked, at the same address, when
    `model` has failed for good; "" is nobody.
    `cache_marks` marks where the beginning ends that prompts share, for gateways to providers that keep only
    marked beginnings in their cache.

    `timeout_seconds` bounds one attempt, `max_attempts` the attempts at one question, `max_wait_seconds` the
    sum of the pauses between them, `retry_after_cap_seconds` a single one of those pauses whatever
    Retry-After says. `backoff_seconds` is the ceiling of the first pause, doubled at each attempt.
    `concurrency` bounds requests in flight. `requests_per_minute` and `tokens_per_minute` are what the
    provider allows; None is unknown, and learned. After a stop, requests in flight have `stop_grace_seconds`
    to finish.

    Prices are US dollars per million tokens; without both for input and output there is no cost, without the
    one for cached input those tokens cost like all others. `price_source` says in a word where the prices
    come from, "" when nobody said; the fallback model has prices of its own. Raises ValueError naming the
    field when a value is out of range.
    """

    name: str
    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    sampling: Sampling = _USUAL
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
    extra_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    fallback_model: str = ""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    cached_input_usd_per_million: float | None = None
    price_source: str = ""
    fallback_input_usd_per_million: float | None = None
    fallback_cached_input_usd_per_million: float | None = None
    fallback_output_usd_per_million: float | None = None
    identity: str = ""
    cache_marks: bool = False

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
        for price in _PRICES:
            value = getattr(self, price)
            _require(price, value, value is None or 0 <= value < math.inf, "0 or more, or None")
        for limit in ("requests_per_minute", "tokens_per_minute"):
            value = getattr(self, limit)
            _require(limit, value, value is None or value >= 1, "1 or more, or None")
        _require("sampling", self.sampling, isinstance(self.sampling, Sampling), "a Sampling")
        _check_headers(self.extra_headers)

    @property
    def answered_by(self) -> str:
        """Whose answers they are, whatever the model: equal for two configs that ask the same endpoint."""
        return self.identity or self.base_url.rstrip("/")

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may repeat: the key, and what the extra headers say, unless that is a mere word."""
        values = [value for _, value in self.extra_headers if len(value) >= SHORTEST_SECRET]
        return (self.api_key, *values) if self.api_key else tuple(values)

    def at_batch_price(self) -> JudgeConfig:
        """A copy with the prices of a batch, which are half: 2.0 and 10.0 a million become 1.0 and 5.0.

        It has no fallback model, for a batch asks none.
        """
        return replace(
            self,
            fallback_model="",
            input_usd_per_million=_half(self.input_usd_per_million),
            cached_input_usd_per_million=_half(self.cached_input_usd_per_million),
            output_usd_per_million=_half(self.output_usd_per_million),
        )

    def as_fallback(self) -> JudgeConfig:
        """The fallback model asked in this one's place, at its own prices; it has no fallback in turn."""
        return replace(
            self,
            model=self.fallback_model,
            fallback_model="",
            input_usd_per_million=self.fallback_input_usd_per_million,
            cached_input_usd_per_million=self.fallback_cached_input_usd_per_million,
            output_usd_per_million=self.fallback_output_usd_per_million,
        )

    @property
    def is_free(self) -> bool:
        """Whether the model costs nothing however many tokens it takes: its prices are all 0."""
        prices = self.input_usd_per_million, self.output_usd_per_million, self.cached_input_usd_per_million
        return prices in ((0, 0, 0), (0, 0, None))

    def cost_usd(
        self,
        prompt_tokens: int | None,
        completion_tokens: int | None,
        cached_prompt_tokens: int | None = None,
        cache_written_tokens: int | None = None,
    ) -> float | None:
        """US dollars for these tokens; None when a price or a count is unknown: that is not free. Where every
        price is 0 it is 0.0, whatever the counts.

        `cached_prompt_tokens` are the part of `prompt_tokens` that the provider had in its cache. 1,000 in at
        2.5 and 200 out at 10 per million: 0.0025 + 0.002 = 0.0045; with 800 of the 1,000 cached at 0.25:
        0.0005 + 0.0002 + 0.002 = 0.0027. `cache_written_tokens` are the part that it wrote into the cache,
        where that is billed: at CACHE_WRITE_PRICE_SHARE of the input's price.
        """
        if self.is_free:
            return 0.0
        if self.input_usd_per_million is None or self.output_usd_per_million is None:
            return None
        if prompt_tokens is None or completion_tokens is None:
            return None
        cached = min(cached_prompt_tokens or 0, prompt_tokens)
        cached_price = self.cached_input_usd_per_million
        if cached_price is None:
            cached_price = self.input_usd_per_million
        written = min(cache_written_tokens or 0, prompt_tokens - cached)
        total = (
            (prompt_tokens - cached) * self.input_usd_per_million
            + written * (CACHE_WRITE_PRICE_SHARE - 1) * self.input_usd_per_million
            + cached * cached_price
            + completion_tokens * self.output_usd_per_million
        )
        return total / 1_000_000


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt to ask. `key` comes back on the reply; `read` turns its text into a reading.

    `read` raises `rubricweb.engine.errors.UnreadableReply` when nothing can be read, and is called in the
    thread of the client: it must be quick and touch no shared state. `repeat` counts, from 0, the times the
    same prompt is asked on purpose: answers of different repeats never stand in for each other.
    `set_aside_usd` is what a cap has been asked for, None where none holds it: see `judges.cost_overrun`.
    """

    key: Hashable
    prompt: Prompt
    read: Callable[[str], Reading]
    repeat: int = 0
    set_aside_usd: float | None = None


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
    form the last attempt asked for (see `judges.client.reply_formats`). `attempts` counts requests sent.
    Tokens and cost are sums over all attempts that reported usage, since each is billed; None when none did.
    `latency_seconds` runs from the first request to the end, pauses included.

    `reasoning` is what the model thought aloud before its answer, "" when it showed none.
    `cached_prompt_tokens` are those of `prompt_tokens` that the provider had in its cache, None when it does
    not say; `cache_saved_usd` is what the prompt would have cost more without that cache, less what writing
    into it cost. `request` is the last body sent (never a header, so never the key), None when none was.
    `unanswered` counts requests that were sent and whose answer did not come in time, or not whole, or was
    not waited for: each may have been paid for. `unmetered` counts answers that do not say how many tokens
    they took, unless they are free: they are not in the cost. `fallback` tells that the config's fallback
    model was asked; `throttled` counts answers of 429. `log` are the decisions taken on the way, in words.
    `is_known` tells that an earlier answer stands here and nothing was sent, `cached_from` the stored call of
    a run that it came with, None where it came in a try.
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
    reasoning: str = ""
    cached_prompt_tokens: int | None = None
    request: Mapping[str, Any] | None = None
    fallback: bool = False
    throttled: int = 0
    is_known: bool = False
    cached_from: int | None = None
    unanswered: int = 0
    unmetered: int = 0
    log: tuple[str, ...] = ()
    cache_saved_usd: float = 0.0


CONFIGURATION_KINDS = frozenset({"unauthorized", "not_found", "blocked_address"})
"""Kinds that say that key, model or address are wrong: every other question would end alike."""


class JudgeFailure(Exception):
    """A question asked through the coroutine interface ended in a JudgeError."""

    def __init__(self, error: JudgeError) -> None:
        super().__init__(error.message)
        self.error = error

    @property
    def kind(self) -> str:
        """The error's kind, one of ERROR_KINDS."""
        return self.error.kind


class JudgeMisconfigured(JudgeFailure, ConfigurationError):
    """A JudgeFailure of one of CONFIGURATION_KINDS: no data about what was to be judged."""


def _require(name: str, value: object, holds: bool, allowed: str) -> None:
    if not holds:
        raise ValueError(f"JudgeConfig.{name} is {value!r}; allowed is {allowed}")


_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")  # a token of RFC 9110
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]{0,3998}[\x21-\x7e])?")
_RESERVED_HEADERS = re.compile(
    r"authorization|host|content-.*|accept-encoding|connection|keep-alive|proxy-.*|te|trailer|"
    r"transfer-encoding|upgrade|expect|cookie"
)


def _check_headers(headers: tuple[tuple[str, str], ...]) -> None:
    """Refuse headers that would break the request or replace what the client sets itself.

    A message names a header by its place alone: what somebody typed into the wrong field may be a secret.
    """
    seen: set[str] = set()
    for place, (name, value) in enumerate(headers, 1):
        wrong = ""
        if not _HEADER_NAME.fullmatch(name):
            wrong = "has a name that is no HTTP header name; allowed are letters, digits and dashes"
        elif _RESERVED_HEADERS.fullmatch(name.lower()):
            wrong = "has a reserved name; the key, the host and what describes the body are set elsewhere"
        elif name.lower() in seen:
            wrong = "repeats a name; allowed is each name once"
        elif not _HEADER_VALUE.fullmatch(value):
            wrong = "has a value that cannot be sent; allowed is one line of 1 to 4,000 ASCII characters"
        if wrong:
            raise ValueError(f"JudgeConfig.extra_headers: header {place} {wrong}")
        seen.add(name.lower())


def _half(price: float | None) -> float | None:
    return None if price is None else price * BATCH_PRICE_SHARE
