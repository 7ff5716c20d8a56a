"""Renaming what a person made, and putting it out of sight: lists and choosers leave out what is archived."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import UNENDED, Dataset, QueueState, ReviewQueue, Rubric, Run, User
from rubricweb.services.shared.journal import record

Named = Rubric | Dataset | Run | ReviewQueue

NAME_MAX = 200
KINDS: dict[str, type[Named]] = {"rubric": Rubric, "dataset": Dataset, "run": Run, "queue": ReviewQueue}
UNIQUE = ("dataset", "queue")
"""Kinds whose names are unique in a team."""


def kind_of(row: Named) -> str:
    """Its name in KINDS."""
    return next(kind for kind, model in KINDS.items() if isinstance(row, model))


def name_of(row: Named) -> str:
    """What a person called it; "" for a run that nobody named."""
    return row.title if isinstance(row, Rubric) else row.name


@transaction.atomic
def rename(row: Named, name: str, *, by: User) -> None:
    """Another name for a rubric, dataset, run or queue. Only a run may be left without one.

    A published version keeps the title it was published with. Raises Invalid for an empty or too long name,
    Conflict for one that another dataset or queue of the team has.
    """
    kind, name = kind_of(row), name.strip()
    if not name and kind != "run":
        raise Invalid.at("name", "nothing", f"a name for the {kind}")
    if len(name) > NAME_MAX:
        raise Invalid.at("name", f"{len(name)} characters", f"at most {NAME_MAX}")
    locked = type(row)._default_manager.select_for_update(of=("self",)).get(pk=row.pk)
    before = str(locked)
    if name == name_of(locked):
        return
    same = type(row)._default_manager.filter(Q(team=row.team_id, name=name) if kind in UNIQUE else Q(pk=None))
    if same.exclude(pk=row.pk).exists():
        raise Conflict(f"The team already has a {kind} called {name!r}; choose another name.")
    if isinstance(locked, Rubric):
        locked.title = name
        locked.draft = {**locked.draft, "title": name}
        # Editors who have the draft open are told that it has changed.
        locked.draft_revision += 1
        locked.save(update_fields=["title", "draft", "draft_revision"])
    else:
        locked.name = name
        locked.save(update_fields=["name"])
    record(row.team, by, "renamed", locked, before=before)
    row.refresh_from_db()


@transaction.atomic
def archive(row: Named, *, by: User, now: datetime) -> None:
    """Puts it out of sight; nothing that stands on it changes. Archived before, it stays as it is.

    Raises Conflict while it is in use: a run that has not ended, a queue that is not closed, or a rubric or
    dataset that one of these stands on.
    """
    locked = type(row)._default_manager.select_for_update(of=("self",)).get(pk=row.pk)
    if locked.archived_at is not None:
        return
    require_idle(locked)
    locked.archived_at = now
    locked.save(update_fields=["archived_at"])
    record(row.team, by, "archived", locked)
    row.refresh_from_db()


@transaction.atomic
def restore(row: Named, *, by: User) -> None:
    """Back into lists and choosers."""
    restored = (
        type(row)._default_manager.filter(pk=row.pk, archived_at__isnull=False).update(archived_at=None)
    )
    if restored:
        record(row.team, by, "restored", row)
    row.refresh_from_db()


def require_listed(row: Rubric | Dataset) -> None:
    """Refuses new work on what is archived."""
    if row.archived_at is not None:
        raise Conflict(f"The {kind_of(row)} {row} is archived: restore it first, or choose another.")


def require_idle(row: Named) -> None:
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
    else:
        running = running.filter(rubric_version__rubric=row)
        reviewed = reviewed.filter(rubric_version__rubric=row)
    if run := running.order_by("pk").first():
        raise Conflict(f"{run} is {run.state}: cancel it first, or wait until it has finished.")
    if queue := reviewed.order_by("pk").first():
        raise Conflict(f"The review queue {queue} is {queue.state}: close it first.")


@transaction.atomic
def change(row: Named, *, by: User, name: str | None, archived: bool | None, now: datetime) -> None:
    """Both at once, all or nothing; None leaves either as it is."""
    if name is not None:
        rename(row, name, by=by)
    if archived:
        archive(row, by=by, now=now)
    elif archived is not None:
        restore(row, by=by)
