"""Putting items in a queue: their positions in its order, how informative they are, capacity for raters."""

from collections.abc import Sequence
from random import SystemRandom

from django.db import transaction
from django.db.models import Max, Q, QuerySet

from rubricweb.models import NOT_RETIRED, Dataset, Draw, Item, Order, QueueItem, ReviewQueue, Run, Stratum
from rubricweb.selectors.datasets.halves import of_half
from rubricweb.selectors.reviews import informative
from rubricweb.selectors.reviews.queue_sources import SelectedItems
from rubricweb.services.reviews import assignments
from rubricweb.services.shared import bulk_rows

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
    "gold",
    "extra",
)


def add_items(
    queue: ReviewQueue,
    item_ids: Sequence[int],
    *,
    run: Run | None = None,
) -> int:
    """Puts items behind those of the queue that are new to it, each for as many raters as it wants.

    How many were new. `run` is whose verdicts say how informative they are; the queue's own without one.
    """
    lock(queue)
    there = set(QueueItem.objects.filter(queue=queue).values_list("item_id", flat=True))
    new = [pk for pk in item_ids if pk not in there]
    if not new:
        return 0
    version = Dataset.objects.values_list("version", flat=True).get(pk=queue.dataset_id)
    ReviewQueue.objects.filter(pk=queue.pk).update(dataset_version=version)
    last = QueueItem.objects.filter(queue=queue).aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    priorities = _priorities(queue, run or queue.run)
    chance, wanted = SystemRandom(), queue.raters_per_item
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
                False,
                False,
            )
            for at, pk in enumerate(new[begin : begin + BATCH])
        ]
        bulk_rows.insert(QueueItem, COLUMNS, rows)
    return len(new)


def add_chosen(queue: ReviewQueue, chosen: SelectedItems, *, run: Run | None = None) -> int:
    """Puts what a source chose in the queue, as `add_items` does, and keeps how it was drawn."""
    if chosen.drawing is None:
        return add_items(queue, chosen.item_ids, run=run)
    as_drawn = queue.order == Order.DRAWN
    added = add_items(queue, chosen.drawing.order if as_drawn else chosen.item_ids, run=run)
    draw = Draw.objects.create(
        queue=queue, seed=chosen.drawing.seed, dataset_size=chosen.drawing.dataset_size
    )
    Stratum.objects.bulk_create(
        Stratum(
            draw=draw,
            value=one.value,
            size=len(one.drawn) + len(one.rest),
            drawn=len(one.drawn),
            items=[*one.drawn, *one.rest],
        )
        for one in chosen.drawing.strata
    )
    return added


def _priorities(queue: ReviewQueue, run: Run | None) -> dict[int, float]:
    """Nothing where the order does not ask: reading all verdicts of a large run takes seconds."""
    if queue.order != Order.INFORMATIVE:
        return {}
    criteria = list(queue.criteria.all())
    reasons = informative.reasons(queue.dataset, run, criteria=criteria)
    return informative.priorities(queue.dataset, queue.rubric_version, reasons, criteria=criteria)


def missing_items(queue: ReviewQueue) -> list[int]:
    """The items of its dataset that are not in the queue, in their order.

    Only those `belonging` to it.
    """
    there = set(QueueItem.objects.filter(queue=queue).values_list("item_id", flat=True))
    items = belonging(queue, Item.objects.current().filter(dataset=queue.dataset_id))
    return [pk for pk in items.order_by("position").values_list("pk", flat=True) if pk not in there]


def belonging(queue: ReviewQueue, items: QuerySet[Item]) -> QuerySet[Item]:
    """The items a queue over a whole dataset takes in: answers of its system versions, if it names some, to
    cases of its half, if it has one, and, if it is limited to some criteria, only those without a rubric of
    their own.
    """
    items = of_half(items, queue.half)
    if queue.criteria.exists():
        items = items.filter(rubric_version=None)
    versions = list(queue.system_versions.values_list("pk", flat=True))
    return items.filter(system_version__in=versions) if versions else items


def follow_items(queue: ReviewQueue) -> None:
    """People are asked about no item of the queue that was retired, and again about those restored since."""
    items = QueueItem.objects.filter(queue=queue).order_by()
    current = Q(item__retired_in=NOT_RETIRED)
    for change, moved in (
        (assignments.withdraw, items.filter(~current, withdrawn=False)),
        (assignments.ask_again, items.filter(current, withdrawn=True)),
    ):
        ids = list(moved.values_list("item_id", flat=True))
        for begin in range(0, len(ids), BATCH):
            change(queue, ids[begin : begin + BATCH])


def lock(queue: ReviewQueue) -> ReviewQueue:
    """The queue as it is now, locked against other changes until the transaction ends.

    Not against reviews: those refer to its row, and would wait for an end that waits for them.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("A queue is changed inside a transaction.")
    rows = ReviewQueue.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("dataset", "rubric_version", "run", "team").get(pk=queue.pk)
