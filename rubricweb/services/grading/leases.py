"""Which items of a run this worker may grade, and what is known about them when it starts."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import prefetch_related_objects

from rubricweb import engine
from rubricweb.models import Criterion, RubricVersion, Run, RunItem
from rubricweb.services.grading.questions import OpenItem
from rubricweb.services.runs.events import note
from rubricweb.services.runs.work_queue import unclaimed

# Rubrics kept ready: datasets may bring one per item.
RUBRICS_KEPT = 300


def claim(run: Run, worker: str, now: datetime, limit: int, *, but: Collection[int] = ()) -> list[int]:
    """Leases the next items of the run to this worker, none of the rows `but`; the ids of their rows.

    Two workers never get the same one. A lease that ran out is taken over, and the run's log says from whom.
    """
    free = RunItem.objects.filter(unclaimed(now), run=run).order_by("pk")
    if but:
        free = free.exclude(pk__in=but)
    with transaction.atomic():
        if connection.features.has_select_for_update_skip_locked:
            free = free.select_for_update(skip_locked=True)
        found = list(free.values_list("pk", "leased_by")[:limit])
        RunItem.objects.filter(pk__in=[pk for pk, _ in found]).update(
            leased_by=worker, leased_until=lease_end(now)
        )
        for owner, count in Counter(owner for _, owner in found if owner not in ("", worker)).items():
            items = f"{count} item{'s' * (count != 1)}"
            note(run.pk, "taken_over", f"The lease of {owner} ran out; {items} it held are taken over.")
    return [pk for pk, _ in found]


def renew(worker: str, rows: Collection[int], now: datetime) -> None:
    """Makes the leases on these rows last from now; those that somebody took over stay with them."""
    RunItem.objects.filter(pk__in=rows, leased_by=worker, graded_at=None).update(leased_until=lease_end(now))


def release(worker: str, rows: Collection[int]) -> None:
    """Gives the leases on these rows back."""
    RunItem.objects.filter(pk__in=rows, leased_by=worker, graded_at=None).update(
        leased_by="", leased_until=None
    )


def lease_end(now: datetime) -> datetime:
    """When a lease taken or renewed now runs out."""
    return now + timedelta(seconds=settings.GRADING_LEASE_SECONDS)


class Rubrics:
    """The rubrics of one run's items, each read once and kept while there is room."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[engine.Rubric, tuple[Criterion, ...]]] = {}

    def open(self, run: Run, rows: Iterable[int]) -> list[OpenItem]:
        """Claimed rows as what is asked about. Items of one rubric version share its rubric."""
        claimed = list(RunItem.objects.filter(pk__in=rows).select_related("item").order_by("pk"))
        self._read({row.rubric_version_id for row in claimed})
        items = []
        for row in claimed:
            row.item.dataset = run.dataset  # the same for all of them
            rubric, criteria = self._known[row.rubric_version_id]
            items.append(OpenItem(row, rubric, criteria, row.item.to_engine()))
        return items

    def _read(self, version_ids: Collection[int]) -> None:
        new = [pk for pk in version_ids if pk not in self._known]
        if len(self._known) + len(new) > RUBRICS_KEPT:
            self._known = {pk: known for pk, known in self._known.items() if pk in version_ids}
        versions: Sequence[RubricVersion] = list(RubricVersion.objects.filter(pk__in=new))
        prefetch_related_objects(versions, "criteria")
        for version in versions:
            self._known[version.pk] = version.to_engine(), tuple(version.criteria.all())
