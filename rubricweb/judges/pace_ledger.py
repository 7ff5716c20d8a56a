"""What all workers know together of one endpoint's pace, and what it lets each of them send.

    record    what is kept, a small JSON object per endpoint
    Report    what one process tells: what it sent, what was refused, what it wants
    Grant     what it may do until it reports again
    settle    (record, report, now) → grant: the one place where the pace is decided

`settle` reads no clock and keeps nothing, so that whoever stores the record (this process, Redis, a database
row) decides alike, and a simulation decides as they do.

An endpoint is in one of four states. **New**: nothing is known; the requests out at once, of all workers, may
triple per round trip. **Open**: some hundred answers came and no limit was met; nobody waits. **Probing**: a
429 came; nobody asks but for one request at a time, at growing intervals or when the endpoint said, until one
is answered. **Paced**: requests leave evenly spaced, all workers' together, at the learned rate.

The rate is learned per cycle, from one resumption to the next: the requests allowed in it by its seconds.
That is exact for a token bucket, empty at both ends, and for a fixed window, which opens at both. After a
long silence it is what was allowed in the last minute, if that is more: a window that has just been found
closed again says nothing about how often one may ask. From 95 % of that rate it grows by CUBIC's curve
(RFC 9438): to 100 % after half as long as one has been learning (2 to 30 s), 105 % after twice that, then
ever faster. AWS's adaptive retries (botocore `throttling.py`) do the same with the sending rate of the
moment, which a bucket's burst inflates.

Refusals that come at random, whatever the pace, are no limit's: noise. `pace_strays` tells them apart. Where
some are known a single 429 stops nobody. Where none are known and the rate falls again and again, a **trial**
at 70 % tells: a limit refuses nothing there, noise refuses as many.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from rubricweb.judges.pace_headers import Allowance, Window
from rubricweb.judges.pace_strays import LIMIT, OPEN_EVIDENCE, PACED_EVIDENCE, PACED_LIMIT, likely, weights

FIRST_REQUESTS = 4
GROWTH_PER_ANSWER = 2
OPEN_AFTER_ANSWERS = 200
OPEN_AFTER_ANSWERS_TO_MANY = 1000
"""So many answers without a 429 make a new endpoint an open one: more when several workers ask."""
NEW_AT_ONCE = 64
NEW_ANSWERS_EACH = 4
"""So many may be out at a new endpoint, of all workers, or one for every four answers: what is out when its
limit is met is refused."""

CONFIGURED_SHARE = 0.985
"""Of a configured or announced limit is used, so that neither late nor early packets overrun a minute."""

HORIZON_SECONDS = 0.5
"""How far ahead turns are given away, beyond a worker's next one."""
TURN_LIFE_SECONDS = 0.5
"""How long after its time a turn may still be used."""

FIRST_PROBE_SECONDS = 0.25
LONGEST_PROBE_SECONDS = 60.0
PROBE_GROWTH, LATER_PROBE_GROWTH = 3.0, 2.5
"""From probe to probe; more patiently at first, when a whole window may have to pass."""
LONG_CYCLE_SECONDS = 10.0
LONG_SILENCE_SECONDS = 2.0
MINUTE_SILENCE_SECONDS = 15.0
PATIENT_PROBE_SECONDS = 12.0
"""Probes are no further apart in the first minute and a bit, when a window of a minute may open."""
PROBE_REPORT_SECONDS = 1.0
"""After that much more silence of the worker that was to ask, another one may."""
FIRST_AT_ONCE = 16
"""So many may be out by time alone: a refusal comes sooner than an answer."""
FIRST_STEP_SECONDS = 0.25
MIN_CURVE_SECONDS, MAX_CURVE_SECONDS = 2.0, 30.0
DIP = 0.05
"""The rate starts this much under what was measured."""
MEMORY_SECONDS = 3600.0
"""What was learned is forgotten when nobody asked for so long: limits change by the hour and the tier."""
WORKER_SECONDS = 15.0
"""A worker that has not reported for so long does not count."""
BANK_SECONDS = 60.0
NOISY_DIP = 0.3
CALM = 0.85
"""At this share of the ceiling, and below, a limit refuses nothing: what is refused there is noise. Where
some is known the rate starts lower by NOISY_DIP, to measure it anew."""
MOST_MADE_UP = 0.2
"""Up to this share, what noise refused counts as let through by the limit."""
CALM_KEPT = 400
"""Noise is measured on about so many requests, the last ones sent in calm."""
TRIAL_STRAYS = 3
FEWEST_CALM = 20
DOUBT_SECONDS = 10.0
DOUBT_REQUESTS = 64
"""Where there were strays an alarm is doubted if the first probes are answered, and the endpoint asked freely
again: so many requests more, beside those in flight, without another one, and it was none."""
FALLS = 3
FALLS_REQUESTS = 30
"""So many times in a row the rate fell, and so many requests were let through meanwhile, before it is tried
whether there is a limit at all. A rate that was set too high falls after one or two requests each time."""
TRIAL = 0.7
TRIAL_REQUESTS = 40
"""A trial is held at this share of the ceiling, for so many requests or three strays."""
MORE_NOISE = 1.5
"""A trial that finds so many times what was known says that there is no limit, only noise."""
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


