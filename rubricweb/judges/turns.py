"""Whose question is next: teams take turns, and within a team its runs."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")
Lane = tuple[Hashable, Hashable]
"""Who is asking: (team, run). A team with many runs gets no more turns than one with a single run."""

HEAD_START = 64
"""So many questions of a new run come before those of its team's other runs: a small run need not wait."""


class Turns(Generic[T]):
    """Queues of two levels, served in turn: A's run 1, B's run 9, A's run 2, B's run 9, A's run 1, …

    A lane's first `HEAD_START` turns, counted from when it was first seen, come before those of its team;
    this is how fq_codel (RFC 8290) treats new flows. Within one lane what was put first comes first. Not for
    several threads at once.
    """

    def __init__(self) -> None:
        self._taken: Counter[Lane] = Counter()
        # Whose turn is next stands first; a lane without anything waiting has no place.
        self._groups: dict[Hashable, dict[Lane, deque[T]]] = {}
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting

    def put(self, lane: Lane, things: Iterable[T]) -> None:
        """Lines these up at the end of the lane."""
        lanes = self._groups.setdefault(lane[0], {})
        if lane not in lanes:
            lanes[lane] = deque()
            if self._is_new(lane):  # after those that are new as well, before all others
                lanes = dict(sorted(lanes.items(), key=lambda entry: not self._is_new(entry[0])))
                self._groups[lane[0]] = lanes
        queue = lanes[lane]
        before = len(queue)
        queue.extend(things)
        self._waiting += len(queue) - before
        if not queue:
            self._drop(lane)

    def next(self) -> T:
        """Takes what is next. Raises IndexError when nothing is waiting."""
        if not self._groups:
            raise IndexError("nothing is waiting")
        group, lanes = next(iter(self._groups.items()))
        lane, queue = next(iter(lanes.items()))
        thing = queue.popleft()
        self._waiting -= 1
        self._taken[lane] += 1
        # Both go to the back of their line, a lane once it has had its head start.
        if not (queue and self._is_new(lane)):
            del lanes[lane]
        if queue:
            lanes[lane] = queue
        del self._groups[group]
        if lanes:
            self._groups[group] = lanes
        return thing

    def clear(self, lane: Lane) -> list[T]:
        """Takes all that waits in a lane."""
        queue = self._groups.get(lane[0], {}).get(lane, deque())
        if queue:
            self._waiting -= len(queue)
            self._drop(lane)
        return list(queue)

    def _is_new(self, lane: Lane) -> bool:
        return self._taken[lane] < HEAD_START

    def _drop(self, lane: Lane) -> None:
        lanes = self._groups[lane[0]]
        del lanes[lane]
        if not lanes:
            del self._groups[lane[0]]
