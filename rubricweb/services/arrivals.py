"""Replies of several judges gathered into batches, as they come."""

import queue
import threading
import time
from collections.abc import Iterable, Iterator

from rubricweb.judges.base import Reply

# Replies are stored together when this many have come in, or this much time has passed.
FLUSH_REPLIES = 100
FLUSH_SECONDS = 0.5


class Arrivals:
    """Several streams of replies read at once: waiting for a slow one keeps no other from being stored."""

    def __init__(self, streams: Iterable[Iterator[Reply]]) -> None:
        self._arrived: queue.SimpleQueue[Reply | BaseException | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._pump, args=(stream,), name="replies", daemon=True)
            for stream in streams
        ]
        self._open = len(self._threads)
        for thread in self._threads:
            thread.start()

    def batches(self) -> Iterator[list[Reply]]:
        """Batches of at most FLUSH_REPLIES, each ready FLUSH_SECONDS after its first reply at the latest.

        Ends with the last stream. What a stream raises is raised here.
        """
        while (first := self._next(None)) is not None:
            batch, deadline = [first], time.monotonic() + FLUSH_SECONDS
            while len(batch) < FLUSH_REPLIES and (left := deadline - time.monotonic()) > 0:
                try:
                    reply = self._next(left)
                except queue.Empty:
                    break
                if reply is None:
                    break
                batch.append(reply)
            yield batch

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _next(self, timeout: float | None) -> Reply | None:
        """The next reply; None once every stream has ended."""
        while self._open:
            arrived = self._arrived.get(timeout=timeout)
            if isinstance(arrived, BaseException):
                raise arrived
            if arrived is not None:
                return arrived
            self._open -= 1
        return None

    def _pump(self, stream: Iterator[Reply]) -> None:
        try:
            for reply in stream:
                self._arrived.put(reply)
            self._arrived.put(None)
        except BaseException as error:  # handed to the thread that waits for it
            self._arrived.put(error)
