"""`python -m rubricweb.judges.offline`: run the offline judge until it is told to stop."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from aiohttp import web

from rubricweb.judges.offline.script import Script
from rubricweb.judges.offline.server import make_app


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve on the given host and port; 0 takes a free one, which `--port-file` tells."""
    parser = argparse.ArgumentParser(
        prog="python -m rubricweb.judges.offline",
        description="An OpenAI-compatible judge without an LLM: deterministic verdicts from words.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, default=0, help="port, 0 for a free one (default)")
    parser.add_argument("--port-file", type=Path, help="file to write the port to once it is open")
    parser.add_argument(
        "--scripted", action="store_true", help="answer by a script set through PUT /script (for tests)"
    )
    options = parser.parse_args(arguments)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(options.host, options.port, options.port_file, options.scripted))
    return 0


async def _serve(host: str, port: int, port_file: Path | None, scripted: bool) -> None:
    app = make_app(Script() if scripted else None, controlled=scripted)
    runner = web.AppRunner(app, shutdown_timeout=1.0, handler_cancellation=True, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    opened = runner.addresses[0][1]
    if port_file is not None:
        _write(port_file, f"{opened}\n")
    sys.stdout.write(f"offline judge on http://{host}:{opened}/v1\n")
    sys.stdout.flush()
    over = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    try:
        await over.wait()
    finally:
        await runner.cleanup()


def _write(path: Path, text: str) -> None:
    """Whoever waits for the file must never read half of it."""
    partial = path.with_name(path.name + ".part")
    partial.write_text(text)
    os.replace(partial, path)


if __name__ == "__main__":
    code = main()
    gc.freeze()  # the process ends: it need not look for garbage first
    raise SystemExit(code)
