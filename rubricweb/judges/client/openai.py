"""Asking questions of an OpenAI-compatible endpoint over warm connections.

The `openai` package is what knows the endpoint: it makes the address, the headers and the key of a request.
It does so once per client; every further request is the same but for its body, and goes straight to the wire
(see `docs/decisions/0012`).
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import yarl
from aiohttp.abc import AbstractResolver
from multidict import CIMultiDict
from openai import AsyncOpenAI, Omit

from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.client.addresses import check_url
from rubricweb.judges.client.attempts import AttemptContext, Attempts, fallen_back
from rubricweb.judges.client.attempts import Jitter as Jitter
from rubricweb.judges.client.failures import FALLBACK_KINDS
from rubricweb.judges.client.reply_formats import EndpointCapabilities
from rubricweb.judges.client.transport import HttpAnswer, Wire
from rubricweb.judges.permits import FixedLimiter, Limiter

LimiterOf = Callable[[JudgeConfig], Limiter]
LoadCapabilities = Callable[[JudgeConfig], Mapping[str, Any]]


class JudgeClient:
    """A warm connection to one endpoint; every model asked there shares it.

    Use it from one event loop. `limiter_of` names what hands out permits for a model of this endpoint;
    without it only `config.concurrency` bounds what is in flight. `load_capabilities` gives what
    `new_capabilities` once told about a model, {} for nothing; it is called in the loop, at the first
    question to that model. `resolver` stands in for the system's name lookup. Nothing is read from the
    environment: no key, no organisation, no proxy.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        *,
        allow_private_hosts: bool = False,
        resolver: AbstractResolver | None = None,
        limiter_of: LimiterOf | None = None,
        load_capabilities: LoadCapabilities = lambda config: {},
    ) -> None:
        self._endpoint = _Endpoint(base_url, api_key, allow_private_hosts, resolver)
        self._limiter_of = limiter_of or functools.cache(
            lambda config: FixedLimiter(config.concurrency, config.model)
        )
        self._load_capabilities = load_capabilities
        self._models: dict[str, _Known] = {}

    async def ask(
        self,
        config: JudgeConfig,
        question: Question,
        *,
        cancellation: Cancellation | None = None,
        jitter: Jitter = random.random,
        mark_at: int = 0,
        on_sent: Callable[[], None] | None = None,
    ) -> Reply:
        """Ask until answered, refused, out of attempts, out of time or stopped; none of which raises.

        `config` must name this client's endpoint. `jitter` returns a number in [0, 1) that spreads the
        pauses. `mark_at` counts the characters of the user's message that other prompts share, where the
        config wants a mark for the cache; 0 is no mark. `on_sent` is called whenever a request goes out. When
        the model fails with one of FALLBACK_KINDS, the config's fallback model is asked the same question
        with the same patience, once: it has no fallback of its own.
        """
        cancellation = cancellation or Cancellation(config.stop_grace_seconds)
        how = _How(cancellation, jitter, mark_at, on_sent or _nothing)
        reply = await self._attempts(config, question, how).run()
        if reply.error is None or reply.error.kind not in FALLBACK_KINDS:
            return reply
        if config.fallback_model in ("", config.model):
            return reply
        second = await self._attempts(_fallback_of(config), question, how).run()
        return fallen_back(reply, second, config)

    def new_capabilities(self) -> list[tuple[JudgeConfig, dict[str, Any]]]:
        """What was learned for good since the last call, with a config of the model it is about: nearly
        always nothing. From any thread.
        """
        learned = []
        for known in list(self._models.values()):
            if known.capabilities.revision != known.reported:
                known.reported = known.capabilities.revision
                learned.append((known.config, known.capabilities.dump()))
        return learned

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()

    def capabilities_of(self, config: JudgeConfig) -> EndpointCapabilities:
        """What this model was found to accept so far; it goes on learning."""
        known = self._models.get(config.model)
        if known is None:
            known = self._models[config.model] = _Known(
                config, EndpointCapabilities.load(self._load_capabilities(config))
            )
        return known.capabilities

    def _attempts(self, config: JudgeConfig, question: Question, how: _How) -> Attempts:
        asked = AttemptContext(
            self._endpoint,
            self.capabilities_of(config),
            self._limiter_of(config),
            how.cancellation,
            how.jitter,
            how.mark_at,
            how.on_sent,
        )
        return Attempts(asked, config, question)


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class _How:
    """How one question is asked, whichever model answers it."""

    cancellation: Cancellation
    jitter: Jitter
    mark_at: int
    on_sent: Callable[[], None]


