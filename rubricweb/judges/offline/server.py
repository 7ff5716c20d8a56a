"""The HTTP face of the offline judge: the part of the OpenAI API that a judge needs."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from rubricweb.judges.offline.batches import Batches
from rubricweb.judges.offline.lexical import MODEL, answer
from rubricweb.judges.offline.questions import NotAQuestion, read_request
from rubricweb.judges.offline.script import (
    Action,
    Drop,
    Fail,
    Garbage,
    Hang,
    Lexical,
    PromptBill,
    PromptCache,
    Say,
    Script,
    read_script,
)

MAX_REQUEST_BYTES = 16 * 1024 * 1024
_START_SECONDS = 10.0


def make_app(script: Script | None = None, *, controlled: bool = False) -> web.Application:
    """The server's application: `/health`, `/v1/models`, `/v1/chat/completions`, `/v1/files`, `/v1/batches`.

    With a `script` it answers as that says, under any model name. `controlled` adds `/script`: PUT one as
    JSON (see `read_script`), GET what was asked since, DELETE to be the lexical judge again.
    """
    app = web.Application(client_max_size=MAX_REQUEST_BYTES)
    app[_PLAY] = _Play(script)
    app.router.add_get("/health", _health)
    app.router.add_get("/v1/models", _models)
    app.router.add_post("/v1/chat/completions", _complete)
    Batches(_answered).add_routes(app.router)
    if controlled:
        app.router.add_get("/script", _show_script)
        app.router.add_put("/script", _put_script)
        app.router.add_delete("/script", _delete_script)
    return app


@contextmanager
def running_server(script: Script | None = None, *, host: str = "127.0.0.1") -> Iterator[str]:
    """Run the server in a thread on a free port; yields its base URL, `http://127.0.0.1:<port>/v1`.

    Connections still open at the end are cut off.
    """
    loop = asyncio.new_event_loop()
    started: threading.Event = threading.Event()
    ports: list[int] = []

    async def start() -> web.AppRunner:
        runner = web.AppRunner(make_app(script), shutdown_timeout=0.05, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, host, 0)
        await site.start()
        ports.append(runner.addresses[0][1])
        return runner

    def serve() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        started.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()

    thread = threading.Thread(target=serve, name="offline-judge", daemon=True)
    thread.start()
    if not started.wait(_START_SECONDS):
        raise RuntimeError(f"the offline judge did not start on {host} within {_START_SECONDS:g} s")
    try:
        yield f"http://{host}:{ports[0]}/v1"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_START_SECONDS)


class _Play:
    """The script being played, which the control endpoint may replace."""

    def __init__(self, script: Script | None) -> None:
        self.script = script


_PLAY = web.AppKey("play", _Play)


async def _health(_: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


async def _models(_: web.Request) -> web.Response:
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "rubricweb"}
    return web.json_response({"object": "list", "data": [model]})


async def _complete(request: web.Request) -> web.StreamResponse:
    try:
        body = await request.json()
    except ValueError:
        return _error(400, "the request body is not JSON")
    if not isinstance(body, dict):
        return _error(400, "the request body is not a JSON object")
    answer = await _answered(request, body)
    if answer is None:
        if request.transport is not None:
            request.transport.close()
        return web.Response()
    return answer


async def _answered(request: web.Request, body: dict[str, Any]) -> web.StreamResponse | None:
    """What is said to one request for a completion, None when nothing is."""
    script = request.app[_PLAY].script
    if script is None:
        return _lexical(body) if body.get("model") == MODEL else _unknown_model(body.get("model"))
    script.entered()
    try:
        return await _perform(script.take(body, request.headers), body, script.prompt_cache)
    finally:
        script.left()


async def _perform(
    action: Action, body: dict[str, Any], cache: PromptCache | None
) -> web.StreamResponse | None:
    if isinstance(action, Hang):
        await asyncio.sleep(action.seconds)
    if isinstance(action, Hang | Drop):
        return None
    bill = None
    if cache is not None and isinstance(action, Lexical | Say):
        bill = cache.bill(body)
        await asyncio.sleep(action.delay_seconds * cache.first_token_share)
        cache.fill(body)
        await asyncio.sleep(action.delay_seconds * (1 - cache.first_token_share))
    elif action.delay_seconds:
        await asyncio.sleep(action.delay_seconds)
    if isinstance(action, Lexical):
        return _lexical(body, bill)
    if isinstance(action, Garbage):
        return web.Response(text=action.body, content_type="text/html")
    if isinstance(action, Fail):
        if action.body is not None:
            return web.Response(status=action.status, text=action.body, headers=action.headers)
        return _error(action.status, action.message, action.code, action.param, dict(action.headers))
    return _completion(body, action, bill)


def _lexical(body: dict[str, Any], bill: PromptBill | None = None) -> web.Response:
    if body.get("stream"):
        return _error(400, "this judge does not stream", param="stream")
    try:
        text = answer(read_request(body))
    except NotAQuestion as error:
        return _error(400, str(error), param="messages")
    asked = json.dumps(body.get("messages"), ensure_ascii=False)
    said = Say(text, prompt_tokens=_tokens(asked), completion_tokens=_tokens(text))
    return _completion(body, said, bill)


def _completion(body: dict[str, Any], answer: Say, bill: PromptBill | None) -> web.Response:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.refusal is not None:
        message["refusal"] = answer.refusal
    prompt_tokens = answer.prompt_tokens if bill is None else bill.tokens
    usage: dict[str, Any] = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "total_tokens": prompt_tokens + answer.completion_tokens,
    }
    if bill is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": bill.cached}
    return web.json_response(
        {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": str(body.get("model", MODEL)),
            "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
            "usage": usage,
        }
    )


def _tokens(text: str) -> int:
    """About what a tokenizer would count: four tokens to three words."""
    return max(1, round(len(text.split()) * 4 / 3))


def _unknown_model(model: object) -> web.Response:
    message = f"the model {model!r} does not exist; this server has {MODEL!r}"
    return _error(404, message, "model_not_found", "model")


def _error(
    status: int,
    message: str,
    code: str | None = None,
    param: str | None = None,
    headers: dict[str, str] | None = None,
) -> web.Response:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    error = {"message": message, "type": kind, "param": param, "code": code}
    return web.json_response({"error": error}, status=status, headers=headers)


async def _show_script(request: web.Request) -> web.Response:
    script = request.app[_PLAY].script or Script()
    return web.json_response(
        {
            "count": script.count,
            "in_flight": script.in_flight,
            "max_in_flight": script.max_in_flight,
            "requests": [
                {
                    "number": asked.number,
                    "rung": asked.rung,
                    "submission": asked.submission,
                    "requirement": asked.requirement,
                    "body": asked.body,
                }
                for asked in script.requests
            ],
        }
    )


async def _put_script(request: web.Request) -> web.Response:
    try:
        script = read_script(await request.json())
    except ValueError as error:
        return _error(400, str(error))
    request.app[_PLAY].script = script
    return web.json_response({"status": "ok"})


async def _delete_script(request: web.Request) -> web.Response:
    request.app[_PLAY].script = None
    return web.json_response({"status": "ok"})
