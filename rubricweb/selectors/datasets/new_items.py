"""Items that came into a run's dataset after the run was planned."""

from django.db.models import Exists, OuterRef, QuerySet

from rubricweb.models import Item, Run, RunItem
from rubricweb.selectors.datasets.halves import of_half


def new_items(run: Run) -> QuerySet[Item]:
    """The items a run could be extended by; those a run over a choice of items left out are not new.

    Only answers of the run's own system version; of a run without one, those of no named system; of a run
    over a half those to cases in it. None for an imported run: nobody can be asked about them.
    """
    if run.imported:
        return Item.objects.none()
    planned = RunItem.objects.filter(run=run, item_id=OuterRef("pk"))
    items: QuerySet[Item] = Item.objects.current().filter(
        ~Exists(planned), dataset_id=run.dataset_id, created_at__gt=run.created_at
    )
    items = of_half(items, run.half)
    if run.system_version_id is None:
        return items.filter(system_version__system__name="")
    return items.filter(system_version=run.system_version_id)


def new_item_count(run: Run) -> int:
    """How many those are. Costs one row as long as nothing was added: positions grow with time."""
    newest = (
        Item.objects.filter(dataset_id=run.dataset_id)
        .order_by("-position")
        .values_list("created_at", flat=True)
        .first()
    )
    return new_items(run).count() if newest is not None and newest > run.created_at else 0
