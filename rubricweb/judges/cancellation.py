"""Stopping a batch of questions: at once, save for a short grace to requests in flight."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Cancellation:
    """A stop signal for one batch, used inside its event loop.

    `cancel()` ends every pause at once and gives each request in flight `grace_seconds` to finish: it is
    probably paid for already.
    """

    def __init__(self, grace_seconds: float) -> None:
        self._grace_seconds = grace_seconds
        self._event = asyncio.Event()
        self._latest = 0.0
        self._scopes: set[asyncio.Timeout] = set()
        self._waits: set[asyncio.Future[bool]] = set()

    @property
    def is_cancelled(self) -> bool:
        """Whether the batch was told to stop."""
        return self._event.is_set()

    def cancel(self, grace_seconds: float | None = None) -> None:
        """Stop the batch, with another grace than the usual when one is given; a second call may shorten it.

        With an infinite grace what is in flight ends in its own time.
        """
        self._event.set()
        grace_seconds = self._grace_seconds if grace_seconds is None else grace_seconds
        self._latest = asyncio.get_running_loop().time() + grace_seconds
        for scope in self._scopes:
            self._shorten(scope)
        for wait in self._waits:
            if not wait.done():
                wait.set_result(False)

    @contextmanager
    def within(self, scope: asyncio.Timeout) -> Iterator[None]:
        """Let `cancel` shorten this timeout while the block runs, or have shortened it."""
        if self.is_cancelled:  # between the last look and now
            self._shorten(scope)
        self._scopes.add(scope)
        try:
            yield
        finally:
            self._scopes.discard(scope)

    @contextmanager
    def wakes(self, wait: asyncio.Future[bool]) -> Iterator[None]:
        """Let `cancel` end this wait with the result False while the block runs."""
        self._waits.add(wait)
        try:
            yield
        finally:
            self._waits.discard(wait)

    async def pause(self, seconds: float) -> bool:
        """Sleep, or return False as soon as the batch is stopped."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return True
        return False

    def _shorten(self, scope: asyncio.Timeout) -> None:
        when = scope.when()
        if not scope.expired():
            scope.reschedule(self._latest if when is None else min(when, self._latest))
