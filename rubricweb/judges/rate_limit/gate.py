"""The gate that learns: concurrency of this process, rate of all workers together.

`Gates` has one gate for each address, key and model. A gate is used in one event loop; what it may send it is
told by the ledger (`pace_ledger.settle`), by way of a store that may be shared.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.cancellation import Cancellation as Halt
from rubricweb.judges.pace import GateState
from rubricweb.judges.rate_limit.concurrency import STEP_SECONDS, ConcurrencyLimit
from rubricweb.judges.rate_limit.grants import TURN_LIFE_SECONDS
from rubricweb.judges.rate_limit.headers import Allowance, allowance, asked_to_wait
from rubricweb.judges.rate_limit.record import Grant, Report
from rubricweb.judges.rate_limit.store import OwnStore, PaceStore, endpoint_key
from rubricweb.judges.rate_limit.strays import Strays

log = logging.getLogger(__name__)

REPORT_SECONDS = 1.0
"""A gate in use reports at least so often, so that it hears of what others met."""
TERMS_SECONDS = 60.0
"""For so long a configured limit counts after it was last asked with."""
DECISIONS_KEPT = 500
SLOWEST_REFUSAL_SECONDS = 5.0
"""Longer ones are taken for so long, that a single one does not hold up everybody."""
HEADERS_TRIED = 16
"""Answers after which an endpoint that sends no rate limit headers is looked at only now and then."""
HEADERS_EVERY = 50


@dataclass(frozen=True, slots=True)
class Decision:
    """Something a gate decided, for a log that people read.

    `number` counts the decisions of this process from 1. `kind` is "throttled", "waiting", "paced", "halved"
    or "shared". `at` is seconds since the epoch. `base_url` and `model` say whose gate it was.
    """

    number: int
    at: float
    base_url: str
    model: str
    kind: str
    words: str


class Gates:
    """The gates of one process. `of` belongs to the event loop's thread, the rest to any.

    `worker` names this process to the others that share the store.
    """

    def __init__(self, store: PaceStore | None = None, *, worker: str | None = None) -> None:
        self._store = store or OwnStore()
        self._worker = worker or f"{socket.gethostname()}:{os.getpid()}"
        self._gates: dict[tuple[str, str | None, str], PacedGate] = {}
        self._decisions: deque[Decision] = deque(maxlen=DECISIONS_KEPT)
        self._numbers = itertools.count(1)

    def of(self, config: JudgeConfig) -> PacedGate:
        """The gate of this judge's endpoint and model."""
        key = (config.base_url, config.api_key, config.model)
        gate = self._gates.get(key)
        if gate is None:
            gate = self._gates[key] = PacedGate(config, self._store, self._worker, self._note)
        gate.serve(config)
        return gate

    def states(self) -> dict[tuple[str, str], GateState]:
        """What every gate does now, by (base_url, model)."""
        return {(url, model): gate.state() for (url, _, model), gate in list(self._gates.items())}

    def decisions(self, after: int = 0) -> list[Decision]:
        """The decisions numbered higher than `after`, oldest first; the last 500 are kept."""
        return [decision for decision in list(self._decisions) if decision.number > after]

    def close(self) -> None:
        """Let go of the store; what is still in flight reports to nobody."""
        for gate in self._gates.values():
            gate.closed = True
        self._store.close()

    def _note(self, config: JudgeConfig, kind: str, words: str) -> None:
        number = next(self._numbers)
        self._decisions.append(Decision(number, time.time(), config.base_url, config.model, kind, words))
        log.info("%s at %s: %s", config.model, urlsplit(config.base_url).netloc, words)


_Note = Callable[[JudgeConfig, str, str], None]


class _Waiting:
    __slots__ = ("passage", "tokens", "turn")

    def __init__(self, turn: asyncio.Future[bool], tokens: float) -> None:
        self.turn = turn
        self.tokens = tokens
        self.passage: PacedPassage | None = None


