"""Deleting, by owners: refused or out of sight at once, and then removed by a worker that may die.

`delete` moves the thing into a bin, in one short transaction; `work` empties the bin (decision 0028).
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import (
    Deletion,
    DeletionState,
    Launch,
    Rater,
    ReviewQueue,
    Run,
    System,
    SystemVersion,
    Team,
    User,
)
from rubricweb.selectors.deletions import Deletable, answers_of, doomed, plan, refusal, team_of
from rubricweb.services.datasets.changes.removal import remove_items
from rubricweb.services.deletions import bins
from rubricweb.services.deletions.removal import Remover
from rubricweb.services.shared.database_retry import DATABASE_AWAY, retry_while_away
from rubricweb.services.shared.journal import record

log = logging.getLogger(__name__)

SILENT_AFTER = timedelta(minutes=10)
FAILED_UNTIL = timedelta(days=1)
"""After that a deletion that failed is tried again: a later release may be able to."""
UNENDED = (DeletionState.WAITING, DeletionState.RUNNING)


class _Stopped(Exception):
    """Another process has the deletion."""


def delete(
    row: Deletable, name: str, *, by: User, now: datetime, enqueue: Callable[[int], None] | None
) -> Deletion:
    """Deletes it with all that belongs to it; nobody finds it any more. There is no way back.

    `name` is what the person typed to say which it is. `enqueue` wakes a worker, None leaves the removal of
    its rows to the caller. Raises Invalid for another name, Conflict while it is in use.
    """
    # Counted before anything is locked.
    planned = plan(row, now=now)
    if name.strip() != planned.name.strip():
        raise Invalid.at("name", repr(name[:200]), f"its name, {planned.name!r}")
    with transaction.atomic():
        # In the order in which a run is extended: the run, its dataset, which queues are made under.
        goes_with_it = doomed(row)
        _lock(goes_with_it.runs)
        # Two who delete it at once: the second finds it gone.
        team = team_of(row)
        there = Q(deleted_at=None) if isinstance(row, Team) else Q(team=team)
        if isinstance(row, SystemVersion):
            there = Q(system__team=team)
        locked = type(row)._default_manager.select_for_update(of=("self",)).filter(there, pk=row.pk)
        if locked.first() is None:
            raise Conflict(f"The {planned.kind} {planned.name} was just deleted by somebody else.")
        _lock(goes_with_it.queues)
        if refused := refusal(row, now=now):
            raise Conflict(refused)
        deletion = Deletion.objects.create(
            team=team,
            kind=planned.kind,
            row_id=row.pk,
            name=planned.name[:200],
            bin=team if isinstance(row, Team) else bins.new_bin(now=now),
            planned=planned.counts,
            rows_planned=planned.rows,
            deleted_by=by,
        )
        record(team, by, "deleted", row, **planned.counts)
        assert deletion.bin is not None, "given above"
        if isinstance(row, Team):
            bins.close(row, now=now)
        elif isinstance(row, System | SystemVersion):
            # Retired, and nothing was made of them: `refusal` says so.
            remove_items(list(answers_of(row).order_by("pk").values_list("pk", flat=True)))
            bins.move_system(row, deletion.bin)
        else:
            bins.move(goes_with_it, deletion.bin)
        if enqueue is not None:
            transaction.on_commit(lambda: enqueue(deletion.pk))
    return deletion


def _lock(rows: QuerySet[Run] | QuerySet[ReviewQueue]) -> None:
    """Nobody resumes or opens one of them once it was found not to be in use."""
    list(rows.select_for_update(of=("self",)).order_by("pk").values_list("pk"))


def due(now: datetime, *, is_dead: Callable[[str, datetime], bool]) -> list[int]:
    """The ids of deletions nobody is at; first those of dead and long silent processes are freed, and those
    that failed a day ago or earlier.
    """
    for one in Deletion.objects.filter(state=DeletionState.RUNNING):
        is_silent = one.beat_at is None or one.beat_at < now - SILENT_AFTER
        if is_silent or is_dead(one.worker, now):
            held = Deletion.objects.filter(pk=one.pk, state=DeletionState.RUNNING, worker=one.worker)
            held.update(state=DeletionState.WAITING, worker="")
    failed = Deletion.objects.filter(state=DeletionState.FAILED, ended_at__lt=now - FAILED_UNTIL)
    failed.update(state=DeletionState.WAITING, message="", ended_at=None)
    waiting = Deletion.objects.filter(state=DeletionState.WAITING).order_by("pk")
    return list(waiting.values_list("pk", flat=True))


def work(pk: int, *, worker: str, now: Callable[[], datetime]) -> Deletion:
    """Removes the rows of a deletion that waits; done twice, it is done once.

    Returns it as it then is: done, or failed by a fault of ours. Raises what a database that is away raises;
    it then waits for whoever comes next.
    """
    waiting = Deletion.objects.filter(pk=pk, state=DeletionState.WAITING)
    if waiting.update(state=DeletionState.RUNNING, worker=worker, beat_at=now()):
        mine = Deletion.objects.filter(pk=pk, worker=worker, state=DeletionState.RUNNING)

        def removed(n: int) -> None:
            if not mine.update(rows_removed=F("rows_removed") + n, beat_at=now()):
                raise _Stopped

        try:
            _empty(pk, Remover(removed))
            mine.update(state=DeletionState.DONE, ended_at=now(), worker="")
        except _Stopped:
            pass
        except DATABASE_AWAY:
            retry_while_away(lambda: mine.update(state=DeletionState.WAITING, worker=""))
            raise
        except Exception as fault:
            log.exception("deletion %s ended", pk)
            why = f"An internal error: {type(fault).__name__}: {fault}".rstrip(".")
            message = f"{why}. It is tried again in a day."
            mine.update(state=DeletionState.FAILED, ended_at=now(), worker="", message=message)
    return Deletion.objects.select_related("team", "deleted_by").get(pk=pk)


def _empty(pk: int, remover: Remover) -> None:
    deletion = Deletion.objects.select_related("bin", "team").get(pk=pk)
    if deletion.bin is None:
        return
    remover.empty(deletion.bin)
    if deletion.bin == deletion.team:
        Deletion.objects.filter(pk=pk).update(bin=None)
        return
    _remove_left_alone(deletion.team, remover)
    remover.remove(Team, [deletion.bin.pk])


def _remove_left_alone(team: Team, remover: Remover) -> None:
    """Names of files whose labels are all gone, and launches without a run: nothing leads to them."""
    named = Rater.objects.filter(
        team=team, user=None, same_as=None, reviews=None, queues=None, imported_runs=None, queue_items=None
    )
    for model, rows in ((Rater, named), (Launch, Launch.objects.filter(team=team, runs=None))):
        ids = list(rows.values_list("pk", flat=True)[:2000])
        if ids:
            remover.remove(model, ids)
