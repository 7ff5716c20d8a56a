"""Turns at an endpoint: a gate that every request goes through, and what it tells about itself.

    passage = await gate.enter(estimated_tokens, halt)
    if passage is None: ...  # the batch was stopped
    try:
        answer = await send()
    finally:
        passage.leave(status=..., headers=..., tokens=..., latency_seconds=...)

Whoever enters must leave, whatever comes of the request: a passage that is never left counts as in flight for
good.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rubricweb.judges.cancellation import Cancellation as Halt


class Passage(Protocol):
    """One request that was let through."""

    def leave(
        self, *, status: int | None, headers: Mapping[str, str], tokens: int | None, latency_seconds: float
    ) -> None:
        """Say what came of the request.

        `status` is the HTTP status, None when no answer came (a timeout, a broken connection, a cancelled
        task). `headers` are the answer's, by lower-case names. `tokens` is what the endpoint says was used,
        prompt and completion together; None when it does not say. `latency_seconds` runs from sending to the
        whole answer. Leaving twice changes nothing.
        """
        ...


class Gate(Protocol):
    """Lets requests to one endpoint and model through, each in its turn."""

    async def enter(self, tokens: int, halt: Halt) -> Passage | None:
        """Wait for a turn; None as soon as `halt` has tripped. `tokens` is a guess at what will be used."""
        ...

    def state(self) -> GateState:
        """What the gate is doing now."""
        ...


@dataclass(frozen=True, slots=True)
class GateState:
    """What one gate of this process is doing now.

    `limit` is how many requests may be in flight at once, `waiting` how many questions wait for their turn.
    `requests_per_minute` and `tokens_per_minute` are what all workers together may use, None while no limit
    is known. `paused_seconds` is how long nobody will ask, 0.0 when somebody may. `throttled` counts the
    answers 429 that this process was given. `sharing` says with whom the pace is kept: "redis", "database",
    or "alone".
    """

    model: str
    limit: int
    in_flight: int
    waiting: int
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    paused_seconds: float = 0.0
    throttled: int = 0
    sharing: str = "alone"


class OpenGate:
    """Lets everything through, at most `concurrency` at a time, first come first served."""

    def __init__(self, concurrency: int, model: str = "") -> None:
        self._concurrency = concurrency
        self._model = model
        self._in_flight = 0
        self._throttled = 0
        self._line: deque[asyncio.Future[bool]] = deque()

    async def enter(self, tokens: int, halt: Halt) -> _OpenPassage | None:
        """See `Gate.enter`."""
        if halt.tripped:
            return None
        if self._in_flight >= self._concurrency or self._line:
            turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            self._line.append(turn)
            try:
                with halt.wakes(turn):
                    entered = await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled() and turn.result():
                    self._leave()  # the turn came in the same moment: hand it on
                raise
            if not entered:
                return None
        else:
            self._in_flight += 1
        return _OpenPassage(self)

    def state(self) -> GateState:
        """See `Gate.state`."""
        waiting = sum(not turn.done() for turn in self._line)
        return GateState(self._model, self._concurrency, self._in_flight, waiting, throttled=self._throttled)

    def _leave(self, status: int | None = None) -> None:
        self._throttled += status == 429
        self._in_flight -= 1
        while self._line and self._in_flight < self._concurrency:
            turn = self._line.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(True)


class _OpenPassage:
    __slots__ = ("_gate", "_left")

    def __init__(self, gate: OpenGate) -> None:
        self._gate = gate
        self._left = False

    def leave(
        self, *, status: int | None, headers: Mapping[str, str], tokens: int | None, latency_seconds: float
    ) -> None:
        """See `Passage.leave`."""
        if not self._left:
            self._left = True
            self._gate._leave(status)
