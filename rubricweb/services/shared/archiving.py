"""Renaming what a person made, and putting it out of sight: lists and choosers leave out what is archived."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from rubricweb import access
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import (
    UNENDED,
    Combination,
    CombinationState,
    Dataset,
    DatasetImport,
    ImportState,
    Judge,
    JudgeEndpoint,
    QueueState,
    ReviewQueue,
    Rubric,
    Run,
    System,
    Team,
    User,
)
from rubricweb.selectors.deletions import kind_of
from rubricweb.services.earlier_drafts import remember
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import saved_unless_taken

Named = Rubric | Dataset | Run | ReviewQueue
CanBeArchived = Named | System | Judge | JudgeEndpoint | Team

NAME_MAX = 200
KINDS: dict[str, type[CanBeArchived]] = {
    "rubric": Rubric,
    "dataset": Dataset,
    "run": Run,
    "queue": ReviewQueue,
    "system": System,
    "judge": Judge,
    "endpoint": JudgeEndpoint,
    "team": Team,
}
UNIQUE = ("dataset", "queue")
"""Kinds whose names are unique in a team."""


def name_of(row: Named) -> str:
    """What a person called it; "" for a run that nobody named."""
    return row.title if isinstance(row, Rubric) else row.name


@transaction.atomic
def rename(row: Named, name: str, *, by: User) -> None:
    """Another name for a rubric, dataset, run or queue. Only a run may be left without one.

    A published version keeps the title it was published with. Raises Invalid for an empty or too long name,
    Conflict for one that another dataset or queue of the team has.
    """
    kind, name = kind_of(row, KINDS), name.strip()
    if not name and kind != "run":
        raise Invalid.at("name", "nothing", f"a name for the {kind}")
    if len(name) > NAME_MAX:
        raise Invalid.at("name", f"{len(name)} characters", f"at most {NAME_MAX}")
    locked = type(row)._default_manager.select_for_update(of=("self",)).get(pk=row.pk)
    before = str(locked)
    if name == name_of(locked):
        return
    taken = f"The team already has a {kind} called {name!r}; choose another name."
    same = type(row)._default_manager.filter(Q(team=row.team_id, name=name) if kind in UNIQUE else Q(pk=None))
    if same.exclude(pk=row.pk).exists():
        raise Conflict(taken)
    if isinstance(locked, Rubric):
        locked.title = name
        earlier, locked.draft = locked.draft, {**locked.draft, "title": name}
        # Editors who have the draft open are told that it has changed.
        locked.draft_revision += 1
        locked.save(update_fields=["title", "draft", "draft_revision"])
        remember(locked, earlier, by=by)
    else:
        locked.name = name
        with saved_unless_taken(taken):
            locked.save(update_fields=["name"])
    record(row.team, by, "renamed", locked, before=before)
    row.refresh_from_db()


@transaction.atomic
def archive(row: CanBeArchived, *, by: User, now: datetime) -> None:
    """Puts it out of sight; nothing that stands on it changes. Archived before, it stays as it is.

    Raises Conflict while it is in use: a run that has not ended, a queue that is not closed, or what one of
    these stands on; a team also while an import into it or a combination of its datasets has not ended.
    """
    locked = type(row)._default_manager.select_for_update(of=("self",)).get(pk=row.pk)
    if locked.archived_at is not None:
        return
    require_idle(locked)
    locked.archived_at = now
    locked.save(update_fields=["archived_at"])
    record(_team_of(row), by, "archived", locked)
    row.refresh_from_db()


@transaction.atomic
def restore(row: CanBeArchived, *, by: User) -> None:
    """Back into lists and choosers; a team can be changed again.

    Raises Conflict for a judge whose name another one has now.
    """
    archived = type(row)._default_manager.filter(pk=row.pk, archived_at__isnull=False)
    with saved_unless_taken(f"Another {kind_of(row, KINDS)} is called {row} now: rename that one first."):
        restored = archived.update(archived_at=None)
    if restored:
        record(_team_of(row), by, "restored", row)
    row.refresh_from_db()


def _team_of(row: CanBeArchived) -> Team:
    return row if isinstance(row, Team) else row.team


def require_listed(row: Rubric | Dataset | System | JudgeEndpoint) -> None:
    """Refuses new work on what is archived."""
    if row.archived_at is not None:
        raise Conflict(f"The {kind_of(row, KINDS)} {row} is archived: restore it first, or choose another.")


def hold_team(team: Team) -> None:
    """Refuses new work in a team that was archived or deleted since it was read; until the caller's
    transaction ends nobody does so.

    The last thing a transaction asks: the calls of the team's runs wait for whoever holds it, to be paid for.
    """
    held = Team.objects.filter(pk=team.pk, deleted_at=None).select_for_update(no_key=True).first()
    if held is None:
        raise NotFound("team")
    access.require_changeable(held)


def hold_rubric(rubric: Rubric) -> Rubric:
    """The rubric as it is now; until the caller's transaction ends nobody deletes or archives it.

    Raises NotFound for one that was deleted since it was read. A rubric is held before a dataset.
    """
    there = Rubric.objects.filter(pk=rubric.pk, team=rubric.team_id, team__deleted_at=None)
    held = there.select_for_update(of=("self",), no_key=True).first()
    if held is None:
        raise NotFound("rubric")
    return held


def hold_listed(rubric: Rubric) -> None:
    """The same. Raises Conflict for an archived one, too."""
    require_listed(hold_rubric(rubric))


def require_idle(row: CanBeArchived) -> None:
    """Refuses to archive what is in use: see `archive`."""
    running, reviewed = (
        Run.objects.filter(state__in=UNENDED),
        ReviewQueue.objects.exclude(state=QueueState.CLOSED),
    )
    if isinstance(row, Run):
        running, reviewed = running.filter(pk=row.pk), reviewed.none()
    elif isinstance(row, ReviewQueue):
        running, reviewed = running.none(), reviewed.filter(pk=row.pk)
    elif isinstance(row, Dataset):
        running, reviewed = running.filter(dataset=row), reviewed.filter(dataset=row)
    elif isinstance(row, Team):
        running, reviewed = running.filter(team=row), reviewed.filter(team=row)
    elif isinstance(row, System):
        running = running.filter(system_version__system=row)
        reviewed = reviewed.filter(system_versions__system=row)
    elif isinstance(row, JudgeEndpoint):
        # A panel's members are named in its snapshot alone; few runs of a team have not ended.
        asking = [run.pk for run in running.filter(team=row.team_id) if _asks(run, row)]
        running, reviewed = running.filter(pk__in=asking), reviewed.none()
    elif isinstance(row, Judge):
        running, reviewed = running.filter(judge_version__judge=row), reviewed.none()
    else:
        running = running.filter(rubric_version__rubric=row)
        reviewed = reviewed.filter(rubric_version__rubric=row)
    if run := running.order_by("pk").first():
        raise Conflict(f"{run} is {run.state}: cancel it first, or wait until it has finished.")
    if queue := reviewed.order_by("pk").first():
        raise Conflict(f"The review queue {queue} is {queue.state}: close it first.")
    if isinstance(row, Team):
        _require_nothing_comes_in(row)


def _asks(run: Run, endpoint: JudgeEndpoint) -> bool:
    return any(judge.id == endpoint.judge_id for judge in run.asked_judges)


def _require_nothing_comes_in(team: Team) -> None:
    """Refuses while a file or a combination of datasets is on its way into the team."""
    under_way = (ImportState.WAITING, ImportState.RUNNING, ImportState.ASKS)
    if found := DatasetImport.objects.filter(team=team, state__in=under_way).order_by("pk").first():
        raise Conflict(f"The import of {found} has not ended: cancel it first, or wait until it has.")
    copying = (CombinationState.WAITING, CombinationState.RUNNING)
    if combination := Combination.objects.filter(team=team, state__in=copying).order_by("pk").first():
        raise Conflict(
            f"Combining datasets to {combination} has not ended: cancel it first, or wait until it has."
        )


@transaction.atomic
def change(row: Named, *, by: User, name: str | None, archived: bool | None, now: datetime) -> None:
    """Both at once, all or nothing; None leaves either as it is."""
    if name is not None:
        rename(row, name, by=by)
    archive_or_restore(row, archived, by=by, now=now)


def archive_or_restore(row: CanBeArchived, archived: bool | None, *, by: User, now: datetime) -> None:
    """Archives or restores it as it is to be; None leaves it as it is."""
    if archived:
        archive(row, by=by, now=now)
    elif archived is not None:
        restore(row, by=by)
