"""Asking many questions from a worker process: one event loop in a thread, warm clients, bounded work.

`RequestQueue` takes questions of several askers and hands out replies as they come; `ask_all` and `ask_one`
are for whoever has one list, or one question.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.cost_overrun import CostOverruns
from rubricweb.judges.event_loop import event_loop
from rubricweb.judges.turns import QueueKey, Turns

if TYPE_CHECKING:
    from rubricweb.judges.client.openai import Jitter, JudgeClient
    from rubricweb.judges.permits import Limiter

_STOP_POLL_SECONDS = 0.05
_ALONE: QueueKey = (0, 0)
_Turn = tuple[QueueKey, JudgeConfig, Question]
FEWEST_STANDING = 4

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a question put into a queue.

    Neither `reply` nor `fault`: its queue was cancelled before it was begun, or it was `withdrawn`, and may
    be put in again. `fault` is what a `read` of the caller's raised where it may not.
    """

    queue_key: QueueKey
    question: Question
    reply: Reply | None = None
    fault: BaseException | None = None
    withdrawn: bool = False


# Long because its methods run in two threads and are read beside each other.
class RequestQueue:
    """Questions go in, answers come out, and the event loop asks meanwhile. For one thread at a time.

    Of every endpoint and model at most `config.concurrency` questions are being asked; which is next is
    decided when one is free, in turn between queues (see `turns`), so that what came first does not block
    what comes later. Once a queue's replies cost clearly more than was set aside for them, what waits in it
    comes back withdrawn: what can still pass a cap then is what is being asked at that moment.
    """

    def __init__(self, *, jitter: Jitter = random.random) -> None:
        self._jitter = jitter
        self._background = event_loop()
        self._outstanding = 0
        self._arrived: deque[Answered] = deque()
        self._bell = threading.Event()
        self._wanted = 1
        # The rest is touched by the loop's thread alone.
        self._counters: dict[tuple[str, str | None, str], _Counter] = {}
        self._cancellations: dict[QueueKey, Cancellation] = {}
        self._in_flight: dict[QueueKey, int] = {}
        self._paused = False
        self._unanswered: dict[QueueKey, int] = {}
        self._cost_overruns = CostOverruns()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def outstanding(self) -> int:
        """Questions put in whose answers were not taken yet."""
        return self._outstanding

    def in_flight(self, queue_key: QueueKey) -> int:
        """Questions of a queue that are being asked right now."""
        return self._in_flight.get(queue_key, 0)

    def put(self, queue_key: QueueKey, config: JudgeConfig, questions: Sequence[Question]) -> None:
        """Puts questions into a queue. Every one of them comes back by `take`."""
        self._outstanding += len(questions)
        self._background.loop.call_soon_threadsafe(self._queue, queue_key, config, tuple(questions))

    def take(self, seconds: float, at_least: int = 1) -> list[Answered]:
        """All that has come, after waiting for so many, for so long, or until a queue has all its answers."""
        self._bell.clear()
        self._wanted = at_least
        if len(self._arrived) < min(at_least, self._outstanding):
            self._bell.wait(seconds)
        taken = []
        while self._arrived:
            taken.append(self._arrived.popleft())
        self._outstanding -= len(taken)
        return taken

    def cancel(self, queue_key: QueueKey, grace_seconds: float) -> None:
        """Begins nothing more of a queue, ends its pauses, and gives what is in flight so long to finish.

        Later questions of that queue come back unasked until it is `reopen`ed.
        """
        self._background.loop.call_soon_threadsafe(self._cancel, queue_key, grace_seconds)

    def reopen(self, queue_key: QueueKey) -> None:
        """Lets a cancelled queue ask again."""
        self._background.loop.call_soon_threadsafe(self._cancellations.pop, queue_key, None)

    def withdraw(self, queue_key: QueueKey) -> None:
        """Has what waits in a queue come back unasked, to be put in again by who still wants it."""
        self._background.loop.call_soon_threadsafe(self._withdraw, queue_key)

    def pause(self) -> None:
        """Begins nothing more, of any queue, until `go_on`; what is being asked goes on being asked."""
        self._background.loop.call_soon_threadsafe(self._set_paused, True)

    def go_on(self) -> None:
        """Begins again what waits."""
        self._background.loop.call_soon_threadsafe(self._set_paused, False)

    def close(self) -> None:
        """Breaks off all that is being asked; no answer comes any more."""
        self._background.loop.call_soon_threadsafe(self._close)

    def _queue(self, queue_key: QueueKey, config: JudgeConfig, questions: Sequence[Question]) -> None:
        self._unanswered[queue_key] = self._unanswered.get(queue_key, 0) + len(questions)
        if queue_key in self._cancellations and self._cancellations[queue_key].is_cancelled:
            for question in questions:
                self._arrive(Answered(queue_key, question))
            return
        endpoint = (config.base_url, config.api_key, config.model)
        counter = self._counters.get(endpoint)
        if counter is None:
            try:
                counter = _Counter(self._background.client(config), self._background.limiter_of(config))
            except (
                Exception
            ) as fault:  # in a callback of the loop nobody would hear of it, and all would wait
                for question in questions:
                    self._arrive(Answered(queue_key, question, fault=fault))
                return
            self._counters[endpoint] = counter
        counter.slots = config.concurrency
        counter.turns.put(queue_key, [(queue_key, config, question) for question in questions])
        self._begin(counter)

    def _begin(self, counter: _Counter) -> None:
        """Begins as much as there is room for."""
        while (turn := self._next_turn(counter)) is not None:
            counter.beginning += 1
            task = self._background.loop.create_task(self._ask_on(counter, turn))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _next_turn(self, counter: _Counter) -> _Turn | None:
        """Takes what is next, if anything may begin."""
        if self._paused or not counter.turns or not counter.has_room():
            return None
        turn = counter.turns.next()
        counter.busy += 1
        self._in_flight[turn[0]] = self._in_flight.get(turn[0], 0) + 1
        return turn

    async def _ask_on(self, counter: _Counter, turn: _Turn | None) -> None:
        """Asks a question, then whichever is next, while there is room.

        A task of its own for the next one would begin only after the loop has read all answers that came
        together, and the endpoint would wait meanwhile.
        """
        counter.beginning -= 1
        while turn is not None:
            queue_key, config, question = turn
            cancellation = self._cancellations.get(queue_key)
            if cancellation is None:
                cancellation = self._cancellations[queue_key] = Cancellation(config.stop_grace_seconds)
            try:
                reply = await counter.client.ask(
                    config, question, cancellation=cancellation, jitter=self._jitter
                )
                answered = Answered(queue_key, question, reply)
            except asyncio.CancelledError:
                raise
            except BaseException as fault:  # the thread that takes it knows whose it is
                answered = Answered(queue_key, question, fault=fault)
            finally:
                counter.busy -= 1
                self._in_flight[queue_key] -= 1
            if answered.reply is not None and self._overruns(queue_key, question, answered.reply):
                self._withdraw(queue_key)
            turn = self._next_turn(counter)
            if turn is not None:
                self._begin(counter)
            self._arrive(answered)

    def _arrive(self, answered: Answered) -> None:
        """Wakes who waits when enough has come, and for the last answer of a queue, be it a small one."""
        self._unanswered[answered.queue_key] -= 1
        self._arrived.append(answered)
        is_last = not self._unanswered[answered.queue_key]
        if is_last:
            del self._unanswered[answered.queue_key]
        if is_last or len(self._arrived) >= self._wanted:
            self._bell.set()

    def _overruns(self, queue_key: QueueKey, question: Question, reply: Reply) -> bool:
        return self._cost_overruns.passes(queue_key, question, reply, in_flight=self._in_flight[queue_key])

    def _withdraw(self, queue_key: QueueKey) -> None:
        for counter in self._counters.values():
            for _, _, question in counter.turns.clear(queue_key):
                self._arrive(Answered(queue_key, question, withdrawn=True))

    def _cancel(self, queue_key: QueueKey, grace_seconds: float) -> None:
        cancellation = self._cancellations.setdefault(queue_key, Cancellation(grace_seconds))
        cancellation.cancel(grace_seconds)
        for counter in self._counters.values():
            for _, _, question in counter.turns.clear(queue_key):
                self._arrive(Answered(queue_key, question))

    def _set_paused(self, paused: bool) -> None:
        self._paused = paused
        for counter in self._counters.values():
            self._begin(counter)

    def _close(self) -> None:
        self._counters.clear()
        for task in self._tasks:
            task.cancel()


