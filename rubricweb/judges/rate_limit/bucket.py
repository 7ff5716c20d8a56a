"""The bucket all processes draw from: how much may be sent, and when.

`settle` is the one place where that is decided: (record, report, now) → lease. It reads no clock and keeps
nothing, so that Redis, a database row, this process and a simulation decide alike.
"""

from __future__ import annotations

from dataclasses import fields

from rubricweb.judges.rate_limit.headers import Window
from rubricweb.judges.rate_limit.knobs import Knobs
from rubricweb.judges.rate_limit.learning import Notes, forgiven, learn
from rubricweb.judges.rate_limit.record import HeaderLimit, Lease, ProcessReport, Record

HORIZON_SECONDS = 0.5
"""How far ahead turns are handed out, beyond a process's next one."""
LONGEST_TURN_SECONDS = 300.0
"""No turn is further off, whatever an endpoint says of its limits: it is tried again now and then."""
MEMORY_SECONDS = 3600.0
"""What was learned is forgotten when nobody asked for so long: limits change by the hour and the tier."""
SILENCE_SECONDS = 3.0
"""Whoever waits for a turn reports every second. Time without reports is left out of what is measured."""
TRY_TIMES, LONGEST_TRY_SECONDS = 3.0, 10.0
"""A try that was not refused in so many times what a refusal takes will be answered, in a minute perhaps."""
WORKER_SECONDS = 15.0
"""A process that has not reported for so long does not count."""
SURPLUS_SECONDS = 10.0
"""What an allowance that refills holds beyond a reserve is used up over so long."""
RESERVE_SHARE = 0.05
"""Of an allowance that refills so much is left: requests overtake each other on their way."""


def settle(record: Record, report: ProcessReport, now: float, knobs: Knobs) -> Lease:
    """Take a report into the record, which is changed, and say what the reporter may send."""
    notes: Notes = []
    if record.seen and abs(now - record.seen) > MEMORY_SECONDS:
        _forget(record)
    now = max(now, record.seen)  # a clock read before waiting for a lock may be late
    if record.seen and now - record.seen > SILENCE_SECONDS:
        record.since += now - record.seen
        record.tried_until = 0.0  # whoever had the try is gone
    record.since = record.since or now
    record.seen = now
    record.workers = {name: seen for name, seen in record.workers.items() if now - seen[0] < WORKER_SECONDS}
    record.workers[report.worker] = [now, report.in_flight + report.held]
    epoch = record.epoch
    learn(record, report, now, knobs, notes)
    if record.epoch != epoch:
        record.next_at = now  # turns that were handed out before are void
    _hear(record, report, now, knobs.used_share)
    known_concurrency, record.concurrency = record.concurrency, report.concurrency or record.concurrency
    return _lease(record, report, now, knobs, notes, known_concurrency)


def _forget(record: Record) -> None:
    """Everything but the epoch, which tells old turns and refusals apart."""
    fresh = Record(epoch=record.epoch + 1)
    for entry in fields(Record):
        setattr(record, entry.name, getattr(fresh, entry.name))


def _hear(record: Record, report: ProcessReport, now: float, share: float) -> None:
    """Take in what the last answer's headers said, less what is in flight and not counted there yet."""
    if report.allowance is not None:
        out = sum(out for _, out in record.workers.values())
        record.requests = _updated_limit(record.requests, report.allowance.requests, out, now)
        record.tokens = _updated_limit(record.tokens, report.allowance.tokens, out * report.mean_tokens, now)
    if report.extra_tokens and (rate := _token_rate(record, report, now, share)):
        later = max(record.tokens_next_at, now) + report.extra_tokens / rate
        record.tokens_next_at = min(later, max(record.tokens_next_at, now + LONGEST_TURN_SECONDS))


def _updated_limit(
    known: HeaderLimit | None, window: Window | None, out: float, now: float
) -> HeaderLimit | None:
    if window is None:
        return known
    reset = 60.0 if window.reset_seconds is None else window.reset_seconds
    header = HeaderLimit(
        window.limit, window.remaining - out, now + reset, max(reset, known.period if known else 0.0)
    )
    header.refills = known.refills if known else None
    used = window.limit - window.remaining
    if 0 < used < window.limit / 8:
        # A little used is soon back where an allowance refills; a window ends when it ends.
        header.refills = reset < 2 * 60 * used / window.limit + 1
    if header.refills and used > 0:
        header.period = max(window.limit * reset / used, 1e-3)  # until all of it would have come back
    return header


