"""Asking one question of one model until it is answered or patience ends."""

# Long because what becomes of one question is told in one place, from the first request to the reply.

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urlsplit

from rubricweb.engine.autograders.base import Reading
from rubricweb.engine.errors import UnreadableReply, shortened
from rubricweb.judges.base import JudgeConfig, JudgeError, Question, Reply
from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.client.addresses import BlockedAddress
from rubricweb.judges.client.completions import (
    BROKE_DOWN,
    CUT_OFF,
    DECLINED,
    Completion,
    CompletionChoice,
    CompletionUsage,
    read_completion,
    split_thinking,
)
from rubricweb.judges.client.confidence import with_confidence
from rubricweb.judges.client.failures import (
    AttemptFailure,
    looks_like_refusal,
    provider_message,
    quoted,
    status_failure,
)
from rubricweb.judges.client.foreign_json import error_body
from rubricweb.judges.client.reply_formats import (
    CACHE_MARK,
    RUNGS,
    TEXT,
    EndpointCapabilities,
    concerns_format,
)
from rubricweb.judges.client.request_body import encoded, guessed_tokens, is_prose, marked, request_body
from rubricweb.judges.client.transport import HttpAnswer, NoAnswer, NoConnection
from rubricweb.judges.permits import Limiter

BACKOFF_CAP_SECONDS = 30.0
FREE_PERMIT_SECONDS = 0.1
MAX_REPLY_CHARACTERS = 200_000
"""A longer reply is no reply, and of what a model thought no more is kept: a hundred criteria with two
thousand characters each fit in, and some hundred replies that wait to be stored fit into a worker."""
MAX_MODEL_CHARACTERS = 200
MAX_TOKENS = 2**31 - 1
"""The most tokens one call is said to have used in all its attempts: what a column of the database holds."""

Jitter = Callable[[], float]

STOPPED = JudgeError("stopped", "stopped before the answer came; asking again continues")


class Endpoint(Protocol):
    """Where requests go."""

    async def post(self, config: JudgeConfig, body: bytes) -> HttpAnswer:
        """Send a body to the endpoint. Raises BlockedAddress, NoAnswer or TimeoutError."""
        ...


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """An answer with an error status: `body` is a JSON object, or a text."""

    status: int
    headers: Mapping[str, str]
    body: object


@dataclass(frozen=True, slots=True)
class AttemptContext:
    """What one question is asked with. `jitter` returns a number in [0, 1) that spreads the pauses, `on_sent`
    is told of every request, and `mark_at` is where the beginning ends that other prompts share, 0 for none.
    """

    endpoint: Endpoint
    capabilities: EndpointCapabilities
    limiter: Limiter
    cancellation: Cancellation
    jitter: Jitter
    mark_at: int = 0
    on_sent: Callable[[], None] = lambda: None


