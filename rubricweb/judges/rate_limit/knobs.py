"""Every number of rate limiting that somebody may want to change, each with what it does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Knobs:
    """How rate limiting behaves; `docs/rate-limits.md` says how the parts work together.

    Raises ValueError naming the knob when a value is out of range.
    """

    # How many requests of one process are in flight at once (AIMD).
    start: float = 8
    """Requests at once a process begins with at an endpoint that nobody knows."""
    least: float = 1
    """Never fewer at once."""
    most: float = 1000
    """Never more at once, whatever the judge's own limit allows."""
    increase: float = 1.0
    """So many more at once for every second in which all were in use."""
    decrease_factor: float = 0.7
    """What remains of the requests at once, and of the pace, after a run of 429s."""
    cooldown_seconds: float = 5.0
    """After a decrease of the requests at once there is no other for so long."""
    # How many requests a minute all processes together send.
    used_share: float = 0.985
    """This share of a configured limit is used, so that early and late arrivals do not exceed it."""
    run: float = 5.0
    """So many 429s close together are a run: the limit is exceeded, and everybody stops."""
    forgiven: float = 0.5
    """An answer takes so many 429s off the run, so that 429s at random never make one."""
    pause_seconds: float = 0.25
    """After a run one request is tried after so long, unless the endpoint named a time."""
    longest_pause_seconds: float = 10.0
    """The pause doubles with every refused try, up to this."""
    tolerated_share: float = 0.05
    """Is a larger share of requests refused than this, a slower pace is tried; half of it ends growth."""
    trial_requests: float = 40
    """So many requests go at the slower pace before it is judged: did it help?"""
    resume_share: float = 0.95
    """This share of the measured pace is used after a limit was met."""
    growth: float = 0.02
    """How fast the pace grows while nothing is refused: by this share after a hundred answers, by eight times
    as much after two hundred (as the cube)."""

    def __post_init__(self) -> None:
        for name, lowest, highest in _RANGES:
            value = getattr(self, name)
            if not (isinstance(value, int | float) and lowest <= value <= highest):
                raise ValueError(f"{name} is {value!r}; allowed is a number from {lowest:g} to {highest:g}")
        if not self.least <= self.start <= self.most:
            raise ValueError("least, start and most must not be larger than the one that follows")

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Knobs:
        """From plain data such as {"start": 16}; what is left out keeps its default."""
        known = [knob.name for knob in fields(cls)]
        if unknown := set(given) - set(known):
            raise ValueError(f"there is no knob {sorted(unknown)[0]!r}; there are {', '.join(known)}")
        return cls(**given)


_RANGES = (
    ("start", 1, math.inf),
    ("least", 1, math.inf),
    ("most", 1, math.inf),
    ("increase", 0, 1000),
    ("decrease_factor", 0.1, 0.95),
    ("cooldown_seconds", 0, 3600),
    ("used_share", 0.1, 1),
    ("run", 2, 100),
    ("forgiven", 0.05, 5),
    ("pause_seconds", 0.01, 60),
    ("longest_pause_seconds", 0.1, 3600),
    ("tolerated_share", 0.01, 0.5),
    ("trial_requests", 10, 1000),
    ("resume_share", 0.5, 1),
    ("growth", 0, 0.1),
)
