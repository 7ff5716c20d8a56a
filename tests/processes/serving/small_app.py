"""A WSGI application of a few lines, to see what the web worker hands to it and makes of its answers.

`/echo` says how the request came in; `/long` answers with LONG_BYTES; `/broken` fails after its first piece;
`/until` answers once the file that the query string names is there.
"""

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

LONG_BYTES = 30_000_000
LARGEST_BODY = 200_000


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    if path == "/long":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return (b"#" * 50_000 for _ in range(LONG_BYTES // 50_000))
    if path == "/broken":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return broken()
    if path == "/until":
        there = Path(environ["QUERY_STRING"])
        there.with_suffix(".asked").touch()
        while not there.exists():
            time.sleep(0.01)
    body = environ["wsgi.input"].read()
    plain = {name: value for name, value in environ.items() if isinstance(value, str)}
    answer = json.dumps(plain | {"body": body[:100].decode(), "body_bytes": len(body)}).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))])
    return [answer]


def broken() -> Iterator[bytes]:
    yield b"the first piece\n"
    raise RuntimeError("no more of it")


application.largest_body = lambda environ: LARGEST_BODY  # type: ignore[attr-defined]  # as of rubricweb.wsgi
