"""The wire: requests carried by aiohttp through guarded sockets.

Wire                one session, nothing above it; what judges are asked over
GuardedTransport    the same behind httpx2's face, for a client that wants one
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import aiohttp
import httpx2
import yarl
from aiohttp.abc import AbstractResolver
from aiohttp.http_exceptions import HttpProcessingError

from rubricweb.judges.client.addresses import BlockedAddress, check_url
from rubricweb.judges.client.guarded_sockets import guarded_connector

MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""Answers are cut off here, counted after decompression: a judge's reply is a few kilobytes."""

# A charset is the endpoint's to name, and httpx2 would decode by it: `punycode` takes hours, `hex` raises.
_NOT_PASSED_ON = frozenset({b"content-encoding", b"content-length", b"content-type"})
_NO_TIMEOUTS = aiohttp.ClientTimeout()


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A whole answer; `headers` are found by name in any case, `raw_headers` are as they came."""

    status: int
    headers: Mapping[str, str]
    raw_headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


class NoAnswer(Exception):
    """No whole answer came. The message says why, without the address."""


class NoConnection(NoAnswer):
    """Nobody was reached."""


class Wire:
    """A session to one endpoint: sends only to addresses that may be called, follows no redirect, reads no
    more than a cap.

    Without environment proxies: a proxy would resolve names again, out of the guard's sight. The session is
    made at the first request, in the loop that makes it.
    """

    def __init__(
        self,
        *,
        allow_private_hosts: bool,
        resolver: AbstractResolver | None = None,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self._allow_private_hosts = allow_private_hosts
        self._resolver = resolver
        self._max_answer_bytes = max_answer_bytes
        self._session: aiohttp.ClientSession | None = None

    async def send(
        self,
        method: str,
        url: yarl.URL,
        headers: Mapping[str, str],
        body: bytes,
        timeouts: aiohttp.ClientTimeout = _NO_TIMEOUTS,
    ) -> HttpAnswer:
        """Send one request and read its whole answer; the text of `url` must have passed `check_url`.

        Raises BlockedAddress, TimeoutError, or NoAnswer.
        """
        session = self._session or self._open(url.scheme)
        try:
            async with session.request(
                method, url, headers=headers, data=body, allow_redirects=False, timeout=timeouts
            ) as answer:
                return HttpAnswer(answer.status, answer.headers, answer.raw_headers, await self._read(answer))
        except TimeoutError:  # aiohttp's own timeouts are also ClientErrors: they come first
            raise
        except aiohttp.ClientConnectorError as error:
            raise NoConnection(_reason(error)) from error
        except BlockedAddress:
            raise
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError, zlib.error) as error:
            # Not all that reading an answer may raise is a ClientError.
            raise NoAnswer(_reason(error)) from error

    async def aclose(self) -> None:
        """Close the session's connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self, scheme: str) -> aiohttp.ClientSession:
        connector = guarded_connector(
            self._allow_private_hosts,
            resolver=self._resolver,
            tls=httpx2.create_ssl_context() if scheme == "https" else None,
        )
        self._session = aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
        )
        return self._session

    async def _read(self, answer: aiohttp.ClientResponse) -> bytes:
        content = answer.content
        body = await content.readany()  # nearly always all of it
        if content.at_eof() and len(body) <= self._max_answer_bytes:
            return body
        chunks, size = [body], len(body)
        while chunk := await content.readany():
            size += len(chunk)
            chunks.append(chunk)
            if size > self._max_answer_bytes:
                break
        if size > self._max_answer_bytes:
            answer.close()
            raise aiohttp.ClientPayloadError(f"the answer is longer than {self._max_answer_bytes} bytes")
        return b"".join(chunks)


class GuardedTransport(Wire, httpx2.AsyncBaseTransport):
    """A Wire for httpx2. Raises BlockedAddress, `httpx2.TimeoutException`, `ConnectError` or `ReadError`."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and read its whole answer."""
        url = str(request.url)
        check_url(url.partition("?")[0], self._allow_private_hosts)  # the query is ours
        given: dict[str, float | None] = request.extensions.get("timeout", {})
        # The whole answer in the time of a read: one that comes byte by byte is never late by itself.
        timeouts = aiohttp.ClientTimeout(total=given.get("read"), sock_connect=given.get("connect"))
        try:
            answer = await self.send(
                request.method, yarl.URL(url, encoded=True), request.headers, await request.aread(), timeouts
            )
        except TimeoutError as error:
            raise httpx2.ReadTimeout("no answer in time", request=request) from error
        except NoConnection as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        except NoAnswer as error:
            raise httpx2.ReadError(str(error), request=request) from error
        return as_httpx2(answer, request)


def as_httpx2(answer: HttpAnswer, request: httpx2.Request) -> httpx2.Response:
    """The answer in httpx2's words; its body is unpacked already, and is read as UTF-8 whatever it says."""
    headers = [pair for pair in answer.raw_headers if pair[0].lower() not in _NOT_PASSED_ON]
    headers.append((b"content-type", b"application/json; charset=utf-8"))
    return httpx2.Response(answer.status, headers=headers, content=answer.body, request=request)


def _reason(error: Exception) -> str:
    """What went wrong, without aiohttp's repetition of the address, or of what the endpoint sent instead."""
    if isinstance(error, aiohttp.ClientResponseError | aiohttp.ClientPayloadError | HttpProcessingError):
        message = (getattr(error, "message", "") or str(error)).removeprefix("400, message:").lstrip()
        return message.partition(":")[0].partition(" when reading")[0]
    cause: object = getattr(error, "os_error", None) or error
    strerror: Callable[[], str] | str | None = getattr(cause, "strerror", None)
    return strerror if isinstance(strerror, str) else (str(cause) or type(cause).__name__)
