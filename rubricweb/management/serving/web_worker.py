"""The gunicorn worker of the web processes: an event loop reads whole requests, threads answer them.

A client that sends or reads slowly holds a connection, and no thread: a thread is taken once the last byte of
a request has come, and is free again once the answer is made, even while a client still reads it
(docs/decisions/0044-who-waits-for-slow-clients.md).
"""

import asyncio
import logging
import os
import resource
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.web_protocol import RequestHandler
from aiohttp.worker import GunicornWebWorker

from rubricweb.management.serving.request_front import RequestFront

HEAD_SECONDS = 20.0
"""How long a client may take for the first line and headers, and stay connected between two requests."""
LINGER_SECONDS = 5.0
"""How long the rest of a refused body is read and thrown away, so that its sender sees the answer."""
MOST_CONNECTIONS = 2_000
SPARE_FILES = 200
"""Of the files a process may have open: for the database, static files and bodies on disk."""


class WebWorker(GunicornWebWorker):
    """One web process; `rubricweb.wsgi` says how large the body of a request may be."""

    async def _run(self) -> None:
        threads = ThreadPoolExecutor(self.cfg.threads, thread_name_prefix="request")
        front = RequestFront(self.wsgi, threads, log=self.log.error_log)
        server = CappedServer(
            front.answer,
            is_busy=front.is_busy,
            most_connections=_connections_allowed(),
            keepalive_timeout=HEAD_SECONDS,
            lingering_time=LINGER_SECONDS,
            auto_decompress=False,  # a small body could else become a large one
            access_log=None,
            logger=_logger(),
        )
        for listener in self.sockets:
            listener.sock.setblocking(False)
            self.loop.add_reader(listener.fileno(), self._accept, listener.sock, server)
        self.booted = True
        while self.alive:
            self.notify()
            if self.ppid != os.getppid():
                self.log.info("Parent changed, shutting down: %s", self)
                break
            await self._wait_next_notify()
        for listener in self.sockets:
            self.loop.remove_reader(listener.fileno())
        # Requests that are being answered get their answer; those that are not whole yet are not waited for.
        server.drop_waiting()
        await server.shutdown(self.cfg.graceful_timeout * 0.9)
        threads.shutdown(wait=False, cancel_futures=True)

    def _accept(self, listener: socket.socket, server: "CappedServer") -> None:
        """Takes one connection at a time, so that the processes that listen here share them."""
        try:
            connection, _ = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # another process took it
        except OSError as error:
            # No file is free. What waits for a request makes room; the connection is taken at the next look.
            self.log.warning("A connection could not be accepted: %s", error)
            server.drop_longest_waiting()
            return
        connection.setblocking(False)
        task = self.loop.create_task(self.loop.connect_accepted_socket(server, connection))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    def handle_exit(self, sig: int, frame: Any) -> None:
        super().handle_exit(sig, frame)
        self._notify_waiter_done()


class CappedServer(web.Server):
    """Closes the connection that has waited longest for a whole request when there are too many of them."""

    def __init__(
        self,
        handler: Callable[[web.BaseRequest], Any],
        *,
        is_busy: Callable[[RequestHandler], bool],
        most_connections: int,
        **options: Any,
    ) -> None:
        super().__init__(handler, **options)
        self._is_busy = is_busy
        self._most_connections = most_connections

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        if len(self._connections) > self._most_connections:
            self.drop_longest_waiting()

    def drop_longest_waiting(self) -> None:
        # In the order in which they connected; the newest is among them, where all others are busy.
        for connection in self.connections:
            if not self._is_busy(connection):
                _drop(connection)
                return

    def drop_waiting(self) -> None:
        for connection in self.connections:
            if not self._is_busy(connection):
                _drop(connection)


def _drop(connection: RequestHandler) -> None:
    if connection.transport is not None:
        connection.transport.abort()


def _connections_allowed() -> int:
    """As many as the limit of open files leaves room for, which is raised as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return min(MOST_CONNECTIONS, max(soft - SPARE_FILES, soft // 2))


def _logger() -> logging.Logger:
    """Without a traceback for each client that speaks no HTTP."""
    logger = logging.getLogger("rubricweb.web_worker")
    logger.addFilter(
        lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))
    )
    return logger
