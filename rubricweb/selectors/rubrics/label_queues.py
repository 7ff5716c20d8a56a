"""Queues in which a reworded criterion is labelled again, all of it or a probe, and what a probe found."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, Q, Sum

from rubricweb.engine.agreement import Figure
from rubricweb.models import Criterion, QueueItem, Review, ReviewQueue, ReviewState

Pair = tuple[Criterion, Criterion]
"""A criterion in the words before, and in those of the version that reworded it."""


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


@dataclass(frozen=True)
class ProbeAnswers:
    """How many units had the label `before` under the earlier words and `now` under the new ones."""

    before: str
    now: str
    units: int


@dataclass(frozen=True)
class Probe:
    """What people said under the new words beside what was said under the words before.

    `asked` items of `answered`; on `same_rater` units the earlier label is the same person's. `agreement` is
    the share of units with equal labels and `alpha` Krippendorff's α of the two. Beside them stands what is
    usual under the words before: `usual` and `usual_alpha` between raters, `repeated` of raters who labelled
    a unit twice. Figures without a value say why. `withheld`: the viewer is still to review some of it blind,
    so no figure is computed.
    """

    asked: int
    answered: int
    same_rater: int
    seed: int | None
    agreement: Figure
    alpha: Figure
    usual: Figure
    usual_alpha: Figure
    repeated: Figure
    answers: tuple[ProbeAnswers, ...] = ()
    withheld: bool = False

    @property
    def is_done(self) -> bool:
        return self.answered >= self.asked

    @classmethod
    def from_evidence(cls, stored: Mapping[str, Any]) -> "Probe":
        """What `as_evidence` stored."""
        return cls(
            asked=stored["asked"],
            answered=stored["answered"],
            same_rater=stored["same_rater"],
            seed=stored["seed"],
            agreement=Figure(**stored["agreement"]),
            alpha=Figure(**stored["alpha"]),
            usual=Figure(**stored["usual"]),
            usual_alpha=Figure(**stored["usual_alpha"]),
            repeated=Figure(**stored["repeated"]),
            answers=tuple(ProbeAnswers(**one) for one in stored["answers"]),
        )

    def as_evidence(self) -> dict[str, Any]:
        """Plain data, to be stored with the decision it led to."""
        found = asdict(self) | {"answers": [asdict(one) for one in self.answers]}
        return {name: value for name, value in found.items() if name != "withheld"}
