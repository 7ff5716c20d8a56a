"""Operations after submitting: what the others said, and what you make of it."""

from typing import Any

from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.reviews import reveal_schemas as schemas
from rubricweb.models import Review, Role
from rubricweb.selectors.reviews import reveals as selected
from rubricweb.selectors.reviews.reviews import review_for
from rubricweb.services.reviews import revisions

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