class PacedGate:
    """One endpoint and model, for one process; see `pace.Gate`."""

    def __init__(self, config: JudgeConfig, store: PaceStore, worker: str, note: _Note) -> None:
        self._config = config
        self._store = store
        self._key = endpoint_key(config)
        self._worker = worker
        self._note = note
        self._concurrency = ConcurrencyLimit(config.concurrency)
        self._terms: dict[tuple[int, int | None, int | None], float] = {}
        self._term: tuple[int, int | None, int | None] = (config.concurrency, None, None)
        self.closed = False
        self._line: deque[_Waiting] = deque()
        self._in_flight = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        # What the ledger granted
        self._epoch = -1
        self._unlimited = False
        self._turns: deque[float] = deque()
        self._again_at = 0.0
        self._hurry = False
        self._paused_until = 0.0
        self._grant: Grant | None = None
        # What it is to be told
        self._sent = self._answered = self._confirmed = self._refused = self._stale = self._suspects = 0
        self._extra_tokens = 0.0
        self._asked_until: float | None = None
        self._allowance: Allowance | None = None
        # What is learned here
        self._strays = Strays()
        self._number = 0
        self._stray_until = 0.0
        self._refusal_seconds = 0.1
        self._token_ratio = 1.0
        self._mean_tokens = 0.0
        self._largest_tokens = 0.0
        self._headers_seen = False
        self._answers = 0
        self._throttled = 0
        # The conversation
        self._task: asyncio.Task[None] | None = None
        self._dirty = False
        self._reported_at = 0.0
        self._pumped_at = 0.0
        self._refused_at = 0.0
        self._sent_per_second = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0

    def serve(self, config: JudgeConfig) -> None:
        """Mind the limits of this configuration; while several are in use, the strictest rates count."""
        if config is self._config and self._terms:
            return
        self._config = config
        term = (config.concurrency, config.requests_per_minute, config.tokens_per_minute)
        now = time.monotonic()
        self._terms[term] = now
        if term == self._term and len(self._terms) == 1:
            return
        self._terms = {kept: at for kept, at in self._terms.items() if now - at < TERMS_SECONDS}
        per_minute = [term[1] for term in self._terms if term[1] is not None]
        tokens = [term[2] for term in self._terms if term[2] is not None]
        self._term = (
            max(term[0] for term in self._terms),
            min(per_minute, default=None),
            min(tokens, default=None),
        )
        self._concurrency.set_ceiling(self._term[0])
        if self._term[1:] != (None, None):
            self._unlimited = False

    async def enter(self, tokens: int, halt: Halt) -> PacedPassage | None:
        """See `pace.Gate.enter`."""
        if halt.tripped:
            return None
        loop = self._loop = asyncio.get_running_loop()
        open_now = self._unlimited and not self._line and self._in_flight < self._concurrency.now
        if open_now and self._concurrency.may_leave(loop.time()):
            return self._let_in(tokens * self._token_ratio)
        waiting = _Waiting(loop.create_future(), tokens * self._token_ratio)
        self._line.append(waiting)
        self._pump()
        try:
            with halt.wakes(waiting.turn):
                entered = await waiting.turn
        except asyncio.CancelledError:
            waiting.turn.cancel()
            if waiting.passage is not None:
                waiting.passage.give_back()  # the turn came in the same moment
            raise
        return waiting.passage if entered else None

    def state(self) -> GateState:
        """See `pace.Gate.state`."""
        grant = self._grant
        now = self._loop.time() if self._loop is not None else 0.0
        return GateState(
            model=self._config.model,
            limit=self._concurrency.now,
            in_flight=self._in_flight,
            waiting=sum(not waiting.turn.done() for waiting in list(self._line)),
            requests_per_minute=grant.requests_per_minute if grant else None,
            tokens_per_minute=grant.tokens_per_minute if grant else None,
            paused_seconds=max(0.0, self._paused_until - now),
            throttled=self._throttled,
            sharing=self._store.sharing,
        )

    def _let_in(self, tokens: float) -> PacedPassage:
        self._in_flight += 1
        self._sent += 1
        self._number += 1
        free = self._unlimited or self._hurry
        return PacedPassage(self, tokens, self._epoch, self._concurrency.cuts, self._number, free)

    def left(
        self,
        passage: PacedPassage,
        status: int | None,
        headers: Mapping[str, str],
        tokens: int | None,
        latency_seconds: float,
    ) -> None:
        """A passage was left: count it, learn from it, let the next one in."""
        loop = self._loop = self._loop or asyncio.get_running_loop()
        now = loop.time()
        in_flight = self._in_flight
        self._in_flight -= 1
        wait = asked_to_wait(status, headers)
        until = 0.0 if wait is None else now + min(wait, self._config.retry_after_cap_seconds)
        if status == 429:
            self._turned_away(passage, latency_seconds, until, now)
        elif status is None:
            self._concurrency.failed(in_flight)
        else:
            self._answered += 1
            self._confirmed += passage.epoch == self._epoch
            if self._hurry:
                self._again_at = now
            if status >= 500:
                self._concurrency.failed(in_flight)
                if wait is not None and not (passage.free and self._is_stray(passage)):
                    self._be_quiet(until)
            else:
                self._concurrency.answered(latency_seconds, in_flight)
        if tokens is not None:
            self._learn_tokens(passage.tokens, tokens)
        self._answers += 1
        if status is not None and (
            self._headers_seen or self._answers <= HEADERS_TRIED or self._answers % HEADERS_EVERY == 0
        ):
            self._hear(headers)
        if self._grant is not None and self._grant.probing:
            self._dirty = True
        if self._line or now - self._reported_at > REPORT_SECONDS or self._dirty:
            self._pump()

    def _turned_away(self, passage: PacedPassage, latency_seconds: float, until: float, now: float) -> None:
        self._throttled += 1
        self._refusal_seconds += 0.3 * (min(latency_seconds, SLOWEST_REFUSAL_SECONDS) - self._refusal_seconds)
        self._stray_until = max(self._stray_until, until)
        if passage.epoch == self._epoch and self._is_stray(passage):
            self._dirty = self._dirty or not passage.free  # all workers look for a limit together
            if self._hurry:
                self._again_at = min(self._again_at, now + STEP_SECONDS)
            return
        if self._stray_until > now:
            self._be_quiet(self._stray_until)
        self._refused_at = now
        if passage.epoch == self._epoch:
            self._refused += 1
            # Until the ledger has decided for all, nobody here goes on.
            self._unlimited = False
            self._turns.clear()
            self._again_at = 0.0
            self._dirty = True
        else:
            self._stale += 1
        before = self._concurrency.now
        # At a known pace it is the pace that was too fast, not the crowd.
        if passage.free and self._concurrency.refused(passage.cuts) and before > 1:
            self._note(self._config, "halved", f"halved to {self._concurrency.now} at once after 429")

    def _is_stray(self, passage: PacedPassage) -> bool:
        """Whether being turned away says nothing of a limit, and is the matter of this question alone."""
        if not passage.free:
            suspect = self._grant is not None and self._grant.lenient
            self._suspects += suspect
            return suspect
        run = self._strays.refused(passage.number)
        self._refused += max(0, run - 1)  # of these it could not be said when they came
        return not run

    def _be_quiet(self, until: float) -> None:
        if until > self._paused_until:
            self._paused_until = until
        if self._asked_until is None or until > self._asked_until:
            self._asked_until = until
        self._unlimited = False
        self._dirty = True

    def _learn_tokens(self, guessed: float, used: int) -> None:
        self._extra_tokens += used - guessed
        self._mean_tokens += 0.05 * (used - self._mean_tokens) if self._mean_tokens else used
        self._largest_tokens = max(self._largest_tokens * 0.999, used)
        if guessed > 0:
            ratio = self._token_ratio * used / guessed
            self._token_ratio += 0.05 * (min(max(ratio, 0.1), 20.0) - self._token_ratio)

    def _hear(self, headers: Mapping[str, str]) -> None:
        heard = allowance(headers)
        if heard is not None:
            if not self._headers_seen:
                self._headers_seen = True
                self._unlimited = False  # from now on by what is left of the allowance
                self._dirty = True
            self._allowance = heard

    def give_back(self, passage: PacedPassage) -> None:
        """A passage was never used."""
        self._in_flight -= 1
        self._sent -= 1
        if passage.epoch == self._epoch and not self._unlimited and self._loop is not None:
            self._turns.appendleft(self._loop.time())
        if self._line:
            self._pump()

    def _pump(self) -> None:
        """Lets in whoever may enter, and sees to it that more turns come for the others."""
        loop = self._loop
        assert loop is not None
        now = loop.time()
        line = self._line
        while line and line[0].turn.done():
            line.popleft()
        if line and self._in_flight >= self._concurrency.now and self._refused_at + 1.0 < now:
            self._concurrency.passed(now - self._pumped_at)
        self._pumped_at = now
        while line and self._in_flight < self._concurrency.now and self._take_turn(now):
            waiting = line.popleft()
            waiting.passage = self._let_in(waiting.tokens)
            waiting.turn.set_result(True)
            while line and line[0].turn.done():
                line.popleft()
        if self._dirty or now - self._reported_at > REPORT_SECONDS or self._is_short(now):
            self._converse()
        if line:
            self._arm(now)

    def _take_turn(self, now: float) -> bool:
        if now < self._paused_until:
            return False
        if self._unlimited:
            return self._concurrency.may_leave(now)
        turns = self._turns
        while turns and turns[0] < now - TURN_LIFE_SECONDS:
            turns.popleft()
        if turns and turns[0] <= now and (not self._hurry or self._concurrency.may_leave(now)):
            turns.popleft()
            return True
        return False

    def _is_short(self, now: float) -> bool:
        """Whether to ask for turns: some are wanted and asking is of use."""
        return not self._unlimited and now >= self._again_at and self._wanted() > 0

    def _wanted(self) -> int:
        """Turns that could be used by the next report and are not held."""
        if not self._line:
            return 0
        usable = min(len(self._line), self._concurrency.now - self._in_flight)
        ahead = int(1.5 * self._sent_per_second * max(self._store.pause_seconds, 0.1))
        return max(usable, min(ahead, 4 * self._concurrency.ceiling), 0) - len(self._turns)

    def _arm(self, now: float) -> None:
        """Wakes the gate when the next turn comes, the pause ends, or it is time to ask again."""
        assert self._loop is not None
        at = self._reported_at + REPORT_SECONDS
        if self._in_flight >= self._concurrency.now:
            at = min(at, now + STEP_SECONDS)
        elif self._concurrency.leaves_at > now and (self._unlimited or self._turns):
            at = min(at, self._concurrency.leaves_at)
        if not self._unlimited:
            if self._turns:
                at = min(at, max(self._turns[0], self._paused_until))
            if self._wanted() > 0:
                at = min(at, self._again_at)
        at = max(at, now + 0.001)
        if self._timer is not None:
            if self._timer_at <= at and self._timer_at > now:
                return
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._pump()

    def _converse(self) -> None:
        if self._task is not None or self.closed:
            return
        assert self._loop is not None
        self._task = self._loop.create_task(self._exchange())

    async def _exchange(self) -> None:
        """One report and its grant; again at once while there is something urgent to tell."""
        assert self._loop is not None
        try:
            self._dirty = True
            while self._dirty:
                self._dirty = False
                report = self._report(self._loop.time())
                self._apply(await self._store.exchange(self._key, report), self._loop.time())
        except Exception:
            log.exception("the pace of %s cannot be shared", self._config.model)
            self._again_at = self._loop.time() + REPORT_SECONDS
        finally:
            self._task = None
        self._pump()

    def _report(self, now: float) -> Report:
        wanted = max(0, self._wanted())
        if self._grant is None and self._term[1:] == (None, None):
            wanted = max(wanted, self._concurrency.now)  # more than the first question is about to come
        asked = self._asked_until
        seconds = now - self._reported_at
        if seconds > 0.02:
            self._sent_per_second += 0.5 * (self._sent / seconds - self._sent_per_second)
        report = Report(
            worker=self._worker,
            epoch=self._epoch,
            wanted=wanted,
            wanted_tokens=self._tokens_of(wanted),
            held=len(self._turns),
            in_flight=self._in_flight,
            sent=self._sent,
            answered=self._answered,
            confirmed=self._confirmed,
            refused=self._refused,
            stale=self._stale,
            suspects=self._suspects,
            strays=self._strays.told(),
            wait_seconds=None if asked is None else max(0.0, asked - now),
            refusal_seconds=self._refusal_seconds,
            extra_tokens=self._extra_tokens,
            mean_tokens=self._mean_tokens,
            largest_tokens=self._largest_tokens,
            requests_per_minute=self._term[1],
            tokens_per_minute=self._term[2],
            allowance=self._allowance,
        )
        self._sent = self._answered = self._confirmed = self._refused = self._stale = self._suspects = 0
        self._extra_tokens = 0.0
        self._asked_until = None
        self._allowance = None
        self._reported_at = now
        return report

    def _tokens_of(self, wanted: int) -> float:
        """What the next `wanted` in line will use; those not in line yet like the mean of these."""
        tokens = [waiting.tokens for waiting in itertools.islice(self._line, wanted)]
        return sum(tokens) * wanted / len(tokens) if tokens else 0.0

    def _apply(self, grant: Grant, now: float) -> None:
        self._grant = grant
        for kind, words in grant.notes:
            self._note(self._config, kind, words)
        if grant.epoch != self._epoch:
            self._epoch = grant.epoch
            self._turns.clear()
            # What came meanwhile belongs to the epoch that is over.
            self._stale += self._refused + self._suspects + self._strays.begin()
            self._refused = self._confirmed = self._suspects = 0
        self._paused_until = max(now + grant.paused_seconds, self._asked_until or 0.0)
        if self._refused:
            return  # another was turned away meanwhile: what was granted is void
        self._unlimited = grant.unlimited
        if grant.unlimited:
            self._turns.clear()
        self._turns.extend(now + seconds for seconds in grant.turns)
        self._hurry = grant.hurry
        # In a hurry there is more with the next answer, and not before.
        pause = REPORT_SECONDS if grant.hurry else max(self._store.pause_seconds, 0.005)
        self._again_at = now + max(grant.again_seconds, pause)


class PacedPassage:
    """One request that was let through a `PacedGate`; see `pace.Passage`."""

    __slots__ = ("_gate", "cuts", "epoch", "free", "number", "tokens")

    def __init__(
        self, gate: PacedGate, tokens: float, epoch: int, cuts: int, number: int, free: bool
    ) -> None:
        self._gate: PacedGate | None = gate
        self.tokens = tokens
        self.epoch = epoch
        self.cuts = cuts
        self.number = number
        self.free = free  # of any pace: only the number in flight held it back

    def leave(
        self, *, status: int | None, headers: Mapping[str, str], tokens: int | None, latency_seconds: float
    ) -> None:
        """See `pace.Passage.leave`."""
        gate, self._gate = self._gate, None
        if gate is not None:
            gate.left(self, status, headers, tokens, latency_seconds)

    def give_back(self) -> None:
        """Leave without having asked."""
        gate, self._gate = self._gate, None
        if gate is not None:
            gate.give_back(self)
