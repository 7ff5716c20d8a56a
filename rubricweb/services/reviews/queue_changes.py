"""What may happen to a queue after it was opened: pauses, more items or raters, other people."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import QueueItem, QueueState, Rater, ReviewQueue, User
from rubricweb.selectors.reviews import queue_sources
from rubricweb.selectors.reviews.queue_plans import require_rubrics
from rubricweb.selectors.reviews.queue_sources import ALL, Source
from rubricweb.selectors.reviews.queues import reviewers
from rubricweb.services import dataset_versions
from rubricweb.services.reviews import assignments, queue_items, raters
from rubricweb.services.reviews.queues import (
    name_taken,
    require_able,
    require_enough,
    require_hold,
    require_listed_answers,
    unused_name,
)
from rubricweb.services.reviews.raters import rater_for
from rubricweb.services.shared import archiving
from rubricweb.services.shared.archiving import hold_listed, require_listed
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import saved_unless_taken

# ── Paused and open again ────────────────────────────────────────────────────────────────────────


@transaction.atomic
def pause_queue(queue: ReviewQueue, *, by: User) -> bool:
    """Hands nothing out and takes nothing in until resumed; whether it was open.

    Drafts stay as they are, and so do their assignments: nobody loses one by keeping silent meanwhile.
    """
    if not _move(queue, {QueueState.OPEN}, QueueState.PAUSED):
        return False
    record(queue.team, by, "paused", queue)
    return True


@transaction.atomic
def resume_queue(queue: ReviewQueue, *, by: User) -> bool:
    """Goes on with a paused queue; whether it was paused. Places are kept anew from now on."""
    if not _move(queue, {QueueState.PAUSED}, QueueState.OPEN):
        return False
    assignments.renew_all(queue, now=timezone.now())
    record(queue.team, by, "resumed", queue)
    return True


@transaction.atomic
def reopen_queue(queue: ReviewQueue, *, by: User) -> bool:
    """Opens a closed queue again, blind as it was; whether it was closed.

    Items that came into the dataset meanwhile are taken in where the queue is over all of it; nobody is asked
    about those that were retired. Likewise people: who may review no more is taken out, and who joined comes
    in where it is for everybody; whether enough are left says `people_missing`. Raises Conflict for labels
    that came in a file and while the queue, or what it is about, is archived, Invalid where an item has no
    rubric.
    """
    if queue.imported:
        raise Conflict(f"{queue} holds labels that came in a file; nobody reviews in it.")
    if queue.rubric_version is not None and queue.rubric_version.rubric is not None:
        hold_listed(queue.rubric_version.rubric)
    dataset_versions.hold(queue.dataset)
    require_listed(queue.dataset)
    require_listed_answers(queue.dataset, list(queue.system_versions.select_related("system")))
    locked = queue_items.lock(queue)
    if locked.archived_at is not None:
        raise Conflict(f"The queue {queue} is archived: restore it first.")
    if not _move(queue, {QueueState.CLOSED}, QueueState.OPEN):
        return False
    people = _follow_people(locked, by=by)
    queue_items.follow_items(queue)
    if queue.source.get("kind") == ALL:
        missing = queue_items.missing_items(queue)
        require_rubrics(queue.dataset, queue.rubric_version, missing)
        queue_items.add_items(queue, missing)
    assignments.renew_all(queue, now=timezone.now())
    record(queue.team, by, "reopened", queue, **people)
    return True


def _follow_people(queue: ReviewQueue, *, by: User) -> dict[str, list[str]]:
    """Takes out whoever may review no more, and in whoever may where the queue is for everybody; by name."""
    able = list(reviewers(queue.team))
    removed = raters.remove_raters(queue, list(queue.raters.exclude(user__in=able)))
    wanted = [rater_for(queue.team, user) for user in able] if queue.everyone else []
    return _named(raters.add_raters(queue, wanted, by=by), removed)


def _move(queue: ReviewQueue, allowed: set[QueueState], state: QueueState) -> bool:
    """Whether the queue came from one of the `allowed` states to this one; it says its state either way."""
    moved = ReviewQueue.objects.filter(pk=queue.pk, state__in=allowed).update(state=state)
    queue.refresh_from_db(fields=["state"])
    return bool(moved)


# ── More items, more raters, other people, other words ───────────────────────────────────────────


@transaction.atomic
def extend_queue(
    queue: ReviewQueue, *, by: User, source: Source | None = None, raters_per_item: int | None = None
) -> int:
    """Puts the items of one more source behind those of the queue, asks for more raters per item, or both.

    How many items were new. What is in the queue already stays as it is; another sample is another draw, with
    a record of its own. A queue that names system versions takes only their answers, one over a half only
    those to its cases. Raises Conflict for a closed queue, and when that adds nothing.
    """
    dataset_versions.hold(queue.dataset)
    locked = _open_to_change(queue)
    if locked.is_probe:
        raise Conflict(f"{queue} is a probe: its items stay as they were drawn, each for one rater.")
    raised = _raise_raters(locked, raters_per_item) if raters_per_item is not None else 0
    added = _add_from(locked, source, by) if source is not None else 0
    if not raised and not added:
        raise Conflict(f"Everything of that is in {queue} already; nothing was added.")
    record(queue.team, by, "extended", queue, items=added, raters_per_item=locked.raters_per_item)
    queue.refresh_from_db()
    return added


def _raise_raters(queue: ReviewQueue, wanted: int) -> int:
    more = wanted - queue.raters_per_item
    if more < 0:
        raise Invalid.about(
            "raters_per_item",
            f"{queue} asks for {queue.raters_per_item} raters per item; that can only become more.",
        )
    people = queue.raters.count()
    require_enough(wanted, people=people)
    queue.raters_per_item = wanted
    queue.save(update_fields=["raters_per_item"])
    if more:
        # Gold items have capacity for everybody as it is.
        items = QueueItem.objects.filter(queue=queue, gold=False, withdrawn=False)
        # One with an extra rater asks for more people than the others: for no more than there are.
        held = F("wanted") - F("room")
        raised = Least(F("wanted") + more, Greatest(Value(people), held))
        items.update(wanted=raised, room=raised - held)
    return more


def _add_from(queue: ReviewQueue, source: Source, by: User) -> int:
    criteria = list(queue.criteria.all())
    systems = list(queue.system_versions.select_related("system"))
    chosen = queue_sources.chosen(
        queue.dataset, source, viewer=by, criteria=criteria, systems=systems, half=queue.half
    )
    require_rubrics(queue.dataset, queue.rubric_version, chosen.item_ids, limited=bool(criteria))
    added = queue_items.add_chosen(queue, chosen, run=source.run)
    if added and chosen.source["kind"] == ALL:
        queue.source = chosen.source  # whatever it was before, it is the whole dataset now
    elif added:
        queue.source = queue.source | {"added": [*queue.source.get("added", []), chosen.source]}
    queue.save(update_fields=["source"])
    return added


@transaction.atomic
def reassign_queue(
    queue: ReviewQueue,
    *,
    by: User,
    add: Sequence[User] = (),
    remove: Sequence[User] = (),
    everyone: bool | None = None,
) -> None:
    """Puts people in a queue and takes others out; `everyone` says whether whoever joins the team comes in.

    Who is taken out keeps their drafts to read, and gives the assignments of them back; submitted reviews
    stay. Raises Invalid for people who cannot review and where too few would be left, Conflict for a closed
    queue.
    """
    locked = _open_to_change(queue)
    if everyone:
        add = [*add, *reviewers(queue.team)]
    staying = [user for user in add if user not in remove]
    if staying:
        require_able(queue.team, staying, place="add")
    added = raters.add_raters(locked, [rater_for(queue.team, user) for user in dict.fromkeys(staying)], by=by)
    removed = raters.remove_raters(locked, list(queue.team.raters.filter(user__in=list(remove))))
    left = locked.raters.count()
    if removed and left < locked.raters_per_item:
        raise Invalid.about(
            "remove",
            f"{locked.raters_per_item} raters per item need at least that many people; {left} would be left.",
        )
    if everyone is not None:
        locked.everyone = everyone
        locked.save(update_fields=["everyone"])
    record(queue.team, by, "changed the people of", queue, **_named(added, removed))
    queue.refresh_from_db()


def _named(added: Sequence[Rater], removed: Sequence[Rater]) -> dict[str, list[str]]:
    """Who came and who went, as the audit log says it."""
    names = {"added": [str(one) for one in added], "removed": [str(one) for one in removed]}
    return {what: who for what, who in names.items() if who}


@transaction.atomic
def edit_queue(
    queue: ReviewQueue,
    *,
    by: User,
    name: str | None = None,
    instructions: str | None = None,
    hold_minutes: int | None = None,
    archived: bool | None = None,
    history: bool | None = None,
    grid: bool | None = None,
) -> None:
    """Other words for people, another time that assignments are kept, whether it is archived, and of labels
    of a file whether they are of the past, to be settled by nobody; `grid`, whether its raters may answer
    several items in one table.

    All or nothing; None leaves each as it is. Raises Invalid for `history` of what is reviewed here.
    """
    locked = queue_items.lock(queue)
    changed = []
    if name is not None and name.strip() != locked.name:
        locked.name = unused_name(queue.team, name, besides=queue)
        changed.append("name")
    if instructions is not None and instructions != locked.instructions:
        locked.instructions = instructions
        changed.append("instructions")
    if hold_minutes is not None and hold_minutes != locked.hold_minutes:
        require_hold(hold_minutes)
        locked.hold_minutes = hold_minutes
        changed.append("hold_minutes")
    if history is not None and history != locked.history:
        if not locked.imported:
            why = f"{queue} is reviewed here: only labels that came in a file are of the past."
            raise Invalid.about("history", why)
        locked.history = history
        changed.append("history")
    if grid is not None and grid != locked.grid:
        locked.grid = grid
        changed.append("grid")
    if changed:
        with saved_unless_taken(name_taken(locked.name)):
            locked.save(update_fields=changed)
        record(queue.team, by, "changed", queue, what=", ".join(changed).replace("_", " "))
    archiving.archive_or_restore(queue, archived, by=by, now=timezone.now())
    queue.refresh_from_db()


def _open_to_change(queue: ReviewQueue) -> ReviewQueue:
    locked = queue_items.lock(queue)
    if locked.state == QueueState.CLOSED:
        raise Conflict(f"{queue} is closed; reopen it first.")
    return locked
