"""A server that lists models, as Ollama and others do."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def server(answer: Any, *, status: int = 200, key: str = "") -> Iterator[tuple[int, list[str]]]:
    """A server that lists models on a free port of this machine; what was asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            refused = key and self.headers.get("Authorization") != f"Bearer {key}"
            body = b"" if refused else answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(401 if refused else status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        yield listening.server_address[1], asked
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def models(*names: str, owner: str = "library") -> dict[str, Any]:
    return {"object": "list", "data": [{"id": name, "object": "model", "owned_by": owner} for name in names]}
