"""What a rater that came with a file is: a person, perhaps a member, a machine, or settled labels."""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Membership, Rater, RaterKind, Review, ReviewQueue, Run, User
from rubricweb.services import imported_runs
from rubricweb.services.labels import queue_of_run
from rubricweb.services.reviews.raters import rater_for
from rubricweb.services.shared.journal import record

AT_ONCE = 5000


@transaction.atomic
def change_kind(rater: Rater, kind: str, *, by: User) -> None:
    """Says what a rater whose labels all came in files is; figures follow at once, labels stay.

    Labels of a machine are a run of their own: those of a rater that becomes one move there, and back into
    a closed queue where it was a person after all. Raises Invalid for an unknown kind, Conflict for somebody
    who labelled here, or is a member, and where the team has another rater of this name and kind.
    """
    if kind not in RaterKind.values:
        raise Invalid.at("rater_kind", repr(kind[:40]), ", ".join(RaterKind.values))
    locked = Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)
    if locked.same_as_id is not None:
        raise Conflict(f"{locked} is already {locked.same_as}: undo that first.")
    if locked.user_id is not None or Review.objects.filter(rater=locked, imported=False).exists():
        raise Conflict(f"{locked} labels here as a person: only raters whose labels came in files change.")
    before, locked.kind = locked.kind, kind
    try:
        with transaction.atomic():
            locked.save(update_fields=["kind"])
    except IntegrityError:
        raise Conflict(f"The team has another rater called {locked} who is that already.") from None
    if kind == RaterKind.MACHINE:
        imported_runs.from_reviews(locked, by=by)
    elif before == RaterKind.MACHINE:
        for run in Run.objects.filter(rater=locked).order_by("pk"):
            queue_of_run(run, by=by)
    record(locked.team, by, "said what a rater is", locked, before=before, kind=kind)


@transaction.atomic
def declare_member(rater: Rater, member: User, *, by: User) -> None:
    """Says that a person in files is this member: everything under the name becomes the member's, and so do
    labels of later files.

    So who labelled under a name and joined later is found again: asked to label again, by a probe, as one
    rater in every figure. Raises Conflict for a machine or settled labels, for a name that is a member's
    already, and where the member labelled the same item of the same file under another name; Invalid for
    somebody who is not in the team.
    """
    locked = Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)
    if locked.kind != RaterKind.HUMAN:
        raise Conflict(f"{locked} counts as {locked.kind}: say first that this is a person.")
    if locked.user_id is not None or locked.same_as_id is not None:
        raise Conflict(f"{locked} is {locked.same_as or locked.user} already: take that back first.")
    if not Membership.objects.filter(team=locked.team_id, user=member).exists():
        raise Invalid.at("member", repr(member.username), "a member of the team")
    own = rater_for(locked.team, member)
    reviews = Review.objects.filter(rater=locked)
    queues = ReviewQueue.objects.filter(raters=locked)
    twice = Review.objects.filter(rater=own, queue__in=queues, item__in=reviews.values("item"))
    for queue in queues:
        both = twice.filter(queue=queue, item__in=reviews.filter(queue=queue).values("item")).count()
        if both:
            items = counted(both, "item")
            raise Conflict(
                f"{member} labelled {items} of {queue} as {locked} did: there they are two people."
            )
    moved = list(reviews.order_by("pk").values_list("pk", flat=True))
    _move(queues, moved, locked, own)
    locked.same_as, locked.moved_reviews = own, moved
    locked.save(update_fields=["same_as", "moved_reviews"])
    details = {"member": member.username, "reviews": len(moved)}
    record(locked.team, by, "said which member a rater is", locked, **details)


@transaction.atomic
def take_member_back(rater: Rater, *, by: User) -> None:
    """Says that a name in files is no member after all: what became the member's is its own again.

    Labels that came under the name since stay the member's. Raises Conflict for a name that is no member's.
    """
    locked = Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)
    own = locked.same_as
    if own is None:
        raise Conflict(f"Nobody said that {locked} is a member.")
    reviews = Review.objects.filter(pk__in=locked.moved_reviews, rater=own)
    moved = list(reviews.order_by("pk").values_list("pk", flat=True))
    queues = ReviewQueue.objects.filter(pk__in=reviews.order_by().values("queue"))
    _move(queues, moved, own, locked)
    locked.same_as, locked.moved_reviews = None, []
    locked.save(update_fields=["same_as", "moved_reviews"])
    record(locked.team, by, "said which member a rater is", locked, member="", reviews=len(moved))


def _move(queues: QuerySet[ReviewQueue], reviews: Sequence[int], giver: Rater, taker: Rater) -> None:
    """Makes these reviews of one rater another's, who is then a rater of their queues."""
    of_both = list(queues)
    for begin in range(0, len(reviews), AT_ONCE):
        Review.objects.filter(pk__in=reviews[begin : begin + AT_ONCE]).update(rater=taker)
    for queue in of_both:
        queue.raters.add(taker)
        if not Review.objects.filter(queue=queue, rater=giver).exists():
            queue.raters.remove(giver)
