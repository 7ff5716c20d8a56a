"""Whether this worker was told to stop: one byte that its processes share.

Plain memory rather than a lock: a process that is killed can leave a lock held for ever, a byte it cannot.
"""

import mmap

_flag = mmap.mmap(-1, 1)


def raise_flag() -> None:
    """Raises it for this process and all that were forked from it."""
    _flag[0] = 1


def is_set() -> bool:
    """Whether to take on nothing more."""
    return _flag[0] == 1
