"""Operations about review queues and your own reviews in them."""

from typing import Any

from django.utils import timezone
from ninja.responses import Status

from rubricweb import access
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.reviews import schemas
from rubricweb.api.schemas import WithFields
from rubricweb.models import Review, Role
from rubricweb.selectors.datasets.items import name_systems
from rubricweb.selectors.reviews import reviews as selected
from rubricweb.services.reviews import assignments, prefetch, queues
from rubricweb.services.reviews import reviews as services
from rubricweb.services.reviews.evidence import Span

reviews = Room("reviews")


@reviews.write("POST", "/queues/{int:queue_id}/next", Role.ANNOTATOR, schemas.Review, or_nothing=True)
def take_next_review(request: TokenRequest, queue_id: int) -> Any:
    """Take the next item to review.

    Your open draft if there is one, else a new one on the item that needs it most. 204 when nothing is left
    for you.
    """
    queue = access.access_queue(request.auth.team, queue_id)
    review = queues.next_review(queue, request.auth.user, now=timezone.now())
    return Status(204, None) if review is None else Status(200, _in_full(review))


@reviews.write("POST", "/queues/{int:queue_id}/items/{int:item_id}/start", Role.ANNOTATOR, schemas.Review)
def start_review(request: TokenRequest, queue_id: int, item_id: int) -> Any:
    """Review this very item, if there is room for one more rater."""
    queue = access.access_queue(request.auth.team, queue_id)
    item = access.access_item(request.auth.team, item_id)
    return _in_full(queues.start_review(queue, item, request.auth.user, now=timezone.now()))


@reviews.read("/reviews/{int:review_id}", Role.ANNOTATOR, schemas.Review)
def get_review(request: TokenRequest, review_id: int) -> Any:
    """Your review: the submission, the criteria, your own verdicts."""
    return _in_full(_mine(request, review_id))


def _mine(request: TokenRequest, review_id: int) -> Review:
    return selected.review_for(request.auth.team, review_id, request.auth.user)


def _in_full(review: Review) -> WithFields:
    assert review.rater.user is not None, "it is their own"
    name_systems([review.item], viewer=review.rater.user, team=review.queue.team)
    # A review never says who answered, nor what others call the case.
    item = WithFields(review.item, system=None, shown_tags=None)
    return WithFields(review, item=item, criteria=selected.questions(review))


@reviews.write("PATCH", "/reviews/{int:review_id}", Role.ANNOTATOR, schemas.Review)
def save_review_note(request: TokenRequest, review_id: int, body: schemas.ReviewNote) -> Any:
    """Save the note or the flag of a draft, and how long you worked on it."""
    review = _mine(request, review_id)
    services.save_note(review, note=body.note, flagged=body.flagged)
    if body.seconds is not None:
        services.save_seconds(review, body.seconds)
    return _in_full(review)


@reviews.write("PUT", "/reviews/{int:review_id}/criteria/{int:criterion_id}", Role.ANNOTATOR, schemas.Review)
def save_verdict(request: TokenRequest, review_id: int, criterion_id: int, body: schemas.NewVerdict) -> Any:
    """Save your verdict on one criterion of a draft. Safe to repeat."""
    review = _mine(request, review_id)
    evidence = body.evidence
    services.save_verdict(
        review,
        criterion_id,
        verdict=body.verdict,
        reason=body.reason,
        evidence=None if evidence is None else [Span(**one.model_dump()) for one in evidence],
        seconds=body.seconds,
    )
    return _in_full(review)


@reviews.write(
    "DELETE", "/reviews/{int:review_id}/criteria/{int:criterion_id}", Role.ANNOTATOR, schemas.Review
)
def take_back_verdict(request: TokenRequest, review_id: int, criterion_id: int) -> Any:
    """Take back your verdict on one criterion of a draft. Safe to repeat."""
    review = _mine(request, review_id)
    services.save_verdict(review, criterion_id, verdict=None)
    return _in_full(review)


@reviews.write("POST", "/reviews/{int:review_id}/heartbeat", Role.ANNOTATOR, schemas.Place)
def keep_place(request: TokenRequest, review_id: int) -> Any:
    """Say that you are still at a draft.

    Its place is kept for the queue's `hold_minutes` from now, or taken again if there is room. Every save
    keeps it as well. A draft without a place stays, and can be submitted if there is room for it then.
    """
    review = _mine(request, review_id)
    assignments.hear_from(review, now=timezone.now())
    return review


@reviews.write("POST", "/reviews/{int:review_id}/ahead", Role.ANNOTATOR, schemas.Review, or_nothing=True)
def take_review_ahead(request: TokenRequest, review_id: int) -> Any:
    """Take the item after this review already now.

    The same until you submit: never more than one is taken ahead. 204 when there is none yet. Give it back
    with DELETE when you do not go on.
    """
    following = prefetch.prefetch_next(_mine(request, review_id), now=timezone.now())
    return Status(204, None) if following is None else Status(200, _in_full(following))


@reviews.write("DELETE", "/reviews/{int:review_id}", Role.ANNOTATOR, schemas.GivenBack)
def give_review_back(request: TokenRequest, review_id: int) -> Any:
    """Give a draft back, and forget it.

    One that was opened on its page, or in which something was said, stays.
    """
    return {"given_back": prefetch.give_back_untouched(_mine(request, review_id))}


@reviews.write("POST", "/reviews/{int:review_id}/submit", Role.ANNOTATOR, schemas.Review)
def submit_review(request: TokenRequest, review_id: int) -> Any:
    """Submit your review.

    Refused (422) with every criterion that still needs a verdict, or a reason where the queue asks for one.
    A submitted review no longer changes; submitting it again does nothing.
    """
    review = _mine(request, review_id)
    services.submit(review, now=timezone.now())
    return _in_full(review)


@reviews.write("POST", "/reviews/{int:review_id}/skip", Role.ANNOTATOR, schemas.Review)
def skip_review(request: TokenRequest, review_id: int, body: schemas.Skip) -> Any:
    """Give the item back for somebody else, with a reason.

    Verdicts and note are kept for when you start it again.
    """
    review = _mine(request, review_id)
    services.skip(review, reason=body.reason)
    return _in_full(review)
