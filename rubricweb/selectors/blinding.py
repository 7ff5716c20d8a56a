"""Whose verdicts a person may not see yet: the one place that knows, asked by everything that shows some."""

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from rubricweb.errors import Withheld
from rubricweb.models import (
    Blind,
    Dataset,
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

UNITED_MAX = 100
"""So many queries are put into one; SQLite takes no more than 500."""


def hidden_items(
    viewer: User,
    team: Team,
    *,
    item: int | OuterRef | None = None,
    besides: ReviewQueue | None = None,
    submitting: Review | None = None,
    own: bool = False,
) -> QuerySet[Item, Any]:
    """Items whose verdicts by others this person must not see: those of open blind queues they rate in,
    until they have submitted their own review of the item there; and the same words wherever the team has
    them: a second time in that dataset, in the queue or not, in a half of a split, in a file imported twice.
    So an item that was submitted stays hidden while its copy waits.

    It does not matter which run, queue or rubric version a verdict comes from, nor the person's role. Those
    hidden only by the queue `besides` are left out; the draft `submitting` counts as submitted. With `item`,
    an id or a reference to one, only that item: looked up by its words, without reading the whole queues.
    `own` are only the items on which they must not see their own earlier labels either.
    """
    queues = _blind_queues(viewer, team)
    waiting = _left(viewer).filter(queue__in=queues.filter(blind=Blind.SELF) if own else queues)
    if besides is not None:
        waiting = waiting.exclude(queue=besides)
    if submitting is not None:
        waiting = waiting.exclude(queue=submitting.queue_id, item=submitting.item_id)
    if item is None:
        # Both lists are read once, so that many equal items are not compared each with each.
        words = waiting.exclude(item__content_hash="").values("item__content_hash")
        hidden = Item.objects.filter(Q(pk__in=waiting.values("item")) | Q(content_hash__in=words))
    else:
        waits = Exists(waiting.filter(item=OuterRef("pk")))
        same_words = Item.objects.filter(waits, content_hash=OuterRef("content_hash"), dataset__team=team)
        hidden = Item.objects.filter(waits | Exists(same_words.exclude(content_hash="")), pk=item)
    return hidden.filter(dataset__team=team).order_by().values("pk")


def shown(viewer: User, team: Team, dataset_id: int) -> Q:
    """The condition on rows with an `item` of this dataset of the team that it is none of `hidden_items`.

    Empty for somebody from whom nothing is hidden: join it with others by AND only.

    The same rule, for very many rows: the queues are looked up here, in one small query, so that what this
    person has submitted can be read from an index instead of being asked about every item anew.
    """
    condition = Q()
    for queue_id, reviewed in _blind_queues(viewer, team).order_by().values_list("pk", "dataset_id"):
        submitted = Review.objects.filter(
            queue=queue_id, rater__user=viewer, state=ReviewState.SUBMITTED
        ).order_by()
        asked = QueueItem.objects.for_person(viewer).filter(queue=queue_id).order_by()
        # One condition within the other, so that the words are looked up first and not the whole queue.
        same_words = Item.objects.filter(content_hash=OuterRef("item__content_hash")).exclude(content_hash="")
        if reviewed == dataset_id:
            waits = Exists(asked.filter(item=OuterRef("item")))
            condition &= Q(item__in=submitted.values("item")) | ~Q(waits)
            same_words = same_words.exclude(pk=OuterRef("item"))
        waiting = same_words.filter(
            Exists(asked.filter(item=OuterRef("pk"))), ~Exists(submitted.filter(item=OuterRef("pk")))
        )
        condition &= Q(~Exists(waiting.order_by()))
    return condition


def hidden_of(viewer: User, team: Team, dataset_id: int) -> set[int]:
    """The ids of all `hidden_items` of one dataset of the team: the same rule, for a whole dataset at once.

    Every queue and what was submitted in it are read once and compared here, so that the time grows with
    their size and no faster. One query for somebody who rates in no open blind queue, two more for each, and
    one for all words.
    """
    hidden: set[int] = set()
    words: set[str] = set()
    for queue_id, reviewed in _blind_queues(viewer, team).order_by().values_list("pk", "dataset_id"):
        own = Review.objects.filter(queue=queue_id, rater__user=viewer, state=ReviewState.SUBMITTED)
        submitted = set(own.order_by().values_list("item_id", flat=True))
        asked = QueueItem.objects.for_person(viewer).filter(queue=queue_id).order_by()
        if reviewed == dataset_id:
            hidden |= set(asked.values_list("item_id", flat=True)) - submitted
        else:
            texts = asked.values_list("item_id", "item__content_hash")
            words.update(text for item_id, text in texts if item_id not in submitted)
    if words or hidden:
        own_texts = list(Item.objects.filter(dataset=dataset_id).order_by().values_list("pk", "content_hash"))
        words.update(text for item_id, text in own_texts if item_id in hidden)
        words.discard("")
        hidden.update(item_id for item_id, text in own_texts if text in words)
    return hidden


def hidden_datasets(viewer: User, team: Team) -> frozenset[int]:
    """Datasets with at least one hidden item, by id.

    Figures over all their items, such as the stored mean of a run, are withheld as a whole: from the mean of
    one item its verdicts can be read, and from the means before and after one review those of the item
    between them. One query for somebody who rates in no open blind queue, at most four for up to a hundred.
    """
    queues = dict(_blind_queues(viewer, team).order_by().values_list("pk", "dataset_id"))
    if not queues:
        return frozenset()
    waiting: set[int] = set()
    for start in range(0, len(queues), UNITED_MAX):
        some = list(queues)[start : start + UNITED_MAX]
        first, *rest = (_one_left(queue_id, viewer) for queue_id in some)
        left = first.union(*rest, all=True) if rest else first
        waiting.update(left.values_list("queue_id", flat=True))
    if not waiting:
        return frozenset()
    hidden = {queues[queue_id] for queue_id in waiting}
    # A dataset with an item that waits is hidden already: only the others are searched for the same words.
    others = list(Dataset.objects.filter(team=team).exclude(pk__in=hidden).values_list("pk", flat=True))
    if not others:
        return frozenset(hidden)
    same_words = _left(viewer).filter(queue__in=waiting, item__content_hash=OuterRef("content_hash"))
    items = Item.objects.filter(dataset__in=others).exclude(content_hash="")
    copies = items.filter(Exists(same_words)).order_by().values_list("dataset_id", flat=True)
    return frozenset(hidden.union(copies.distinct()))


def _left(viewer: User) -> QuerySet[QueueItem]:
    """Queue items this person is asked about and has submitted no review of."""
    submitted = Review.objects.filter(
        queue=OuterRef("queue"), item=OuterRef("item"), rater__user=viewer, state=ReviewState.SUBMITTED
    )
    return QueueItem.objects.for_person(viewer).filter(~Exists(submitted)).order_by()


def _one_left(queue_id: int, viewer: User) -> QuerySet[QueueItem]:
    """One of these of a queue, found from its end: people begin at the beginning."""
    left = _left(viewer).filter(queue=queue_id).order_by("-position")
    # Wrapped, because SQLite unites nothing that has an order or a limit of its own.
    return QueueItem.objects.filter(pk__in=left.values("pk")[:1]).order_by()


def is_withheld(run: Run, viewer: User) -> bool:
    """Whether this person must not see the figures over all items of the run."""
    return run.dataset_id in hidden_datasets(viewer, run.team)


def require_visible(viewer: User, item: Item) -> None:
    """Refuses to show verdicts on an item this person is still to review blind."""
    if hidden_items(viewer, item.dataset.team, item=item.pk).exists():
        raise Withheld(
            f"You are a rater of {item}, or of the same words, in an open blind queue. "
            "Verdicts of judges and other people appear once you have submitted yours."
        )


def require_nothing_hidden(viewer: User, team: Team, dataset_id: int) -> None:
    """Refuses a whole export or list that would hold verdicts hidden from this person."""
    hidden = len(hidden_of(viewer, team, dataset_id))
    if hidden:
        raise Withheld(
            f"You are still to review {hidden} items of this dataset blind, so their verdicts cannot be "
            "handed to you. Submit your reviews, or ask somebody who is not a rater."
        )


def require_own_visible(viewer: User, review: Review) -> None:
    """Refuses to show what this person submitted on an item they are to label again without seeing it."""
    team = review.queue.team
    hidden = hidden_items(viewer, team, item=review.item_id, besides=review.queue, own=True)
    if review.state == ReviewState.SUBMITTED and hidden.exists():
        raise Withheld(
            f"You are asked to label {review.item} again without seeing what you said before. "
            "Your earlier review appears once you have submitted the new one."
        )


def _blind_queues(viewer: User, team: Team) -> QuerySet[ReviewQueue]:
    return (
        ReviewQueue.objects.filter(team=team, raters__user=viewer)
        .exclude(state=QueueState.CLOSED)
        .exclude(blind=Blind.NONE)
    )