def settle(record: Record, report: Report, now: float) -> Grant:
    """Take a report into the record, which is changed, and say what the reporter may do."""
    notes: list[tuple[str, str]] = []
    if now - record.seen > MEMORY_SECONDS or record.seen - now > MEMORY_SECONDS:
        _renew(record, record.epoch + 1)
    now = max(now, record.seen)  # a clock read before waiting for a lock may be late
    _pass_time(record, now)
    _count(record, report, now)
    _hear(record, report, now)
    if report.wait_seconds is not None:
        _pause(record, report, now, notes)
    if report.epoch == record.epoch and _meets_limit(record, report, now, notes):
        _cut(record, report, now, notes)
    elif record.probing and record.probe_until:
        _watch_probe(record, report, now, notes)
    return _grant(record, report, now, notes)


def _renew(record: Record, epoch: int) -> None:
    fresh = Record(epoch=epoch)
    for entry in fields(Record):
        setattr(record, entry.name, getattr(fresh, entry.name))


def _pass_time(record: Record, now: float) -> None:
    if record.pressed and not record.probing:
        # A long silence is no proof that somebody waited all along.
        record.grown += min(max(now - record.seen, 0.0), 2.0)
    record.seen = now
    record.pressed = False


def _count(record: Record, report: Report, now: float) -> None:
    for worker, (seen, _, _) in list(record.workers.items()):
        if now - seen > WORKER_SECONDS:
            del record.workers[worker]
    record.workers[report.worker] = [now, report.in_flight, report.held]
    record.answers += report.answered
    if not record.first_at:
        record.first_at = record.cycle_start = now
    allowed: float = report.sent - report.refused - report.stale - report.strays - report.suspects
    if record.ceiling is not None:
        allowed /= 1 - min(record.noise, MOST_MADE_UP)  # what the limit let through, and noise refused
    record.cycle_sent += allowed
    if not record.minute or now - record.minute[-1][0] >= 5:
        record.minute = [part for part in record.minute if now - part[0] < 90]
        record.minute.append([now, 0.0])
    record.minute[-1][1] += allowed
    rate = report.tokens_per_minute or (record.tokens_bank.rate * 60 if record.tokens_bank else 0)
    if report.extra_tokens and rate:
        record.tokens_next_at = max(record.tokens_next_at, now) + report.extra_tokens * 60 / rate


def _hear(record: Record, report: Report, now: float) -> None:
    """Takes in what the headers of the last answer said, less what was sent since and is not in it."""
    if report.allowance is None:
        return
    out = sum(in_flight + held for _, in_flight, held in record.workers.values())
    requests = report.allowance.requests
    if requests is not None:
        record.requests_bank = _bank(requests, out, now)
        used = requests.limit - requests.remaining
        if requests.reset_seconds is not None and 0 < used < requests.limit / 8:
            # A little used is soon back in a bucket; a window ends when it ends.
            soon = requests.reset_seconds < 2 * 60 * used / requests.limit + 1
            record.refills = record.refills is not False and soon
        if requests.reset_seconds is not None:
            record.window_ends_at = now + min(requests.reset_seconds, LONGEST_PROBE_SECONDS)
    if report.allowance.tokens is not None:
        record.tokens_bank = _bank(report.allowance.tokens, out * report.mean_tokens, now)


def _bank(window: Window, out: float, now: float) -> Bank:
    """A limit that is full again within a minute is one per minute; of others only the refill is known."""
    rate = window.limit / 60
    used, reset = window.limit - window.remaining, window.reset_seconds
    if reset is not None and reset > 61 and used > 0:
        rate = min(rate, used / reset)
    return Bank(window.remaining - out, CONFIGURED_SHARE * rate, now, max(1.0, 0.05 * window.limit))


def _pause(record: Record, report: Report, now: float, notes: list[tuple[str, str]]) -> None:
    assert report.wait_seconds is not None
    until = now + report.wait_seconds + 0.05
    if until > record.paused_until:
        if record.probing and record.probe_until and record.probe_at > now:
            record.epoch += 1  # the probe that was given away is too early now
            record.probe_until = 0.0
        record.probe_at = max(record.probe_at, until)
        if report.wait_seconds >= 1 and until - max(record.paused_until, now) >= 1:
            notes.append(("waiting", f"waiting {report.wait_seconds:.0f} s as the endpoint asked"))
        record.paused_until = until