class Attempts:
    """One question in progress at one model: what was tried, what it cost, and the best reply so far."""

    def __init__(self, asked: AttemptContext, config: JudgeConfig, question: Question) -> None:
        self._asked = asked
        self._capabilities = asked.capabilities
        self._cancellation = asked.cancellation
        self._config = config
        self._question = question
        self._prose = is_prose(question.prompt)
        self._rung = RUNGS.index(TEXT) if self._prose else self._capabilities.first_rung(time.monotonic())
        self._refused_above = False
        self._failed_above = False
        self._may_descend_on_500 = True
        self._spell_out_schema = False
        self._requests = 0
        self._throttled = 0
        self._prompt_tokens: int | None = None
        self._completion_tokens: int | None = None
        self._cached_prompt_tokens: int | None = None
        self._cache_written_tokens = 0
        self._marked = False
        self._model = config.model
        self._text = ""
        self._reasoning = ""
        self._body: dict[str, Any] | None = None
        self._partial: tuple[Reading, str, str] | None = None
        self._log: list[str] = []
        self._started: float | None = None
        self._unanswered = 0
        self._unmetered = 0
        # A question that met a 429 waits for its next turn no longer than for anything else.
        self._turn_by: float | None = None

    async def run(self) -> Reply:
        """The loop of attempts and pauses."""
        waited = 0.0
        for attempt in range(1, self._config.max_attempts + 1):
            outcome = await self._attempt()
            if isinstance(outcome, Reading):
                return self._reply(outcome, None)
            if outcome.error.kind == "stopped" or not outcome.again or attempt == self._config.max_attempts:
                return self._failed(outcome.error)
            pause = self._pause_seconds(attempt, outcome)
            # What this question was told to wait counts wherever it waits; its wait for a permit does not.
            waited += max(pause, min(outcome.after_seconds or 0.0, self._config.retry_after_cap_seconds))
            if waited > self._config.max_wait_seconds:
                return self._failed(outcome.error)
            self._log.append(f"{_in_a_word(outcome.error)}, waited {pause:.1f} s")
            if not await self._cancellation.pause(pause):
                return self._failed(STOPPED)
        raise AssertionError("JudgeConfig.max_attempts is at least 1")

    async def _attempt(self) -> Reading | AttemptFailure:
        """One counted attempt; stepping down the ladder and giving up parameters happen inside it."""
        first = self._rung
        while True:
            if self._cancellation.is_cancelled:
                return AttemptFailure(STOPPED, again=False)
            outcome = await self._send()
            if not isinstance(outcome, ErrorResponse):
                return outcome
            if not self._adapts(outcome):
                if self._failed_above:
                    # Every rung failed, so it was not the rung: the next attempt starts over.
                    self._rung = first
                return status_failure(outcome.status, outcome.body, outcome.headers, self._config.secrets)

    def _adapts(self, refusal: ErrorResponse) -> bool:
        """Change the form of the question to one this endpoint may accept; False when there is none."""
        status, body = refusal.status, self._body or {}
        refused = status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
        if not refused and status != HTTPStatus.INTERNAL_SERVER_ERROR:
            return False
        if refused and "response_format" in body and concerns_format(refusal.body):
            self._refused_above = True
            self._step_down(status)
            return True
        if refused and self._marked and self._capabilities.refuses_mark(refusal.body):
            self._log.append("asked without a mark for the cache, which the endpoint refuses")
            return True
        given_up = self._capabilities.adapt(body, refusal.body)  # some say so with a 500
        if given_up:
            self._log.append(f"asked without {given_up}, which the endpoint refuses")
            return True
        if refused:
            return False
        descends = "response_format" in body and self._may_descend_on_500
        if descends and self._capabilities.steps_down_on_500(self._rung):
            self._failed_above = True
            self._step_down(status)
            return True
        self._may_descend_on_500 = False  # once down the ladder in vain is enough
        return False

    def _step_down(self, status: int) -> None:
        self._rung += 1
        self._log.append(f"asked as {RUNGS[self._rung]} after HTTP {status} to {RUNGS[self._rung - 1]}")

    async def _send(self) -> Reading | AttemptFailure | ErrorResponse:
        """What one request brought: a reading, the HTTP refusal, or what kept an answer from coming."""
        config = self._config
        prompt, spell_out = self._question.prompt, self._spell_out_schema
        self._body = request_body(config, prompt, self._capabilities, self._rung, spell_out_schema=spell_out)
        self._marked = (
            config.cache_marks and self._asked.mark_at > 0 and CACHE_MARK not in self._capabilities.without
        )
        body = encoded(marked(self._body, self._asked.mark_at) if self._marked else self._body)
        # Where nobody waits a permit is had however late it is.
        left = None if self._turn_by is None else max(self._turn_by - time.monotonic(), FREE_PERMIT_SECONDS)
        try:
            async with asyncio.timeout(left):
                permit = await self._asked.limiter.acquire(guessed_tokens(config, body), self._cancellation)
        except TimeoutError:
            message = f"HTTP 429, and no other turn within {config.max_wait_seconds:g} s"
            return AttemptFailure(JudgeError("rate_limited", message), again=False)
        if permit is None:
            return AttemptFailure(STOPPED, again=False)
        self._requests += 1
        self._asked.on_sent()
        sent_at = time.monotonic()
        self._started = self._started or sent_at
        answer: HttpAnswer | None = None
        status: int | None = None
        used: int | None = None
        try:
            async with asyncio.timeout(config.timeout_seconds) as scope:
                with self._cancellation.within(scope):
                    answer = await self._asked.endpoint.post(config, body)
            latency, status = time.monotonic() - sent_at, answer.status
            if status >= 300:
                return ErrorResponse(status, answer.headers, error_body(answer.body))
            completion = read_completion(answer.body)
            if completion is not None and completion.usage is not None:
                used = completion.usage.total
            outcome = self._read(completion, answer.body)
            if isinstance(outcome, AttemptFailure) and outcome.error.kind == "rate_limited":
                status = HTTPStatus.TOO_MANY_REQUESTS  # a gateway said so inside a 200
            return outcome
        except TimeoutError:
            self._unanswered += 1
            if self._cancellation.is_cancelled:
                return AttemptFailure(STOPPED, again=False)
            message = f"no answer within {config.timeout_seconds:g} s"
            return AttemptFailure(JudgeError("timeout", message), again=True)
        except NoAnswer as error:
            self._unanswered += not isinstance(error, NoConnection)
            message = f"{urlsplit(config.base_url).netloc}: {quoted(str(error))}"
            return AttemptFailure(JudgeError("connection", message), again=True)
        except BlockedAddress as error:
            return AttemptFailure(JudgeError("blocked_address", str(error)), again=False)
        finally:
            if status == HTTPStatus.TOO_MANY_REQUESTS:
                self._throttled += 1
                self._turn_by = self._turn_by or time.monotonic() + config.max_wait_seconds
            permit.release(
                status=status,
                headers={} if answer is None else answer.headers,
                tokens=used,
                latency_seconds=time.monotonic() - sent_at if answer is None else latency,
            )

    def _read(self, completion: Completion | None, body: bytes) -> Reading | AttemptFailure:
        """What a 200 says: a full reading, or why it is not one."""
        if completion is None:
            return _unreadable("the endpoint's answer is not a JSON object")
        self._count_tokens(completion)
        self._model = (completion.model or self._config.model)[:MAX_MODEL_CHARACTERS]
        choice = completion.choice
        if choice is None or choice.message is None:
            return self._error_in_200(body)
        if choice.finish in BROKE_DOWN:
            error = JudgeError("server_error", "the endpoint failed while it was answering")
            return AttemptFailure(error, again=True)
        if not self._prose:
            self._capabilities.learn(
                self._rung, refused=self._refused_above, failed=self._failed_above, now=time.monotonic()
            )
        content = choice.message.text
        thought, start = split_thinking(content)
        text = content[start:]
        self._reasoning = _kept(choice.message.reasoning_content or choice.message.reasoning or thought)
        self._text = _kept(text or choice.message.refusal or "")
        if choice.finish in DECLINED or choice.message.refusal:
            said = f": {quoted(self._text)}" if self._text else ""
            return AttemptFailure(JudgeError("refused", f"the model declined to answer{said}"), again=False)
        if choice.finish in CUT_OFF:
            return AttemptFailure(JudgeError("truncated", self._how_truncated(completion.usage)), again=False)
        self._spell_out_schema = True  # should this reply not do, say in words what was wanted
        if not text.strip():
            self._text = ""
            return _unreadable("the reply is empty")
        if len(text) > MAX_REPLY_CHARACTERS:
            allowed = f"allowed are {MAX_REPLY_CHARACTERS:,}"
            return _unreadable(f"the reply is {len(text):,} characters long; {allowed}")
        return self._read_text(choice, content, start)

    def _read_text(self, choice: CompletionChoice, content: str, start: int) -> Reading | AttemptFailure:
        try:
            reading = self._question.read(self._text)
        except UnreadableReply as error:
            if looks_like_refusal(self._text):
                said = f"the model declined to answer: {quoted(self._text)}"
                return AttemptFailure(
                    JudgeError("refused", said), again=True
                )  # in words, so it may be a slip
            return _unreadable(quoted(error.detail))
        except (ValueError, RecursionError) as error:
            return _unreadable(quoted(f"{type(error).__name__}: {error}"))
        if self._config.sampling.logprobs and choice.logprobs is not None:
            tokens = choice.logprobs.content
            reading = with_confidence(reading, self._question.prompt, content, start, tokens)
        if not reading.missing:
            return reading
        if self._partial is None or len(reading.missing) < len(self._partial[0].missing):
            self._partial = reading, self._text, self._reasoning
        return AttemptFailure(_missing(reading), again=True)

    def _error_in_200(self, body: bytes) -> AttemptFailure:
        """Some gateways answer 200 with an error inside, its code in place of the status."""
        found = error_body(body)
        answer: Mapping[str, Any] = found if isinstance(found, dict) else {}
        choices = answer.get("choices")
        inner = choices[0] if isinstance(choices, list) and choices else None
        if "error" not in answer and isinstance(inner, dict) and "error" in inner:
            answer = inner
        error = answer.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        if isinstance(code, int) and 400 <= code < 600:
            return status_failure(code, answer, {}, self._config.secrets)
        said = provider_message(answer, self._config.secrets) if error else ""
        return _unreadable("the endpoint's answer holds no message" + (f": {said}" if said else ""))

    def _how_truncated(self, usage: CompletionUsage | None) -> str:
        limit = "the output token limit"
        if self._config.sampling.max_output_tokens is not None:
            limit += f" of {self._config.sampling.max_output_tokens}"
        thought = bool(self._reasoning) or (usage is not None and usage.reasoning > 0)
        if thought and not self._text.strip():
            return f"{limit} was used up by thinking, before the reply began"
        return f"the reply was cut off at {limit}"

    def _pause_seconds(self, attempt: int, failure: AttemptFailure) -> float:
        """What the endpoint asked for, capped; otherwise exponential, its upper half at random."""
        config = self._config
        if failure.after_seconds is not None:
            spread = min(1.0, config.backoff_seconds) * self._asked.jitter()
            return min(failure.after_seconds, config.retry_after_cap_seconds) + spread
        ceiling = min(config.backoff_seconds * 2.0 ** (attempt - 1), BACKOFF_CAP_SECONDS)
        return ceiling * (0.5 + 0.5 * self._asked.jitter())

    def _count_tokens(self, completion: Completion) -> None:
        usage = completion.usage
        if usage is None or usage.prompt_tokens is None or usage.completion is None:
            self._unmetered += completion.choice is not None and not self._config.is_free
            return
        self._prompt_tokens = _sum(self._prompt_tokens, usage.prompt_tokens)
        self._completion_tokens = _sum(self._completion_tokens, usage.completion)
        self._cached_prompt_tokens = _sum(self._cached_prompt_tokens, usage.cached)
        self._cache_written_tokens += usage.cache_written

    def _failed(self, error: JudgeError) -> Reply:
        if self._partial is None or error.kind == "stopped":
            return self._reply(None, error)
        reading, self._text, self._reasoning = self._partial
        return self._reply(reading, _missing(reading))

    def _reply(self, reading: Reading | None, error: JudgeError | None) -> Reply:
        tokens = self._prompt_tokens, self._completion_tokens
        cached = self._cached_prompt_tokens, self._cache_written_tokens
        cost = self._config.cost_usd(*tokens, *cached)
        return Reply(
            key=self._question.key,
            reading=reading,
            error=error,
            text=self._text,
            model=self._model,
            rung=RUNGS[self._rung],
            attempts=self._requests,
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
            cost_usd=cost,
            latency_seconds=0.0 if self._started is None else time.monotonic() - self._started,
            reasoning=self._reasoning,
            cached_prompt_tokens=self._cached_prompt_tokens,
            request=self._body if self._requests else None,
            throttled=self._throttled,
            unanswered=self._unanswered,
            unmetered=self._unmetered,
            log=tuple(self._log),
            cache_saved_usd=0.0 if cost is None else (self._config.cost_usd(*tokens) or 0.0) - cost,
        )


