"""A run's rows are its queue: which of them are free or lack verdicts, and the wake-ups that call workers."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from rubricweb.engine.number_format import counted
from rubricweb.models import BatchJob, Criterion, Judgement, Run, RunItem, RunMode, RunState
from rubricweb.selectors.runs.graders import PER_ITEM
from rubricweb.services.runs.events import note

Enqueue = Callable[[int], object]

# How many wake-ups one start sends: enough for a handful of worker processes to join in.
WAKE_UPS = 8


def asked_live() -> Q:
    """Runs whose questions are asked one by one now: not those that wait for a provider's batches."""
    batches = BatchJob.objects.filter(run=OuterRef("pk"))
    return Q(mode=RunMode.LIVE) | (Q(Exists(batches)) & ~Q(Exists(batches.filter(stored_at=None))))


def unclaimed(now: datetime) -> Q:
    """Rows without a verdict that nobody holds a live lease on."""
    return Q(graded_at=None) & (Q(leased_until=None) | Q(leased_until__lte=now))


def running() -> QuerySet[Run]:
    """Runs that workers grade now, oldest first."""
    return Run.objects.filter(asked_live(), state=RunState.RUNNING).order_by("pk")


def with_free_items(
    runs: QuerySet[Run], now: datetime, *, but: Collection[int] = ()
) -> list[tuple[int, int]]:
    """(run, team) of those that have items nobody holds, rows `but` aside."""
    free = RunItem.objects.filter(unclaimed(now), run=OuterRef("pk"))
    if but:
        free = free.exclude(pk__in=but)
    return list(runs.filter(Exists(free)).values_list("pk", "team_id"))


NOT_GRADED: Mapping[str, Any] = {
    "graded_at": None,
    "score": None,
    "raw_score": None,
    "coverage": None,
    "passed": None,
    "length_penalty": 0.0,
    "errors": 0,
}
"""What the row of an item says that is to be graded again."""


def lacks_verdicts(run: Run) -> bool:
    """Whether graded items of the run have fewer verdicts than criteria; two counts."""
    of_checks = Q(rubric_version__criteria__kind="check") if run.autograder == PER_ITEM else None
    graded = RunItem.every.filter(run=run, graded_at__isnull=False).order_by()
    wanted = graded.aggregate(n=Count("rubric_version__criteria", filter=of_checks))["n"]
    return bool(Judgement.objects.filter(run=run).count() < wanted)


def put_back_lacking(locked: Run) -> int:
    """Has items graded again that count as graded and lack a verdict, or the error in its place; how many.

    Only a database that lost what it had committed leaves such items, as when the power fails: an item counts
    as graded once its verdicts are committed, or together with them. The worker that stored them is told
    nothing of the loss. Verdicts that are still there are not asked for again.
    """
    if not lacks_verdicts(locked):
        return 0
    # A holistic judge's word stands in the item's row.
    criteria = Criterion.objects.filter(Q(kind="check") if locked.autograder == PER_ITEM else Q())
    unanswered = criteria.filter(version=OuterRef("rubric_version")).exclude(
        Exists(
            Judgement.objects.filter(run=locked, item=OuterRef(OuterRef("item")), criterion=OuterRef("pk"))
        )
    )
    graded = RunItem.every.filter(run=locked, graded_at__isnull=False)
    items = graded.filter(Exists(unanswered)).update(**NOT_GRADED)
    if items:
        said = f"Verdicts on {counted(items, 'item')} were lost; they are graded again."
        note(locked.pk, "lost_verdicts", said)
    return items


def notify(run_id: int, items: int, enqueue: Enqueue) -> None:
    """Calls as many workers as these items keep busy, at most WAKE_UPS."""
    for _ in range(min(WAKE_UPS, -(-items // settings.GRADING_CHUNK_ITEMS))):
        enqueue(run_id)


def notify_on_commit(run_id: int, items: int, enqueue: Enqueue) -> None:
    """The same once the transaction is committed: who came before would find nothing."""
    transaction.on_commit(lambda: notify(run_id, items, enqueue))
