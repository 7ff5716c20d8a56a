"""A provider of batches whose every answer a test decides: the offline judge is too well-behaved."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from django.db import connection

from rubricweb.models import Run

Answer = tuple[str | int, bytes]
"""A media type or, of a refusal, a status; and a body."""
BATCH = {
    "id": "b1",
    "object": "batch",
    "endpoint": "/v1/chat/completions",
    "input_file_id": "f1",
    "completion_window": "24h",
    "status": "completed",
    "created_at": 1,
    "output_file_id": "f2",
}


@contextmanager
def desk(answer: Callable[[str, str], Answer], at: str = "") -> Iterator[tuple[str, list[str]]]:
    """A server that answers `answer(method, path)`: its address, `at` that of an earlier one, and what it was
    asked.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.append(f"{self.command} {self.path}")
            kind, body = answer(self.command, self.path)
            connection.close()  # that of this thread, where an answer looked into the database
            self.send_response(kind if isinstance(kind, int) else 200)
            self.send_header("Content-Type", "application/json" if isinstance(kind, int) else kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST

    server = ThreadingHTTPServer(("127.0.0.1", urlsplit(at).port or 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


def provider(output: bytes = b"", **batch: Any) -> Callable[[str, str], Answer]:
    """A provider that takes every file and says this of every batch."""

    def answer(method: str, path: str) -> Answer:
        if path.endswith("/content"):
            return "application/jsonl", output
        if method == "GET" and "/batches?" in path:
            return "application/json", b'{"object": "list", "data": [], "has_more": false}'
        said = {"id": "f1", "object": "file"} if "/files" in path else BATCH | batch
        return "application/json", json.dumps(said).encode()

    return answer


def completion(verdict: str) -> bytes:
    """The answer to one question about one criterion."""
    said = json.dumps({"explanation": "so it is", "criterion_status": verdict})
    choice = {"finish_reason": "stop", "message": {"content": said}}
    return json.dumps({"model": "m", "choices": [choice]}).encode()


def answers(run: Run) -> bytes:
    """The file that answers every question of the run with MET, in the order of its items."""
    body = json.loads(completion("MET"))
    return b"".join(
        json.dumps(
            {"custom_id": f"{row}.{index}.0", "response": {"status_code": 200, "body": body}, "error": None}
        ).encode()
        + b"\n"
        for row in run.run_items.order_by("pk").values_list("pk", flat=True)
        for index in range(3)
    )
