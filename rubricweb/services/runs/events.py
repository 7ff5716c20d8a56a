"""A run's log: what was decided, by whom or why."""

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from rubricweb.models import RunEvent

EVENT_KINDS: Mapping[str, str] = {
    "started": "The run was started.",
    "imported": "Its grades came in a file.",
    "paused": "Somebody paused it, or a cap was reached.",
    "resumed": "It went on: with what was left, or once more with what had failed.",
    "extended": "Items that came into the dataset later were taken in.",
    "cancelled": "Somebody ended it before everything was graded.",
    "finished": "Every item was graded.",
    "gave_up": "It ended by itself: the judge could not be asked, or something broke.",
    "budget": "What the run may cost was changed or lifted.",
    "throttled": "The endpoint said 429 or asked to wait.",
    "paced": "More or fewer requests than before are let through at once.",
    "retried": "A question was asked again after an error that may pass.",
    "fell_back": "The fallback model was asked, for the judge's own had refused for good.",
    "form": "Another form of reply is asked for: the endpoint does not take the better one.",
    "cached": "Answers to identical questions were reused.",
    "taken_over": "Items of a worker that is gone, or of one that fell silent, were freed for others.",
    "left_to_others": "A worker that does not know where the offline judge answers left the run to others.",
    "lost": "Requests were cut off or never answered: nobody knows whether they were paid for.",
    "database": "The database was away; replies were kept until it was back.",
    "lost_verdicts": "The database had lost verdicts that were stored; their items are graded again.",
    "batch": "A batch was handed to the provider, or came back.",
    "error": "Something of ours broke.",
}
"""Every kind of line a run's log can hold, and what it means to a person."""

TURNS = frozenset(
    {"started", "paused", "resumed", "extended", "cancelled", "finished", "gave_up", "budget", "batch"}
)
"""Kinds that tell what became of the run: their order is the story, so nothing is counted into a line before
the latest of them. A run that was paused, resumed and paused again was paused last."""

MERGED_FOR = timedelta(minutes=1)
# Several workers write their lines in turns: an equal line is looked for among this many of the newest.
LOOKED_AT = 20
MESSAGE_MAX = 500


def note(run_id: int, kind: str, message: str, count: int = 1) -> None:
    """Writes a line into the run's log, or raises the count of an equal one not a minute old that nothing of
    TURNS came after.

    `kind` is one of EVENT_KINDS, else ValueError; the message is cut at 500 characters. It must quote neither
    a submission nor a reply: everybody who may see the run may read it. Two workers that write the same line
    at the same moment may leave two lines; no count is lost.
    """
    if kind not in EVENT_KINDS:
        raise ValueError(f"kind is {kind!r}; allowed are {', '.join(EVENT_KINDS)}")
    now = timezone.now()
    message = message.replace("\0", "")[:MESSAGE_MAX]  # PostgreSQL stores no NUL
    for line in RunEvent.objects.filter(run_id=run_id).order_by("-pk")[:LOOKED_AT]:
        if (line.kind, line.message) == (kind, message) and now - line.created_at < MERGED_FOR:
            RunEvent.objects.filter(pk=line.pk).update(count=F("count") + count, latest_at=now)
            return
        if line.kind in TURNS:
            break
    RunEvent.objects.create(run_id=run_id, kind=kind, message=message, count=count)
