"""Stopping a batch of questions: at once, save for a short grace to requests in flight."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Halt:
    """A stop signal for one batch, used inside its event loop.

    `trip()` ends every pause at once and gives each request in flight `grace_seconds` to finish: it is
    probably paid for already.
    """

    def __init__(self, grace_seconds: float) -> None:
        self._grace_seconds = grace_seconds
        self._event = asyncio.Event()
        self._scopes: set[asyncio.Timeout] = set()

    @property
    def tripped(self) -> bool:
        """Whether the batch was told to stop."""
        return self._event.is_set()

    def trip(self) -> None:
        """Stop the batch."""
        if self._event.is_set():
            return
        self._event.set()
        latest = asyncio.get_running_loop().time() + self._grace_seconds
        for scope in self._scopes:
            when = scope.when()
            if not scope.expired():
                scope.reschedule(latest if when is None else min(when, latest))

    @contextmanager
    def within(self, scope: asyncio.Timeout) -> Iterator[None]:
        """Let `trip` shorten this timeout while the block runs."""
        self._scopes.add(scope)
        try:
            yield
        finally:
            self._scopes.discard(scope)

    async def pause(self, seconds: float) -> bool:
        """Sleep, or return False as soon as the batch is stopped."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return True
        return False
