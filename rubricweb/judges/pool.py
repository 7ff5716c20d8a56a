"""Asking many questions from a worker process: one event loop in a thread, warm clients, bounded work."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import os
import queue
import random
import threading
from collections.abc import Coroutine, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.halt import Halt

if TYPE_CHECKING:
    from rubricweb.judges.openai import Jitter, JudgeClient

_STOP_POLL_SECONDS = 0.05
_CLOSE_SECONDS = 5.0

T = TypeVar("T")


def ask_all(
    config: JudgeConfig,
    questions: Iterable[Question],
    *,
    stop: threading.Event | None = None,
    jitter: Jitter = random.random,
) -> Iterator[Reply]:
    """Ask every question and yield each reply as it completes, in no particular order.

    `questions` may be endless and slow: it is read in the caller's thread, never more than twice
    `config.concurrency` ahead of the replies taken, and at most `config.concurrency` requests are in flight.
    What goes wrong with a question is the error of its reply; what goes wrong with `questions` itself, or a
    bug in a `read`, is raised here.

    When `stop` is set no further question is read or begun; pauses end at once, requests in flight have
    `config.stop_grace_seconds`. Questions that were not begun yield nothing, those broken off yield the error
    `stopped`. Closing the generator cancels everything outstanding.
    """
    background = _background()
    halt = Halt(config.stop_grace_seconds)
    slots = asyncio.Semaphore(config.concurrency)
    client = background.client(config)

    async def answer(question: Question) -> Reply | None:
        async with slots:
            if halt.tripped:
                return None
            return await client.ask(config, question, halt=halt, jitter=jitter)

    upcoming = iter(questions)
    exhausted = stopped = False
    outstanding: set[concurrent.futures.Future[Reply | None]] = set()
    finished: queue.SimpleQueue[concurrent.futures.Future[Reply | None]] = queue.SimpleQueue()
    try:
        while True:
            if stop is not None and stop.is_set() and not stopped:
                stopped = True
                background.loop.call_soon_threadsafe(halt.trip)
            while not exhausted and not stopped and len(outstanding) < 2 * config.concurrency:
                question = next(upcoming, None)
                if question is None:
                    exhausted = True
                    break
                future = background.submit(answer(question))
                outstanding.add(future)
                future.add_done_callback(finished.put)
            if not outstanding:
                return
            try:
                done = finished.get(timeout=_STOP_POLL_SECONDS if stop is not None and not stopped else None)
            except queue.Empty:
                continue
            outstanding.discard(done)
            reply = done.result()
            if reply is not None:
                yield reply
    finally:
        for future in outstanding:
            future.cancel()


async def ask_one(config: JudgeConfig, question: Question) -> Reply:
    """Ask one question from any event loop, through the same warm clients as `ask_all`."""
    background = _background()
    client = background.client(config)
    return await asyncio.wrap_future(background.submit(client.ask(config, question)))


def close_clients() -> None:
    """Close this process's connections and stop its loop; the next question starts anew. Runs at exit."""
    global _current
    with _lock:
        background, _current = _current, None
    if background is not None and background.process_id == os.getpid():
        background.close()


class _Background:
    """An event loop in a daemon thread, with one client per endpoint."""

    def __init__(self) -> None:
        self.process_id = os.getpid()
        self.loop = asyncio.new_event_loop()
        self._clients: dict[tuple[str, str | None, bool], JudgeClient] = {}
        self._clients_lock = threading.Lock()
        self._thread = threading.Thread(target=self.loop.run_forever, name="judges", daemon=True)
        self._thread.start()

    def submit(self, coroutine: Coroutine[object, object, T]) -> concurrent.futures.Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def client(self, config: JudgeConfig) -> JudgeClient:
        from rubricweb.judges.openai import JudgeClient  # a second to import: only for those who ask

        key = (config.base_url, config.api_key, config.allow_private_hosts)
        with self._clients_lock:
            if key not in self._clients:
                self._clients[key] = JudgeClient(
                    config.base_url, config.api_key, allow_private_hosts=config.allow_private_hosts
                )
            return self._clients[key]

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


_lock = threading.Lock()
_current: _Background | None = None
# A forked child must not close its parent's sockets, which collecting these objects would do.
_inherited: list[_Background] = []


def _background() -> _Background:
    global _current
    with _lock:
        if _current is None:
            _current = _Background()
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