class _Counter:
    """One endpoint and model: who waits to be asked there, and how many are being asked."""

    def __init__(self, client: JudgeClient, limiter: Limiter) -> None:
        self.client = client
        self.limiter = limiter
        self.slots = 1
        self.busy = 0
        # Of the busy ones those whose task has not run yet, and so is not known to the limiter.
        self.beginning = 0
        self.turns: Turns[_Turn] = Turns()

    def has_room(self) -> bool:
        """Whether another question may begin.

        Only a few may wait for a permit: whoever waits there has taken their turn, and a
        question that comes later could not be asked before them.
        """
        if self.busy >= self.slots:
            return False
        state = self.limiter.state()
        standing = state.waiting + max(0, state.in_flight + self.beginning - state.limit)
        return standing < max(FEWEST_STANDING, state.limit // 4)


def ask_all(
    config: JudgeConfig,
    questions: Iterable[Question],
    *,
    stop: threading.Event | None = None,
    jitter: Jitter = random.random,
) -> Iterator[Reply]:
    """Ask every question and yield each reply as it completes, in no particular order.

    `questions` may be endless and slow: it is read in the caller's thread, never more than twice
    `config.concurrency` ahead of the replies taken, and at most `config.concurrency` requests are in flight.
    What goes wrong with a question is the error of its reply; what goes wrong with `questions` itself, or a
    bug in a `read`, is raised here.

    When `stop` is set no further question is read or begun; pauses end at once, requests in flight have
    `config.stop_grace_seconds`. Questions that were not begun yield nothing, those broken off yield the error
    `stopped`. Closing the generator cancels everything outstanding.
    """
    queue = RequestQueue(jitter=jitter)
    upcoming = iter(questions)
    exhausted = stopped = False
    waiting: deque[Answered] = deque()
    try:
        while True:
            if stop is not None and stop.is_set() and not stopped:
                stopped = True
                queue.cancel(_ALONE, config.stop_grace_seconds)
            while not exhausted and not stopped and queue.outstanding + len(waiting) < 2 * config.concurrency:
                question = next(upcoming, None)
                if question is None:
                    exhausted = True
                    break
                queue.put(_ALONE, config, [question])
            if not waiting:
                if not queue.outstanding:
                    return
                waiting.extend(queue.take(_STOP_POLL_SECONDS if stop is not None else 60.0))
                continue
            answered = waiting.popleft()
            if answered.fault is not None:
                raise answered.fault
            if answered.reply is not None:
                yield answered.reply
    finally:
        queue.close()


async def ask_one(config: JudgeConfig, question: Question) -> Reply:
    """Ask one question from any event loop, through the same warm clients as everything else."""
    background = event_loop()
    client = background.client(config)
    return await asyncio.wrap_future(background.submit(client.ask(config, question)))
