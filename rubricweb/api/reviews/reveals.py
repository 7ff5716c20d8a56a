"""Operations after submitting: what the others said, and what you make of it."""

from typing import Any

from django.utils import timezone
from ninja import Query

from rubricweb import access
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ListQuery, listed
from rubricweb.api.reviews import reveal_schemas as schemas
from rubricweb.api.schemas import list_of
from rubricweb.models import Review, Role
from rubricweb.selectors.reviews import reveals as selected
from rubricweb.selectors.reviews.leads import returns
from rubricweb.selectors.reviews.reviews import review_for
from rubricweb.services.reviews import revisions
from rubricweb.services.reviews.leads import returns as leads

reveals = Room("reviews")


@reveals.read("/reviews/{int:review_id}/reveal", Role.ANNOTATOR, schemas.Reveal)
def get_reveal(request: TokenRequest, review_id: int) -> Any:
    """Your verdicts beside everybody else's.

    Withheld (403) until you have submitted, and while another blind queue still hides the item from you.
    """
    return _revealed(_mine(request, review_id))


@reveals.write(
    "PUT",
    "/reviews/{int:review_id}/criteria/{int:criterion_id}/revision",
    Role.ANNOTATOR,
    schemas.Reveal,
)
def revise(request: TokenRequest, review_id: int, criterion_id: int, body: schemas.NewRevision) -> Any:
    """Keep or change one verdict after the reveal, or find the rubric unclear.

    Safe to repeat until the queue closes (409). Your initial verdict stays what agreement is measured on;
    ground truth counts the final one. Withheld (403) as long as the reveal is.
    """
    review = _mine(request, review_id)
    revisions.revise(review, criterion_id, choice=body.choice, verdict=body.verdict, reason=body.reason)
    return _revealed(review)


@reveals.write("POST", "/reviews/{int:review_id}/keep", Role.ANNOTATOR, schemas.Reveal)
def keep_all(request: TokenRequest, review_id: int) -> Any:
    """Keep every verdict somebody differs from and you have said nothing about yet."""
    review = _mine(request, review_id)
    revisions.keep_all(review)
    return _revealed(review)


def _mine(request: TokenRequest, review_id: int) -> Review:
    return review_for(request.auth.team, review_id, request.auth.user)


def _revealed(review: Review) -> dict[str, Any]:
    return {"review_id": review.pk, "criteria": selected.reveal(review)}


@reveals.read("/queues/{int:queue_id}/sent-back", Role.ANNOTATOR, list_of(schemas.SentBack))
def list_sent_back(request: TokenRequest, queue_id: int, asked: Query[ListQuery]) -> Any:
    """The reviews of a queue that were sent back: your own that wait for you, and for reviewers all of them.

    Those on items you are still to review blind are left out.
    """
    queue = access.access_queue(request.auth.team, queue_id)
    rows = returns.shown_returns(queue, request.auth.user, cursor=asked.cursor, size=asked.limit)
    return listed(rows)


@reveals.write("POST", "/reviews/{int:review_id}/send-back", Role.REVIEWER, schemas.SentBack)
def send_review_back(request: TokenRequest, review_id: int, body: schemas.SendBack) -> Any:
    """Ask the rater of a submitted review to look at it again.

    It stays submitted. What they change is stored beside the labels they gave first, as after a reveal.
    """
    review = access.access_review(request.auth.team, review_id)
    return leads.send_back(review, by=request.auth.user, note=body.note, now=timezone.now())


@reveals.write("POST", "/reviews/{int:review_id}/send-again", Role.ANNOTATOR, schemas.Reveal)
def send_review_again(request: TokenRequest, review_id: int) -> Any:
    """Submit your review again that was sent back. Change verdicts by their revision before."""
    review = _mine(request, review_id)
    leads.send_again(review, now=timezone.now())
    return _revealed(review)
