"""How the pace of an endpoint is learned from its refusals.

Three things can happen, all for all processes together:

- A **run** of 429s: the limit is exceeded. Everybody stops; one request at a time is tried, at growing
  intervals or when the endpoint said, until one is let through. What was let through since the last such
  moment, by its seconds, is the pace from now on.
- A **share** of requests is refused, here and there: either the pace is a little too fast, or refusals come
  at random. A trial tells: some requests go slower. Did it help, that is the pace; did it not, refusals come
  at random, and it goes on as before.
- **Nothing** is refused: the pace grows, slowly at first, then ever faster.
"""

from __future__ import annotations

import math

from rubricweb.judges.rate_limit.knobs import Knobs
from rubricweb.judges.rate_limit.record import ProcessReport, Record

MEASURED_SECONDS = 60.0
"""The pace is measured over at most so long: limits count by the minute."""
SHARE_REQUESTS = 100
"""The share of refusals is that of about so many requests."""
RANDOM_ALLOWANCE = 1.5
"""Refusals at random are measured on few requests: so many times as many are still random."""
SETTLED_REQUESTS = 30
"""A pace that was kept for so many requests is lowered step by step, not to whatever was measured next."""

SLIGHTLY = 0.01
"""What a refusal at a known pace takes off it, while a few more are refused than usual."""
GUESS_FACTOR = 0.02
"""A pace measured on fewer requests may be far too fast, for an endpoint lets bursts through."""
UNSETTLED_QUIET = 250.0
"""A pace measured on fewer requests is a guess: it grows as if nothing had been refused for so long."""

Notes = list[tuple[str, str]]


def learn(record: Record, report: ProcessReport, now: float, knobs: Knobs, notes: Notes) -> None:
    """Take what came of a process's requests into the record."""
    record.allowed += report.sent - report.refused - report.stale
    if now - record.since > MEASURED_SECONDS:
        record.allowed *= MEASURED_SECONDS / (now - record.since)
        record.since = now - MEASURED_SECONDS
    if record.stopped:
        _follow_try(record, report, now, knobs, notes)
    elif report.epoch == record.epoch and report.answered + report.refused:
        _weigh(record, report, now, knobs, notes)


def forgiven(record: Record, knobs: Knobs) -> float:
    """What an answer takes off a run: the more, the more requests are refused at random."""
    return knobs.forgiven + RANDOM_ALLOWANCE * record.random_share


def per_minute(rate: float) -> str:
    """In words: 2.5 per second is 150 requests per minute."""
    each_minute = 60 * rate
    return f"{each_minute:.0f} requests per minute" if each_minute >= 10 else f"{each_minute:.1f} per minute"


def _weigh(record: Record, report: ProcessReport, now: float, knobs: Knobs, notes: Notes) -> None:
    """Is it a run of refusals, a share of them, or nothing?"""
    refused, count = report.refused, report.answered + report.refused
    together = record.run + refused - forgiven(record, knobs) * report.answered
    # Asked freely, a process reports when refusals come close together: adding such moments up would mislead.
    record.run = report.run if record.rate is None else max(report.run, together, 0.0)
    record.share += (1 - math.exp(-count / SHARE_REQUESTS)) * (refused / count - record.share)
    record.counted += count
    at_random = RANDOM_ALLOWANCE * record.random_share
    is_share = record.counted >= SHARE_REQUESTS and record.run <= 1
    if record.run >= knobs.run:
        _stop(record, report, now, knobs, notes)
    elif record.trial_left > 0:
        record.trial_left -= count
        record.trial_refused += refused
        if record.trial_left <= 0:
            _judge_trial(record, knobs, notes)
    elif is_share and record.share > knobs.tolerated_share + at_random:
        # A trial: some requests go slower, to see whether refusals stop.
        record.usual_rate, record.usual_share = record.rate, record.share
        record.trial_left, record.trial_refused = knobs.trial_requests, 0.0
        let_through = _measure(record, now) if record.rate is None else (1 - record.share) * record.rate
        _begin(record, let_through, knobs.decrease_factor, now)
    elif record.share > knobs.tolerated_share / 2 + at_random:
        record.quiet = 0.0
        if record.rate is not None:
            record.rate *= 1 - min(refused, 10) * SLIGHTLY
    elif record.rate is not None and record.pressed:
        record.quiet += report.answered
        record.rate *= 1 + min(3 * knobs.growth * (record.quiet / 100) ** 2 * report.answered / 100, 0.5)