def fallen_back(first: Reply, second: Reply, config: JudgeConfig) -> Reply:
    """One reply of two: what the fallback model answered, and what both cost, each at its own prices.

    `config` is that of the model asked first. When neither answered, the error is the fallback model's, with
    what the first one said before it.
    """
    assert first.error is not None, "only a failure is handed to the fallback model"
    prompt, completion, cached = (
        _sum(getattr(first, name), getattr(second, name))
        for name in ("prompt_tokens", "completion_tokens", "cached_prompt_tokens")
    )
    error = second.error
    if error is not None and error.kind != "stopped":
        said = (
            f"{quoted(config.model)}: {first.error.message}; {quoted(config.fallback_model)}: {error.message}"
        )
        error = JudgeError(error.kind, said)
    return replace(
        second,
        error=error,
        attempts=first.attempts + second.attempts,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_prompt_tokens=cached,
        cost_usd=_cost_of(first, second),
        latency_seconds=first.latency_seconds + second.latency_seconds,
        request=second.request if second.request is not None else first.request,
        fallback=True,
        throttled=first.throttled + second.throttled,
        unanswered=first.unanswered + second.unanswered,
        unmetered=first.unmetered + second.unmetered,
        cache_saved_usd=first.cache_saved_usd + second.cache_saved_usd,
        log=(*first.log, f"fell back to {config.fallback_model}: {first.error.kind}", *second.log),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else min(one + (other or 0), MAX_TOKENS)


def _cost_of(*replies: Reply) -> float | None:
    """US dollars for all tokens that were told or are free; None when those of one of them have no price."""
    paid = [one.cost_usd for one in replies if one.prompt_tokens is not None or one.cost_usd is not None]
    known = [cost for cost in paid if cost is not None]
    return sum(known) if known and len(known) == len(paid) else None


def _kept(text: str) -> str:
    """The text, or as much of its beginning as is kept."""
    return shortened(text, MAX_REPLY_CHARACTERS)


def _unreadable(message: str) -> AttemptFailure:
    return AttemptFailure(JudgeError("unreadable_reply", message), again=True)


def _missing(reading: Reading) -> JudgeError:
    numbers = ", ".join(str(index + 1) for index in reading.missing)
    return JudgeError("missing_criterion", f"the reply leaves out criterion {numbers}")


def _in_a_word(error: JudgeError) -> str:
    """The HTTP status where there is one, else the kind."""
    words = error.message.split(" ", 2)
    return f"HTTP {words[1].rstrip(':')}" if words[0] == "HTTP" and len(words) > 1 else error.kind
