"""An answer on its way from the thread that makes it to the event loop that sends it."""

import asyncio
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

IN_MEMORY_BYTES = 1024 * 1024
"""Of what is made and not sent yet; the rest is on disk."""
AHEAD_BYTES = 512 * 1024 * 1024
"""A thread that is so much ahead of its reader waits for it."""
PIECE_BYTES = 64 * 1024

Head = tuple[int, str, list[tuple[str, str]]]
"""The status, its words, and the headers."""


class AnswerSpool:
    """One thread writes, the event loop reads at its client's speed; the thread is soon free of both."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._arrived = asyncio.Event()
        self._changed = threading.Condition()
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115  closed by `cut`
        self._written = self._read = 0
        self._head: Head | None = None
        self._is_ended = self._is_cut = False
        self.failed = False
        """Whether the thread could not make the whole answer."""

    # ── In the thread ────────────────────────────────────────────────────────────────────────────

    def start_response(
        self, status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Callable[[bytes], None]:
        """As PEP 3333 has it; the head goes out with the first piece, or the end."""
        code, _, reason = status.partition(" ")
        self._head = int(code), reason, headers
        return self.write

    def write(self, piece: bytes) -> None:
        """Raises ConnectionResetError where nobody reads the answer any more."""
        with self._changed:
            while self._written - self._read > AHEAD_BYTES and not self._is_cut:
                self._changed.wait()
            if self._is_cut:
                raise ConnectionResetError("nobody reads this answer any more")
            self._file.seek(self._written)
            self._file.write(piece)
            self._written += len(piece)
        self._tell()

    def end(self, *, failed: bool) -> None:
        with self._changed:
            self._is_ended, self.failed = True, failed
        self._tell()

    def _tell(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: the process ends
            self._loop.call_soon_threadsafe(self._arrived.set)

    # ── In the event loop ────────────────────────────────────────────────────────────────────────

    async def head(self) -> Head | None:
        """Once there is something to send; None where the thread failed before that."""
        while not (self._written or self._is_ended):
            await self._arrived.wait()
            self._arrived.clear()
        return None if self.failed and not self._written else self._head

    async def pieces(self) -> AsyncIterator[bytes]:
        """What is written, as it comes, to the end."""
        while True:
            self._arrived.clear()
            piece, is_last = self._take()
            if piece:
                yield piece
            elif is_last:
                return
            else:
                await self._arrived.wait()

    def _take(self) -> tuple[bytes, bool]:
        with self._changed:
            self._file.seek(self._read)
            piece = self._file.read(PIECE_BYTES)
            self._read += len(piece)
            if piece and self._read == self._written:
                # Its reader keeps up: nothing has to be kept.
                self._file.seek(0)
                self._file.truncate()
                self._read = self._written = 0
            self._changed.notify()
            return piece, self._is_ended and not piece

    def cut(self) -> None:
        """Nobody reads on: the thread stops at its next piece. What is held is let go."""
        with self._changed:
            self._is_cut = True
            self._changed.notify()
            self._file.close()
