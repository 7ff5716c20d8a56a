"""What a worker tells a run's log: counted, and written together every two seconds."""

import time
from collections import Counter

from rubricweb.judges import event_loop
from rubricweb.judges.base import Reply
from rubricweb.judges.rate_limit.limiters import RateLimitEvent
from rubricweb.models import Run, RunEvent
from rubricweb.services.runs.events import TURNS, note

# An endpoint in trouble would write hundreds of lines a second.
WRITE_EVERY_SECONDS = 2.0

MESSAGES = {
    "throttled": "The endpoint answered 429: too many requests.",
    "retried": "Asked again after an error that may pass.",
    "fell_back": "The fallback model was asked.",
    "cached": "Answered from an identical earlier call.",
    "database": "The database was away; replies were kept until it was back.",
}


class RunLog:
    """Lines for the log of one run that are not written yet."""

    def __init__(self, run_id: int) -> None:
        self._run_id = run_id
        self._lines: Counter[tuple[str, str]] = Counter()
        self._written_at = time.monotonic()

    def add(self, kind: str, count: int = 1, message: str = "") -> None:
        """Counts a line of this kind; without a message of its own that of MESSAGES."""
        self._lines[kind, message or MESSAGES[kind]] += count

    def add_reply(self, reply: Reply) -> None:
        """Counts what a person would want to know about how a reply was got."""
        if reply.is_known:
            self.add("cached")
            return
        if reply.throttled:
            self.add("throttled", reply.throttled)
        # The first request to each of the two models is no retry.
        retries = reply.attempts - 1 - reply.fallback - reply.throttled
        if retries > 0:
            self.add("retried", retries)
        if reply.fallback:
            self.add("fell_back")

    def flush_if_due(self) -> None:
        """Writes the lines when the last time is long enough ago; asks the database."""
        if self._lines and time.monotonic() - self._written_at > WRITE_EVERY_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Writes the lines; asks the database. Those that a failure leaves are written the next time."""
        while self._lines:
            (kind, message), count = next(iter(self._lines.items()))
            note(self._run_id, kind, message, count)
            del self._lines[kind, message]
        self._written_at = time.monotonic()


def say_left_to_others(run: Run, worker: str) -> None:
    """Once until the run is stopped or resumed: workers are called to a run that waits again and again."""
    told = RunEvent.objects.filter(run=run, kind__in=(*TURNS, "left_to_others")).order_by("-pk").first()
    if told is None or told.kind != "left_to_others":
        said = f"{worker} has no OFFLINE_JUDGE_URL: it leaves the run to workers that have it."
        note(run.pk, "left_to_others", said)


class PaceLog:
    """What was decided about the pace of endpoints since this was made."""

    def __init__(self) -> None:
        limiters = event_loop.rate_limiters()
        decisions = limiters.decisions() if limiters else []
        self._seen = max((decision.number for decision in decisions), default=0)

    def news(self) -> list[RateLimitEvent]:
        """Every decision once."""
        limiters = event_loop.rate_limiters()
        decisions = list(limiters.decisions(self._seen)) if limiters else []
        self._seen = max((decision.number for decision in decisions), default=self._seen)
        return decisions
