"""What may happen to a run once it was started: the state machine that `services/runs/lifecycle.py` draws."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from rubricweb.engine.errors import Fault
from rubricweb.engine.number_format import counted, money
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import (
    UNENDED,
    BatchJob,
    Judgement,
    Run,
    RunCriterionSummary,
    RunItem,
    RunState,
    RunSummary,
    User,
    Vote,
)
from rubricweb.selectors.datasets.new_items import new_items
from rubricweb.selectors.deletions import kind_of
from rubricweb.selectors.runs.errors import retried_kinds
from rubricweb.selectors.spending.spending import refused_by
from rubricweb.services import dataset_versions
from rubricweb.services.runs import later_items, panels
from rubricweb.services.runs.budgets import require_caps_hold
from rubricweb.services.runs.events import note
from rubricweb.services.runs.work_queue import (
    NOT_GRADED,
    Enqueue,
    lacks_verdicts,
    notify_on_commit,
    put_back_lacking,
)
from rubricweb.services.shared.archiving import KINDS, hold_team
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.run_summaries import figures_of, summarise, summarise_at_once

STOP_REASON_MAX = 500


def pause_run(run: Run, *, by: User | None, why: str = "", finish_in_flight: bool = True) -> bool:
    """Stops asking until `resume_run`; True when that changed anything.

    Calls in flight finish and are stored, or are broken off: they may have been paid for all the same. `why`
    is a sentence for people, empty where somebody just wanted it. A run that is not running stays as it is,
    but one that was paused gently can still be told to break off.
    """
    with transaction.atomic():
        locked = _locked(run)
        changed = _pause(locked, by, why, finish_in_flight)
    return _summed_up(run, changed)


def pause_for_money(run: Run, *, why: str) -> bool:
    """Pauses it because a cap refused the next call; whether it did.

    `run` holds the caps that refused, its own and its team's month's. One that somebody has changed since, or
    is changing now, refuses nothing: the run goes on by the new one.
    """
    with transaction.atomic():
        locked = _locked(run)
        caps = locked.budget_usd, locked.team.monthly_budget_usd
        if caps != (run.budget_usd, run.team.monthly_budget_usd):
            return False
        changed = _pause(locked, None, why, finish_in_flight=True)
    return _summed_up(run, changed)


def cancel_run(run: Run, *, by: User | None, now: datetime, finish_in_flight: bool = True) -> bool:
    """Ends a run before everything is graded; True when that changed anything.

    Verdicts so far stay, and `resume_run` goes on from there. Calls in flight finish and are stored, or are
    broken off. A run that has ended stays as it is.
    """
    with transaction.atomic():
        locked = _locked(run)
        changed = locked.state in UNENDED
        if changed:
            _stop(locked, RunState.CANCELLED, now, "cancelled", finish_in_flight)
            record(run.team, by, "cancelled", run)
            note(run.pk, "cancelled", f"Cancelled{_by(by)}.")
        elif locked.state == RunState.CANCELLED and not finish_in_flight:
            changed = _break_off(locked)
    return _summed_up(run, changed)


def resume_run(
    run: Run,
    *,
    by: User | None,
    enqueue: Enqueue,
    error_kinds: Sequence[str] | None = None,
    item_ids: Sequence[int] | None = None,
) -> int:
    """Does what is missing: items never graded, verdicts that failed, and those the database has lost.

    Of the failed ones all are asked for again, or only some `error_kinds` (none of them when empty), or only
    those of the items `item_ids`. Returns the number of items that will be worked on; when nothing is missing
    that is 0, and a run that was paused or ended early is finished. Verdicts already given are never asked
    for again. Raises Conflict for a run that is running, for what is archived and where a judge can be asked
    no more, Invalid for unknown kinds and items that are not in it; then nothing is changed or lost. Of a run
    whose calls are withheld from `by` no failures are asked for again: see `retried_kinds`.
    """
    error_kinds = retried_kinds(run, error_kinds, item_ids, by=by)
    with transaction.atomic():
        locked = _locked_there(run)
        if locked.state == RunState.RUNNING:
            raise Conflict(f"{run} is already running.")
        _require_listed(locked)
        _forget_failures(locked, error_kinds, item_ids)
        put_back_lacking(locked)
        missing = RunItem.objects.filter(run=run, graded_at=None).count()
        ends = not missing and locked.state != RunState.FINISHED
        if missing:
            panels.require_judges(locked)
            _go_on(locked)
            record(run.team, by, "resumed", run, items=missing)
            note(run.pk, "resumed", f"Resumed{_by(by)}: {counted(missing, 'item')} to do.")
            notify_on_commit(run.pk, missing, enqueue)
            hold_team(locked.team)
        elif ends:
            _finish(locked, locked.finished_at)
    _summed_up(run, ends)
    return missing


def extend_run(run: Run, *, by: User | None, enqueue: Enqueue) -> int:
    """Takes in the items that were added to the dataset since; how many.

    Corrected answers come in the place of the wrong ones, which count no more in this run. A finished run
    goes on with what is to be graded; one that was paused, cancelled or failed waits to be resumed. Raises
    Invalid where one of them cannot be graded as this run grades: no rubric, no judge, or an example its
    judge is shown; Conflict for what is archived and where a judge can be asked no more.
    """
    with transaction.atomic():
        locked = _locked_there(run)
        dataset_versions.hold(locked.dataset)
        _require_listed(locked)
        fresh = new_items(locked)
        if not fresh.exists():
            return 0
        panels.require_judges(locked)
        later_items.check_extension(locked, fresh)
        added, replaced = later_items.take_in(locked, fresh)
        Run.objects.filter(pk=run.pk).update(dataset_version=locked.dataset.version)
        # Words that came back may have been graded before.
        missing = RunItem.objects.filter(run=locked, graded_at=None).exists()
        begins_again = locked.state == RunState.FINISHED and missing
        if begins_again:
            _go_on(locked)
        # It tells of fewer items. Of a run that stays stopped the reaper writes it should we be killed now.
        RunSummary.objects.filter(run=locked).delete()
        record(run.team, by, "extended", run, items=added)
        instead = f", {replaced:,} in the place of an answer that counts no more" if replaced else ""
        note(run.pk, "extended", f"Extended{_by(by)}: {counted(added, 'item')} added{instead}.")
        goes_on = begins_again or locked.state == RunState.RUNNING
        if goes_on:
            notify_on_commit(run.pk, added, enqueue)
        hold_team(locked.team)
    _summed_up(run, not goes_on)
    return added


@transaction.atomic
def set_budget(run: Run, *, by: User | None, budget_usd: float | None) -> None:
    """What the run may cost from now on; None is no cap of its own.

    A run that its own cap had paused stays paused, but says so of the old cap no more: its log does.

    Raises Invalid for what is no amount, and for a cap on a judge without a price.
    """
    locked = _locked_there(run)
    require_caps_hold(run.asked_judges, budget_usd=budget_usd, no_cap=budget_usd is None)
    if locked.budget_usd != budget_usd:
        reason = "" if refused_by(locked.stop_reason) == "budget" else locked.stop_reason
        Run.objects.filter(pk=run.pk).update(budget_usd=budget_usd, stop_reason=reason)
        said = "no cap" if budget_usd is None else money(budget_usd)
        record(run.team, by, "set the budget of", run, budget_usd=budget_usd)
        note(run.pk, "budget", f"The budget was set to {said}{_by(by)}.")
    run.refresh_from_db()


@transaction.atomic
def set_budget_and_go_on(run: Run, *, by: User | None, enqueue: Enqueue, budget_usd: float | None) -> None:
    """What the run may cost from now on, and a paused one goes on with what is missing: both, or neither.

    Raises what `set_budget` and `resume_run` raise.
    """
    set_budget(run, by=by, budget_usd=budget_usd)
    if run.state == RunState.PAUSED:
        resume_run(run, by=by, enqueue=enqueue, error_kinds=())


def finish_if_done(run: Run, now: datetime) -> bool:
    """Ends a run once every item is graded, also one that is paused; exactly one caller does it.

    False for one whose verdicts are not all stored, as after a database lost what it had committed: what is
    missing is to be graded again.
    """
    left = RunItem.objects.filter(run=run, graded_at=None)
    if left.exists() or not Run.objects.filter(pk=run.pk, state__in=UNENDED).exists():
        return False
    figures = None if lacks_verdicts(run) else figures_of(run)
    with transaction.atomic():
        locked = _locked(run)
        # Looked at again: the run may have been extended before we held it.
        if locked.state not in UNENDED or left.exists():
            return False
        if figures is None and put_back_lacking(locked):
            return False
        _finish(locked, now)
        # Worked out here only where somebody has stored what was lacking since.
        summarise_at_once(locked, figures or figures_of(locked))
    return True


def give_up(run: Run, why: str, now: datetime) -> None:
    """Ends a running run whose judge cannot be reached; what was graded stays, the rest can be resumed."""
    figures = figures_of(run)
    with transaction.atomic():
        locked = _locked(run)
        if locked.state != RunState.RUNNING:
            return
        _stop(locked, RunState.FAILED, now, why, finish_in_flight=True)
        record(run.team, None, "gave up on", run, why=why[:STOP_REASON_MAX])
        note(run.pk, "gave_up", why)
        summarise_at_once(locked, figures)


# ── Changing the row ─────────────────────────────────────────────────────────────────────────────


def _locked(run: Run) -> Run:
    """The run as it is now, held until the transaction ends: one change of state at a time.

    Raises Conflict for one whose grades came in a file: there is nobody to ask.
    """
    # Not its key: every worker's commit holds on to that, and each would wait for the other.
    locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if locked.imported:
        raise Conflict(
            f"{run} was imported: its grades came in a file, and nobody can be asked for more. "
            "Start a run of your own over the dataset."
        )
    return locked


def _locked_there(run: Run) -> Run:
    """The same. Raises NotFound where it was deleted since it was read: nothing is asked for it any more."""
    locked = _locked(run)
    if locked.team_id != run.team_id or locked.team.deleted_at is not None:
        raise NotFound("run")
    return locked


def _require_listed(locked: Run) -> None:
    """Refuses new work for a run that is archived, or whose dataset, rubric or system is."""
    rubric = locked.rubric_version.rubric if locked.rubric_version else None
    system = locked.system_version.system if locked.system_version else None
    for row in (locked, locked.dataset, rubric, system):
        if row is not None and row.archived_at is not None:
            raise Conflict(f"The {kind_of(row, KINDS)} {row} is archived: restore it first.")


def _pause(locked: Run, by: User | None, why: str, finish_in_flight: bool) -> bool:
    changed = locked.state == RunState.RUNNING
    if changed:
        _stop(locked, RunState.PAUSED, None, why, finish_in_flight)
        record(locked.team, by, "paused", locked, **({"why": why} if why else {}))
        note(locked.pk, "paused", f"Paused{_by(by)}{f': {why}' if why else '.'}")
    elif locked.state == RunState.PAUSED and not finish_in_flight:
        changed = _break_off(locked)
    return changed


def _stop(locked: Run, state: RunState, ended: datetime | None, why: str, finish_in_flight: bool) -> None:
    Run.objects.filter(pk=locked.pk).update(
        state=state,
        finished_at=ended,
        stop_reason=why[:STOP_REASON_MAX],
        finish_in_flight=finish_in_flight,
    )


def _break_off(locked: Run) -> bool:
    """Has calls broken off that were allowed to finish; whether they were."""
    return bool(Run.objects.filter(pk=locked.pk, finish_in_flight=True).update(finish_in_flight=False))


def _go_on(locked: Run) -> None:
    Run.objects.filter(pk=locked.pk).update(
        state=RunState.RUNNING, finished_at=None, stop_reason="", finish_in_flight=True
    )
    # What kept a batch from being looked at may have been mended.
    BatchJob.objects.filter(run=locked, stored_at=None).exclude(error_message="").update(checked_at=None)
    RunSummary.objects.filter(run=locked).delete()
    RunCriterionSummary.objects.filter(run=locked).delete()


def _finish(locked: Run, now: datetime | None) -> None:
    Run.objects.filter(pk=locked.pk).update(state=RunState.FINISHED, finished_at=now or Now(), stop_reason="")
    errored = RunItem.objects.filter(run=locked, errors__gt=0).count()
    of_them = f", {errored:,} of them with errors" if errored else ""
    note(locked.pk, "finished", f"Every item is graded{of_them}.")


def _summed_up(run: Run, changed: bool) -> bool:
    """Has the run summed up where something changed, once its row is free again; gives back `changed`."""
    if changed:
        summarise(run)
    run.refresh_from_db()
    return changed


def _by(person: User | None) -> str:
    return f" by {person}" if person is not None else ""


# ── Failures that are asked for again ────────────────────────────────────────────────────────────


def _forget_failures(locked: Run, error_kinds: Sequence[str] | None, item_ids: Sequence[int] | None) -> None:
    """Takes failed verdicts and votes away, so that they are missing; their items count as not graded.

    Items that a worker still holds, as after a pause that lets calls finish, are left to it: what it has in
    its hands would no longer be what is stored.
    """
    rows = RunItem.objects.filter(run=locked)
    if item_ids is not None:
        _check_items(rows, item_ids)
        rows = rows.filter(item_id__in=item_ids)
    ours = rows.exclude(graded_at=None, leased_until__gt=Now())
    failed = Judgement.objects.filter(
        run=locked, error_kind__isnull=False, item_id__in=ours.values("item_id")
    )
    failed_items = ours.filter(error_kind__isnull=False)
    if error_kinds is not None:
        failed = failed.filter(error_kind__in=error_kinds)
        failed_items = failed_items.filter(error_kind__in=error_kinds)
    again = Q(pk__in=failed_items.values("pk")) | Q(item_id__in=failed.values("item_id"))
    # What a holistic judge said stays when only a check failed beside it.
    RunItem.objects.filter(again, run=locked).update(**NOT_GRADED, error_kind=None, error_message="")
    _forget_failed_votes(locked, failed, error_kinds, ours)
    failed.delete()


def _check_items(rows: QuerySet[RunItem], item_ids: Sequence[int]) -> None:
    known = set(rows.filter(item_id__in=item_ids).values_list("item_id", flat=True))
    faults = [
        Fault(f"item_ids[{i}]", str(item_id), "the id of an item in this run")
        for i, item_id in enumerate(item_ids)
        if item_id not in known
    ]
    if faults:
        raise Invalid("; ".join(map(str, faults[:5])), faults[:200])


def _forget_failed_votes(
    run: Run,
    failed: QuerySet[Judgement],
    error_kinds: Sequence[str] | None,
    ours: QuerySet[RunItem],
) -> None:
    """Takes away failed votes, so that they are asked for again: of criteria that failed, those of the last
    stage that was asked; of criteria that were not settled yet, all.
    """
    same_unit = {"item_id": OuterRef("item_id"), "criterion_id": OuterRef("criterion_id")}
    later = Vote.objects.filter(run=run, stage__gt=OuterRef("stage"), **same_unit)
    unsettled = ~Q(Exists(Judgement.objects.filter(run=run, **same_unit)))
    if error_kinds is not None:
        unsettled &= Q(error_kind__in=error_kinds)
    in_failed = Q(Exists(failed.filter(**same_unit))) & ~Q(Exists(later))
    again = Vote.objects.filter(
        in_failed | unsettled, run=run, error_kind__isnull=False, item_id__in=ours.values("item_id")
    )
    Vote.objects.filter(pk__in=list(again.values_list("pk", flat=True))).delete()
