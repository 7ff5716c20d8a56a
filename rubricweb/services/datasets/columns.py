"""Declaring metadata columns of a dataset, and keeping what its items hold in them where lists find it."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Count, F, QuerySet, Value
from django.db.models.functions import Substr

from rubricweb.engine.errors import Fault
from rubricweb.engine.number_format import counted
from rubricweb.engine.parsers.plain_text import unstorable
from rubricweb.errors import Invalid
from rubricweb.models import Dataset, Item, ItemFacet, User
from rubricweb.selectors.datasets.columns import MOST_COLUMNS, VALUE_CHARACTERS, names
from rubricweb.selectors.datasets.items import metadata_text
from rubricweb.services.shared import bulk_rows
from rubricweb.services.shared.journal import record

NAME_CHARACTERS = 100
MOST_VALUES = 50


@transaction.atomic
def declare(dataset: Dataset, wanted: Sequence[str], *, by: User | None) -> None:
    """These are the columns from now on, in this order; items keep their metadata whatever is declared.

    Raises Invalid for more than eight, for one that is named twice, and for a name no metadata can have.
    """
    wanted = [name.strip() for name in wanted]
    _check(wanted)
    locked = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    before = names(locked)
    if wanted != before:
        kept = set(before) & set(wanted)
        # Of new ones too: earlier releases lost columns and left what their items held in them.
        ItemFacet.objects.filter(dataset=locked).exclude(name__in=kept).delete()
        _fill(locked, [name for name in wanted if name not in kept], first=0)
        _keep(locked, wanted)
        record(locked.team, by, "declared columns of", locked, columns=wanted)
    dataset.columns = locked.columns


def take_in(dataset: Dataset, *, first: int) -> None:
    """Keeps what items from the position `first` on hold in the columns, in the caller's transaction."""
    if dataset.columns:
        _fill(dataset, names(dataset), first=first)
        _keep(dataset, names(dataset))


def leave_out(dataset: Dataset, item_ids: Sequence[int]) -> None:
    """Lists find these items by no column any more, in the caller's transaction."""
    if dataset.columns:
        ItemFacet.objects.filter(item__in=item_ids).delete()


def take_back(dataset: Dataset, item_ids: Sequence[int]) -> None:
    """Lists find these current items again, in the caller's transaction."""
    if dataset.columns:
        _fill_items(Item.objects.filter(pk__in=item_ids), names(dataset))


def count_anew(dataset: Dataset) -> None:
    """Values and counts of the columns, after items went or came back."""
    if dataset.columns:
        _keep(dataset, names(dataset))


def _check(wanted: Sequence[str]) -> None:
    faults = []
    if len(wanted) > MOST_COLUMNS:
        faults.append(Fault("columns", counted(len(wanted), "column"), f"at most {MOST_COLUMNS}"))
    for i, name in enumerate(wanted):
        if not name or len(name) > NAME_CHARACTERS or unstorable(name) or "=" in name:
            allowed = f"a key of the metadata of at most {NAME_CHARACTERS} characters, without ="
            faults.append(Fault(f"columns[{i}]", repr(name[:40]), allowed))
        elif name in wanted[:i]:
            faults.append(Fault(f"columns[{i}]", f"{name!r} again", "each column once"))
    if faults:
        raise Invalid("; ".join(map(str, faults)), faults)


def _fill(dataset: Dataset, columns: Sequence[str], *, first: int) -> None:
    _fill_items(Item.objects.current().filter(dataset=dataset, position__gte=first), columns)


def _fill_items(items: QuerySet[Item], columns: Sequence[str]) -> None:
    for name in columns:
        text = metadata_text(name)
        bulk_rows.insert_for_each(
            ItemFacet,
            items.annotate(held=text).filter(held__isnull=False).order_by("pk"),
            dataset_id=F("dataset_id"),
            item_id=F("pk"),
            position=F("position"),
            name=Value(name),
            value=Substr(text, 1, VALUE_CHARACTERS),
        )


def _keep(dataset: Dataset, columns: Sequence[str]) -> None:
    """The columns with their most frequent values: pages ask for no counts."""
    dataset.columns = []
    for name in columns:
        counts = ItemFacet.objects.filter(dataset=dataset, name=name).values("value").annotate(n=Count("pk"))
        most = list(counts.order_by("-n", "value").values_list("value", "n")[:MOST_VALUES])
        values, times = [value for value, _ in most], [n for _, n in most]
        dataset.columns.append({"name": name, "values": values, "counts": times})
    dataset.save(update_fields=["columns"])