def _meets_limit(record: Record, report: Report, now: float, notes: list[tuple[str, str]]) -> bool:
    """Whether what was refused says that a limit is met; how much is noise is learned on the way."""
    if record.probing:
        return report.refused > 0
    record.calm_strays += report.strays
    if record.ceiling is None:
        calm, enough = True, OPEN_EVIDENCE
        noise = likely(record.calm_strays, record.calm_sent)
    else:
        assert record.rate is not None
        calm = record.rate <= CALM * record.ceiling and record.ramp is None
        noise = likely(record.calm_strays, record.calm_sent) if record.trial else record.noise
        calm, enough = calm or record.trial, PACED_EVIDENCE
    up, down = weights(noise, LIMIT if record.ceiling is None else max(PACED_LIMIT, 3 * noise))
    passed = report.sent - report.suspects
    record.evidence = max(0.0, record.evidence + up * report.suspects - down * passed)
    if calm:
        record.calm_sent += report.sent
        record.suspects += report.suspects
    if report.refused or record.evidence >= enough:
        if calm and record.noise and record.ceiling is not None:
            record.calm_strays += 1  # in calm it may as well be more noise than was known
        return True
    if not record.evidence:
        record.calm_strays += record.suspects
        record.suspects = 0.0
    if record.trial and (record.calm_strays >= TRIAL_STRAYS or record.calm_sent >= TRIAL_REQUESTS):
        record.trial = False
        if record.noise > MORE_NOISE * record.noise_before:
            _open(record, now)
            words = f"{record.noise:.0%} are refused at any pace, which is no limit: asking freely again"
            notes.append(("paced", words))
    if record.calm_sent > CALM_KEPT:
        record.calm_sent, record.calm_strays = record.calm_sent / 2, record.calm_strays / 2
    return False


def _open(record: Record, now: float) -> None:
    """What was taken for a limit was none."""
    record.ceiling = record.ramp = None
    record.trial = record.probing = record.deep = False
    record.probe_until = 0.0
    record.first_cut_at = 0.0
    record.cycle_start, record.cycle_sent = now, 0.0


def _cut(record: Record, report: Report, now: float, notes: list[tuple[str, str]]) -> None:
    """A 429 to a request of this epoch: nobody asks until one request, at the right time, is answered."""
    if record.probing:
        record.deep = True
        patient = now - record.silent_since > 70
        longest = LONGEST_PROBE_SECONDS if patient else PATIENT_PROBE_SECONDS
        growth = PROBE_GROWTH if record.ceiling is None else LATER_PROBE_GROWTH
        record.probe_wait = min(record.probe_wait * growth, longest)
    else:
        record.silent_since = now
        record.first_cut_at = record.first_cut_at or now
        rate = _allowed_rate(record, report, now)
        record.deep = record.ceiling is None
        if record.cycle_sent > DOUBT_REQUESTS + sum(in_flight for _, in_flight, _ in record.workers.values()):
            record.doubted = False
        record.probe_wait = FIRST_PROBE_SECONDS if rate is None else min(1.0, max(1 / rate, 0.1))
        record.probing = True
        words = "429: asking one at a time until the endpoint answers again"
        if rate is not None:
            words = f"429 at {_per_minute(rate)}: slowing down"
        notes.append(("throttled", words))
    record.epoch += 1
    record.evidence = record.suspects = 0.0
    record.trial = False
    record.refused_at = now
    record.probe_at = max(_next_probe(record, now), record.paused_until)
    record.probe_until = 0.0
    if record.refills is False and record.window_ends_at > now:
        record.probe_at = max(record.probe_at, record.window_ends_at + 0.05)


def _next_probe(record: Record, now: float) -> float:
    """When to try again if nobody says: after a while that grows, or where a minute is likely to begin.

    Windows often begin with their first request, or with the minute of the clock.
    """
    at = now + record.probe_wait
    if record.probe_wait >= LONG_SILENCE_SECONDS:
        # With room for a connection that took its time, and for clocks that differ.
        likely = (record.cycle_start + 61.0, now + 60.5 - now % 60)
        at = min([at, *(minute for minute in likely if minute > now)])
    return at


def _watch_probe(record: Record, report: Report, now: float, notes: list[tuple[str, str]]) -> None:
    """Goes on when the probe was answered, or not refused in the time that a refusal takes."""
    if report.worker == record.probe_worker and report.epoch == record.epoch and report.sent:
        record.probe_sent = True
    if report.epoch == record.epoch and report.confirmed:
        _resume(record, now, notes)
    elif now >= record.probe_until:
        if record.probe_sent:
            _resume(record, now, notes)
        elif now >= record.probe_until + PROBE_REPORT_SECONDS:
            record.probe_until = 0.0  # whoever had it did not use it: the next one may


