"""Asking one question of an OpenAI-compatible endpoint until it is answered or patience ends."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from aiohttp.abc import AbstractResolver
from openai import AsyncOpenAI, Omit

from rubricweb.engine.autograders.base import Reading
from rubricweb.engine.errors import UnreadableReply
from rubricweb.judges.addresses import BlockedAddress, check_url
from rubricweb.judges.base import JudgeConfig, JudgeError, Question, Reply
from rubricweb.judges.failures import Failure, provider_message, quoted, status_failure
from rubricweb.judges.halt import Halt
from rubricweb.judges.reply_formats import (
    JSON_SCHEMA,
    RUNGS,
    TEXT,
    Habits,
    concerns_format,
    response_format,
    schema_in_words,
)
from rubricweb.judges.transport import GuardedTransport

BACKOFF_CAP_SECONDS = 30.0

Jitter = Callable[[], float]


class JudgeClient:
    """A warm connection to one endpoint; every model asked there shares it.

    Use it from one event loop. `resolver` stands in for the system's name lookup. Nothing is read from the
    environment: no key, no organisation, no proxy.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        *,
        allow_private_hosts: bool = False,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._habits: dict[str, Habits] = {}
        self._sdk = _Sdk(
            # Empty texts rather than None: None makes the SDK look into the environment.
            api_key=api_key or "",
            admin_api_key="",
            webhook_secret="",
            base_url=base_url,
            max_retries=0,
            http_client=httpx2.AsyncClient(
                transport=GuardedTransport(allow_private_hosts=allow_private_hosts, resolver=resolver),
                follow_redirects=False,
                trust_env=False,
            ),
            _enforce_credentials=False,
        )

    async def ask(
        self,
        config: JudgeConfig,
        question: Question,
        *,
        halt: Halt | None = None,
        jitter: Jitter = random.random,
    ) -> Reply:
        """Ask until answered, refused, out of attempts, out of time or stopped; none of which raises.

        `config` must name this client's endpoint. `jitter` returns a number in [0, 1) that spreads the
        pauses.
        """
        habits = self._habits.setdefault(config.model, Habits())
        halt = halt or Halt(config.stop_grace_seconds)
        return await _Asking(self._sdk, habits, config, question, halt, jitter).run()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._sdk.close()


class _Sdk(AsyncOpenAI):
    """AsyncOpenAI with our own few headers: no platform report, nothing from the environment."""

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        return {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": "rubricweb",
        }

    async def send(self, payload: dict[str, Any], timeout_seconds: float) -> httpx2.Response:
        headers: dict[str, str | Omit] = {} if self.api_key else {"Authorization": Omit()}
        return await self.post(
            "/chat/completions",
            body=payload,
            cast_to=httpx2.Response,
            options={"headers": headers, "timeout": timeout_seconds},
        )