def _header_rate(header: HeaderLimit | None, now: float, share: float) -> float | None:
    """Requests (or tokens) per second that the headers allow."""
    if header is None:
        return None
    refill = share * header.limit / max(header.period, 1e-3)
    if header.refills:
        surplus = header.left - RESERVE_SHARE * header.limit
        return max(refill + surplus / SURPLUS_SECONDS, refill / 4)
    remaining_seconds = header.ends_at + 0.05 - now
    if remaining_seconds <= 0 or header.left < 1:
        return refill  # once all of it came back; see `_opens_at`
    return header.left / remaining_seconds


def _opens_at(header: HeaderLimit | None, now: float) -> float:
    """When a window of which nothing is left ends."""
    if header is None or header.refills or header.left >= 1:
        return 0.0
    return min(header.ends_at + 0.05, now + LONGEST_TURN_SECONDS)


def _request_rate(record: Record, report: ProcessReport, now: float, share: float) -> float | None:
    configured = report.requests_per_minute
    rates = [
        record.rate,
        None if configured is None else share * configured / 60,
        _header_rate(record.requests, now, share),
    ]
    return min((rate for rate in rates if rate is not None), default=None)


def _token_rate(record: Record, report: ProcessReport, now: float, share: float) -> float | None:
    """Of a configured limit the largest request is kept back: it may begin in one minute and count in the
    next.
    """
    rates = [_header_rate(record.tokens, now, share)]
    if (limit := report.tokens_per_minute) is not None:
        rates.append(share * max(limit - report.largest_tokens, limit / 2) / 60)
    return min((rate for rate in rates if rate is not None), default=None)


def _lease(
    record: Record, report: ProcessReport, now: float, knobs: Knobs, notes: Notes, concurrency: int
) -> Lease:
    """What the reporter may send until it reports again."""
    rate = _request_rate(record, report, now, knobs.used_share)
    token_rate = _token_rate(record, report, now, knobs.used_share)
    turns: list[float] = []
    again = 0.0
    unlimited = False
    if record.stopped:
        if report.wanted and not record.tried_until:
            turns = [max(record.paused_until - now, 0.0)]
            record.tried_until = max(record.paused_until, now) + min(
                TRY_TIMES * max(report.refusal_seconds, 0.1), LONGEST_TRY_SECONDS
            )
        again = 0.0 if turns else max(record.paused_until - now, 0.05)
    elif rate is None and token_rate is None:
        unlimited = True
    else:
        turns = _spaced(record, report, now, rate, token_rate)
        last = turns[-1] if turns else max(record.next_at, record.tokens_next_at) - now
        again = max(last - HORIZON_SECONDS / 2, 0.0)
    record.pressed = not unlimited and (len(turns) < report.wanted or any(turns))
    return Lease(
        epoch=record.epoch,
        unlimited=unlimited,
        turns=tuple(turns),
        again_seconds=again,
        stopped=record.stopped,
        forgiven=forgiven(record, knobs),
        paused_seconds=max(record.paused_until - now, 0.0),
        concurrency=concurrency,
        requests_per_minute=None if rate is None else 60 * rate,
        tokens_per_minute=None if token_rate is None else 60 * token_rate,
        workers=len(record.workers),
        notes=tuple(notes),
    )


def _spaced(
    record: Record, report: ProcessReport, now: float, rate: float | None, token_rate: float | None
) -> list[float]:
    """Turns at even distances after the last that was handed out, to whomever: at least the next one.

    Who holds a turn already and wants no more than the next half second has nothing to add.
    """
    each_tokens = report.wanted_tokens / report.wanted if report.wanted else 0.0
    gap, tokens_gap = _gap(1.0, rate), _gap(each_tokens, token_rate)
    turns: list[float] = []
    while len(turns) < report.wanted:
        opens_at = max(_opens_at(record.requests, now), _opens_at(record.tokens, now))
        at = max(now, record.next_at, record.tokens_next_at, opens_at)
        if at - now > HORIZON_SECONDS and (turns or report.held):
            break
        turns.append(at - now)
        record.next_at = at + gap
        record.tokens_next_at = max(at, record.tokens_next_at) + tokens_gap
        for header, used in ((record.requests, 1.0), (record.tokens, each_tokens)):
            if header is not None:
                header.left -= used
    return turns


def _gap(amount: float, rate: float | None) -> float:
    return 0.0 if rate is None else min(amount / max(rate, 1e-9), LONGEST_TURN_SECONDS)
