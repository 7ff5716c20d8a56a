"""Whose question is next: teams take turns, and within a team its runs."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")
QueueKey = tuple[Hashable, Hashable]
"""Who is asking: (team, run). A team with many runs gets no more turns than one with a single run."""

HEAD_START = 64
"""So many questions of a new run come before those of its team's other runs: a small run need not wait."""


class Turns(Generic[T]):
    """Queues of two levels, served in turn: A's run 1, B's run 9, A's run 2, B's run 9, A's run 1, …

    A queue's first `HEAD_START` turns, counted from when it was first seen, come before those of its team;
    this is how fq_codel (RFC 8290) treats new flows. Within one queue what was put first comes first. Not for
    several threads at once.
    """

    def __init__(self) -> None:
        self._taken: Counter[QueueKey] = Counter()
        # Whose turn is next stands first; a queue without anything waiting has no place.
        self._groups: dict[Hashable, dict[QueueKey, deque[T]]] = {}
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting

    def put(self, queue_key: QueueKey, things: Iterable[T], *, first: bool = False) -> None:
        """Appends these to the queue, or puts them before all that waits in it."""
        queues = self._groups.setdefault(queue_key[0], {})
        if queue_key not in queues:
            queues[queue_key] = deque()
            if self._is_new(queue_key):  # after those that are new as well, before all others
                queues = dict(sorted(queues.items(), key=lambda entry: not self._is_new(entry[0])))
                self._groups[queue_key[0]] = queues
        queue = queues[queue_key]
        before = len(queue)
        if first:
            queue.extendleft(reversed(list(things)))
        else:
            queue.extend(things)
        self._waiting += len(queue) - before
        if not queue:
            self._drop(queue_key)

    def set_aside(self, waits: Callable[[T], bool]) -> None:
        """Takes out what is next for as long as it `waits`: that uses up nobody's turn."""
        while self._groups:
            queues = next(iter(self._groups.values()))
            queue_key, queue = next(iter(queues.items()))
            if not waits(queue[0]):
                return
            queue.popleft()
            self._waiting -= 1
            if not queue:
                self._drop(queue_key)

    def next(self) -> T:
        """Takes what is next. Raises IndexError when nothing is waiting."""
        if not self._groups:
            raise IndexError("nothing is waiting")
        group, queues = next(iter(self._groups.items()))
        queue_key, queue = next(iter(queues.items()))
        thing = queue.popleft()
        self._waiting -= 1
        self._taken[queue_key] += 1
        # Both go to the back, a queue once it has had its head start.
        if not (queue and self._is_new(queue_key)):
            del queues[queue_key]
        if queue:
            queues[queue_key] = queue
        del self._groups[group]
        if queues:
            self._groups[group] = queues
        return thing

    def clear(self, queue_key: QueueKey) -> list[T]:
        """Takes all that waits in a queue."""
        queue = self._groups.get(queue_key[0], {}).get(queue_key, deque())
        if queue:
            self._waiting -= len(queue)
            self._drop(queue_key)
        return list(queue)

    def _is_new(self, queue_key: QueueKey) -> bool:
        return self._taken[queue_key] < HEAD_START

    def _drop(self, queue_key: QueueKey) -> None:
        queues = self._groups[queue_key[0]]
        del queues[queue_key]
        if not queues:
            del self._groups[queue_key[0]]
