"""What all workers know together of one endpoint's pace, and what it lets each of them send.

`settle` is the one place where the pace is decided: (record, report, now) → grant; see `pace_record` for the
three, and `pace_grants` for what follows once the rate is known. It reads no clock and keeps nothing, so that
whoever stores the record (this process, Redis, a database row) decides alike, and a simulation as they do.

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

from dataclasses import fields

from rubricweb.judges.rate_limit.grants import (
    CONFIGURED_SHARE,
    LONGEST_TURN_SECONDS,
    allowed_rate,
    grant,
    per_minute,
)
from rubricweb.judges.rate_limit.headers import Window
from rubricweb.judges.rate_limit.record import (
    DIP,
    MAX_CURVE_SECONDS,
    MIN_CURVE_SECONDS,
    Bank,
    Grant,
    Record,
    Report,
)
from rubricweb.judges.rate_limit.strays import (
    LIMIT,
    OPEN_EVIDENCE,
    PACED_EVIDENCE,
    PACED_LIMIT,
    likely,
    weights,
)

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
OWN_SILENCE_SECONDS = 3.0
"""Whoever waits for a turn reports every second. When nobody has for so long, nobody asked: workers were
killed or had nothing to ask, which says nothing about the endpoint."""
MEMORY_SECONDS = 3600.0
"""What was learned is forgotten when nobody asked for so long: limits change by the hour and the tier."""
WORKER_SECONDS = 15.0
"""A worker that has not reported for so long does not count."""
NOISY_DIP = 0.3
CALM = 0.85
"""At this share of the ceiling, and below, a limit refuses nothing: what is refused there is noise. Where
some is known the rate starts lower by NOISY_DIP, to measure it anew."""
MOST_MADE_UP = 0.2
"""Up to this share, what noise refused counts as let through by the limit."""
CALM_KEPT = 400
"""Noise is measured on about so many requests, the last ones sent in calm."""
DOUBT_SECONDS = 10.0
DOUBT_REQUESTS = 64
"""Where there were strays an alarm is doubted if the first probes are answered, and the endpoint asked freely
again: so many requests more, beside those in flight, without another one, and it was none."""
FALLS = 3
FALLS_REQUESTS = 30
"""So many times in a row the rate fell, and so many requests were let through meanwhile, before it is tried
whether there is a limit at all. A rate that was set too high falls after one or two requests each time."""
TRIAL_REQUESTS, TRIAL_STRAYS = 40, 3
"""A trial is held for so many requests, or so many strays."""
MORE_NOISE = 1.5
"""A trial that finds so many times what was known says that there is no limit, only noise."""


def settle(record: Record, report: Report, now: float) -> Grant:
    """Take a report into the record, which is changed, and say what the reporter may do."""
    notes: list[tuple[str, str]] = []
    if now - record.seen > MEMORY_SECONDS or record.seen - now > MEMORY_SECONDS:
        _renew(record, record.epoch + 1)
    now = max(now, record.seen)  # a clock read before waiting for a lock may be late
    if record.seen and now - record.seen > OWN_SILENCE_SECONDS:
        _leave_out(record, now - record.seen)
    _pass_time(record, now)
    _count(record, report, now)
    _hear(record, report, now)
    if report.wait_seconds is not None:
        _pause(record, report, now, notes)
    if report.epoch == record.epoch and _meets_limit(record, report, now, notes):
        _cut(record, report, now, notes)
    elif record.probing and record.probe_until:
        _watch_probe(record, report, now, notes)
    return grant(record, report, now, notes)


def _renew(record: Record, epoch: int) -> None:
    fresh = Record(epoch=epoch)
    for entry in fields(Record):
        setattr(record, entry.name, getattr(fresh, entry.name))


def _leave_out(record: Record, seconds: float) -> None:
    """Moves all that was measured so many seconds on: in that time nobody asked, and nothing was measured.

    What the endpoint itself said of times, and the pause it asked for, stays where it is. A probe that was
    given away is given anew: whoever had it is gone.
    """
    for moment in ("first_at", "first_cut_at", "cycle_start", "silent_since", "refused_at"):
        if getattr(record, moment):
            setattr(record, moment, getattr(record, moment) + seconds)
    record.minute = [[began + seconds, allowed] for began, allowed in record.minute]
    record.probe_until = 0.0


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
        later = max(record.tokens_next_at, now) + report.extra_tokens * 60 / rate
        # Bounded, for an endpoint may say that an answer took two thousand million tokens.
        record.tokens_next_at = min(later, max(record.tokens_next_at, now + LONGEST_TURN_SECONDS))


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
        rate = allowed_rate(record, report, now)
        record.deep = record.ceiling is None
        if record.cycle_sent > DOUBT_REQUESTS + sum(in_flight for _, in_flight, _ in record.workers.values()):
            record.doubted = False
        record.probe_wait = FIRST_PROBE_SECONDS if rate is None else min(1.0, max(1 / rate, 0.1))
        record.probing = True
        words = "429: asking one at a time until the endpoint answers again"
        if rate is not None:
            words = f"429 at {per_minute(rate)}: slowing down"
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
    if record.ceiling is None and record.answers <= 1 and record.cycle_sent <= 2:
        # Not one was let through before this: it was shut, which says nothing about how fast it may be asked.
        _open(record, now)
        record.first_at = now
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
    notes.append(("paced", f"asking {per_minute((1 - record.dip) * measured)} from now on"))
