"""Whose verdicts a person may not see yet: the one place that knows, asked by everything that shows some."""

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from rubricweb.errors import Withheld
from rubricweb.models import (
    Blind,
    Item,
    QueueItem,
    QueueState,
    Review,
    ReviewQueue,
    ReviewState,
    Run,
    Team,
    User,
)


def hidden_items(viewer: User, team: Team, *, besides: ReviewQueue | None = None) -> QuerySet[Item, Any]:
    """Items whose verdicts by others this person must not see: those of open blind queues they rate in,
    until they have submitted their own review of the item there; and the same words in other datasets of the
    team, such as the halves of a split or the dataset a half came from.

    It does not matter which run, queue or rubric version a verdict comes from, nor the person's role. Those
    hidden only by the queue `besides` are left out.
    """
    still_to_review = _still_to_review(viewer, team, besides)
    same_words = (
        Item.objects.filter(still_to_review, content_hash=OuterRef("content_hash"))
        .exclude(content_hash="")
        .exclude(dataset=OuterRef("dataset"))
    )
    hidden = Item.objects.filter(still_to_review | Exists(same_words), dataset__team=team)
    return hidden.order_by().values("pk")


def shown(viewer: User, team: Team, dataset_id: int) -> Q:
    """The condition on rows with an `item` of this dataset of the team that it is none of `hidden_items`.

    The same rule, for very many rows: the queues are looked up here, in one small query, so that what this
    person has submitted can be read from an index instead of being asked about every item anew.
    """
    condition = Q()
    for queue_id, reviewed in _blind_queues(viewer, team).order_by().values_list("pk", "dataset_id"):
        submitted = Review.objects.filter(
            queue=queue_id, rater__user=viewer, state=ReviewState.SUBMITTED
        ).order_by()
        asked = QueueItem.objects.filter(queue=queue_id).order_by()
        if reviewed == dataset_id:
            waits = Exists(asked.filter(item=OuterRef("item")))
            condition &= Q(item__in=submitted.values("item")) | ~Q(waits)
        else:
            same_words = asked.filter(item__content_hash=OuterRef("item__content_hash"))
            mine = Exists(submitted.filter(item=OuterRef("item")))
            condition &= Q(~Exists(same_words.exclude(item__content_hash="").exclude(mine)))
    return condition


def hidden_datasets(viewer: User, team: Team) -> frozenset[int]:
    """Datasets with at least one hidden item, by id.

    Figures over all their items, such as the stored mean of a run, are withheld as a whole: from the mean of
    one item its verdicts can be read, and from the means before and after one review those of the item
    between them. One query for somebody who rates in no open blind queue, two for others.
    """
    blind = _blind_queues(viewer, team)
    if not blind.exists():
        return frozenset()
    mine = Item.objects.filter(_still_to_review(viewer, team), dataset__in=blind.values("dataset")).order_by()
    words = mine.exclude(content_hash="").values("content_hash")
    copies = Item.objects.filter(dataset__team=team, content_hash__in=words).order_by()
    ids = mine.values_list("dataset_id", flat=True)
    return frozenset(ids.union(copies.values_list("dataset_id", flat=True)))


def is_withheld(run: Run, viewer: User) -> bool:
    """Whether this person must not see the figures over all items of the run."""
    return run.dataset_id in hidden_datasets(viewer, run.team)


def require_visible(viewer: User, item: Item) -> None:
    """Refuses to show verdicts on an item this person is still to review blind."""
    if hidden_items(viewer, item.dataset.team).filter(pk=item.pk).exists():
        raise Withheld(
            f"You are a rater of {item} in an open blind queue. "
            "Verdicts of judges and other people appear once you have submitted yours."
        )


def require_nothing_hidden(viewer: User, team: Team, dataset_id: int) -> None:
    """Refuses a whole export or list that would hold verdicts hidden from this person."""
    hidden = hidden_items(viewer, team).filter(dataset_id=dataset_id).count()
    if hidden:
        raise Withheld(
            f"You are still to review {hidden} items of this dataset blind, so their verdicts cannot be "
            "handed to you. Submit your reviews, or ask somebody who is not a rater."
        )


def _blind_queues(viewer: User, team: Team) -> QuerySet[ReviewQueue]:
    return (
        ReviewQueue.objects.filter(team=team, raters__user=viewer)
        .exclude(state=QueueState.CLOSED)
        .exclude(blind=Blind.NONE)
    )


def _still_to_review(viewer: User, team: Team, besides: ReviewQueue | None = None) -> Exists:
    """The condition on an item that some open blind queue waits for this person's review of it."""
    submitted = Review.objects.filter(
        queue=OuterRef("pk"), item=OuterRef(OuterRef("pk")), rater__user=viewer, state=ReviewState.SUBMITTED
    )
    blind = _blind_queues(viewer, team)
    if besides is not None:
        blind = blind.exclude(pk=besides.pk)
    waiting = blind.filter(queue_items__item=OuterRef("pk")).exclude(Exists(submitted))
    return Exists(waiting)
