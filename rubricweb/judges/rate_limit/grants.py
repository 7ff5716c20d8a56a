"""What a worker may send until it reports again: turns evenly spaced between all workers, or any number."""

from __future__ import annotations

from rubricweb.judges.rate_limit.record import Grant, Record, Report

FIRST_REQUESTS = 4
GROWTH_PER_ANSWER = 2
FIRST_AT_ONCE = 16
"""So many may be out by time alone: a refusal comes sooner than an answer."""
FIRST_STEP_SECONDS = 0.25
OPEN_AFTER_ANSWERS = 200
OPEN_AFTER_ANSWERS_TO_MANY = 1000
"""So many answers without a 429 make a new endpoint an open one: more when several workers ask."""
NEW_AT_ONCE = 64
NEW_ANSWERS_EACH = 4
"""So many may be out at a new endpoint, of all workers, or one for every four answers: what is out when its
limit is met is refused."""

CONFIGURED_SHARE = 0.985
"""Of a configured or announced limit is used, so that neither late nor early packets overrun a minute."""
BANK_SECONDS = 60.0
"""For so long counts what the headers said."""

LONGEST_LOOK_SECONDS = 10.0
"""A probe that was not refused in so long will be answered."""
HORIZON_SECONDS = 0.5
"""How far ahead turns are given away, beyond a worker's next one."""
LONGEST_TURN_SECONDS = 300.0
"""No turn is further from the one before, whatever an endpoint says of its limits or of what it used: a limit
of a day, or one that makes no sense, is tried again now and then, and a run does not stand for a year."""
TURN_LIFE_SECONDS = 0.5
"""How long after its time a turn may still be used."""


def allowed_rate(record: Record, report: Report, now: float) -> float | None:
    """Requests per second that all workers together may send; None without a known limit."""
    rates = [record.rate]
    if report.requests_per_minute is not None:
        rates.append(CONFIGURED_SHARE * report.requests_per_minute / 60)
    bank = record.requests_bank
    if bank is not None and bank.left < bank.reserve and now - bank.at < BANK_SECONDS:
        rates.append(bank.rate)
    return min((rate for rate in rates if rate is not None), default=None)


def _token_rate(record: Record, report: Report, now: float) -> float | None:
    """Tokens per second, as `allowed_rate`.

    Of a configured limit the largest request is kept back: it may begin in one minute and count in the next.
    """
    rates = []
    if report.tokens_per_minute is not None:
        limit = report.tokens_per_minute
        rates.append(CONFIGURED_SHARE * max(limit - report.largest_tokens, limit / 2) / 60)
    bank = record.tokens_bank
    if (
        bank is not None
        and bank.left < max(bank.reserve, report.mean_tokens)
        and now - bank.at < BANK_SECONDS
    ):
        rates.append(bank.rate)
    return min(rates, default=None)


def grant(record: Record, report: Report, now: float, notes: list[tuple[str, str]]) -> Grant:
    """What the reporter may do from now on; the turns it is given are noted in the record."""
    rate, token_rate = allowed_rate(record, report, now), _token_rate(record, report, now)
    turns: list[float] = []
    again = 0.0
    unlimited = False
    if record.probing:
        turns, again = _probe(record, report, now)
    elif now < record.paused_until:
        again = record.paused_until - now
    elif rate is None and token_rate is None:
        room = _room(record, now)
        unlimited = room is None
        turns = [] if room is None else [0.0] * min(report.wanted, room)
    else:
        turns = _spaced(record, report, now, rate, token_rate)
        last = turns[-1] if turns else max(record.next_at, record.tokens_next_at) - now
        again = last - HORIZON_SECONDS / 2
    record.pressed = not unlimited and (len(turns) < report.wanted or any(turns))
    record.workers[report.worker][2] += len(turns)
    _draw(record, report, len(turns))
    return Grant(
        epoch=record.epoch,
        unlimited=unlimited,
        turns=tuple(turns),
        again_seconds=max(again, 0.0),
        lenient=not record.probing and (record.ceiling is None or record.noise > 0 or record.trial),
        probing=record.probing,
        hurry=rate is None and token_rate is None and not record.probing and _is_new(record),
        paused_seconds=max(record.paused_until - now, record.probe_at - now if record.probing else 0.0, 0.0),
        requests_per_minute=None if rate is None else 60 * rate,
        tokens_per_minute=None if token_rate is None else 60 * token_rate,
        workers=len(record.workers),
        notes=tuple(notes),
    )


def _probe(record: Record, report: Report, now: float) -> tuple[list[float], float]:
    """The one request that is sent to see whether there are answers again, and when to ask next."""
    if record.probe_until:
        return [], max(record.probe_until - now, 0.05)
    at = max(now, record.probe_at, record.paused_until)
    if not report.wanted:
        return [], at - now
    record.probe_at = at
    record.probe_worker, record.probe_sent = report.worker, False
    record.probe_until = at + min(max(3 * report.refusal_seconds, 0.1), LONGEST_LOOK_SECONDS)
    return [at - now], record.probe_until - now


def _is_new(record: Record) -> bool:
    enough = OPEN_AFTER_ANSWERS if len(record.workers) < 2 else OPEN_AFTER_ANSWERS_TO_MANY
    return record.answers < enough


def _room(record: Record, now: float) -> int | None:
    """Requests that may be sent at once where no rate is known; None: any number."""
    rooms: list[float] = []
    if _is_new(record):
        out = sum(in_flight + held for _, in_flight, held in record.workers.values())
        steps = min((now - record.first_at) / FIRST_STEP_SECONDS, 10.0)
        at_once = min(FIRST_REQUESTS * 1.5**steps, FIRST_AT_ONCE)
        most = max(NEW_AT_ONCE, record.answers / NEW_ANSWERS_EACH)
        rooms.append(min(at_once + GROWTH_PER_ANSWER * record.answers, most) - out)
    bank = record.requests_bank
    if bank is not None and now - bank.at < BANK_SECONDS:
        rooms.append(bank.left - bank.reserve + 1)
    return max(0, int(min(rooms))) if rooms else None


def _spaced(
    record: Record, report: Report, now: float, rate: float | None, token_rate: float | None
) -> list[float]:
    """Turns at even distances after the last that was given away, to whomever: at least the next one.

    Who holds a turn already and wants no more than the next half second has nothing to add.
    """
    each_tokens = report.wanted_tokens / report.wanted if report.wanted else 0.0
    turns: list[float] = []
    while len(turns) < report.wanted:
        at = now
        if rate is not None:
            at = max(at, record.next_at)
        if token_rate is not None:
            at = max(at, record.tokens_next_at)
        if at - now > HORIZON_SECONDS and (turns or report.held):
            break
        turns.append(at - now)
        if rate is not None:
            record.next_at = at + min(1 / rate, LONGEST_TURN_SECONDS)
        if token_rate is not None:
            record.tokens_next_at = at + min(each_tokens / token_rate, LONGEST_TURN_SECONDS)
    return turns


def _draw(record: Record, report: Report, turns: int) -> None:
    if record.requests_bank is not None:
        record.requests_bank.left -= turns
    if record.tokens_bank is not None and report.wanted:
        record.tokens_bank.left -= turns * report.wanted_tokens / report.wanted


def per_minute(rate: float) -> str:
    """In words: 2.5 per second is 150 requests per minute."""
    each_minute = 60 * rate
    return f"{each_minute:.0f} requests per minute" if each_minute >= 10 else f"{each_minute:.1f} per minute"
