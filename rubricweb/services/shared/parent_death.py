"""Processes that end with the process that started them, even when that one is killed."""

import ctypes
import os
import signal
import sys
import threading
import time

PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
KERNEL = _LIBC is not None
"""Whether the kernel itself tells of a parent that died; only then may `follow` run between fork and exec."""


def follow(parent: int, how: signal.Signals) -> None:
    """Has the kernel send this process `how` when process `parent`, which started it, is gone.

    Where the kernel offers no such thing (macOS), a thread looks twice a second.
    """
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, int(how), 0, 0, 0)
    else:
        threading.Thread(target=_watch, args=(parent, how), name="parent-death", daemon=True).start()
    if os.getppid() != parent:  # gone before we asked
        os.kill(os.getpid(), how)


def _watch(parent: int, how: signal.Signals) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), how)
