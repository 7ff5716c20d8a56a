"""Asking many questions from a worker process: one event loop in a thread, warm clients, bounded work.

`RequestQueue` takes questions of several askers and hands out replies as they come; `ask_all` and `ask_one`
are for whoever has one list, or one question.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.beginnings import Beginning, Beginnings, Going, beginnings_of
from rubricweb.judges.cancellation import Cancellation
from rubricweb.judges.cost_overrun import CostOverruns
from rubricweb.judges.event_loop import event_loop
from rubricweb.judges.turns import QueueKey, Turns

if TYPE_CHECKING:
    from rubricweb.judges.client.openai import Jitter
    from rubricweb.judges.event_loop import EventLoop

_STOP_POLL_SECONDS = 0.05
_ALONE: QueueKey = (0, 0)
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


class _Turn(NamedTuple):
    """A question in a queue. `mark_at`: where a mark for the cache pays, 0 where none does."""

    queue_key: QueueKey
    config: JudgeConfig
    question: Question
    beginnings: tuple[Beginning, ...]
    mark_at: int


_Taken = tuple[_Turn, Going]


# Long because its methods run in two threads and are read beside each other.
class RequestQueue:
    """Questions go in, answers come out, and the event loop asks meanwhile. For one thread at a time.

    Of every endpoint and model at most `config.concurrency` questions are being asked; which is next is
    decided when one is free, in turn between queues (see `turns`), so that what came first does not block
    what comes later. Once a queue's replies cost clearly more than was set aside for them, what waits in it
    comes back withdrawn: what can still pass a cap then is what is being asked at that moment. Where
    questions share a long beginning and the endpoint caches such, one goes ahead and the others are `held`
    (see `beginnings`): that takes no turn of anybody, and no place among those in flight.
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
        self._held: Counter[QueueKey] = Counter()
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

    def held(self, queue_key: QueueKey) -> int:
        """Questions of a queue that wait because one that begins alike went ahead."""
        return self._held.get(queue_key, 0)

    def put(self, queue_key: QueueKey, config: JudgeConfig, questions: Sequence[Question]) -> None:
        """Puts questions into a queue. Every one of them comes back by `take`."""
        self._outstanding += len(questions)
        beginnings = [beginnings_of(config, question) for question in questions]
        alike = Counter(of[0] for of in beginnings if of)
        turns = [
            _Turn(queue_key, config, question, of, of[0].ends if of and alike[of[0]] > 1 else 0)
            for question, of in zip(questions, beginnings, strict=True)
        ]
        self._background.loop.call_soon_threadsafe(self._queue, queue_key, config, turns)

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

    def _queue(self, queue_key: QueueKey, config: JudgeConfig, turns: Sequence[_Turn]) -> None:
        self._unanswered[queue_key] = self._unanswered.get(queue_key, 0) + len(turns)
        if queue_key in self._cancellations and self._cancellations[queue_key].is_cancelled:
            for turn in turns:
                self._arrive(Answered(queue_key, turn.question))
            return
        endpoint = (config.base_url, config.api_key, config.model)
        counter = self._counters.get(endpoint)
        if counter is None:
            try:
                counter = _Counter(config, self._background)
            except (
                Exception
            ) as fault:  # in a callback of the loop nobody would hear of it, and all would wait
                for turn in turns:
                    self._arrive(Answered(queue_key, turn.question, fault=fault))
                return
            self._counters[endpoint] = counter
        counter.slots = config.concurrency
        counter.turns.put(queue_key, turns)
        self._begin(counter)

    def _begin(self, counter: _Counter) -> None:
        """Begins as much as there is room for."""
        while (taken := self._next_turn(counter)) is not None:
            counter.beginning += 1
            task = self._background.loop.create_task(self._ask_on(counter, taken))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _next_turn(self, counter: _Counter) -> _Taken | None:
        """Takes what is next, if anything may begin."""
        if self._paused or not counter.turns or not counter.has_room():
            return None
        counter.turns.set_aside(partial(self._waits, counter))
        if not counter.turns:
            return None
        turn = counter.turns.next()
        counter.busy += 1
        self._in_flight[turn.queue_key] = self._in_flight.get(turn.queue_key, 0) + 1
        return turn, counter.sent.goes(turn.beginnings) if turn.beginnings else Going()

    def _waits(self, counter: _Counter, turn: _Turn) -> bool:
        """Whether one that begins alike went ahead of this one, which is held until that one is answered."""
        held = bool(turn.beginnings) and counter.sent.waits(turn.beginnings, turn)
        if held:
            self._held[turn.queue_key] += 1
        return held

    def _go_on(self, counter: _Counter, held: Sequence[_Turn]) -> None:
        """What was held takes its turns before all that is behind it in its queue."""
        for queue_key in dict.fromkeys(turn.queue_key for turn in held):
            turns = [turn for turn in held if turn.queue_key == queue_key]
            self._held[queue_key] -= len(turns)
            counter.turns.put(queue_key, turns, first=True)

    async def _ask_on(self, counter: _Counter, taken: _Taken | None) -> None:
        """Asks a question, then whichever is next, while there is room.

        A task of its own for the next one would begin only after the loop has read all answers that came
        together, and the endpoint would wait meanwhile.
        """
        counter.beginning -= 1
        while taken is not None:
            answered = await self._ask(counter, *taken)
            reply = answered.reply
            if reply is not None and self._overruns(answered.queue_key, answered.question, reply):
                self._withdraw(answered.queue_key)
            taken = self._next_turn(counter)
            if taken is not None:
                self._begin(counter)
            self._arrive(answered)

    async def _ask(self, counter: _Counter, turn: _Turn, going: Going) -> Answered:
        """Asks one question; where it goes ahead of others, these go on once its answer has begun."""
        queue_key, config, question, beginnings, mark_at = turn
        cancellation = self._cancellations.get(queue_key)
        if cancellation is None:
            cancellation = self._cancellations[queue_key] = Cancellation(config.stop_grace_seconds)
        reply = None
        try:
            reply = await counter.client.ask(
                config,
                question,
                cancellation=cancellation,
                jitter=self._jitter,
                mark_at=mark_at,
                on_sent=partial(self._goes_ahead, counter, going) if going.leads else None,
            )
            return Answered(queue_key, question, reply)
        except asyncio.CancelledError:
            raise
        except BaseException as fault:  # the thread that takes it knows whose it is
            return Answered(queue_key, question, fault=fault)
        finally:
            counter.busy -= 1
            self._in_flight[queue_key] -= 1
            if beginnings:
                self._go_on(counter, counter.sent.over(going, beginnings, reply))

    def _goes_ahead(self, counter: _Counter, going: Going) -> None:
        """A request went ahead of others: they wait for its answer, or for its first token."""
        self._background.loop.call_later(going.first_token_seconds, self._has_begun, counter, going)

    def _has_begun(self, counter: _Counter, going: Going) -> None:
        self._go_on(counter, counter.sent.has_begun(going))
        self._begin(counter)

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
        for question in self._clear(queue_key):
            self._arrive(Answered(queue_key, question, withdrawn=True))

    def _cancel(self, queue_key: QueueKey, grace_seconds: float) -> None:
        cancellation = self._cancellations.setdefault(queue_key, Cancellation(grace_seconds))
        cancellation.cancel(grace_seconds)
        for question in self._clear(queue_key):
            self._arrive(Answered(queue_key, question))

    def _clear(self, queue_key: QueueKey) -> list[Question]:
        """Takes all that waits in a queue, at any endpoint, and all that is held of it."""
        turns: list[_Turn] = []
        for counter in self._counters.values():
            turns += counter.sent.take_out(lambda turn: turn.queue_key == queue_key)
            turns += counter.turns.clear(queue_key)
        self._held.pop(queue_key, None)
        return [turn.question for turn in turns]

    def _set_paused(self, paused: bool) -> None:
        self._paused = paused
        for counter in self._counters.values():
            self._begin(counter)

    def _close(self) -> None:
        for counter in self._counters.values():
            counter.slots = 0  # a timer that is still to come begins nothing
        self._counters.clear()
        for task in self._tasks:
            task.cancel()


class _Counter:
    """One endpoint and model: who waits to be asked there, and how many are being asked."""

    def __init__(self, config: JudgeConfig, background: EventLoop) -> None:
        self.client = background.client(config)
        self.limiter = background.limiter_of(config)
        self.slots = 1
        self.busy = 0
        # Of the busy ones those whose task has not run yet, and so is not known to the limiter.
        self.beginning = 0
        self.turns: Turns[_Turn] = Turns()
        self.sent: Beginnings[_Turn] = Beginnings(self.client.capabilities_of(config))

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
