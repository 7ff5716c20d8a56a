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

    What comes late is looked for less often: twenty looks a second take a good part of a core.
    Raises AssertionError with the `log` of what was waited for when it never comes.
    """
    began = time.monotonic()
    while not happened():
        waited = time.monotonic() - began
        assert waited < PATIENCE_SECONDS, f"waited {PATIENCE_SECONDS} s in vain\n{log()}"
        meanwhile()
        time.sleep(min(0.05 + waited / 20, 0.25))
