"""Who rates in a queue: links of raters, and what follows for assignments when somebody comes or goes.

Knows rows only, so that the rooms of teams and of queues can both ask it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count

from django.db import IntegrityError, transaction

from rubricweb.models import (
    Membership,
    QueueState,
    Rater,
    Review,
    ReviewQueue,
    ReviewState,
    Role,
    Team,
    User,
)
from rubricweb.services.notices import notify_queue
from rubricweb.services.reviews import assignments

NAME_MAX = 120


def rater_for(team: Team, user: User) -> Rater:
    """The rater this person is in this team.

    A name already taken by another gets the user name behind it, and a number while that is taken too.
    """
    names = _names(user)
    while (rater := Rater.objects.filter(team=team, user=user).first()) is None:
        name = next(names)
        if not Rater.objects.filter(team=team, name=name).exists():
            # Somebody may take it at the same time.
            with suppress(IntegrityError), transaction.atomic():
                return Rater.objects.create(team=team, user=user, name=name)
    return rater


def _names(user: User) -> Iterator[str]:
    """What the rater may be called, the best first; each fits into its column."""
    yield str(user)[:NAME_MAX]
    for number in count(1):
        end = f" ({user.username[: NAME_MAX // 2]}{f' {number}' if number > 1 else ''})"
        yield f"{str(user)[: NAME_MAX - len(end)]}{end}"


def add_raters(queue: ReviewQueue, raters: Iterable[Rater], *, by: User | None = None) -> list[Rater]:
    """Puts raters in a queue and tells them, but for whoever did it; those that are new to it.

    Gold items go to everybody, so their capacity grows.
    """
    there = set(queue.raters.values_list("pk", flat=True))
    new = [rater for rater in raters if rater.pk not in there]
    queue.raters.add(*new)
    if new:
        assignments.fit_gold(queue)
        notify_queue(queue, [rater.user for rater in new if rater.user is not None], by=by)
    return new


def remove_raters(queue: ReviewQueue, raters: Sequence[Rater]) -> list[Rater]:
    """Takes raters out of a queue; those that were in it.

    The assignments of their drafts are free again, the drafts stay for them to read; what they submitted
    stays and counts.
    """
    there = queue.raters.filter(pk__in=[rater.pk for rater in raters])
    # As a hand-out does first: nobody is handed an item while they are taken out.
    leaving = list(Rater.objects.select_for_update(no_key=True).filter(pk__in=there.values("pk")))
    queue.raters.remove(*leaving)
    for rater in leaving:
        for draft in Review.objects.filter(
            queue=queue, rater=rater, state=ReviewState.DRAFT, holds_place=True
        ):
            assignments.give_back(draft)
        assignments.give_to_anybody(queue, rater)
    assignments.fit_gold(queue)
    return leaving


def leave_queues(team: Team, user: User) -> None:
    """Takes somebody who may review no more out of the team's unclosed queues: nothing waits for them."""
    queues = ReviewQueue.objects.filter(team=team, raters__user=user).exclude(state=QueueState.CLOSED)
    # Each is locked as a change of its people does.
    for queue in ReviewQueue.objects.select_for_update(no_key=True).filter(pk__in=queues.values("pk")):
        remove_raters(queue, list(Rater.objects.filter(team=team, user=user)))


def join_queues_of_everyone(membership: Membership, rater: Rater) -> list[ReviewQueue]:
    """Puts a member who may review in the unclosed queues that are for everybody; those new to them."""
    if membership.role < Role.ANNOTATOR:
        return []
    queues = ReviewQueue.objects.filter(team=membership.team_id, everyone=True)
    return [queue for queue in queues.exclude(state=QueueState.CLOSED) if add_raters(queue, [rater])]
