"""Runs: a run's rows say what is left to do, and starting, resuming and recovering all do just that."""

import os
import socket
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import cast

from django.conf import settings
from django.db import transaction
from django.db.models import Avg, Count, Q, Sum

from rubricweb.engine.agreement.means import mean_figure
from rubricweb.engine.autograders import AUTOGRADERS, PromptedAutograder, ReplyFormat
from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import (
    Dataset,
    Item,
    JudgeCall,
    Judgement,
    RubricVersion,
    Run,
    RunCriterionSummary,
    RunItem,
    RunState,
    RunSummary,
    Team,
    User,
)
from rubricweb.services import endpoints
from rubricweb.services.journal import record
from rubricweb.services.reviews import require_rubric

Enqueue = Callable[[int], object]

# How many bells one start rings: enough for a handful of worker processes to join in.
BELLS = 8


@transaction.atomic
def start_run(
    team: Team,
    *,
    by: User | None,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    judge_id: str,
    enqueue: Enqueue,
    judge: JudgeConfig | None = None,
    autograder: str = "per_criterion",
    reply_format: str = "json",
    normalize: bool = True,
    name: str = "",
) -> Run:
    """A run over every item of the dataset, its work planned as rows, workers rung on commit.

    An item's own rubric wins over `rubric_version`. `judge` overrides what `judge_id` stands for
    (the command line does that). Raises Invalid for unknown names, no items, or items without a rubric.
    """
    grader(autograder, reply_format, normalize)
    require_rubric(dataset, rubric_version)
    config = judge or endpoints.choose_judge(team, judge_id)
    run = Run.objects.create(
        team=team,
        dataset=dataset,
        rubric_version=rubric_version,
        name=name.strip()[:200],
        autograder=autograder,
        judge=endpoints.frozen(judge_id, config),
        endpoint_id=endpoints.endpoint_of(judge_id),
        reply_format=reply_format,
        normalize=normalize,
        created_by=by,
    )
    default_id = rubric_version.pk if rubric_version else None
    planned = 0
    batch: list[RunItem] = []
    items = Item.objects.filter(dataset=dataset).order_by("position").values_list("pk", "rubric_version_id")
    for item_id, own_id in items.iterator(chunk_size=2000):
        version_id = own_id or default_id
        assert version_id is not None, "require_rubric saw to it"
        batch.append(RunItem(run=run, item_id=item_id, rubric_version_id=version_id))
        if len(batch) == 2000:
            planned += len(RunItem.objects.bulk_create(batch))
            batch.clear()
    planned += len(RunItem.objects.bulk_create(batch))
    record(team, by, "started", run, items=planned)
    _ring_on_commit(run, planned, enqueue)
    return run


@transaction.atomic
def cancel_run(run: Run, *, by: User | None, now: datetime) -> None:
    """Stops asking; verdicts so far stay and `resume_run` goes on from there."""
    if Run.objects.filter(pk=run.pk, state=RunState.RUNNING).update(
        state=RunState.CANCELLED, finished_at=now, stop_reason="cancelled"
    ):
        record(run.team, by, "cancelled", run)
        summarise(run)
    run.refresh_from_db()


@transaction.atomic
def resume_run(
    run: Run, *, by: User | None, enqueue: Enqueue, error_kinds: Sequence[str] | None = None
) -> int:
    """Does what is missing: items never graded and verdicts that failed (all, or only some error kinds).

    Returns the number of items that will be worked on; 0 when nothing is missing. Verdicts already given
    are never asked for again.
    """
    locked = Run.objects.select_for_update().get(pk=run.pk)
    if locked.state == RunState.RUNNING:
        raise Conflict(f"{run} is already running.")
    failed = Judgement.objects.filter(run=run, error_kind__isnull=False)
    failed_items = RunItem.objects.filter(run=run, error_kind__isnull=False)
    if error_kinds is not None:
        failed = failed.filter(error_kind__in=error_kinds)
        failed_items = failed_items.filter(error_kind__in=error_kinds)
    again = Q(pk__in=failed_items.values("pk")) | Q(item_id__in=failed.values("item_id"))
    RunItem.objects.filter(again, run=run).update(
        graded_at=None,
        score=None,
        raw_score=None,
        llm_raw_score=None,
        coverage=None,
        errors=0,
        reason="",
        error_kind=None,
        error_message="",
    )
    failed.delete()
    missing = RunItem.objects.filter(run=run, graded_at=None).update(leased_by="", leased_until=None)
    if missing:
        Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING, finished_at=None, stop_reason="")
        RunSummary.objects.filter(run=run).delete()
        RunCriterionSummary.objects.filter(run=run).delete()
        record(run.team, by, "resumed", run, items=missing)
        _ring_on_commit(run, missing, enqueue)
    run.refresh_from_db()
    return missing


