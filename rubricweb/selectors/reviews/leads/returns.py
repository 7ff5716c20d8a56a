"""Reviews that were sent back to their raters with a note."""

from dataclasses import dataclass

from django.db.models import QuerySet

from rubricweb.models import Item, Membership, Review, ReviewQueue, ReviewReturn, ReviewState, Role, User
from rubricweb.selectors.blinding import hidden_items
from rubricweb.selectors.shared.pages import Page, keyset_page


def open_return(review: Review) -> ReviewReturn | None:
    """What its rater is asked to look at again, None where nothing is. One query."""
    return ReviewReturn.objects.filter(review=review, answered_at=None).select_related("sent_by").first()


def own_returns(queue: ReviewQueue, viewer: User) -> QuerySet[ReviewReturn]:
    """The person's own reviews of a queue that were sent back and not sent again, oldest first."""
    waiting = ReviewReturn.objects.filter(review__queue=queue, review__rater__user=viewer, answered_at=None)
    return waiting.select_related("review__rater", "sent_by").order_by("sent_at", "pk")


def shown_returns(
    queue: ReviewQueue, viewer: User, *, cursor: str | None = None, size: int = 50
) -> Page[ReviewReturn]:
    """One page of them, newest first: all for a reviewer, for others their own that wait."""
    leads = Membership.objects.filter(team=queue.team, user=viewer, role__gte=Role.REVIEWER)
    rows = returns_of_queue(queue, viewer) if leads.exists() else own_returns(queue, viewer)
    return keyset_page(rows, order=("-pk",), cursor=cursor, size=size)


def returns_of_queue(queue: ReviewQueue, viewer: User) -> QuerySet[ReviewReturn]:
    """All reviews of a queue that were ever sent back, newest first, for leads; without those on items the
    viewer is still to review blind: a note may tell a verdict.
    """
    rows = ReviewReturn.objects.filter(review__queue=queue)
    hidden = hidden_items(viewer, queue.team).values("pk")
    return rows.exclude(review__item__in=hidden).select_related("review__rater", "sent_by")


@dataclass(frozen=True)
class Returnable:
    """A submitted review a lead may send back; `waiting` is the note it was sent back with already."""

    review: Review
    name: str
    waiting: ReviewReturn | None


def returnable(item: Item, viewer: User, *, letters: dict[int, str] | None) -> list[Returnable]:
    """The reviews of an item that may be sent back by name, or by letter where names are hidden: submitted
    here, in queues not closed, by somebody else. The caller has checked that the viewer may see them.
    """
    rows = (
        Review.objects.filter(item=item, state=ReviewState.SUBMITTED, imported=False)
        .exclude(queue__state="closed")
        .exclude(rater__user=viewer)
        .exclude(rater__user=None)
        .select_related("rater", "queue")
    )
    waiting = {one.review_id: one for one in ReviewReturn.objects.filter(review__in=rows, answered_at=None)}
    named = [
        Returnable(
            row, letters.get(row.rater_id, "Rater") if letters else row.rater.name, waiting.get(row.pk)
        )
        for row in rows
    ]
    return sorted(named, key=lambda one: one.name)
