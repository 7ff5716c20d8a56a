"""A judge that costs almost nothing, for measuring who asks it: `python -m benchmarks.judge_server`.

It speaks as much HTTP/1.1 as clients of an OpenAI-compatible endpoint need, on 127.0.0.1 alone, and answers
`POST …/chat/completions` with one prepared verdict after a set latency. Faults come by seeded probability, a
limit per minute by token bucket or fixed window.

    --port 0 --port-file F     a free port, told in a file
    --core 1                   stays on that core, out of the way of what is measured
    --settings '{…}'           the fields of `Behaviour`, as JSON

While it runs: `GET /count` says what it saw since the last change, `PUT /behaviour` takes other settings and
starts counting anew, `GET /health` answers 200. Nothing but Python's own library is imported, so that any
environment can start it.
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
import math
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

MAX_REQUEST_BYTES = 16 * 1024 * 1024
FAULTS = ("rate_limited", "server_error", "reset", "garbage", "hang")
ANSWER = '{"explanation": "It says so in its first sentence.", "criterion_status": "MET"}'


@dataclass(frozen=True)
class Behaviour:
    """How the judge behaves. Times in seconds, faults as shares from 0 to 1 drawn in one go per request.

    `retry_after`: what every second 429 names; the others name nothing. `hang`: no answer until the client
    goes. `per_minute` requests are let through, 0 is no limit: as a `bucket` that holds `burst` tokens or
    as `fixed` windows, one after the other from the first request on; over it a 429 comes at once and names
    the wait, unless `limit_is_silent`. Requests whose body holds `refuse` get 400 whatever else is drawn.
    `tell_apart` counts different questions, by the last message of each; it costs some 20 µs a request.
    """

    latency_seconds: float = 0.0
    answer: str = ANSWER
    rate_limited: float = 0.0
    server_error: float = 0.0
    reset: float = 0.0
    garbage: float = 0.0
    hang: float = 0.0
    retry_after: float = 0.0
    seed: int = 0
    per_minute: int = 0
    window: str = "bucket"
    burst: int = 5
    limit_is_silent: bool = False
    refuse: str = ""
    tell_apart: bool = False

    def __post_init__(self) -> None:
        if self.window not in ("bucket", "fixed"):
            raise ValueError(f"window is {self.window!r}; allowed are bucket and fixed")
        if not 0 <= sum(getattr(self, fault) for fault in FAULTS) <= 1:
            raise ValueError(f"the shares of {', '.join(FAULTS)} add up to more than 1")

    @classmethod
    def read(cls, text: bytes | str) -> "Behaviour":
        """From JSON. Raises ValueError naming what is unknown."""
        given = json.loads(text)
        unknown = set(given) - {known.name for known in fields(cls)}
        if unknown:
            raise ValueError(f"unknown settings {sorted(unknown)}")
        return cls(**given)


class Limit:
    """So many requests a minute. `admit` gives None, or the seconds until one would be let through."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._per_minute = behaviour.per_minute
        self._fixed = behaviour.window == "fixed"
        self._burst = behaviour.burst
        self._tokens = float(behaviour.burst)
        self._first_at = self._at = 0.0
        self._let_through: Counter[int] = Counter()  # by minute since the first request

    def admit(self, now: float) -> float | None:
        if not self._per_minute:
            return None
        self._first_at = self._first_at or now
        wait = self._window_wait(now) if self._fixed else self._bucket_wait(now)
        if wait is None:
            self._let_through[self._minute(now)] += 1
        return wait

    def use(self, until: float) -> tuple[int, float]:
        """How many requests were let through, and how many could have been, from the first one until then.

        Of fixed windows only those count that have passed: until its end a window is not left unused.
        """
        if not self._fixed:
            flowed_in = (until - self._first_at) * self._per_minute / 60
            return self._let_through.total(), self._burst + flowed_in
        passed = self._minute(until)
        return sum(self._let_through[minute] for minute in range(passed)), passed * self._per_minute

    def _window_wait(self, now: float) -> float | None:
        minute = self._minute(now)
        if self._let_through[minute] < self._per_minute:
            return None
        return self._first_at + (minute + 1) * 60 - now

    def _bucket_wait(self, now: float) -> float | None:
        rate = self._per_minute / 60
        passed = now - self._at if self._at else 0.0
        self._tokens, self._at = min(self._burst, self._tokens + passed * rate), now
        if self._tokens < 1:
            return (1 - self._tokens) / rate
        self._tokens -= 1
        return None

    def _minute(self, now: float) -> int:
        return int((now - self._first_at) // 60)


class Seen:
    """What came in while one behaviour was in force."""

    def __init__(self) -> None:
        self.requests = self.in_flight = self.max_in_flight = self.repeated = 0
        self.outcomes: Counter[str] = Counter()
        self.answered: set[bytes] = set()
        self.first_at = self.last_at = 0.0
        self.cpu_at_start = time.process_time()

    def begins(self, now: float) -> None:
        self.requests += 1
        self.first_at, self.last_at = self.first_at or now, now
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)

    def ends(self, outcome: str) -> None:
        self.in_flight -= 1
        self.outcomes[outcome] += 1

    def answers(self, question: bytes) -> None:
        if question:
            self.repeated += question in self.answered
            self.answered.add(question)

    def as_json(self) -> dict[str, Any]:
        """What was seen. `repeated`: answers to questions that had been answered before; `first_at`: of the
        monotonic clock.
        """
        return {
            "requests": self.requests,
            "answered": self.outcomes["answered"],
            "distinct": len(self.answered),
            "repeated": self.repeated,
            "in_flight": self.in_flight,
            "max_in_flight": self.max_in_flight,
            "outcomes": dict(self.outcomes),
            "seconds": self.last_at - self.first_at,
            "first_at": self.first_at,
            "cpu_seconds": time.process_time() - self.cpu_at_start,
        }


