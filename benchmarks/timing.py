"""Timing a piece of work in this process."""

import time
from collections.abc import Callable


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The best of some tries."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)
