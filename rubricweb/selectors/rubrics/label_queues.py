"""Queues in which a reworded criterion is labelled again, all of it or a probe."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from rubricweb.models import QueueItem, Review, ReviewQueue, ReviewState


@dataclass(frozen=True)
class LabelQueue:
    """A queue that was opened for a decision: `wanted` reviews of `items`, `submitted` of them so far."""

    queue: ReviewQueue
    items: int
    wanted: int
    submitted: int

    @property
    def is_done(self) -> bool:
        return self.submitted >= self.wanted


def label_queues(decisions: Q) -> dict[int, list[LabelQueue]]:
    """Decision id → the queues that were opened for it, in order; of those decisions that the condition on a
    queue names. Three queries.
    """
    queues = list(ReviewQueue.objects.filter(decisions, label_decision__isnull=False).order_by("pk"))
    asked = QueueItem.objects.filter(queue__in=queues).order_by().values("queue_id")
    wanted = {row["queue_id"]: row for row in asked.annotate(items=Count("pk"), wanted=Sum("wanted"))}
    done = Review.objects.filter(queue__in=queues, state=ReviewState.SUBMITTED).order_by().values("queue_id")
    submitted = dict(done.annotate(n=Count("pk")).values_list("queue_id", "n"))
    found: dict[int, list[LabelQueue]] = defaultdict(list)
    for queue in queues:
        row = wanted.get(queue.pk, {"items": 0, "wanted": 0})
        assert queue.label_decision_id is not None  # asked for
        found[queue.label_decision_id].append(
            LabelQueue(queue, row["items"], row["wanted"], submitted.get(queue.pk, 0))
        )
    return dict(found)
