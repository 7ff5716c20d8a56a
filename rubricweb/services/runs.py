"""Runs: a run's rows say what is left to do, and starting, resuming and recovering all do just that."""

import os
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from rubricweb.engine.autograders import AUTOGRADERS, PromptedAutograder, ReplyFormat
from rubricweb.engine.errors import Fault
from rubricweb.engine.scoring import ABSTENTION_POLICIES, ERROR_POLICIES
from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import (
    Criterion,
    Dataset,
    Item,
    Judgement,
    RubricVersion,
    Run,
    RunCriterionSummary,
    RunItem,
    RunState,
    RunSummary,
    Team,
    User,
    Vote,
)
from rubricweb.services import endpoints, few_shot, panels
from rubricweb.services.journal import record
from rubricweb.services.reviews import require_rubric
from rubricweb.services.run_summaries import summarise

__all__ = [
    "BELLS",
    "Enqueue",
    "cancel_run",
    "finish_if_done",
    "give_up",
    "grader",
    "needs_judge",
    "resume_run",
    "start_run",
    "summarise",
    "sweep",
    "unclaimed",
    "worker_name",
]

Enqueue = Callable[[int], object]

# How many bells one start rings: enough for a handful of worker processes to join in.
BELLS = 8
MAX_SEED = 2**32


@transaction.atomic
def start_run(
    team: Team,
    *,
    by: User | None,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    enqueue: Enqueue,
    judge_id: str = "",
    judge: JudgeConfig | None = None,
    panel: panels.Panel | None = None,
    few_shot_from: few_shot.FewShot | None = None,
    autograder: str = "per_criterion",
    reply_format: str = "json",
    normalize: bool = True,
    abstention: str = "skip",
    on_error: str = "exclude",
    option_seed: int | None = None,
    name: str = "",
) -> Run:
    """A run over every item of the dataset, its work planned as rows, workers rung on commit.

    An item's own rubric wins over `rubric_version`. `judge` overrides what `judge_id` stands for
    (the command line does that); a `panel` stands in the place of both, and rubrics of checks alone need
    neither. `option_seed` orders the options a judge is shown; without one a seed is drawn and kept. Nothing
    is stored when something is refused: Invalid, with its place, for unknown names, no items, items without a
    rubric, a panel or examples that cannot be. `abstention` and `on_error` are the policies of
    `engine/scoring.py`.
    """
    require_rubric(dataset, rubric_version)
    asking = grader(autograder, reply_format, normalize)
    for field, policy, known in (
        ("abstention", abstention, ABSTENTION_POLICIES),
        ("on_error", on_error, ERROR_POLICIES),
    ):
        if policy not in known:
            raise _invalid(field, repr(policy), ", ".join(known))
    if option_seed is not None and not 0 <= option_seed < 2**63:
        raise _invalid("option_seed", str(option_seed), "a whole number from 0")
    frozen_judge, frozen_panel = _judges(
        team, dataset, rubric_version, judge_id=judge_id, judge=judge, panel=panel, asking=asking
    )
    examples = (
        few_shot.frozen(few_shot_from, graded=dataset, rubric_version=rubric_version, grader=asking)
        if few_shot_from is not None
        else None
    )
    run = Run.objects.create(
        team=team,
        dataset=dataset,
        rubric_version=rubric_version,
        name=name.strip()[:200],
        autograder=autograder,
        judge=frozen_judge,
        endpoint_id=endpoints.endpoint_of(str(frozen_judge["id"])),
        reply_format=reply_format,
        normalize=normalize,
        abstention=abstention,
        on_error=on_error,
        option_seed=secrets.randbelow(MAX_SEED) if option_seed is None else option_seed,
        panel=frozen_panel,
        few_shot=examples,
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


def needs_judge(dataset: Dataset, rubric_version: RubricVersion | None) -> bool:
    """Whether grading these items asks a judge anything: not when their rubrics hold nothing but checks."""
    asked = Criterion.objects.exclude(kind="check")
    items = Item.objects.filter(dataset=dataset)
    if asked.filter(version__in=items.exclude(rubric_version=None).values("rubric_version")).exists():
        return True
    if rubric_version is None or not items.filter(rubric_version=None).exists():
        return False
    return asked.filter(version=rubric_version).exists()


def _judges(
    team: Team,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    *,
    judge_id: str,
    judge: JudgeConfig | None,
    panel: panels.Panel | None,
    asking: PromptedAutograder,
) -> tuple[Mapping[str, Any], dict[str, Any] | None]:
    """What the run's row keeps as its judge and its panel."""
    if panel is not None:
        if judge_id or judge is not None:
            raise _invalid("judge", "a judge beside a panel", "one of them: a panel names its own judges")
        frozen_panel = panels.frozen(team, panel, asking)
        return panels.as_judge(frozen_panel), frozen_panel
    if not judge_id and judge is None and not needs_judge(dataset, rubric_version):
        return panels.NOBODY, None
    return endpoints.frozen(judge_id, judge or endpoints.choose_judge(team, judge_id)), None


def _invalid(place: str, found: str, allowed: str) -> Invalid:
    fault = Fault(place, found, allowed)
    return Invalid(str(fault), [fault])


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
    # What a holistic judge said stays when only a check failed beside it.
    RunItem.objects.filter(again, run=run).update(
        graded_at=None,
        score=None,
        raw_score=None,
        coverage=None,
        passed=None,
        length_penalty=0.0,
        errors=0,
        error_kind=None,
        error_message="",
    )
    _forget_failed_votes(run, failed, error_kinds)
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


def _forget_failed_votes(run: Run, failed: QuerySet[Judgement], error_kinds: Sequence[str] | None) -> None:
    """Takes away failed votes, so that they are asked for again: of criteria that failed, those of the last
    stage that was asked; of criteria that were not settled yet, all.
    """
    same_unit = {"item_id": OuterRef("item_id"), "criterion_id": OuterRef("criterion_id")}
    later = Vote.objects.filter(run=run, stage__gt=OuterRef("stage"), **same_unit)
    unsettled = ~Q(Exists(Judgement.objects.filter(run=run, **same_unit)))
    if error_kinds is not None:
        unsettled &= Q(error_kind__in=error_kinds)
    in_failed = Q(Exists(failed.filter(**same_unit))) & ~Q(Exists(later))
    again = Vote.objects.filter(in_failed | unsettled, run=run, error_kind__isnull=False)
    Vote.objects.filter(pk__in=list(again.values_list("pk", flat=True))).delete()


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
