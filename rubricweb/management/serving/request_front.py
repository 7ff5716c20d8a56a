"""Between a connection and the WSGI application: the whole request goes in, the answer comes out."""

import asyncio
import logging
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any
from urllib.parse import unquote_to_bytes

from aiohttp import HttpVersion11, web
from aiohttp.web_protocol import RequestHandler, RequestPayloadError

from rubricweb.management.serving.answer_spool import AnswerSpool

SMALL_BYTES = 64 * 1024
"""A body up to this size is read without asking whether it may come in."""
IN_MEMORY_BYTES = 1024 * 1024
"""Of a body; the rest of a larger one is on disk."""
SILENT_SECONDS = 30.0
"""How long a client may send nothing in the middle of a body, or read nothing in the middle of an answer."""
LEAST_BYTES_A_SECOND = 1024
"""A body that comes more slowly than this, after its first half minute, is not waited for."""

NO_BODY = (204, 304)


class TooSlow(Exception):
    """The client takes longer over its body than it may."""


class RequestFront:
    """Reads requests, has threads answer them, and sends what they answered.

    `wsgi` has beside the usual call a `largest_body(environ)`: the most bytes the body of a request may have,
    which is asked, in a thread, where a body is larger than `SMALL_BYTES`.
    """

    def __init__(self, wsgi: Any, threads: ThreadPoolExecutor, *, log: logging.Logger) -> None:
        self._wsgi = wsgi
        self._largest_body: Callable[[dict[str, Any]], int] = wsgi.largest_body
        self._threads = threads
        self._log = log
        self._busy: set[RequestHandler] = set()

    def is_busy(self, connection: RequestHandler) -> bool:
        """Whether a whole request has come, and is being answered."""
        return connection in self._busy

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        environ = environ_of(request)
        with tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES) as body:
            try:
                await self._read(request, environ, body)
            except (TooSlow, TimeoutError):
                return _refusal(408, "The body of the request came too slowly; send it again.")
            except (RequestPayloadError, ConnectionError):
                return _refusal(400, "The body of the request is broken.")
            environ["wsgi.input"] = body
            self._busy.add(request.protocol)
            try:
                return await self._answered(request, environ)
            finally:
                self._busy.discard(request.protocol)

    async def _read(self, request: web.BaseRequest, environ: dict[str, Any], body: IO[bytes]) -> None:
        """Reads the body, unless it is larger than it may be.

        Of one that is too large nothing more is read: the application gets an empty one with its length, or
        what is known of it, and says what it says to that.
        """
        announced = request.content_length or 0
        limit = SMALL_BYTES if announced <= SMALL_BYTES else await self._ask_limit(environ)
        if announced > limit:
            return
        # Clients of HTTP/1.0 would take it for the answer, and who sends no body waits for nothing.
        asks = request.body_exists and request.headers.get("Expect", "").lower() == "100-continue"
        if asks and request.version >= HttpVersion11 and request.transport is not None:
            request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        started = time.monotonic()
        received = 0
        while True:
            async with asyncio.timeout(SILENT_SECONDS):
                piece = await request.content.readany()
            if not piece:
                break
            received += len(piece)
            if received > limit:  # without a length, in chunks
                limit = await self._ask_limit(environ) if limit == SMALL_BYTES else limit
            if received > limit:
                environ["CONTENT_LENGTH"] = str(received)
                body.seek(0)
                body.truncate()
                return
            if time.monotonic() - started > SILENT_SECONDS + received / LEAST_BYTES_A_SECOND:
                raise TooSlow
            body.write(piece)
        if received or "CONTENT_LENGTH" in environ:
            environ["CONTENT_LENGTH"] = str(received)
        body.seek(0)

    async def _ask_limit(self, environ: dict[str, Any]) -> int:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, self._largest_body, environ)
        except Exception:  # such as a database that is away: the application says so
            self._log.exception("Error before request %s", environ["PATH_INFO"])
            return SMALL_BYTES

    async def _answered(self, request: web.BaseRequest, environ: dict[str, Any]) -> web.StreamResponse:
        loop = asyncio.get_running_loop()
        spool = AnswerSpool(loop)
        loop.run_in_executor(self._threads, self._call, environ, spool)
        try:
            head = await spool.head()
            if head is None:
                return _refusal(500, "Something broke. It is our fault and was logged.")
            status, reason, headers = head
            response = web.StreamResponse(status=status, reason=reason)
            response.headers["Server"] = "rubricweb"
            for name, value in headers:
                response.headers.add(name, value)
            await self._send(request, response, spool)
            return response
        finally:
            spool.cut()

    async def _send(self, request: web.BaseRequest, response: web.StreamResponse, spool: AnswerSpool) -> None:
        try:
            await response.prepare(request)
            sends = request.method != "HEAD" and response.status not in NO_BODY
            async for piece in spool.pieces():
                if sends:
                    async with asyncio.timeout(SILENT_SECONDS):
                        await response.write(piece)
            if spool.failed:
                raise ConnectionResetError("the answer is not whole")
            async with asyncio.timeout(SILENT_SECONDS):
                await response.write_eof()
        except (ConnectionError, TimeoutError):
            # What was sent goes out, without its end: nobody takes it for the whole.
            if request.transport is not None:
                request.transport.close()

    def _call(self, environ: dict[str, Any], spool: AnswerSpool) -> None:
        """In a thread: has the application answer, to the end or until nobody reads it any more."""
        answer: Iterable[bytes] = ()
        failed = False
        try:
            answer = self._wsgi(environ, spool.start_response)
            for piece in answer:
                if piece:
                    spool.write(piece)
        except ConnectionResetError:
            failed = True  # nobody reads it any more
        except BaseException:
            failed = True
            method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
            self._log.exception("Error handling request %s %s", method, path)
        finally:
            spool.end(failed=failed)
            try:
                getattr(answer, "close", lambda: None)()
            except Exception:
                self._log.exception("Error after request %s", environ["PATH_INFO"])