class Judge:
    """The behaviour in force, and what was seen since it began."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behave(behaviour)

    def behave(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.seen = Seen()
        self.limit = Limit(behaviour)
        self.answer = _response(200, "OK", _completion(behaviour.answer))
        self._random = random.Random(behaviour.seed)

    def count(self) -> dict[str, Any]:
        """What /count says: what was seen, and of a limit how much was let through and could have been."""
        let_through, allowed = self.limit.use(self.seen.last_at)
        return {**self.seen.as_json(), "let_through": let_through, "allowed": allowed}

    def draw(self) -> str:
        """The fault this request meets, "" for none."""
        drawn = self._random.random()
        for fault in FAULTS:
            share = float(getattr(self.behaviour, fault))
            if drawn < share:
                return fault
            drawn -= share
        return ""


class Connection(asyncio.Protocol):
    """One client's connection: requests one after the other, as keep-alive has it."""

    def __init__(self, judge: Judge, loop: asyncio.AbstractEventLoop) -> None:
        self.judge = judge
        self.loop = loop
        self.buffer = bytearray()
        self.transport: asyncio.Transport | None = None
        self.pending: asyncio.TimerHandle | None = None
        self.counted_in: Seen | None = None  # while a request is being answered
        self.hangs = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self.pending is not None:
            self.pending.cancel()
        if self.counted_in is not None:
            self._end("hang" if self.hangs else "client_gone")
        self.transport = None

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if self.counted_in is None:
            self._next()

    def _next(self) -> None:
        """Takes a whole request from the buffer, if there is one."""
        assert self.transport is not None
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self.buffer[:end])
        length = _content_length(head)
        if length is None or length > MAX_REQUEST_BYTES:
            self.transport.write(_error(411, "Length Required", "give Content-Length, up to 16 MiB"))
            self.transport.close()
            return
        if len(self.buffer) < end + 4 + length:
            return
        body = bytes(self.buffer[end + 4 : end + 4 + length])
        del self.buffer[: end + 4 + length]
        method, path, _ = head[: head.find(b"\r\n") if b"\r\n" in head else len(head)].split(b" ", 2)
        if path.endswith(b"/chat/completions") and method == b"POST":
            self._asked(body)
        else:
            self._control(method, path, body)

    def _control(self, method: bytes, path: bytes, body: bytes) -> None:
        assert self.transport is not None
        if path == b"/count":
            answer = _response(200, "OK", json.dumps(self.judge.count()).encode())
        elif path == b"/behaviour" and method == b"PUT":
            try:
                self.judge.behave(Behaviour.read(body))
                answer = _response(200, "OK", b"{}")
            except (ValueError, TypeError) as error:
                answer = _error(400, "Bad Request", str(error))
        elif path == b"/health":
            answer = _response(200, "OK", b"{}")
        elif path.endswith(b"/models"):
            answer = _response(200, "OK", b'{"object": "list", "data": [{"id": "bench", "object": "model"}]}')
        else:
            answer = _error(404, "Not Found", "no such path")
        self.transport.write(answer)
        if self.buffer:
            self._next()

    def _asked(self, body: bytes) -> None:
        now = self.loop.time()
        self.counted_in = self.judge.seen
        self.counted_in.begins(now)
        wait = self.judge.limit.admit(now)
        if wait is not None:  # at once: a limit stands before the model
            named = None if self.judge.behaviour.limit_is_silent else math.ceil(wait)
            self._say("over_limit", _too_many(named))
            return
        act = self._choose(body)
        if self.judge.behaviour.latency_seconds:
            self.pending = self.loop.call_later(self.judge.behaviour.latency_seconds, act)
        else:
            act()

    def _choose(self, body: bytes) -> Callable[[], None]:
        judge, behaviour = self.judge, self.judge.behaviour
        if behaviour.refuse and behaviour.refuse.encode() in body:
            return lambda: self._say("refused", _error(400, "Bad Request", "this input is not accepted"))
        fault = judge.draw()
        if fault == "hang":
            self.hangs = True
            return lambda: None  # until the client goes
        if fault == "reset":
            return self._reset
        if fault == "garbage":
            return lambda: self._say(fault, _response(200, "OK", b"<html>bad gateway</html>", "text/html"))
        if fault == "server_error":
            return lambda: self._say(fault, _error(500, "Internal Server Error", "drawn by lot"))
        if fault == "rate_limited":
            told = behaviour.retry_after if judge.seen.outcomes[fault] % 2 == 0 else None
            return lambda: self._say(fault, _too_many(told or None))
        question = _question(body) if behaviour.tell_apart else b""
        return lambda: self._answer(question)

    def _answer(self, question: bytes) -> None:
        if self.counted_in is not None:
            self.counted_in.answers(question)
        self._say("answered", self.judge.answer)

    def _say(self, outcome: str, answer: bytes) -> None:
        self._end(outcome)
        if self.transport is not None:
            self.transport.write(answer)
            if self.buffer:
                self._next()

    def _reset(self) -> None:
        self._end("reset")
        if self.transport is not None:
            self.transport.abort()

    def _end(self, outcome: str) -> None:
        seen, self.counted_in, self.pending = self.counted_in, None, None
        if seen is not None:
            seen.ends(outcome)


