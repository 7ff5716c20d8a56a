"""A server that answers with the very bytes it is told: what no web framework can be brought to say."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator

from tests.waiting import PATIENCE_SECONDS

Says = bytes | Callable[[], AsyncIterator[bytes]]


@contextlib.contextmanager
def raw_server(*answers: Says) -> Iterator[str]:
    """Serves these answers in turn, the last of them for good; yields a base URL.

    An answer is all that is sent, its status line included, or a function that sends it bit by bit. The
    connection is closed after each.
    """
    loop = asyncio.new_event_loop()
    waiting = list(answers)
    port: list[int] = []
    talks: set[asyncio.Task[None]] = set()
    started = threading.Event()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            if lengths:
                await reader.readexactly(int(lengths[0].partition(b":")[2]))
            answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                async for part in answer():
                    writer.write(part)
                    await writer.drain()
            writer.close()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talks.add(loop.create_task(converse(reader, writer)))

    async def start() -> None:
        server = await asyncio.start_server(begin, "127.0.0.1", 0)
        port.append(server.sockets[0].getsockname()[1])
        started.set()

    async def stop() -> None:
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)

    def serve() -> None:
        loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(stop())
        loop.close()

    thread = threading.Thread(target=serve, name="raw server", daemon=True)
    thread.start()
    started.wait(PATIENCE_SECONDS)
    try:
        yield f"http://127.0.0.1:{port[0]}/v1"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE_SECONDS)


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole answer with these header lines beside its length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body
