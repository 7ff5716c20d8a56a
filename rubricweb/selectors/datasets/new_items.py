"""Items that came into a run's dataset, or back into it, after the run was planned."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from rubricweb.models import CaseSplit, ChangeKind, DatasetChange, Item, ItemAbsence, Run, RunItem
from rubricweb.selectors.datasets.halves import of_half


def new_items(run: Run) -> QuerySet[Item]:
    """The items a run could be extended by; those a run over a choice of items left out are not new.

    Only answers of the run's own system version; of a run without one, those of no named system; of a run
    over a half those to cases in it, whether answer or case came later, but no case that its judge is shown
    as an example. None for an imported run: nobody can be asked about them.
    """
    if run.imported:
        return Item.objects.none()
    planned = RunItem.objects.filter(run=run, item_id=OuterRef("pk"))
    restored = ItemAbsence.objects.filter(
        item=OuterRef("pk"), retired_in__lte=run.dataset_version, restored_in__gt=run.dataset_version
    )
    later = Q(created_at__gt=run.created_at)
    if run.half:
        later |= Q(case__half_since__gt=run.created_at)
    items: QuerySet[Item] = Item.objects.current().filter(
        later | Exists(restored), ~Exists(planned), dataset_id=run.dataset_id
    )
    items = of_half(items, run.half)
    if run.half and run.few_shot is not None:
        # A case without a half may be shown as an example, and come into the half by a later draw.
        shown = Item.objects.filter(pk__in=run.few_shot.item_ids)
        items = items.exclude(case__in=shown.order_by().values("case"))
    if run.system_version_id is None:
        return items.filter(system_version__system__name="")
    return items.filter(system_version=run.system_version_id)


def new_item_count(run: Run) -> int:
    """How many those are. Costs one row as long as nothing came in."""
    came = DatasetChange.objects.filter(
        dataset=run.dataset_id,
        kind__in=(ChangeKind.CORRECT, ChangeKind.RESTORE),
        created_at__gt=run.created_at,
    )
    drawn = CaseSplit.objects.filter(dataset=run.dataset_id, created_at__gt=run.created_at)
    # Positions grow with time. What was added before datasets had versions is in no change of its own.
    items = Item.objects.filter(dataset=run.dataset_id).order_by("-position")
    newest = items.values_list("created_at", Exists(came), Exists(drawn)).first()
    if newest is None:
        return 0
    added_at, is_changed, is_drawn = newest
    may_be_new = added_at > run.created_at or is_changed or (run.half and is_drawn)
    return new_items(run).count() if may_be_new else 0
