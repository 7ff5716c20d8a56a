"""Which item is next for a person in each order of a queue, found without reading what they have done.

A person goes on behind where they are: the earliest, in their order, of the items they took last. What is
before that, because somebody gave it back meanwhile, comes when the end is reached. Of a random sample the
first that is free is next, so that what is done is the beginning of the draw.
"""

from collections.abc import Iterator

from django.db.models import Max, QuerySet

from rubricweb.models import Order, QueueItem, Rater, Review, ReviewQueue

LATEST = 5
"""Of so many items taken last the earliest counts: one that was picked by hand moves nobody."""
BLOCK = 32
"""So many items of the shuffled round lie in one block on average."""
ROUND = 2**31


def onward(free: QuerySet[QueueItem], queue: ReviewQueue, rater: Rater) -> Iterator[QuerySet[QueueItem]]:
    """Parts of what is free for a person, each ordered, the best first; made when they are asked for."""
    if queue.order == Order.DRAWN:
        return iter([free.order_by("position")])
    latest = list(_latest(queue, rater))
    if queue.order == Order.SHUFFLED:
        return _shuffled(free, queue, rater, latest)
    if queue.order == Order.INFORMATIVE:
        return _informative(free, latest)
    return _by_position(free, latest)


def _latest(queue: ReviewQueue, rater: Rater) -> QuerySet[QueueItem]:
    """What was taken last, without gold items: a calibration round hands those out by an order of its own."""
    reviews = Review.objects.filter(queue=queue, rater=rater).order_by("-pk")
    items = list(reviews.values_list("item_id", flat=True)[:LATEST])
    return QueueItem.objects.filter(queue=queue, item__in=items, gold=False)


def _by_position(free: QuerySet[QueueItem], latest: list[QueueItem]) -> Iterator[QuerySet[QueueItem]]:
    if latest:
        here = min(one.position for one in latest)
        yield free.filter(position__gt=here).order_by("position")
    yield free.order_by("position")


def _informative(free: QuerySet[QueueItem], latest: list[QueueItem]) -> Iterator[QuerySet[QueueItem]]:
    if latest:
        here = min(latest, key=lambda one: (-one.priority, one.position))
        # Two parts and no OR, so that the index of this order is entered where it matters.
        yield free.filter(priority=here.priority, position__gt=here.position).order_by("position")
        yield free.filter(priority__lt=here.priority).order_by("-priority", "position")
    yield free.order_by("-priority", "position")


def _shuffled(
    free: QuerySet[QueueItem], queue: ReviewQueue, rater: Rater, latest: list[QueueItem]
) -> Iterator[QuerySet[QueueItem]]:
    """One round of all items at random, in blocks: each person begins at another block, and mixes each block
    in another way.
    """
    start = rater.pk * 0x9E3779B1 % ROUND  # Fibonacci hashing spreads successive numbers evenly
    last = QueueItem.objects.filter(queue=queue).aggregate(last=Max("position"))["last"] or 0
    width = min(ROUND, max(1, ROUND * BLOCK // (last + 1)))
    here = start // width * width
    if latest:
        blocks = [one.shuffle // width * width for one in latest]
        here = min(blocks, key=lambda block: (block - here) % ROUND)
    for part in (free.filter(shuffle__gte=here), free.filter(shuffle__lt=here)):
        begin = 0
        while True:
            rest = part.filter(shuffle__gte=begin).order_by("shuffle")
            first = rest.values_list("shuffle", flat=True).first()
            if first is None:
                break
            begin = first // width * width
            block = part.filter(shuffle__gte=begin, shuffle__lt=begin + width).values_list("pk", "shuffle")
            mixed = sorted(block, key=lambda one: (one[1] ^ start) * 0x9E3779B1 % ROUND)
            for pk, _ in mixed:
                yield free.filter(pk=pk)
            begin += width
