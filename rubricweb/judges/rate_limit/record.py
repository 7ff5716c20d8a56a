"""What is known of one endpoint's pace, what a process tells of it, and what it is granted.

Record    what is kept, a small JSON object per endpoint
Report    what one process tells: what it sent, what was refused, what it wants
Grant     what it may do until it reports again
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from rubricweb.judges.rate_limit.headers import Allowance

MIN_CURVE_SECONDS, MAX_CURVE_SECONDS = 2.0, 30.0
DIP = 0.05
"""The rate starts this much under what was measured."""
FEWEST_CALM = 20
"""A share of noise is one of at least so many requests."""
TRIAL = 0.7
"""A trial is held at this share of the ceiling."""
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Report:
    """What one process tells of its requests to an endpoint since it reported last, and what it wants.

    `epoch` is that of the last grant. `wanted` requests could be sent soon if there were turns, which would
    use about `wanted_tokens` in all. `held` turns are still unused. `refused` counts the 429s to requests of
    this epoch that a limit sent, `strays` those that came at random, `suspects` those that may be either;
    `stale` those to requests sent before the epoch began. `confirmed` counts the answers, other than 429, to
    requests of this epoch. `wait_seconds` is what is left of the pause an endpoint asked for, None when it
    asked for none. `refusal_seconds` is how long a 429 takes to come. `extra_tokens` were used beyond
    what had been guessed (negative: fewer). The limits per minute are the configured ones, None without.
    """

    worker: str
    epoch: int = -1
    wanted: int = 0
    wanted_tokens: float = 0.0
    held: int = 0
    in_flight: int = 0
    sent: int = 0
    answered: int = 0
    confirmed: int = 0
    refused: int = 0
    stale: int = 0
    strays: int = 0
    suspects: int = 0
    wait_seconds: float | None = None
    refusal_seconds: float = 0.1
    extra_tokens: float = 0.0
    mean_tokens: float = 0.0
    largest_tokens: float = 0.0
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    allowance: Allowance | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """What a process may do until it reports again.

    `unlimited`: send as it likes. Otherwise `turns` are the seconds from now at which it may send one request
    each, and turns of an earlier epoch are void. Before `again_seconds` asking for more turns is no use;
    `hurry`: it is of use with every answer. `lenient`: a 429 is reported as a suspect, and stops
    nobody. `probing`: one request at a time is sent to see whether the endpoint answers again, and is to be
    reported as soon as it was. `paused_seconds`: nobody may send for so
    long. The rates are those of all workers together, None without a limit. `workers` counts those alive.
    `notes` are decisions made just now, as (kind, words).
    """

    epoch: int
    unlimited: bool
    turns: tuple[float, ...] = ()
    again_seconds: float = 0.0
    hurry: bool = False
    lenient: bool = False
    probing: bool = False
    paused_seconds: float = 0.0
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    workers: int = 1
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Bank:
    """What may be used at once by the headers' word, and the rate at which it refills.

    The last `reserve` is used at that rate only: requests overtake each other on their way.
    """

    left: float = 0.0
    rate: float = 0.0
    at: float = 0.0
    reserve: float = 1.0


@dataclass(slots=True)
class Record:
    """The state of one endpoint. Times are seconds on the clock of whoever keeps the record.

    `ceiling` is the rate in requests per second that was measured at the last 429; None until one came.
    `grown` are the seconds since then in which somebody waited for a turn; only these let the rate grow.
    `workers` maps a worker to [when it reported, requests in flight, turns it holds].
    """

    version: int = _VERSION
    epoch: int = 0
    seen: float = 0.0
    answers: int = 0
    workers: dict[str, list[float]] = field(default_factory=dict)
    # Learning
    ceiling: float | None = None
    curve_seconds: float = MIN_CURVE_SECONDS
    grown: float = 0.0
    ramp: float | None = None
    dip: float = DIP
    pressed: bool = False
    cycle_start: float = 0.0
    cycle_sent: float = 0.0
    minute: list[list[float]] = field(default_factory=list)  # [began, allowed], of five seconds each
    calm_sent: float = 0.0
    calm_strays: float = 0.0
    evidence: float = 0.0  # that suspects are a limit's, see `pace_strays`
    suspects: float = 0.0  # those of them that were sent in calm
    first_at: float = 0.0
    first_cut_at: float = 0.0
    falls: float = 0.0  # of the rate, in a row
    fallen: float = 0.0  # requests let through meanwhile
    trial: bool = False
    noise_before: float = 0.0
    doubted: bool = False  # an alarm was, and it was asked freely again
    # Probing
    probing: bool = False
    deep: bool = False
    probe_wait: float = 0.0
    probe_at: float = 0.0
    probe_until: float = 0.0  # 0 while no probe is given away
    probe_worker: str = ""
    probe_sent: bool = False
    silent_since: float = 0.0
    refused_at: float = 0.0  # the last probe that was refused, or what began the silence
    paused_until: float = 0.0
    # Turns
    next_at: float = 0.0
    tokens_next_at: float = 0.0
    # What headers said
    requests_bank: Bank | None = None
    tokens_bank: Bank | None = None
    refills: bool | None = None  # bit by bit, or all at once at the end of a window
    window_ends_at: float = 0.0

    @property
    def rate(self) -> float | None:
        """The learned rate in requests per second; None while no limit was met.

        Ceiling 5, curve 30 s: 4.75 at first, 5 after 30 s, 5.25 after 60 s, 7 after 90 s.
        """
        if self.ceiling is None:
            return None
        x = self.grown / self.curve_seconds - 1
        rate = self.ceiling * (1 + (self.dip if x < 0 else DIP) * x**3)
        if self.ramp is not None:
            rate = min(rate, self.ramp * 2.0 ** min(self.grown, 60.0))
        if self.trial:
            rate = min(rate, TRIAL * self.ceiling)
        return rate

    @property
    def noise(self) -> float:
        """The share (0-1) of requests that are refused at random; 0.0 while there is no telling.

        Six strays among 120 requests sent in calm are 0.05.
        """
        return self.calm_strays / max(self.calm_sent, FEWEST_CALM) if self.calm_strays >= 1 else 0.0

    def dump(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def load(data: object) -> Record:
    """The record of a JSON object; a new one for anything that is none of ours."""
    if not isinstance(data, dict) or data.get("version") != _VERSION:
        return Record()
    known = {entry.name for entry in fields(Record)}
    try:
        record = Record(**{name: value for name, value in data.items() if name in known})
        record.requests_bank = Bank(**record.requests_bank) if record.requests_bank else None  # type: ignore[arg-type] # JSON
        record.tokens_bank = Bank(**record.tokens_bank) if record.tokens_bank else None  # type: ignore[arg-type] # JSON
    except TypeError:
        return Record()
    return record
