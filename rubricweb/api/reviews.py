"""Operations about review queues and your own reviews in them."""

from typing import Any

from django.utils import timezone
from ninja import Query
from ninja.responses import Status

from rubricweb import access
from rubricweb.api.datasets import version_or_own
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ListQuery, cut
from rubricweb.api.schemas import reviews as schemas
from rubricweb.api.schemas.shared import With, list_of
from rubricweb.engine.errors import Fault, shown
from rubricweb.errors import Invalid
from rubricweb.models import QueueState, Review, ReviewQueue, Role, Team, User
from rubricweb.selectors import reviews as selected
from rubricweb.selectors.teams import members
from rubricweb.services import reviews as services

reviews = Room("reviews")


@reviews.read("/queues", Role.VIEWER, list_of(schemas.QueueInList))
def list_queues(request: TokenRequest, asked: Query[ListQuery]) -> Any:
    """The team's review queues, open ones first, newest first."""
    rows = selected.queues(request.auth.team, request.auth.user)
    shown_rows = [With(row.queue, i_rate=row.i_rate, progress=row.progress) for row in rows]
    return cut(sorted(shown_rows, key=_queue_place), asked, key=_queue_place)


def _queue_place(queue: ReviewQueue | With) -> tuple[int, int]:
    """Open ones first, then newest first, as numbers a cursor can hold."""
    return (int(queue.state != QueueState.OPEN), -queue.pk)


@reviews.write("POST", "/queues", Role.EDITOR, schemas.Queue, status=201)
def create_queue(request: TokenRequest, body: schemas.NewQueue) -> Any:
    """Open a review queue over a dataset's items."""
    team = request.auth.team
    dataset = access.dataset_for(team, body.dataset_id)
    return services.create_queue(
        team,
        by=request.auth.user,
        name=body.name,
        dataset=dataset,
        rubric_version=version_or_own(team, body.rubric_version_id, dataset),
        raters=_raters(team, body.raters),
        raters_per_item=body.raters_per_item,
        run=None if body.run_id is None else access.run_for(team, body.run_id),
        blind=body.blind,
        instructions=body.instructions,
    )


def _raters(team: Team, usernames: list[str]) -> list[User]:
    """The members of these user names. Raises Invalid for names that are no member's."""
    users = {row.membership.user.username.casefold(): row.membership.user for row in members(team)}
    unknown = [
        Fault(f"raters[{place}]", shown(name), "the user name of a member, see GET /team")
        for place, name in enumerate(usernames)
        if name.casefold() not in users
    ]
    if unknown:
        raise Invalid("Only members of the team can review.", unknown)
    return list({name.casefold(): users[name.casefold()] for name in usernames}.values())


@reviews.read("/queues/{int:queue_id}", Role.VIEWER, schemas.QueueInFull)
def get_queue(request: TokenRequest, queue_id: int) -> Any:
    """A review queue: how far it is, and who has done how much."""
    queue = access.queue_for(request.auth.team, queue_id)
    return With(
        queue,
        progress=selected.queue_progress(queue, request.auth.user),
        raters=selected.rater_progress(queue),
    )


@reviews.write("POST", "/queues/{int:queue_id}/close", Role.EDITOR, schemas.Queue)
def close_queue(request: TokenRequest, queue_id: int) -> Any:
    """Close a queue: no more reviews, blinding ends, drafts are kept."""
    queue = access.queue_for(request.auth.team, queue_id)
    services.close_queue(queue, by=request.auth.user)
    return queue


@reviews.write("POST", "/queues/{int:queue_id}/next", Role.ANNOTATOR, schemas.Review, or_nothing=True)
def take_next_review(request: TokenRequest, queue_id: int) -> Any:
    """Take the next item to review.

    Your open draft if there is one, else a new one on the item that needs it most. 204 when nothing is left
    for you.
    """
    queue = access.queue_for(request.auth.team, queue_id)
    review = services.next_review(queue, request.auth.user, now=timezone.now())
    return Status(204, None) if review is None else Status(200, _in_full(review))


@reviews.write("POST", "/queues/{int:queue_id}/items/{int:item_id}/start", Role.ANNOTATOR, schemas.Review)
def start_review(request: TokenRequest, queue_id: int, item_id: int) -> Any:
    """Review this very item, if there is room for one more rater."""
    queue = access.queue_for(request.auth.team, queue_id)
    item = access.item_for(request.auth.team, item_id)
    return _in_full(services.start_review(queue, item, request.auth.user))


@reviews.read("/reviews/{int:review_id}", Role.ANNOTATOR, schemas.Review)
def get_review(request: TokenRequest, review_id: int) -> Any:
    """Your review: the submission, the criteria, your own verdicts."""
    return _in_full(_mine(request, review_id))


def _mine(request: TokenRequest, review_id: int) -> Review:
    return selected.review_for(request.auth.team, review_id, request.auth.user)


def _in_full(review: Review) -> With:
    return With(review, criteria=selected.questions(review))


@reviews.write("PATCH", "/reviews/{int:review_id}", Role.ANNOTATOR, schemas.Review)
def save_review_note(request: TokenRequest, review_id: int, body: schemas.ReviewNote) -> Any:
    """Save the note or the flag of a draft."""
    review = _mine(request, review_id)
    services.save_note(review, note=body.note, flagged=body.flagged)
    return _in_full(review)


@reviews.write("PUT", "/reviews/{int:review_id}/criteria/{int:criterion_id}", Role.ANNOTATOR, schemas.Review)
def save_verdict(request: TokenRequest, review_id: int, criterion_id: int, body: schemas.NewVerdict) -> Any:
    """Save your verdict on one criterion of a draft. Safe to repeat."""
    review = _mine(request, review_id)
    services.save_verdict(review, criterion_id, verdict=body.verdict, reason=body.reason)
    return _in_full(review)


@reviews.write(
    "DELETE", "/reviews/{int:review_id}/criteria/{int:criterion_id}", Role.ANNOTATOR, schemas.Review
)
def take_back_verdict(request: TokenRequest, review_id: int, criterion_id: int) -> Any:
    """Take back your verdict on one criterion of a draft. Safe to repeat."""
    review = _mine(request, review_id)
    services.save_verdict(review, criterion_id, verdict=None)
    return _in_full(review)


@reviews.write("POST", "/reviews/{int:review_id}/submit", Role.ANNOTATOR, schemas.Review)
def submit_review(request: TokenRequest, review_id: int) -> Any:
    """Submit your review.

    Refused (422) with every criterion that still needs a verdict. A submitted review no longer changes;
    submitting it again does nothing.
    """
    review = _mine(request, review_id)
    services.submit(review, now=timezone.now())
    return _in_full(review)


@reviews.write("POST", "/reviews/{int:review_id}/skip", Role.ANNOTATOR, schemas.Review)
def skip_review(request: TokenRequest, review_id: int, body: schemas.Skip) -> Any:
    """Give the item back for somebody else, with a reason."""
    review = _mine(request, review_id)
    services.skip(review, reason=body.reason)
    return _in_full(review)


@reviews.read("/reviews/{int:review_id}/reveal", Role.ANNOTATOR, schemas.Reveal)
def get_reveal(request: TokenRequest, review_id: int) -> Any:
    """Your verdicts beside everybody else's.

    Withheld (403) until you have submitted, and while another blind queue still hides the item from you.
    """
    review = _mine(request, review_id)
    return {"review_id": review.pk, "criteria": selected.reveal(review)}
