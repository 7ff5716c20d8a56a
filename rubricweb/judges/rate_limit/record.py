"""What all processes share about one endpoint, what a process reports, and what it may send in return."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from rubricweb.judges.rate_limit.headers import Allowance

_VERSION = 2


@dataclass(slots=True)
class ProcessReport:
    """What one process tells of its requests since its last report, and what it wants.

    `epoch` is that of the last lease. `wanted` requests could be sent soon, which would use about
    `wanted_tokens` in all; `held` turns are still unused. `answered` and `refused` count what came of
    requests of this epoch; `stale` counts refusals of earlier ones. `run` counts refusals close together,
    see `Knobs.forgiven`. `wait_seconds` is what is left of the pause an endpoint asked for, None when it
    asked for none; `refusal_seconds` is how long a 429 takes to come. `extra_tokens` were used beyond what
    had been guessed (negative: fewer). The limits per minute are the configured ones, None without.
    """

    worker: str
    epoch: int = -1
    wanted: int = 0
    wanted_tokens: float = 0.0
    held: int = 0
    in_flight: int = 0
    concurrency: int = 0
    sent: int = 0
    answered: int = 0
    refused: int = 0
    stale: int = 0
    run: float = 0.0
    wait_seconds: float | None = None
    refusal_seconds: float = 0.1
    extra_tokens: float = 0.0
    mean_tokens: float = 0.0
    largest_tokens: float = 0.0
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    allowance: Allowance | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """What a process may send until it reports again.

    `unlimited`: as it likes. Otherwise `turns` are the seconds from now at which it may send one request
    each; turns of an earlier epoch are void. Asking for more before `again_seconds` is no use. `stopped`:
    one request at a time is tried until one is answered. `forgiven` is what an answer takes off a run of
    refusals. `concurrency` is what a process had in flight at
    most when it reported last, 0 when none did. The rates are those of all processes together, None without a
    limit. `notes` are decisions made just now, as (kind, words).
    """

    epoch: int
    unlimited: bool
    turns: tuple[float, ...] = ()
    again_seconds: float = 0.0
    stopped: bool = False
    forgiven: float = 0.5
    paused_seconds: float = 0.0
    concurrency: int = 0
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    workers: int = 1
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class HeaderLimit:
    """One limit as the endpoint's headers state it: `left` of `limit` until `ends_at`, then all of it again.

    `refills` says how it comes back: bit by bit (True), at once when its window ends (False), or that nobody
    knows yet. `period` is the longest time to a reset that was seen.
    """

    limit: float
    left: float
    ends_at: float
    period: float
    refills: bool | None = None


@dataclass(slots=True)
class Record:
    """What is known of one endpoint. Times are seconds on the clock of whoever keeps the record."""

    version: int = _VERSION
    seen: float = 0.0  # the last report
    # By name: when it reported, and how many requests it had in flight or held turns for.
    workers: dict[str, list[float]] = field(default_factory=dict)
    concurrency: int = 0
    epoch: int = 0  # what was sent in an earlier one says nothing about the pace of now
    # The learned pace, in requests per second; None while no limit was met.
    rate: float | None = None
    measured: float = 0.0  # what the endpoint let through when the limit was met last
    # Before a trial: what to go back to if it does not help, and the share refused.
    usual_rate: float | None = None
    usual_share: float = 0.0
    since: float = 0.0  # the current measurement began
    allowed: float = 0.0  # requests let through since
    counted: float = 0.0  # what came of so many requests is known since
    quiet: float = 0.0  # answers since the last refusal that counted
    pressed: bool = False  # somebody waited for a turn
    # Refusals
    run: float = 0.0  # 429s close together
    share: float = 0.0  # of the last hundred requests
    random_share: float = 0.0  # refused at any pace
    trial_left: float = 0.0
    trial_refused: float = 0.0
    # After a run: nobody sends but one request at a time
    stopped: bool = False
    pause: float = 0.0
    paused_until: float = 0.0
    tried_until: float = 0.0  # a try that was not refused until then was let through; 0 while none is out
    # The bucket: when the next request may be sent, and the next token used
    next_at: float = 0.0
    tokens_next_at: float = 0.0
    requests: HeaderLimit | None = None
    tokens: HeaderLimit | None = None

    def dump(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def load(data: object) -> Record:
    """The record of a JSON object; a new one for anything that is none of ours, as of an older version."""
    if not isinstance(data, dict) or data.get("version") != _VERSION:
        return Record()
    known = {entry.name for entry in fields(Record)}
    try:
        record = Record(**{name: value for name, value in data.items() if name in known})
        record.requests = HeaderLimit(**data["requests"]) if data.get("requests") else None
        record.tokens = HeaderLimit(**data["tokens"]) if data.get("tokens") else None
    except TypeError:
        return Record()
    return record
