"""Tries: runs over a small share of the items there were for them, such as dry runs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from rubricweb.models import Dataset, Item, Run, RunItem, RunSummary

WHOLE_SHARE = 0.5
"""A run over a smaller share of the items its dataset had then is a try: it stands in no series."""


@dataclass(frozen=True)
class RunSize:
    """How many items a run is over, and how many there were for it when it was started.

    Of a run over dev or test these are those of that half, of one over a system version its answers.
    """

    items: int
    dataset_items: int

    @property
    def is_try(self) -> bool:
        return self.items < WHOLE_SHARE * self.dataset_items


def run_sizes(runs: Iterable[Run]) -> dict[int, RunSize]:
    """By the id of the run. At most six queries."""
    by_id = {run.pk: run for run in runs}
    items = dict(RunSummary.objects.filter(run__in=by_id).values_list("run_id", "items"))
    # While a run is under way nothing is summed up.
    others = RunItem.objects.filter(run__in=by_id.keys() - items.keys()).order_by()
    items |= dict(others.values_list("run_id").annotate(n=Count("pk")))
    return sizes_of({run: items.get(pk, 0) for pk, run in by_id.items()})


def sizes_of(items: Mapping[Run, int]) -> dict[int, RunSize]:
    """The same of runs of which it is known how many items they are over. At most four queries."""
    last = Item.objects.filter(dataset=OuterRef("pk")).order_by("-position").values("position")[:1]
    datasets = Dataset.objects.filter(pk__in={run.dataset_id for run in items})
    now = dict(datasets.annotate(items_now=Coalesce(Subquery(last), -1) + 1).values_list("pk", "items_now"))
    found = {run.pk: now[run.dataset_id] for run in items}
    # Of a system version its answers are the whole, of a half its cases. They are counted: others stand
    # between them. Of a whole dataset that is done only where a run may turn out to be a try.
    to_count: dict[tuple[bool, bool], list[int]] = defaultdict(list)
    for run, count in items.items():
        part = run.system_version_id is not None, bool(run.half)
        if any(part) or RunSize(count, found[run.pk]).is_try:
            to_count[part].append(run.pk)
    for (of_version, of_half), run_ids in to_count.items():
        where = Q(system_version=OuterRef("system_version")) if of_version else Q()
        if of_half:
            # A case that a later draw marked was in no half then.
            where &= Q(case__half=OuterRef("half")) & ~Q(case__half_since__gt=OuterRef("created_at"))
        there = Item.objects.filter(
            where,
            dataset=OuterRef("dataset"),
            created_at__lte=OuterRef("created_at"),
            retired_in__gt=OuterRef("dataset_version"),
        )
        counted = there.order_by().values("dataset").annotate(n=Count("pk")).values("n")
        found |= dict(
            Run.objects.filter(pk__in=run_ids)
            .annotate(items_then=Coalesce(Subquery(counted), Value(0)))
            .values_list("pk", "items_then")
        )
    return {run.pk: RunSize(count, found[run.pk]) for run, count in items.items()}
