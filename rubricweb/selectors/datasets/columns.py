"""Metadata columns a dataset declares: lists show them and are narrowed by them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Exists, Model, OuterRef, QuerySet

from rubricweb.errors import Invalid
from rubricweb.models import Dataset, Item, ItemFacet

MOST_COLUMNS = 8
VALUE_CHARACTERS = 200
KEYS_OF = 200
"""Among how many items, the first ones, the keys are looked for that columns are chosen from."""
MOST_KEYS = 60

Row = TypeVar("Row", bound=Model)
Where = Sequence[tuple[str, str]]
"""(column, value) pairs, all of which must hold."""


@dataclass(frozen=True)
class Column:
    """A declared column, its most frequent values, and the one a list is narrowed to, "" for none."""

    name: str
    values: tuple[str, ...]
    chosen: str = ""


def names(dataset: Dataset) -> list[str]:
    return [column["name"] for column in dataset.columns]


def metadata_keys(dataset: Dataset) -> list[str]:
    """The declared columns in their order, then other keys of the metadata of its first items, by name."""
    declared = names(dataset)
    first = Item.objects.current().filter(dataset=dataset, position__lt=KEYS_OF).order_by()
    keys = {key for metadata in first.values_list("metadata", flat=True) for key in metadata}
    return [*declared, *sorted(keys.difference(declared))[:MOST_KEYS]]


def columns(dataset: Dataset, where: Where = ()) -> list[Column]:
    """The declared columns in their order; a value a list is narrowed to is always among its column's."""
    chosen = dict(where)
    found = []
    for column in dataset.columns:
        name, values = column["name"], column["values"]
        value = chosen.get(name, "")
        found.append(Column(name, tuple(values if value in ("", *values) else [value, *values]), value))
    return found


def read_where(dataset: Dataset, said: Iterable[str]) -> list[tuple[str, str]]:
    """`language=de` and so on, as addresses and commands say it; empty texts say nothing.

    Raises Invalid for anything else, and for a column the dataset does not declare.
    """
    where = []
    declared = names(dataset)
    for text in said:
        if not text:
            continue
        name, equals, value = text.replace("\0", "").partition("=")
        if not equals:
            raise Invalid.at("where", repr(text[:80]), "a column and its value, as language=de")
        if name not in declared:
            allowed = f"one of {', '.join(declared)}" if declared else "no column: the dataset declares none"
            raise Invalid.at("where", repr(name[:80]), allowed)
        where.append((name, value[:VALUE_CHARACTERS]))
    return where


def narrowed(rows: QuerySet[Row], dataset: Dataset, where: Where, *, item: str = "pk") -> QuerySet[Row]:
    """The rows whose items hold these values; `item` is where the id of the item stands.

    The rarest value says which rows are looked at, the others are looked up for each.
    """
    return (
        rows.filter(**{f"{item}__in": facets_of(dataset, where).order_by().values("item")}) if where else rows
    )


def facets_of(dataset: Dataset, where: Where) -> QuerySet[ItemFacet]:
    """One row for each item that holds these values, which are at least one; in the order of positions."""
    (name, value), *others = _rarest_first(dataset, where)
    rows = ItemFacet.objects.filter(dataset=dataset, name=name, value=value)
    for name, value in others:
        rows = rows.filter(Exists(ItemFacet.objects.filter(item=OuterRef("item_id"), name=name, value=value)))
    return rows.order_by("position")


def _rarest_first(dataset: Dataset, where: Where) -> list[tuple[str, str]]:
    counts = {
        (column["name"], value): count
        for column in dataset.columns
        for value, count in zip(column["values"], column["counts"], strict=True)
    }
    return sorted(where, key=lambda pair: counts.get(pair, 0))


def name_values(rows: Sequence[Item], dataset: Dataset) -> None:
    """Gives each item its `cells`: what it holds in the declared columns, "" for nothing. One query."""
    held: dict[tuple[int, str], str] = {}
    if dataset.columns:
        facets = ItemFacet.objects.filter(item__in=[row.pk for row in rows])
        held = {(item, name): value for item, name, value in facets.values_list("item", "name", "value")}
    for row in rows:
        row.cells = [held.get((row.pk, name), "") for name in names(dataset)]  # type: ignore[attr-defined]  # for lists
