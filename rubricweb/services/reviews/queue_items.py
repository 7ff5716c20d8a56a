"""Putting items in a queue: their places in its order, how informative they are, room for raters."""

from collections.abc import Mapping, Sequence
from random import SystemRandom

from django.db import transaction
from django.db.models import Max

from rubricweb.models import Item, Order, QueueItem, ReviewQueue, Run
from rubricweb.selectors import informative
from rubricweb.services import bulk_rows

SHUFFLES = 2**31
BATCH = 5000
COLUMNS = (
    "queue_id",
    "item_id",
    "position",
    "priority",
    "shuffle",
    "wanted",
    "room",
    "probability",
    "gold",
    "extra",
)


def add_items(
    queue: ReviewQueue,
    item_ids: Sequence[int],
    *,
    probabilities: Mapping[int, float] | None = None,
    run: Run | None = None,
) -> int:
    """Puts items behind those of the queue that are new to it, each with room for as many raters as it wants.

    How many were new. `run` is whose verdicts say how informative they are; the queue's own without one.
    """
    lock(queue)
    there = set(QueueItem.objects.filter(queue=queue).values_list("item_id", flat=True))
    new = [pk for pk in item_ids if pk not in there]
    if not new:
        return 0
    last = QueueItem.objects.filter(queue=queue).aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    priorities = _priorities(queue, run or queue.run)
    chance, wanted, drawn = SystemRandom(), queue.raters_per_item, probabilities or {}
    for begin in range(0, len(new), BATCH):
        rows = [
            (
                queue.pk,
                pk,
                first + begin + at,
                priorities.get(pk, 0.0),
                chance.randrange(SHUFFLES),
                wanted,
                wanted,
                drawn.get(pk),
                False,
                False,
            )
            for at, pk in enumerate(new[begin : begin + BATCH])
        ]
        bulk_rows.insert(QueueItem, COLUMNS, rows)
    return len(new)


def _priorities(queue: ReviewQueue, run: Run | None) -> dict[int, float]:
    """Nothing where the order does not ask: reading all verdicts of a large run takes seconds."""
    if queue.order != Order.INFORMATIVE:
        return {}
    found = informative.reasons(queue.dataset, run)
    return informative.priorities(queue.dataset, queue.rubric_version, found)


def missing_items(queue: ReviewQueue) -> list[int]:
    """The items of its dataset that are not in the queue, in their order."""
    there = set(QueueItem.objects.filter(queue=queue).values_list("item_id", flat=True))
    items = Item.objects.filter(dataset=queue.dataset_id).order_by("position").values_list("pk", flat=True)
    return [pk for pk in items if pk not in there]


def lock(queue: ReviewQueue) -> ReviewQueue:
    """The queue as it is now, locked against other changes until the transaction ends.

    Not against reviews: those refer to its row, and would wait for an end that waits for them.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("A queue is changed inside a transaction.")
    rows = ReviewQueue.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("dataset", "rubric_version", "run", "team").get(pk=queue.pk)
