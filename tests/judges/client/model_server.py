"""A server that lists models, as Ollama and others do."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def server(
    answer: Any, *, status: int = 200, key: str = "", refusal: tuple[int, Any] = (401, b"")
) -> Iterator[tuple[int, list[str]]]:
    """A server that lists models on a free port of this machine; what was asked of it.

    With a `key` it answers anybody else with `refusal`, a status and a body.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            refused = key and self.headers.get("Authorization") != f"Bearer {key}"
            code, said = refusal if refused else (status, answer)
            body = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(code)
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


# What LiteLLM's proxy says of a key that is missing or not its own, with a database and without one.
LITELLM_WITH_DATABASE = (
    401,
    {"error": {"message": "Authentication Error, Invalid proxy server token passed.", "type": "auth_error"}},
)
LITELLM_WITHOUT = (
    400,
    {"error": {"message": "No connected db.", "type": "no_db_connection", "param": None, "code": "400"}},
)


def llama_cpp(file: str) -> dict[str, Any]:
    """The list of llama.cpp's server, which names a model by its file, and what Ollama's clients read."""
    row = {"id": file, "aliases": [file], "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx": 8192}}
    return {"models": [{"name": file, "model": file, "type": "model"}], "object": "list", "data": [row]}
