"""A submitted review goes back to its rater with a note, and comes again.

It stays submitted all the while, and so do its labels: what its rater changes is stored as what they say
after a reveal is, beside the label they gave first (`revisions`). A lead has seen the others' verdicts, so
what follows their note is no blind label.
"""

from datetime import datetime

from django.db import transaction

from rubricweb.errors import Conflict, Forbidden, Invalid
from rubricweb.models import Notice, NoticeKind, QueueState, Review, ReviewReturn, ReviewState, User
from rubricweb.selectors.blinding import require_visible
from rubricweb.selectors.reviews.leads.returns import open_return
from rubricweb.services.shared.journal import record

NOTE_MAX = 10_000


@transaction.atomic
def send_back(review: Review, *, by: User, note: str, now: datetime) -> ReviewReturn:
    """Asks the rater to look again.

    Raises Conflict for a review that is no submitted one of an unclosed queue, or is sent back already,
    Forbidden for one's own, Withheld for who is to review its item blind, Invalid without a note.
    """
    locked = Review.objects.select_for_update(of=("self",)).select_related("queue", "rater__user")
    review = locked.get(pk=review.pk)
    require_visible(by, review.item)
    note = note.replace("\x00", "").strip()
    if not note:
        raise Invalid.about("note", "Say in a few words what to look at again.", found="nothing")
    if len(note) > NOTE_MAX:
        raise Invalid.about("note", f"A note has at most {NOTE_MAX} characters, not {len(note)}.")
    if review.state != ReviewState.SUBMITTED or review.imported or review.rater.user is None:
        raise Conflict("Only a review that was submitted here, by a member, can be sent back.")
    if review.rater.user_id == by.pk:
        raise Forbidden("It is your own review: change it on its page.")
    if review.queue.state == QueueState.CLOSED:
        raise Conflict(f"{review.queue} is closed: nothing in it can change any more.")
    if open_return(review) is not None:
        raise Conflict("It was sent back already; its rater has not sent it again yet.")
    sent = ReviewReturn.objects.create(review=review, note=note, sent_by=by, sent_at=now)
    # The notice of the queue is unread again: it leads to what was sent back.
    Notice.objects.update_or_create(
        user=review.rater.user,
        queue=review.queue,
        defaults={"team": review.queue.team, "kind": NoticeKind.QUEUE, "read_at": None, "created_at": now},
    )
    record(review.queue.team, by, "sent back", review, item=str(review.item), queue=review.queue.name)
    return sent


@transaction.atomic
def send_again(review: Review, *, now: datetime) -> None:
    """Its rater has looked again; a second call does nothing. Raises Conflict where it was never sent back,
    or once the queue is closed.
    """
    if review.queue.state == QueueState.CLOSED:
        raise Conflict("The queue is closed: your review stays as it is.")
    if not ReviewReturn.objects.filter(review=review).exists():
        raise Conflict("This review was not sent back.")
    if ReviewReturn.objects.filter(review=review, answered_at=None).update(answered_at=now):
        team, rater = review.queue.team, review.rater.user
        record(team, rater, "submitted again", review, item=str(review.item), queue=review.queue.name)
