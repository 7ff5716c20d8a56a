"""Operations about review queues: making, watching and changing them."""

from typing import Any

from ninja import Query

from rubricweb import access
from rubricweb.api.datasets.routes import version_or_own
from rubricweb.api.deletions import schemas as deletion_schemas
from rubricweb.api.deletions.deleting import deleted, planned
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ArchivableQuery, cut, leaving_out_archived
from rubricweb.api.people import people
from rubricweb.api.reviews import queue_schemas as schemas
from rubricweb.api.schemas import WithFields, list_of
from rubricweb.models import ReviewQueue, Role, Team, User
from rubricweb.selectors.datasets.systems import versions_called
from rubricweb.selectors.reviews import queue_plans
from rubricweb.selectors.reviews import queues as selected
from rubricweb.selectors.reviews.queue_sources import Source, new_seed
from rubricweb.services.reviews import queue_changes
from rubricweb.services.reviews import queues as services

queues = Room("reviews")


@queues.read("/queues", Role.VIEWER, list_of(schemas.QueueInList, leaves_out=True))
def list_queues(request: TokenRequest, asked: Query[ArchivableQuery]) -> Any:
    """The team's review queues, open ones first, newest first."""
    rows = selected.queues(request.auth.team, request.auth.user, archived=asked.archived)
    shown_rows = [schemas.in_list(row) for row in rows]
    page = cut(sorted(shown_rows, key=_queue_sort_key), asked, key=_queue_sort_key)
    return page | leaving_out_archived(request, ReviewQueue, archived=asked.archived)


def _queue_sort_key(queue: ReviewQueue | WithFields) -> tuple[int, int]:
    """Open ones first, then paused ones, then newest first, as numbers a cursor can hold."""
    return (selected.STATES.index(queue.state), -queue.pk)


@queues.write("POST", "/queues", Role.EDITOR, schemas.Queue, status=201)
def create_queue(request: TokenRequest, body: schemas.NewQueue) -> Any:
    """Open a review queue.

    Over all items of a dataset, those that match a filter, what a run's judge is unsure of, a random sample,
    or chosen items; for chosen members or everybody; about all criteria of the rubric version or some;
    about answers of every system version or some, to all cases or those of one split.
    """
    team = request.auth.team
    dataset = access.access_dataset(team, body.dataset_id)
    queue = services.create_queue(
        team,
        services.QueueRequest(
            name=body.name,
            dataset=dataset,
            rubric_version=version_or_own(team, body.rubric_version_id, dataset),
            criteria=body.criteria,
            systems=versions_called(dataset, body.systems),
            half=body.split or "",
            raters=people(team, body.raters, "raters"),
            everyone=body.everyone,
            raters_per_item=body.raters_per_item,
            run=None if body.run_id is None else access.access_run(team, body.run_id),
            source=_source(team, body.source),
            blind=body.blind,
            order=body.order or "",
            needs_reason=body.needs_reason,
            hold_minutes=body.hold_minutes,
            instructions=body.instructions,
        ),
        by=request.auth.user,
    )
    return schemas.queue_seen_by(request.auth.user, queue)


@queues.write("POST", "/queues/plan", Role.EDITOR, schemas.QueuePlan)
def plan_queue(request: TokenRequest, body: schemas.QueuePlanned) -> Any:
    """What a new queue would come to.

    How many items, reviews and answers, and how much work at the team's pace; nothing is opened.
    """
    team = request.auth.team
    dataset = access.access_dataset(team, body.dataset_id)
    return queue_plans.queue_plan(
        dataset,
        _source(team, body.source),
        viewer=request.auth.user,
        rubric_version=version_or_own(team, body.rubric_version_id, dataset),
        criteria=body.criteria,
        raters_per_item=body.raters_per_item,
        systems=versions_called(dataset, body.systems),
        half=body.split or "",
    )


def _source(team: Team, asked: Any) -> Source:
    """The source a body names; a sample without a seed is drawn with a new one."""
    named = asked.model_dump(exclude={"run_id", "seed", "item_ids", "reasons"})
    run_id, seed = getattr(asked, "run_id", None), getattr(asked, "seed", None)
    return Source(
        **named,
        item_ids=tuple(getattr(asked, "item_ids", ())),
        reasons=tuple(getattr(asked, "reasons", ())),
        run=None if run_id is None else access.access_run(team, run_id),
        seed=new_seed() if seed is None else seed,
    )


@queues.read("/queues/{int:queue_id}", Role.VIEWER, schemas.QueueInFull)
def get_queue(request: TokenRequest, queue_id: int) -> Any:
    """A review queue: how far it is, who has done how much, and how long the rest takes."""
    return schemas.in_full(access.access_queue(request.auth.team, queue_id), request.auth.user)