def _resume(record: Record, now: float, notes: list[tuple[str, str]]) -> None:
    """The probe was answered: the cycle is over, and what was allowed in it is the rate of the next."""
    began = record.probe_at
    silent = began - record.silent_since
    if record.ceiling is None and record.noise and silent <= DOUBT_SECONDS and not record.doubted:
        # Strays came before: a few of them in a row may be chance. A limit that was met is met again at once.
        record.doubted = True
        _open(record, now)
        return
    seconds = max(began - record.cycle_start, 0.01)
    measured = max(record.cycle_sent - 1, 1.0) / seconds
    before = record.rate
    learned = began - record.first_cut_at
    brief = silent <= LONG_SILENCE_SECONDS
    # Whoever is silent for long counts by the minute, and the first one may have begun before us.
    least_seconds = 60.0 if silent > MINUTE_SILENCE_SECONDS else 0.01
    if not brief:
        # The window opened at some time between the last two probes.
        opened = (began + record.refused_at) / 2
        measured = max(record.cycle_sent - 1, 1.0) / max(opened - record.cycle_start, least_seconds)
    if before is None or not brief:
        since = max(record.minute[0][0], record.first_at)
        last_minute = (sum(part[1] for part in record.minute) - 1) / max(now - since, least_seconds)
        measured = max(measured, last_minute)
    if before is not None:
        if learned < LONG_CYCLE_SECONDS:
            least = 0.0  # the first rates are guesses
        elif seconds >= LONG_CYCLE_SECONDS and brief:
            # Less was sent for most of a long cycle, for want of questions or while the rate was growing. A
            # bucket that answers again soon had been asked a little too fast at the end.
            # A limit that is told from noise is noticed late.
            least = 0.95 * before if not record.noise else 0.9 * min(before, record.ceiling or before)
        else:
            least = 0.7 * before
        # What was refused at the careful pace after a silence says nothing about the pace before it.
        most = before if brief else max(before, record.ceiling or 0.0)
        measured = min(max(measured, least), most)
    if measured >= (record.ceiling or 0.0):
        record.falls = record.fallen = 0.0
    else:
        record.falls += 1
        record.fallen += record.cycle_sent
    if record.falls >= FALLS and record.fallen >= FALLS_REQUESTS:
        record.trial = True
        record.noise_before = record.noise
        record.falls = record.fallen = 0.0
        record.calm_sent = record.calm_strays = 0.0
    record.ceiling = measured
    record.dip = NOISY_DIP if record.noise else DIP
    record.curve_seconds = min(max(learned / 2, MIN_CURVE_SECONDS), MAX_CURVE_SECONDS)
    record.grown = 0.0
    record.suspects = 0.0
    record.ramp = max(measured / 8, 1 / record.probe_wait) if record.deep else None
    record.probing = record.deep = False
    record.probe_until = 0.0
    record.cycle_start, record.cycle_sent = began, 1.0
    assert record.rate is not None
    record.next_at = max(now, began + 1 / record.rate)
    notes.append(("paced", f"asking {_per_minute((1 - record.dip) * measured)} from now on"))


def _allowed_rate(record: Record, report: Report, now: float) -> float | None:
    """Requests per second that all workers together may send; None without a known limit."""
    rates = [record.rate]
    if report.requests_per_minute is not None:
        rates.append(CONFIGURED_SHARE * report.requests_per_minute / 60)
    bank = record.requests_bank
    if bank is not None and bank.left < bank.reserve and now - bank.at < BANK_SECONDS:
        rates.append(bank.rate)
    return min((rate for rate in rates if rate is not None), default=None)


def _token_rate(record: Record, report: Report, now: float) -> float | None:
    """Tokens per second, as `_allowed_rate`.

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


def _grant(record: Record, report: Report, now: float, notes: list[tuple[str, str]]) -> Grant:
    rate, token_rate = _allowed_rate(record, report, now), _token_rate(record, report, now)
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
    record.probe_until = at + min(max(3 * report.refusal_seconds, 0.1), 2.0)
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
            record.next_at = at + 1 / rate
        if token_rate is not None:
            record.tokens_next_at = at + each_tokens / token_rate
    return turns


def _draw(record: Record, report: Report, turns: int) -> None:
    if record.requests_bank is not None:
        record.requests_bank.left -= turns
    if record.tokens_bank is not None and report.wanted:
        record.tokens_bank.left -= turns * report.wanted_tokens / report.wanted


def _per_minute(rate: float) -> str:
    per_minute = 60 * rate
    return f"{per_minute:.0f} requests per minute" if per_minute >= 10 else f"{per_minute:.1f} per minute"
