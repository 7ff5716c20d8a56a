"""What datasets are like when they begin to be combined, to see whether they still are at the end."""

import hashlib
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Max, QuerySet

from rubricweb.models import (
    Adjudication,
    CaseTag,
    Dataset,
    Review,
    ReviewState,
    Revision,
    Run,
    in_reviews,
)
from rubricweb.services.combinations.matching import AskedPart


def stamp_of(parts: Sequence[AskedPart]) -> list[Any]:
    """What tells that items of the originals changed, or that more was said of them."""
    stamp: list[Any] = []
    for part in parts:
        of = {"item__dataset": part.dataset}
        submitted = Review.objects.filter(**of, state=ReviewState.SUBMITTED, queue__dataset=part.dataset)
        revised = Revision.objects.filter(in_reviews("judgement__", queue__dataset=part.dataset))
        version = Dataset.objects.filter(pk=part.dataset.pk).values_list("version", flat=True).first()
        tags = CaseTag.objects.filter(case__dataset=part.dataset)
        stamp.append(
            [
                version,
                submitted.count(),
                _last(revised, "revised_at"),
                _decided(Adjudication.objects.filter(**of)),
                Run.objects.filter(dataset=part.dataset, rater__isnull=False).count(),
                # A tag that is given has a higher id than all before it.
                list(tags.aggregate(count=Count("pk"), last=Max("pk")).values()),
            ]
        )
    return stamp


def _decided(rows: QuerySet[Adjudication]) -> str:
    """A digest of when each was decided: one that is taken back gives its row, and its place in time, to the
    one before.
    """
    digest = hashlib.sha256()
    for pk, at in rows.order_by("pk").values_list("pk", "decided_at").iterator():
        digest.update(f"{pk} {at.isoformat()}\n".encode())
    return digest.hexdigest()


def _last(rows: QuerySet[Any], when: str) -> list[Any]:
    """How many there are and when the newest was said: one that is said anew keeps its row."""
    found = rows.aggregate(count=Count("pk"), at=Max(when))
    return [found["count"], found["at"] and found["at"].isoformat()]
