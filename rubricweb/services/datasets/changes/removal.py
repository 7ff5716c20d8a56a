"""Removing items of which nothing was said, with what came with them alone."""

from collections.abc import Sequence

from rubricweb.models import Case, CaseText, Item, QueueItem, RubricVersion
from rubricweb.selectors.datasets.versions import AT_ONCE


def remove_items(item_ids: Sequence[int]) -> None:
    """Removes items that nobody reviewed, graded or commented on, from queues too.

    Cases that no other item answers go along, and rubrics that no other item brought. Call it in a
    transaction.
    """
    for begin in range(0, len(item_ids), AT_ONCE):
        ids = item_ids[begin : begin + AT_ONCE]
        items = Item.objects.filter(pk__in=ids)
        cases = list(items.order_by().values_list("case", flat=True).distinct())
        brought = RubricVersion.objects.filter(pk__in=items.values("rubric_version"), rubric=None)
        rubrics = list(brought.values_list("pk", flat=True))
        QueueItem.objects.filter(item__in=ids).delete()
        items.delete()
        Case.objects.filter(pk__in=cases, items=None).delete()
        texts = CaseText.objects.filter(rubric_version__in=rubrics).values("rubric_version")
        RubricVersion.objects.filter(pk__in=rubrics, items=None).exclude(pk__in=texts).delete()