def _refusal(status: int, text: str) -> web.Response:
    response = web.Response(status=status, text=f"{text}\n", headers={"Server": "rubricweb"})
    response.force_close()
    return response


def environ_of(request: web.BaseRequest) -> dict[str, Any]:
    """The request as PEP 3333 has it, but for `wsgi.input`."""
    path, _, query = _target(request.raw_path).partition("?")
    local = request.transport.get_extra_info("sockname") if request.transport else None
    remote = request.transport.get_extra_info("peername") if request.transport else None
    host, port = local[:2] if isinstance(local, tuple) else ("localhost", "")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(_raw(path)).decode("latin-1"),
        "QUERY_STRING": _raw(query).decode("latin-1"),
        "RAW_URI": request.raw_path,
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{request.version.major}.{request.version.minor}",
        "REMOTE_ADDR": remote[0] if isinstance(remote, tuple) else "",
        "wsgi.version": (1, 0),
        # Behind a proxy that speaks HTTPS, TRUST_X_FORWARDED_PROTO says whether it is believed.
        "wsgi.url_scheme": "http",
        "wsgi.errors": _Errors(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.input_terminated": True,
    }
    for raw_name, raw_value in request.raw_headers:
        if b"_" in raw_name:
            continue  # it could pass for the same name with a dash
        name, value = raw_name.decode("latin-1").upper().replace("-", "_"), raw_value.decode("latin-1")
        key = name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"
        between = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{between}{value}" if key in environ else value
    environ.pop("HTTP_TRANSFER_ENCODING", None)  # the body comes whole
    return environ


def _target(raw: str) -> str:
    """The path of what a request asks for, which may be a whole address."""
    if "://" in raw.partition("?")[0] and not raw.startswith("/"):
        return "/" + raw.partition("://")[2].partition("/")[2]
    return raw if raw.startswith("/") else ""


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class _Errors:
    """What the application writes for the server's log."""

    def write(self, text: str) -> int:
        logging.getLogger("rubricweb.wsgi").error("%s", text.rstrip())
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Nothing is held back."""