@dataclass(slots=True)
class _Known:
    """What was found out about one model, and up to which revision it was reported."""

    config: JudgeConfig
    capabilities: EndpointCapabilities
    reported: int = 0


@functools.lru_cache(maxsize=256)
def _fallback_of(config: JudgeConfig) -> JudgeConfig:
    return config.as_fallback()


@dataclass(frozen=True, slots=True)
class _Prepared:
    """All of a request but its body, as the SDK makes it."""

    url: yarl.URL
    headers: CIMultiDict[str]


class _Endpoint:
    """The wire to one endpoint, and requests prepared by the SDK."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        allow_private_hosts: bool,
        resolver: AbstractResolver | None,
    ) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._sdk: _Sdk | None = None
        self._wire = Wire(allow_private_hosts=allow_private_hosts, resolver=resolver)
        self._allow_private_hosts = allow_private_hosts
        self._prepared: dict[tuple[tuple[str, str], ...], _Prepared] = {}

    async def post(self, config: JudgeConfig, body: bytes) -> HttpAnswer:
        """See `attempts.Endpoint`."""
        prepared = self._prepared.get(config.extra_headers)
        if prepared is None:
            prepared = await self._prepare(config)
        return await self._wire.send("POST", prepared.url, prepared.headers, body)

    async def aclose(self) -> None:
        await self._wire.aclose()
        if self._sdk is not None:
            await self._sdk.close()

    async def _prepare(self, config: JudgeConfig) -> _Prepared:
        check_url(self._base_url, self._allow_private_hosts)
        if self._sdk is None:  # not before: it raises for an address that cannot be read
            self._sdk = _Sdk.at(self._base_url, self._api_key)
        request = await self._sdk.prepared(dict(config.extra_headers))
        url = str(request.url)
        check_url(url, self._allow_private_hosts)
        headers = CIMultiDict(
            (name, value)
            for name, value in request.headers.multi_items()
            # The body decides the first, the wire the others.
            if name.lower() not in ("content-length", "host", "connection")
        )
        prepared = _Prepared(yarl.URL(url, encoded=True), headers)
        self._prepared[config.extra_headers] = prepared
        return prepared


class _Sdk(AsyncOpenAI):
    """AsyncOpenAI with our own few headers: no platform report, nothing from the environment."""

    @classmethod
    def at(cls, base_url: str, api_key: str | None) -> _Sdk:
        return cls(
            # Empty texts rather than None: None makes the SDK look into the environment.
            api_key=api_key or "",
            admin_api_key="",
            webhook_secret="",
            base_url=base_url,
            max_retries=0,
            http_client=httpx2.AsyncClient(transport=_Unsent(), follow_redirects=False, trust_env=False),
            _enforce_credentials=False,
        )

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        return {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": "rubricweb",
        }

    async def prepared(self, extra_headers: Mapping[str, str]) -> httpx2.Request:
        """A request for a chat completion as this package sends it; its body stands in for any other."""
        headers: dict[str, str | Omit] = dict(extra_headers)
        headers |= {"x-stainless-retry-count": Omit(), "x-stainless-read-timeout": Omit()}
        if not self.api_key:
            headers["Authorization"] = Omit()
        answer = await self.post(
            "/chat/completions", body={}, cast_to=httpx2.Response, options={"headers": headers}
        )
        return answer.request


class _Unsent(httpx2.AsyncBaseTransport):
    """Answers every request itself: whoever asks wants to see the request."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json={}, request=request)
