"""The offline judge's batch interface: files of requests handed in, answered one after another, fetched."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

MAX_FILES = 200

Complete = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse | None]]
"""Answers one chat completion; None is no answer at all."""


@dataclass
class _Batch:
    id: str
    input_file_id: str
    metadata: dict[str, str]
    status: str = "validating"
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: list[dict[str, Any]] = field(default_factory=list)
    created_at: int = field(default_factory=lambda: int(time.time()))

    def shown(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "created_at": self.created_at,
            "input_file_id": self.input_file_id,
            "output_file_id": self.output_file_id,
            "error_file_id": self.error_file_id,
            "errors": {"object": "list", "data": self.errors} if self.errors else None,
            "metadata": self.metadata,
            "status": self.status,
        }


class Batches:
    """What was handed in since the server started. Old files go when there are many."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, _Batch] = {}
        self._working: set[asyncio.Task[None]] = set()

    def add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v1/files", self._upload)
        router.add_get("/v1/files/{id}/content", self._content)
        router.add_post("/v1/batches", self._create)
        router.add_get("/v1/batches", self._list)
        router.add_get("/v1/batches/{id}", self._show)
        router.add_post("/v1/batches/{id}/cancel", self._cancel)

    async def _upload(self, request: web.Request) -> web.Response:
        if not request.content_type.startswith("multipart/"):
            return _refused(400, "a file is uploaded as multipart/form-data")
        form = await request.post()
        file = form.get("file")
        if not isinstance(file, web.FileField) or form.get("purpose") != "batch":
            return _refused(400, "expected the fields file and purpose=batch")
        file_id = self._keep(file.file.read())
        return web.json_response({"id": file_id, "object": "file", "purpose": "batch", "status": "processed"})

    async def _content(self, request: web.Request) -> web.Response:
        body = self._files.get(request.match_info["id"])
        return _refused(404, "no such file") if body is None else web.Response(body=body)

    async def _create(self, request: web.Request) -> web.Response:
        asked = await request.json()
        if asked.get("input_file_id") not in self._files:
            return _refused(400, "input_file_id names no file")
        if asked.get("endpoint") != "/v1/chat/completions":
            return _refused(400, "endpoint: /v1/chat/completions is the only one")
        batch = _Batch(f"batch_{uuid.uuid4().hex}", asked["input_file_id"], asked.get("metadata") or {})
        self._batches[batch.id] = batch
        task = asyncio.create_task(self._work(batch, request))
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return web.json_response(batch.shown())

    async def _list(self, _: web.Request) -> web.Response:
        newest = sorted(self._batches.values(), key=lambda batch: batch.created_at, reverse=True)
        return web.json_response(
            {"object": "list", "data": [batch.shown() for batch in newest], "has_more": False}
        )

    async def _show(self, request: web.Request) -> web.Response:
        batch = self._batches.get(request.match_info["id"])
        return _refused(404, "no such batch") if batch is None else web.json_response(batch.shown())

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self._batches.get(request.match_info["id"])
        if batch is None:
            return _refused(404, "no such batch")
        if batch.status in ("validating", "in_progress"):
            batch.status = "cancelling"
        return web.json_response(batch.shown())

    async def _work(self, batch: _Batch, request: web.Request) -> None:
        """Answers line after line; a batch that is cancelled keeps what it has answered."""
        try:
            lines = [json.loads(line) for line in self._files[batch.input_file_id].splitlines()]
            asked = [(str(line["custom_id"]), dict(line["body"])) for line in lines]
        except (ValueError, KeyError, TypeError) as error:
            batch.errors.append({"code": "invalid_json_line", "message": f"{type(error).__name__}: {error}"})
            batch.status = "failed"
            return
        if len(dict(asked)) < len(asked):
            batch.errors.append({"code": "duplicate_custom_id", "message": "a custom_id is not unique"})
            batch.status = "failed"
            return
        if batch.status == "validating":
            batch.status = "in_progress"
        output, errors = [], []
        for custom_id, body in asked:
            if batch.status != "in_progress":
                break
            answer = await self._complete(request, body)
            if isinstance(answer, web.Response) and isinstance(answer.body, bytes):
                output.append(_answered(custom_id, answer.status, answer.body))
            else:
                errors.append(_unanswered(custom_id))
        batch.output_file_id = self._keep("\n".join(output).encode()) if output else None
        batch.error_file_id = self._keep("\n".join(errors).encode()) if errors else None
        batch.status = "completed" if batch.status == "in_progress" else "cancelled"

    def _keep(self, body: bytes) -> str:
        file_id = f"file-{uuid.uuid4().hex}"
        self._files[file_id] = body
        while len(self._files) > MAX_FILES:
            del self._files[next(iter(self._files))]
        return file_id


def _answered(custom_id: str, status: int, body: bytes) -> str:
    try:
        answer = json.loads(body)
    except ValueError:
        answer = {}
    response = {"status_code": status, "request_id": uuid.uuid4().hex, "body": answer}
    return json.dumps({"id": uuid.uuid4().hex, "custom_id": custom_id, "response": response, "error": None})


def _unanswered(custom_id: str) -> str:
    error = {"code": "batch_expired", "message": "This request could not be executed in time."}
    return json.dumps({"id": uuid.uuid4().hex, "custom_id": custom_id, "response": None, "error": error})


def _refused(status: int, message: str) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return web.json_response({"error": error}, status=status)