class _Asking:
    """One question in progress: what was tried, what it cost, and the best reply so far."""

    def __init__(
        self, sdk: _Sdk, habits: Habits, config: JudgeConfig, question: Question, halt: Halt, jitter: Jitter
    ) -> None:
        self._sdk = sdk
        self._habits = habits
        self._config = config
        self._question = question
        self._halt = halt
        self._jitter = jitter
        self._prose = question.prompt.reply_format == "yes_no" or question.prompt.schema is None
        self._rung = RUNGS.index(TEXT) if self._prose else habits.first_rung(time.monotonic())
        self._refused_above = False
        self._failed_above = False
        self._may_descend_on_500 = True
        self._spell_out_schema = False
        self._requests = 0
        self._prompt_tokens: int | None = None
        self._completion_tokens: int | None = None
        self._model = config.model
        self._text = ""
        self._partial: tuple[Reading, str] | None = None
        self._started = time.monotonic()

    async def run(self) -> Reply:
        """The loop of attempts and pauses."""
        waited = 0.0
        for attempt in range(1, self._config.max_attempts + 1):
            outcome = await self._attempt()
            if isinstance(outcome, Reading):
                return self._reply(outcome, None)
            if outcome.error.kind == "stopped" or not outcome.again or attempt == self._config.max_attempts:
                return self._failed(outcome.error)
            pause = self._pause_seconds(attempt, outcome.after_seconds)
            waited += pause
            if waited > self._config.max_wait_seconds:
                return self._failed(outcome.error)
            if not await self._halt.pause(pause):
                return self._failed(_STOPPED)
        raise AssertionError("JudgeConfig.max_attempts is at least 1")

    async def _attempt(self) -> Reading | Failure:
        """One counted attempt; stepping down the ladder and giving up parameters happen inside it."""
        try:
            check_url(self._config.base_url, self._config.allow_private_hosts)
        except BlockedAddress as error:
            return Failure(JudgeError("blocked_address", str(error)), again=False)
        first = self._rung
        while True:
            if self._halt.tripped:
                return Failure(_STOPPED, again=False)
            payload = self._payload()
            outcome = await self._send(payload)
            if not isinstance(outcome, openai.APIStatusError):
                return self._read(outcome) if isinstance(outcome, dict) else outcome
            if not self._adapts(outcome, payload):
                if self._failed_above:
                    self._rung = (
                        first  # every rung failed, so it was not the rung: the next attempt starts over
                    )
                return status_failure(
                    outcome.status_code, outcome.body, outcome.response.headers, self._config.api_key
                )

    def _adapts(self, refusal: openai.APIStatusError, payload: dict[str, Any]) -> bool:
        """Change the form of the question to one this endpoint may accept; False when there is none."""
        status = refusal.status_code
        if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY):
            if "response_format" in payload and concerns_format(refusal.body):
                self._refused_above = True
                self._rung += 1
                return True
            return self._habits.adapt(payload, refusal.body)
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            descends = "response_format" in payload and self._may_descend_on_500
            if descends and self._habits.steps_down_on_500(self._rung):
                self._failed_above = True
                self._rung += 1
                return True
            self._may_descend_on_500 = False  # once down the ladder in vain is enough
        return False

    async def _send(self, payload: dict[str, Any]) -> dict[str, Any] | Failure | openai.APIStatusError:
        """The decoded answer, the HTTP refusal, or what kept it from coming."""
        self._requests += 1
        try:
            async with asyncio.timeout(self._config.timeout_seconds) as scope:
                with self._halt.within(scope):
                    # The SDK's own timeout is only the second line: it restarts with every byte received.
                    answer = await self._sdk.send(payload, self._config.timeout_seconds)
        except (TimeoutError, openai.APITimeoutError):
            if self._halt.tripped:
                return Failure(_STOPPED, again=False)
            message = f"no answer within {self._config.timeout_seconds:g} s"
            return Failure(JudgeError("timeout", message), again=True)
        except openai.APIStatusError as error:
            return error
        except openai.APIConnectionError as error:
            message = f"{urlsplit(self._config.base_url).netloc}: {quoted(str(error.__cause__ or error))}"
            return Failure(JudgeError("connection", message), again=True)
        except BlockedAddress as error:
            return Failure(JudgeError("blocked_address", str(error)), again=False)
        try:
            decoded = json.loads(answer.content)
        except (ValueError, RecursionError):
            decoded = None
        if isinstance(decoded, dict):
            return decoded
        return Failure(
            JudgeError("unreadable_reply", "the endpoint's answer is not a JSON object"), again=True
        )

    def _read(self, answer: dict[str, Any]) -> Reading | Failure:
        """What a 200 says: a full reading, or why it is not one."""
        self._count_tokens(answer.get("usage"))
        model = answer.get("model")
        self._model = model if isinstance(model, str) and model else self._config.model
        choices = answer.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            return self._error_in_200(answer)
        if not self._prose:
            self._habits.learn(
                self._rung, refused=self._refused_above, failed=self._failed_above, now=time.monotonic()
            )
        finish, text = choice.get("finish_reason"), _content(message.get("content"))
        refusal = message.get("refusal")
        self._text = text or (refusal if isinstance(refusal, str) else "")
        if finish == "content_filter" or refusal:
            said = f": {quoted(self._text)}" if self._text else ""
            return Failure(JudgeError("refused", f"the model declined to answer{said}"), again=False)
        if finish == "length":
            limit = "the output token limit"
            if self._config.max_output_tokens is not None:
                limit += f" of {self._config.max_output_tokens}"
            return Failure(JudgeError("truncated", f"the reply was cut off at {limit}"), again=False)
        self._spell_out_schema = True  # should this reply not do, say in words what was wanted
        if not text.strip():
            return Failure(JudgeError("unreadable_reply", "the reply is empty"), again=True)
        return self._read_text(text)

    def _read_text(self, text: str) -> Reading | Failure:
        try:
            reading = self._question.read(text)
        except UnreadableReply as error:
            return Failure(JudgeError("unreadable_reply", quoted(error.detail)), again=True)
        except (ValueError, RecursionError) as error:
            return Failure(
                JudgeError("unreadable_reply", quoted(f"{type(error).__name__}: {error}")), again=True
            )
        if not reading.missing:
            return reading
        if self._partial is None or len(reading.missing) < len(self._partial[0].missing):
            self._partial = reading, text
        return Failure(_missing(reading), again=True)

    def _error_in_200(self, answer: dict[str, Any]) -> Failure:
        """Some gateways answer 200 with an error inside, its code in place of the status."""
        error = answer.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        if isinstance(code, int) and 400 <= code < 600:
            return status_failure(code, answer, {}, self._config.api_key)
        said = provider_message(answer, self._config.api_key) if error else ""
        message = "the endpoint's answer holds no message" + (f": {said}" if said else "")
        return Failure(JudgeError("unreadable_reply", message), again=True)

    def _payload(self) -> dict[str, Any]:
        config, prompt, rung = self._config, self._question.prompt, RUNGS[self._rung]
        schema = None if self._prose else prompt.schema
        system = prompt.system
        if schema is not None and (rung != JSON_SCHEMA or self._spell_out_schema):
            system += schema_in_words(schema)
        payload: dict[str, Any] = {
            "model": config.model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": prompt.user},
            ],
        }
        wanted_format = response_format(rung, schema)
        if wanted_format is not None:
            payload["response_format"] = wanted_format
        if config.max_output_tokens is not None:
            renamed = self._habits.completion_tokens_name
            payload["max_completion_tokens" if renamed else "max_tokens"] = config.max_output_tokens
        for name, value in (("temperature", config.temperature), ("seed", config.seed)):
            if value is not None and name not in self._habits.without:
                payload[name] = value
        return payload

    def _pause_seconds(self, attempt: int, asked: float | None) -> float:
        """What the endpoint asked for, capped; otherwise exponential, its upper half at random."""
        config = self._config
        if asked is not None:
            spread = min(1.0, config.backoff_seconds) * self._jitter()
            return min(asked, config.retry_after_cap_seconds) + spread
        ceiling = min(config.backoff_seconds * 2.0 ** (attempt - 1), BACKOFF_CAP_SECONDS)
        return ceiling * (0.5 + 0.5 * self._jitter())

    def _count_tokens(self, usage: object) -> None:
        if not isinstance(usage, dict):
            return
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if isinstance(prompt, int) and isinstance(completion, int):
            self._prompt_tokens = (self._prompt_tokens or 0) + prompt
            self._completion_tokens = (self._completion_tokens or 0) + completion

    def _failed(self, error: JudgeError) -> Reply:
        if self._partial is None or error.kind == "stopped":
            return self._reply(None, error)
        reading, self._text = self._partial
        return self._reply(reading, _missing(reading))

    def _reply(self, reading: Reading | None, error: JudgeError | None) -> Reply:
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
            cost_usd=self._config.cost_usd(self._prompt_tokens, self._completion_tokens),
            latency_seconds=time.monotonic() - self._started,
        )


_STOPPED = JudgeError("stopped", "stopped before the answer came; asking again continues")


def _missing(reading: Reading) -> JudgeError:
    numbers = ", ".join(str(index + 1) for index in reading.missing)
    return JudgeError("missing_criterion", f"the reply leaves out criterion {numbers}")


def _content(content: object) -> str:
    """The text of a message, whether given whole or in parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(part for part in parts if isinstance(part, str))
