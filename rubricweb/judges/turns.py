"""Whose question is next: teams take turns, and within a team its runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")
Lane = tuple[Hashable, Hashable]
"""Who is asking: (team, run). A team with many runs gets no more turns than one with a single run."""


class Turns(Generic[T]):
    """Queues of two levels, served in turn: A's run 1, B's run 9, A's run 2, B's run 9, A's run 1, …

    Within one lane what was put first comes first. Not for several threads at once.
    """

    def __init__(self) -> None:
        # Whose turn is next stands first; a lane without anything waiting has no place.
        self._groups: dict[Hashable, dict[Lane, deque[T]]] = {}
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting

    def put(self, lane: Lane, things: Iterable[T]) -> None:
        """Lines these up at the end of the lane."""
        queue = self._groups.setdefault(lane[0], {}).setdefault(lane, deque())
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
        # Both go to the back of their line.
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

    def _drop(self, lane: Lane) -> None:
        lanes = self._groups[lane[0]]
        del lanes[lane]
        if not lanes:
            del self._groups[lane[0]]
