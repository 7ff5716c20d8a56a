"""What the calls made on behalf of one item came to, counted where they are made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Usage:
    """Tokens and US dollars of a number of calls that said what they took.

    ``unpriced`` of the ``calls`` cost nobody knows what; ``cost_usd`` is the sum over the others.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost_usd + other.cost_usd,
            self.unpriced + other.unpriced,
        )

    @property
    def total_tokens(self) -> int:
        """Tokens asked and answered together."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def known_cost_usd(self) -> float | None:
        """US dollars for all calls; None when one of them cost nobody knows what, or none was counted."""
        return self.cost_usd if self.calls and not self.unpriced else None


_counting: ContextVar[Usage | None] = ContextVar("counting", default=None)


@contextmanager
def usage_counter() -> Iterator[Usage]:
    """Counts what is reported inside, by this task and the tasks it starts."""
    usage = Usage()
    token = _counting.set(usage)
    try:
        yield usage
    finally:
        _counting.reset(token)


def report_usage(
    *, prompt_tokens: int | None = None, completion_tokens: int | None = None, cost_usd: float | None = None
) -> None:
    """Say what one call took; for generate functions of one's own. Outside an evaluation it does nothing.

    None is unknown: such tokens are counted as 0, such a call as one without a known price.
    """
    usage = _counting.get()
    if usage is None:
        return
    usage.calls += 1
    usage.prompt_tokens += prompt_tokens or 0
    usage.completion_tokens += completion_tokens or 0
    usage.cost_usd += cost_usd or 0.0
    usage.unpriced += cost_usd is None
