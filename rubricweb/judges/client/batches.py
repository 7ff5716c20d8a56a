"""A provider's batch interface: a file of questions is handed in, a file of answers fetched within a day.

The file holds the very requests a live judge would be sent, and its answers are read by the very code that
reads a live judge's: see `replayed`.
"""

from __future__ import annotations

import io
import json
import math
import random
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from typing import NamedTuple

import httpx2
import openai
from openai import AsyncOpenAI, Omit
from openai.types import Batch

from rubricweb.judges.base import JudgeConfig, JudgeError, Question, Reply
from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.client.addresses import BlockedAddress, check_url
from rubricweb.judges.client.attempts import AttemptContext, Attempts
from rubricweb.judges.client.failures import FALLBACK_KINDS, provider_message, quoted_without
from rubricweb.judges.client.reply_formats import RUNGS, TEXT, EndpointCapabilities
from rubricweb.judges.client.request_body import is_prose, request_body
from rubricweb.judges.client.transport import MAX_ANSWER_BYTES, GuardedTransport, HttpAnswer, NoConnection
from rubricweb.judges.permits import FixedLimiter

ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
"""States in which nothing more comes of a batch."""

MAX_FILE_BYTES = 256 * 1024 * 1024
TIMEOUT_SECONDS = 300.0
# Batches of ours that a kill kept us from writing down are looked for among so many of the newest, and no
# further back than this before we began: the provider's clock may be another.
LOOKED_THROUGH = 5000
CLOCKS_DIFFER_BY_SECONDS = 3600
MAX_ID = 200
# Refusals of a file that fetching it again does not mend, but somebody can: a key, an account.
MENDED_BY_PEOPLE = frozenset({401, 402, 403})
# The SDK builds objects of whatever came: of a web page, or of other JSON, it breaks off in these.
_BREAKS_OFF_IN = (ValueError, AttributeError, TypeError, LookupError, RecursionError)
_UNREADABLE = "what the endpoint answers cannot be read: perhaps it has no batch interface"
_MARK = "rubricweb"
_FORM = "rubricweb_form"


class BatchError(Exception):
    """A batch cannot be handed in or asked about; `again` says whether trying later may help, `gone` that the
    provider knows nothing of what it was asked about.
    """

    def __init__(self, message: str, *, again: bool, gone: bool = False) -> None:
        super().__init__(message)
        self.again = again
        self.gone = gone


@dataclass(frozen=True)
class BatchState:
    """How far a batch is: `state` in the provider's words, `error` why it failed as a whole, else "".

    `form` is what was left out of its questions; None where the provider does not repeat what it was told.
    """

    id: str
    state: str
    output_file_id: str | None
    error_file_id: str | None
    error: str = ""
    form: EndpointCapabilities | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in ENDED


@dataclass(frozen=True)
class BatchAnswers:
    """What a batch brought: answers by custom id, and the ids of which its files say that there is no answer.

    `unreadable` is what of the files could not be read, in words; "" for nothing.
    """

    by_id: Mapping[str, HttpAnswer]
    unanswered: frozenset[str] = frozenset()
    unreadable: str = ""


