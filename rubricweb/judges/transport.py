"""The wire: httpx2 requests carried by aiohttp through guarded sockets."""

from __future__ import annotations

from collections.abc import Callable

import aiohttp
import httpx2
from aiohttp.abc import AbstractResolver

from rubricweb.judges.addresses import check_url, guarded_connector

MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""Answers are cut off here, counted after decompression: a judge's reply is a few kilobytes."""


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends requests only to addresses that may be called, follows nothing, and reads no more than a cap.

    Without environment proxies: a proxy would resolve names again, out of the guard's sight. The session is
    made at the first request, in the loop that makes it. Raises BlockedAddress, `httpx2.TimeoutException`,
    `httpx2.ConnectError` or `httpx2.ReadError`.
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

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and read its whole answer."""
        url = str(request.url)
        check_url(url, self._allow_private_hosts)
        session = self._open(request.url.scheme)
        try:
            async with session.request(
                request.method,
                url,
                headers=request.headers,
                data=await request.aread(),
                allow_redirects=False,
                timeout=_timeouts(request),
            ) as answer:
                body = await self._read(answer)
        except TimeoutError as error:  # aiohttp's own timeouts are also ClientErrors: they come first
            raise httpx2.ReadTimeout("no answer in time", request=request) from error
        except aiohttp.ClientConnectorError as error:
            raise httpx2.ConnectError(_reason(error), request=request) from error
        except aiohttp.ClientError as error:
            raise httpx2.ReadError(_reason(error), request=request) from error
        headers = [
            pair
            for pair in answer.raw_headers
            if pair[0].lower() not in (b"content-encoding", b"content-length")
        ]
        return httpx2.Response(answer.status, headers=headers, content=body, request=request)

    async def aclose(self) -> None:
        """Close the session's connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self, scheme: str) -> aiohttp.ClientSession:
        if self._session is None:
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
        chunks: list[bytes] = []
        size = 0
        async for chunk in answer.content.iter_chunked(64 * 1024):
            size += len(chunk)
            if size > self._max_answer_bytes:
                answer.close()
                raise aiohttp.ClientPayloadError(f"the answer is longer than {self._max_answer_bytes} bytes")
            chunks.append(chunk)
        return b"".join(chunks)


def _timeouts(request: httpx2.Request) -> aiohttp.ClientTimeout:
    given: dict[str, float | None] = request.extensions.get("timeout", {})
    return aiohttp.ClientTimeout(sock_connect=given.get("connect"), sock_read=given.get("read"))


def _reason(error: aiohttp.ClientError) -> str:
    """What went wrong, without aiohttp's repetition of the address."""
    cause: object = getattr(error, "os_error", None) or error
    strerror: Callable[[], str] | str | None = getattr(cause, "strerror", None)
    return strerror if isinstance(strerror, str) else (str(cause) or type(cause).__name__)
