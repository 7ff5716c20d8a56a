"""The limits that judges configure for one endpoint and model: several judges may share it."""

from __future__ import annotations

import time
from collections.abc import Iterable

from rubricweb.judges.base import JudgeConfig

CONFIGURED_SECONDS = 60.0
"""For so long a configured limit counts after it was last asked with."""

_Limits = tuple[int, int | None, int | None]


class ConfiguredLimits:
    """The limits in use: the largest concurrency and the strictest rates, of all that asked lately.

    `requests_per_minute` and `tokens_per_minute` are None where no judge sets them.
    """

    def __init__(self) -> None:
        self.concurrency = 0
        self.requests_per_minute: int | None = None
        self.tokens_per_minute: int | None = None
        self._config: JudgeConfig | None = None
        self._last_used: dict[_Limits, float] = {}

    @property
    def has_rate(self) -> bool:
        """Whether a judge sets a limit per minute."""
        return self.requests_per_minute is not None or self.tokens_per_minute is not None

    def use(self, config: JudgeConfig) -> bool:
        """Take in this judge's limits; whether the limits in use may have changed."""
        if config is self._config:
            return False
        self._config = config
        limits = (config.concurrency, config.requests_per_minute, config.tokens_per_minute)
        now = time.monotonic()
        was_only = set(self._last_used) == {limits}
        self._last_used[limits] = now
        if was_only:
            return False
        self._last_used = {used: at for used, at in self._last_used.items() if now - at < CONFIGURED_SECONDS}
        self.concurrency = max(used[0] for used in self._last_used)
        self.requests_per_minute = _strictest(used[1] for used in self._last_used)
        self.tokens_per_minute = _strictest(used[2] for used in self._last_used)
        return True


def _strictest(limits: Iterable[int | None]) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)