def _ring_on_commit(run: Run, items: int, enqueue: Enqueue) -> None:
    bells = min(BELLS, -(-items // settings.GRADING_CHUNK_ITEMS))
    for _ in range(bells):
        transaction.on_commit(lambda: enqueue(run.pk))


def grader(autograder: str, reply_format: str, normalize: bool) -> PromptedAutograder:
    if autograder not in AUTOGRADERS:
        raise Invalid(f"{autograder!r} is not an autograder. Known: {', '.join(AUTOGRADERS)}.")
    try:
        return AUTOGRADERS[autograder](reply_format=cast(ReplyFormat, reply_format), normalize=normalize)
    except ValueError as error:
        raise Invalid(str(error)) from error


def unclaimed(now: datetime) -> Q:
    """Rows without a verdict that nobody holds a live lease on."""
    return Q(graded_at=None) & (Q(leased_until=None) | Q(leased_until__lte=now))


def sweep(*, enqueue: Enqueue, now: datetime) -> list[int]:
    """Rings again for running runs nobody works on, and frees the leases of dead processes of this machine.

    Returns the ids of the runs it rang for.
    """
    running = list(Run.objects.filter(state=RunState.RUNNING).order_by("pk"))
    rung = []
    for run in running:
        pending = RunItem.objects.filter(run=run, graded_at=None)
        for owner in pending.filter(leased_until__gt=now).values_list("leased_by", flat=True).distinct():
            if _is_dead(owner):
                pending.filter(leased_by=owner).update(leased_by="", leased_until=None)
        if pending.filter(leased_until__gt=now).exists():
            continue
        waiting = pending.count()
        if not waiting:
            finish_if_done(run, now)
            continue
        for _ in range(min(BELLS, -(-waiting // settings.GRADING_CHUNK_ITEMS))):
            enqueue(run.pk)
        rung.append(run.pk)
    return rung


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _is_dead(owner: str) -> bool:
    """True when the lease belongs to a process of this machine that no longer exists."""
    host, _, pid = owner.rpartition(":")
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def finish_if_done(run: Run, now: datetime) -> bool:
    """Ends a running run once every item is graded; exactly one caller does it."""
    with transaction.atomic():
        if RunItem.objects.filter(run=run, graded_at=None).exists():
            return False
        ended = Run.objects.filter(pk=run.pk, state=RunState.RUNNING).update(
            state=RunState.FINISHED, finished_at=now
        )
        if ended:
            summarise(run)
    return bool(ended)


def give_up(run: Run, why: str, now: datetime) -> None:
    """Ends a running run whose judge cannot be reached; what was graded stays, the rest can be resumed."""
    with transaction.atomic():
        ended = Run.objects.filter(pk=run.pk, state=RunState.RUNNING).update(
            state=RunState.FAILED, finished_at=now, stop_reason=why[:500]
        )
        if ended:
            summarise(run)
            record(run.team, None, "gave up on", run, why=why[:500])


def summarise(run: Run) -> RunSummary:
    """Writes the small rows lists and dashboards read; the only function that writes them."""
    items = RunItem.objects.filter(run=run)
    scores = list(items.filter(score__isnull=False).order_by("item_id").values_list("score", flat=True))
    mean = mean_figure([score for score in scores if score is not None])
    verdicts = Judgement.objects.filter(run=run)
    tokens = JudgeCall.objects.filter(run=run).aggregate(
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
        cost=Sum("cost_usd"),
        unpriced=Count("pk", filter=Q(cost_usd=None, prompt_tokens__gt=0)),
    )
    summary, _ = RunSummary.objects.update_or_create(
        run=run,
        defaults={
            "items": items.count(),
            "scored": len(scores),
            "score_mean": mean.value,
            "score_low": mean.low,
            "score_high": mean.high,
            "coverage": items.filter(graded_at__isnull=False).aggregate(mean=Avg("coverage"))["mean"],
            "verdicts": verdicts.filter(verdict__isnull=False).count(),
            "errors": items.aggregate(total=Sum("errors"))["total"] or 0,
            "prompt_tokens": tokens["prompt"] or 0,
            "completion_tokens": tokens["completion"] or 0,
            "cost_usd": None if tokens["unpriced"] else tokens["cost"],
        },
    )
    RunCriterionSummary.objects.filter(run=run).delete()
    if run.rubric_version_id is not None:
        _summarise_criteria(run)
    return summary


def _summarise_criteria(run: Run) -> None:
    counts = (
        Judgement.objects.filter(run=run, criterion__version_id=run.rubric_version_id)
        .values("criterion_id")
        .annotate(
            met=Count("pk", filter=Q(verdict=Verdict.MET)),
            unmet=Count("pk", filter=Q(verdict=Verdict.UNMET)),
            cannot_assess=Count("pk", filter=Q(verdict=Verdict.CANNOT_ASSESS)),
            failed=Count("pk", filter=Q(verdict=None)),
        )
    )
    RunCriterionSummary.objects.bulk_create(
        RunCriterionSummary(
            run=run,
            criterion_id=row["criterion_id"],
            met=row["met"],
            unmet=row["unmet"],
            cannot_assess=row["cannot_assess"],
            errors=row["failed"],
        )
        for row in counts
    )
