"""The event loop of a process: a daemon thread with one warm client and one rate limiter per endpoint.

What other processes learned about endpoints is kept here until it is asked for, and what this one learns
until somebody keeps it.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import os
import threading
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.rate_limit.limiters import RateLimiters

if TYPE_CHECKING:
    from rubricweb.judges.client.openai import JudgeClient
    from rubricweb.judges.permits import Limiter

_CLOSE_SECONDS = 5.0

T = TypeVar("T")


def lacks_capabilities(config: JudgeConfig) -> bool:
    """Whether this process has not been told yet what is known of this endpoint and model."""
    return _endpoint_of(config) not in _capabilities


def load_capabilities(config: JudgeConfig, capabilities: Mapping[str, Any]) -> None:
    """Tell this process what another one learned about an endpoint and model; {} is nothing.

    This is what `new_capabilities` gave. It counts from the first question there; later, this process knows
    better.
    """
    _capabilities[_endpoint_of(config)] = capabilities


def new_capabilities() -> list[tuple[JudgeConfig, dict[str, Any]]]:
    """What this process has learned since the last call about what endpoints accept, to be kept for others.

    Each comes with a config of the endpoint and model it is about. Nearly always empty.
    """
    background = _current
    if background is None or background.process_id != os.getpid():
        return []
    return [found for client in background.clients() for found in client.new_capabilities()]


def use_rate_limiters(make: Callable[[], RateLimiters]) -> None:
    """From now on a process asks through rate limiters made like this, once it asks anything.

    Without it each process learns the pace of an endpoint by itself.
    """
    global _make_rate_limiters
    _make_rate_limiters = make


def rate_limiters() -> RateLimiters | None:
    """The rate limiters this process asks through; None while it asks nobody."""
    return None if _current is None or _current.process_id != os.getpid() else _current.rate_limiters


def close_clients() -> None:
    """Close this process's connections and stop its loop; the next question starts anew. Runs at exit."""
    global _current
    _capabilities.clear()
    with _lock:
        background, _current = _current, None
    if background is not None and background.process_id == os.getpid():
        background.close()


class EventLoop:
    """An event loop in a daemon thread, with one client per endpoint."""

    def __init__(self) -> None:
        self.process_id = os.getpid()
        self.loop = asyncio.new_event_loop()
        self._clients: dict[tuple[str, str | None, bool], JudgeClient] = {}
        self._clients_lock = threading.Lock()
        self.rate_limiters = _make_rate_limiters()
        self._thread = threading.Thread(target=self.loop.run_forever, name="judges", daemon=True)
        self._thread.start()

    def limiter_of(self, config: JudgeConfig) -> Limiter:
        return self.rate_limiters.of(config)

    def submit(self, coroutine: Coroutine[object, object, T]) -> concurrent.futures.Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def client(self, config: JudgeConfig) -> JudgeClient:
        from rubricweb.judges.client.openai import JudgeClient  # a second to import: only for those who ask

        key = (config.base_url, config.api_key, config.allow_private_hosts)
        with self._clients_lock:
            if key not in self._clients:
                self._clients[key] = JudgeClient(
                    config.base_url,
                    config.api_key,
                    allow_private_hosts=config.allow_private_hosts,
                    limiter_of=self.limiter_of,
                    load_capabilities=lambda config: _capabilities.get(_endpoint_of(config), {}),
                )
            return self._clients[key]

    def clients(self) -> list[JudgeClient]:
        with self._clients_lock:
            return list(self._clients.values())

    def close(self) -> None:
        try:
            self.submit(self._close_clients()).result(timeout=_CLOSE_SECONDS)
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(timeout=_CLOSE_SECONDS)
            if not self._thread.is_alive():
                self.loop.close()

    async def _close_clients(self) -> None:
        pending = asyncio.all_tasks() - {asyncio.current_task()}
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        for client in self._clients.values():
            await client.aclose()
        self.rate_limiters.close()


_lock = threading.Lock()
_current: EventLoop | None = None
_make_rate_limiters: Callable[[], RateLimiters] = RateLimiters
# What other processes learned, by address, key and model.
_capabilities: dict[tuple[str, str | None, str], Mapping[str, Any]] = {}
# A forked child must not close its parent's sockets, which collecting these objects would do.
_inherited: list[EventLoop] = []


def _endpoint_of(config: JudgeConfig) -> tuple[str, str | None, str]:
    return config.base_url, config.api_key, config.model


def event_loop() -> EventLoop:
    """The loop of this process, started when it is first asked for."""
    global _current
    with _lock:
        if _current is None:
            _current = EventLoop()
        return _current


def _start_over_after_fork() -> None:
    """The child has its parent's loop but not its thread, and perhaps a lock that nobody will release."""
    global _current, _lock
    _lock = threading.Lock()
    if _current is not None:
        _inherited.append(_current)
        _current = None


os.register_at_fork(after_in_child=_start_over_after_fork)
atexit.register(close_clients)