def line_of(
    config: JudgeConfig, question: Question, custom_id: str, capabilities: EndpointCapabilities
) -> bytes:
    """One line of the file to hand in, with its line end."""
    body = request_body(
        config, question.prompt, capabilities, _rung(question, capabilities), spell_out_schema=False
    )
    line = {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


async def submit(config: JudgeConfig, lines: bytes, mark: str, form: EndpointCapabilities) -> BatchState:
    """Uploads the file and opens a batch over it. `mark` is what `find_submitted` finds it by. `form`, that
    of its lines, goes with it: when the answers come, more may be known than when it was asked.

    A batch is opened by one request and no second: one whose answer is lost may have been taken, and would be
    paid twice. Raises BatchError, `again` where it may have been opened: `find_submitted` knows.
    """
    async with _client(config) as client:
        file = await client.files.create(file=("questions.jsonl", lines), purpose="batch")
    async with _client(config, max_retries=0) as client:
        batch = await client.batches.create(
            input_file_id=file.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={_MARK: mark, _FORM: json.dumps(form.dump())},
        )
        return _state(batch, config.secrets)


async def find_submitted(config: JudgeConfig, mark: str, since: datetime) -> BatchState | None:
    """The batch with this mark, if one was opened since then: a kill, or an answer that was lost, may have
    come between opening it and writing its id down.
    """
    earliest = since.timestamp() - CLOCKS_DIFFER_BY_SECONDS
    async with _client(config) as client:
        seen = 0
        async for batch in client.batches.list(limit=100):
            if (batch.metadata or {}).get(_MARK) == mark:
                return _state(batch, config.secrets)
            seen += 1
            opened = batch.created_at
            if seen >= LOOKED_THROUGH or (isinstance(opened, int) and opened < earliest):
                break
    return None


async def state_of(config: JudgeConfig, batch_id: str) -> BatchState:
    """How far the batch is."""
    async with _client(config) as client:
        return _state(await client.batches.retrieve(batch_id), config.secrets)


async def cancel(config: JudgeConfig, batch_id: str) -> BatchState:
    """Asks for no more answers; those there are can still be fetched."""
    async with _client(config) as client:
        return _state(await client.batches.cancel(batch_id), config.secrets)


async def answers(config: JudgeConfig, state: BatchState) -> BatchAnswers:
    """What was answered. A file that is gone, breaks off or holds something else is told, not raised."""
    answers: dict[str, HttpAnswer | None] = {}
    faults: list[str] = []
    lines = 0
    async with _client(config) as client:
        for file_id in filter(None, (state.output_file_id, state.error_file_id)):
            try:
                content = (await client.files.content(file_id)).content
            except openai.APIStatusError as error:
                if error.status_code in MENDED_BY_PEOPLE:
                    raise
                faults.append(f"HTTP {error.status_code} instead of the file")
            except (openai.APIConnectionError, *_BREAKS_OFF_IN):
                faults.append("the file did not come whole")
            else:
                read = unreadable = 0
                for line in filter(bytes.strip, io.BytesIO(content)):
                    read += 1
                    if (one := _read(line)) is None:
                        unreadable += 1
                    else:
                        _merge(answers, [one])
                lines += read
                if unreadable:
                    faults.append(f"{unreadable:,} of {read:,} lines are no answers")
    if state.state == "completed" and not lines and not faults:
        faults.append("there is nothing in it")
    return BatchAnswers(
        by_id={name: answer for name, answer in answers.items() if answer is not None},
        unanswered=frozenset(name for name, answer in answers.items() if answer is None),
        unreadable="; ".join(faults),
    )


def _merge(answers: dict[str, HttpAnswer | None], read: Iterable[tuple[str, HttpAnswer | None]]) -> None:
    """An id may come twice, in one file or in both: an answer stands against a failure beside it."""
    for name, answer in read:
        before = answers.get(name)
        if before is None or before.status >= 300:
            answers[name] = answer or before


def unread(config: JudgeConfig, question: Question, why: str) -> Reply:
    """The reply to a question whose answer in the batch cannot be read."""
    return Reply(
        key=question.key,
        reading=None,
        error=JudgeError("unreadable_batch", why),
        text="",
        model=config.model,
        rung="",
        attempts=1,
        prompt_tokens=None,
        completion_tokens=None,
        cost_usd=None,
        latency_seconds=0.0,
    )


class Replayed(NamedTuple):
    """The reply to a question of a batch, and what the endpoint told by it: what it refuses, which rung it
    answers on. `floor` is where to ask next, and nothing may be answered there either. After a reply that
    `is_settled` a live judge would ask neither again nor the fallback model.
    """

    reply: Reply
    learned: EndpointCapabilities
    is_settled: bool


async def replayed(
    questions: Mapping[str, tuple[JudgeConfig, Question]],
    answered: Mapping[str, HttpAnswer],
    form: EndpointCapabilities,
) -> AsyncIterator[Replayed]:
    """The reply to every question that was answered, as if it had been asked live, at the price of a batch.

    `form` is what the batch was handed in with. A failure that is not settled was paid for like any other. So
    does a question fail whose parameter or reply format was refused: it can be asked in another form.
    """
    for custom_id, (config, question) in questions.items():
        if (answer := answered.get(custom_id)) is None:
            continue
        recorded = _RecordedEndpoint(answer, form)
        reply = await recorded.asked(config, question, attempts=1)
        if recorded.refuses_the_form and not is_prose(question.prompt):
            recorded.form.floor = RUNGS.index(reply.rung)
        is_settled = await _settles(reply, config, question, _RecordedEndpoint(answer, form))
        yield Replayed(reply, recorded.form.beyond(form), is_settled)


async def _settles(reply: Reply, config: JudgeConfig, question: Question, again: _RecordedEndpoint) -> bool:
    if reply.error is None or reply.error.retryable:
        return reply.error is None
    if reply.error.kind in FALLBACK_KINDS and config.fallback_model not in ("", config.model):
        return False
    # A refusal in words is asked again: that shows where a second attempt is allowed.
    await again.asked(config, question, attempts=min(config.max_attempts, 2))
    return again.posts == 1


class _RecordedEndpoint:
    """Stands in for the endpoint: answers once, with what it had answered in the batch.

    `form` is what the question left out, and what the answer taught beside it; `posts` counts requests.
    """

    def __init__(self, answer: HttpAnswer, form: EndpointCapabilities) -> None:
        self._answer = answer
        # Each as it was asked: what the answer before it taught was in this request all the same.
        self.form = replace(form, proven=set(), without=set(form.without), recheck_at=math.inf)
        self.posts = 0

    async def asked(self, config: JudgeConfig, question: Question, attempts: int) -> Reply:
        """The reply after at most so many attempts; it took no time of its own."""
        limiter = FixedLimiter(1, config.model)
        config = replace(config.at_batch_price(), max_attempts=attempts, backoff_seconds=0.0)
        context = AttemptContext(self, self.form, limiter, Cancellation(0.0), random.random)
        return replace(await Attempts(context, config, question).run(), latency_seconds=0.0)

    @property
    def refuses_the_form(self) -> bool:
        """Whether whoever asked would have asked once more in another form, after a 4xx."""
        return self.posts > 1 and self._answer.status < 500

    async def post(self, config: JudgeConfig, body: bytes) -> HttpAnswer:
        self.posts += 1
        if self.posts > 1:
            raise NoConnection("a batch asks once")
        return self._answer


def _rung(question: Question, capabilities: EndpointCapabilities) -> int:
    return RUNGS.index(TEXT) if is_prose(question.prompt) else capabilities.first_rung(time.monotonic())


def _state(batch: Batch, secrets: Sequence[str]) -> BatchState:
    """Raises BatchError for an answer that names no batch: the SDK takes whatever came for one."""
    if not (_is_word(batch.id) and _is_word(batch.status)):
        raise BatchError(f"{_UNREADABLE}: no batch with an id and a status", again=False)
    faults = getattr(batch.errors, "data", None)
    said = "; ".join(
        quoted_without(secrets, f"{getattr(fault, 'code', '')}: {getattr(fault, 'message', '')}")
        for fault in (faults[:3] if isinstance(faults, list) else ())
    )
    output, errors, told = batch.output_file_id, batch.error_file_id, batch.metadata
    return BatchState(
        id=batch.id,
        state=batch.status,
        output_file_id=output if _is_word(output) else None,
        error_file_id=errors if _is_word(errors) else None,
        error=said[:400],
        form=EndpointCapabilities.parse(told.get(_FORM)) if isinstance(told, dict) else None,
    )


def _is_word(value: object) -> bool:
    """Whether it is a text that every database stores and every address can hold."""
    return isinstance(value, str) and 0 < len(value) <= MAX_ID and value.isascii() and value.isprintable()


def _read(line: bytes) -> tuple[str, HttpAnswer | None] | None:
    """(custom id, answer) of a line, without an answer where the provider says that there is none; None for a
    line that says nothing, or is longer than a live answer may be.
    """
    if len(line) > MAX_ANSWER_BYTES:
        return None
    try:
        answer = json.loads(line)
        name, response = answer["custom_id"], answer["response"]
        if not isinstance(name, str):
            return None
        if response is None:
            return name, None
        status, body = int(response["status_code"]), response["body"]
        if not 100 <= status <= 999:
            return None
        return name, HttpAnswer(status, {}, (), json.dumps(body).encode())
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


@asynccontextmanager
async def _client(config: JudgeConfig, *, max_retries: int = 2) -> AsyncIterator[AsyncOpenAI]:
    """The provider's interface through guarded sockets, its errors as BatchError."""
    try:
        check_url(config.base_url, config.allow_private_hosts)  # the SDK raises for what it cannot read
    except BlockedAddress as error:
        raise BatchError(str(error), again=False) from error
    transport = GuardedTransport(
        allow_private_hosts=config.allow_private_hosts, max_answer_bytes=MAX_FILE_BYTES
    )
    client = _BatchClient(
        # Empty texts rather than None: None makes the SDK look into the environment.
        api_key=config.api_key or "",
        admin_api_key="",
        webhook_secret="",
        base_url=config.base_url,
        timeout=TIMEOUT_SECONDS,
        max_retries=max_retries,
        default_headers=dict(config.extra_headers),
        http_client=httpx2.AsyncClient(transport=transport, follow_redirects=False, trust_env=False),
        _enforce_credentials=False,
    )
    try:
        yield client
    except openai.APIStatusError as error:
        message = provider_message(error.body, config.secrets) or f"HTTP {error.status_code}"
        again = error.status_code in (408, 409, 429) or error.status_code >= 500
        gone = error.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
        raise BatchError(f"HTTP {error.status_code}: {message}", again=again, gone=gone) from error
    except openai.APIConnectionError as error:
        raise BatchError(
            f"the endpoint could not be reached: {error.__cause__ or error}", again=True
        ) from error
    except BlockedAddress as error:
        raise BatchError(str(error), again=False) from error
    except _BREAKS_OFF_IN as error:
        raise BatchError(_UNREADABLE, again=False) from error
    finally:
        await client.close()


class _BatchClient(AsyncOpenAI):
    """AsyncOpenAI that sends no key where there is none, and no report of the platform."""

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        headers: dict[str, str | Omit] = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": "rubricweb",
            **self._custom_headers,
        }
        if not self.api_key:
            headers["Authorization"] = Omit()
        elif "Authorization" not in headers:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return headers

    def _validate_headers(self, headers: object, custom_headers: object) -> None:
        """Nothing to insist on: an endpoint may need no key."""