def _content_length(head: bytes) -> int | None:
    lower = head.lower()
    at = lower.find(b"\r\ncontent-length:")
    if at < 0:
        return None if b"\r\ntransfer-encoding:" in lower else 0
    line = lower[at + 17 : (lower.find(b"\r\n", at + 2) + 1 or len(lower) + 1) - 1]
    return int(line) if line.strip().isdigit() else None


def _question(body: bytes) -> bytes:
    """What tells one question from another: the last message, whatever form the answer was asked in."""
    try:
        text = json.loads(body)["messages"][-1]["content"]
    except (ValueError, LookupError, TypeError):
        return b""
    return hashlib.blake2b(json.dumps(text).encode(), digest_size=12).digest()


def _completion(text: str) -> bytes:
    return json.dumps(
        {
            "id": "chatcmpl-bench",
            "object": "chat.completion",
            "created": 1_750_000_000,
            "model": "bench",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 700, "completion_tokens": 20, "total_tokens": 720},
        }
    ).encode()


def _response(
    status: int,
    reason: str,
    body: bytes,
    kind: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def _error(status: int, reason: str, message: str, headers: Mapping[str, str] | None = None) -> bytes:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return _response(status, reason, json.dumps({"error": error}).encode(), headers=headers)


def _too_many(seconds: float | None) -> bytes:
    named = {} if seconds is None else {"Retry-After": f"{seconds:g}"}
    return _error(429, "Too Many Requests", "slow down", named)


async def serve(behaviour: Behaviour, port: int, port_file: Path | None) -> None:
    """Until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    judge = Judge(behaviour)
    server = await loop.create_server(lambda: Connection(judge, loop), "127.0.0.1", port, backlog=1024)
    opened = server.sockets[0].getsockname()[1]
    if port_file is not None:
        partial = port_file.with_name(port_file.name + ".part")
        partial.write_text(f"{opened}\n")
        os.replace(partial, port_file)
    over = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    await over.wait()
    server.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge_server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", type=Path)
    parser.add_argument("--core", type=int, help="the core to stay on")
    parser.add_argument("--settings", type=Behaviour.read, default=Behaviour(), help="JSON")
    options = parser.parse_args()
    if options.core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.core})
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(options.settings, options.port, options.port_file))
    return 0


if __name__ == "__main__":
    sys.exit(main())