def _stop(record: Record, report: ProcessReport, now: float, knobs: Knobs, notes: Notes) -> None:
    """The limit is exceeded: nobody sends but one request at a time."""
    at = "429" if record.rate is None else f"429 at {per_minute(record.rate)}"
    notes.append(("throttled", f"{at}: stopped, trying one request at a time until one is answered"))
    record.epoch += 1
    record.stopped, record.trial_left, record.run = True, 0.0, 0.0
    record.pause, record.tried_until = knobs.pause_seconds, 0.0
    _wait(record, report, now, notes)


def _wait(record: Record, report: ProcessReport, now: float, notes: Notes) -> None:
    asked = report.wait_seconds
    record.paused_until = max(record.paused_until, now + (record.pause if asked is None else asked + 0.05))
    if asked is not None and asked >= 1:
        notes.append(("throttled", f"waiting {asked:.0f} s as the endpoint asked"))


def _follow_try(record: Record, report: ProcessReport, now: float, knobs: Knobs, notes: Notes) -> None:
    """While stopped: was the one request that is out let through?"""
    if report.epoch == record.epoch and report.refused:
        record.epoch += 1
        record.tried_until = 0.0
        record.pause = min(2 * record.pause, knobs.longest_pause_seconds)
        _wait(record, report, now, notes)
    elif (report.epoch == record.epoch and report.answered) or 0 < record.tried_until <= now:
        _resume(record, now, knobs, notes)


def _resume(record: Record, now: float, knobs: Knobs, notes: Notes) -> None:
    """A try was let through: what was let through since the last resumption is the pace."""
    record.stopped, record.tried_until, record.paused_until = False, 0.0, 0.0
    if record.rate is None and record.allowed <= 1:
        # Nothing was let through before, which says nothing about how fast the endpoint may be asked.
        record.since, record.allowed = now, 1.0
        record.epoch += 1
        notes.append(("paced", "the endpoint answers: asking freely"))
        return
    measured = _measure(record, now)
    is_settled = record.counted >= SETTLED_REQUESTS
    if record.rate is not None:
        lowest = record.measured * (knobs.decrease_factor if is_settled else GUESS_FACTOR)
        measured = min(max(measured, lowest), record.rate)
    _begin(record, measured, knobs.resume_share, now)
    record.quiet = 0.0 if is_settled else UNSETTLED_QUIET
    notes.append(("paced", f"asking {per_minute(record.rate or 0.0)} from now on"))


def _measure(record: Record, now: float) -> float:
    """Requests per second that were let through."""
    return max(record.allowed - 1, 1.0) / max(now - record.since, 0.05)


def _begin(record: Record, measured: float, share: float, now: float) -> None:
    """Use this share of a measured pace from now on, and measure anew."""
    record.epoch += 1
    record.measured, record.rate = measured, share * measured
    record.since, record.allowed = now, 1.0
    record.counted, record.quiet, record.share = 0.0, 0.0, record.random_share


def _judge_trial(record: Record, knobs: Knobs, notes: Notes) -> None:
    """Slower requests were sent: if as many were refused as before, it was not the pace."""
    tried = knobs.trial_requests - record.trial_left
    share = record.trial_refused / tried
    if record.trial_refused >= 2 and share >= record.usual_share / 2:
        record.random_share = max(share, record.usual_share)
        record.rate = record.usual_rate
        before = "freely" if record.rate is None else per_minute(record.rate)
        notes.append(("paced", f"{share:.0%} are refused at any pace, which is no limit: asking {before}"))
    else:
        record.random_share = min(record.random_share, share)
        record.rate = knobs.resume_share * record.measured
        notes.append(("paced", f"asking {per_minute(record.rate)} from now on"))
    record.share = record.random_share
    record.epoch += 1
