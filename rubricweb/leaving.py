"""Whether this worker was told to stop: one byte that its processes share.

Plain memory rather than a lock: a process that is killed can leave a lock held for ever, a byte it cannot.
"""

import mmap

_told = mmap.mmap(-1, 1)


def tell() -> None:
    """Tells all processes that were forked from this one, and this one."""
    _told[0] = 1


def is_set() -> bool:
    """Whether to take on nothing more."""
    return _told[0] == 1