@queues.write("PATCH", "/queues/{int:queue_id}", Role.EDITOR, schemas.QueueInFull)
def edit_queue(request: TokenRequest, queue_id: int, body: schemas.QueueTexts) -> Any:
    """Change a queue's name, its instructions, when idle items are released; archive or restore it.

    `history` says of labels that came in a file whether nobody is to settle what their raters differ on.

    Archived, it is left out of lists and choosers. Refused (409) before it is closed.
    """
    queue = access.access_queue(request.auth.team, queue_id)
    queue_changes.edit_queue(
        queue,
        by=request.auth.user,
        name=body.name,
        instructions=body.instructions,
        hold_minutes=body.hold_minutes,
        archived=body.archived,
        history=body.history,
        grid=body.grid,
    )
    return schemas.in_full(queue, request.auth.user)


@queues.read("/queues/{int:queue_id}/deletion", Role.OWNER, deletion_schemas.DeletionPlan)
def plan_queue_deletion(request: TokenRequest, queue_id: int) -> Any:
    """What deleting a review queue would take with it, and what would stay."""
    return planned(access.access_queue(request.auth.team, queue_id))


@queues.write("DELETE", "/queues/{int:queue_id}", Role.OWNER, deletion_schemas.Deletion, status=202)
def delete_queue(request: TokenRequest, queue_id: int, body: deletion_schemas.DeletionName) -> Any:
    """Delete a review queue for good, with all labels given in it. Adjudications stay.

    Refused (409) while it is not closed.
    """
    return deleted(request, access.access_queue(request.auth.team, queue_id), body)


@queues.write("POST", "/queues/{int:queue_id}/pause", Role.EDITOR, schemas.Queue)
def pause_queue(request: TokenRequest, queue_id: int) -> Any:
    """Pause a queue.

    Nothing is handed out or saved (409) until it is resumed; drafts and their places are kept.
    """
    queue = access.access_queue(request.auth.team, queue_id)
    queue_changes.pause_queue(queue, by=request.auth.user)
    return schemas.queue_seen_by(request.auth.user, queue)


@queues.write("POST", "/queues/{int:queue_id}/resume", Role.EDITOR, schemas.Queue)
def resume_queue(request: TokenRequest, queue_id: int) -> Any:
    """Go on with a paused queue."""
    queue = access.access_queue(request.auth.team, queue_id)
    queue_changes.resume_queue(queue, by=request.auth.user)
    return schemas.queue_seen_by(request.auth.user, queue)


@queues.write("POST", "/queues/{int:queue_id}/extend", Role.EDITOR, schemas.ExtendedQueue)
def extend_queue(request: TokenRequest, queue_id: int, body: schemas.QueueExtension) -> Any:
    """Put more items in a queue, or ask for more raters per item.

    Items that are in it already stay as they are. Refused (409) when that adds nothing, and once it is
    closed.
    """
    queue = access.access_queue(request.auth.team, queue_id)
    source = None if body.source is None else _source(request.auth.team, body.source)
    added = queue_changes.extend_queue(
        queue, by=request.auth.user, source=source, raters_per_item=body.raters_per_item
    )
    return {"added": added, "queue": schemas.in_full(queue, request.auth.user)}


@queues.write("POST", "/queues/{int:queue_id}/people", Role.EDITOR, schemas.QueueInFull)
def reassign_queue(request: TokenRequest, queue_id: int, body: schemas.QueuePeople) -> Any:
    """Put people in a queue and take others out.

    Who is taken out gives the places of their drafts back and can still read them; what they submitted
    stays.
    """
    team = request.auth.team
    queue = access.access_queue(team, queue_id)
    here = User.objects.filter(raters__queues=queue)
    queue_changes.reassign_queue(
        queue,
        by=request.auth.user,
        add=people(team, body.add, "add"),
        remove=people(team, body.remove, "remove", besides=here),
        everyone=body.everyone,
    )
    return schemas.in_full(queue, request.auth.user)


@queues.write("POST", "/queues/{int:queue_id}/close", Role.EDITOR, schemas.Queue)
def close_queue(request: TokenRequest, queue_id: int) -> Any:
    """Close a queue: no more reviews, blinding ends, drafts are kept."""
    queue = access.access_queue(request.auth.team, queue_id)
    services.close_queue(queue, by=request.auth.user)
    return schemas.queue_seen_by(request.auth.user, queue)


@queues.write("POST", "/queues/{int:queue_id}/reopen", Role.EDITOR, schemas.QueueInFull)
def reopen_queue(request: TokenRequest, queue_id: int) -> Any:
    """Open a closed queue again, as blind as it was, for those of its people who may review by now.

    `people_missing` says whether those are too few for its items. Refused (409) for labels that came in a
    file, and while the queue, its dataset or its rubric is archived.
    """
    queue = access.access_queue(request.auth.team, queue_id)
    queue_changes.reopen_queue(queue, by=request.auth.user)
    return schemas.in_full(queue, request.auth.user)
