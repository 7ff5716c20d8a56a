"""Waiting for what will happen, however busy the machine is."""

import time
from collections.abc import Callable

PATIENCE_SECONDS = 300
"""Far longer than anything takes that is not stuck; a test that waits this long has failed."""


def wait_for(
    happened: Callable[[], object],
    *,
    meanwhile: Callable[[], object] = lambda: None,
    log: Callable[[], str] = lambda: "",
) -> None:
    """Returns as soon as `happened()` is true; `meanwhile` is called between two looks.

    Raises AssertionError with the `log` of what was waited for when it never comes.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < deadline, f"waited {PATIENCE_SECONDS} s in vain\n{log()}"
        meanwhile()
        time.sleep(0.05)
