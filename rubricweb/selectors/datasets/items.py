"""Datasets and their items, as lists and pages show them; list pages never load submission bodies."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Length, Substr

from rubricweb.engine.origin import Origin, origin_of
from rubricweb.errors import Invalid
from rubricweb.models import (
    Dataset,
    Item,
    Judgement,
    ReviewQueue,
    Run,
    RunItem,
    SystemVersion,
    Team,
    User,
)
from rubricweb.selectors.blinding import hidden_items
from rubricweb.selectors.shared.pages import Page, keyset_page

ITEM_ORDERS = {
    "position": ("position",),
    "key": ("key", "pk"),
    "-key": ("-key", "-pk"),
    "-position": ("-position",),
}
EXCERPT = 160


def datasets(team: Team, *, search: str = "", cursor: str | None = None, size: int = 50) -> Page[Dataset]:
    """The team's datasets, newest first, each with `item_count` and `run_count`."""
    rows = Dataset.objects.filter(team=team)
    if search:
        rows = rows.filter(name__icontains=search)
    counts = (
        Item.objects.filter(dataset=OuterRef("pk"))
        .order_by()
        .values("dataset")
        .annotate(n=Count("pk"))
        .values("n")
    )
    rows = rows.annotate(item_count=Subquery(counts), run_count=Count("runs", distinct=True))
    return keyset_page(rows, order=("-created_at", "-pk"), cursor=cursor, size=size)


def items(
    dataset: Dataset,
    *,
    viewer: User,
    search: str = "",
    order: str = "position",
    cursor: str | None = None,
    size: int = 50,
) -> Page[Item]:
    """One page of items without their bodies: `excerpt` is the beginning, `characters` the length.

    `system` is the name of the version that answered, None while the viewer is still to review the item
    blind. Raises Invalid for an order that is not in ITEM_ORDERS.
    """
    if order not in ITEM_ORDERS:
        raise Invalid(f"Items cannot be sorted by {order!r}. Allowed: {', '.join(ITEM_ORDERS)}.")
    rows = (
        Item.objects.filter(dataset=dataset)
        .annotate(excerpt=Substr("submission", 1, EXCERPT), characters=Length("submission"))
        .defer("submission", "thinking", "prompt", "reference")
    )
    found = matching(rows, search=search).select_related("case", "system_version__system")
    page = keyset_page(found, order=ITEM_ORDERS[order], cursor=cursor, size=size)
    name_systems(page.rows, viewer=viewer, team=dataset.team)
    return page


def matching_ids(dataset: Dataset, *, search: str = "", most: int) -> list[int]:
    """The ids of the items that `items` lists, in their order, the first `most`."""
    rows = matching(Item.objects.filter(dataset=dataset), search=search).order_by("position")
    return list(rows.values_list("pk", flat=True)[:most])


def matching(rows: QuerySet[Item], *, search: str = "", metadata: str = "") -> QuerySet[Item]:
    """Items with this text in key, description or submission, and this "key=value" in their metadata.

    A value that is a list matches by each of its texts. The key is a value to the database, never a name.
    """
    if search:
        rows = rows.filter(
            Q(key__icontains=search) | Q(description__icontains=search) | Q(submission__icontains=search)
        )
    if metadata:
        key, equals, value = (part.strip() for part in metadata.partition("="))
        if not key or not equals:
            raise Invalid.at("metadata", repr(metadata), "key=value")
        element = Q(text__startswith="[") & (
            Q(text__contains=json.dumps(value)) | Q(text__contains=json.dumps(value, ensure_ascii=False))
        )
        rows = rows.annotate(text=metadata_text(key)).filter(Q(text=value) | element)
    return rows


def metadata_text(key: str) -> Cast:
    """What the metadata hold under a key, as text: numbers too, which SQLite would hand out as numbers."""
    return Cast(_TextUnderKey(key, "metadata"), TextField())


class _TextUnderKey(KeyTextTransform):
    """Django takes a key of digits for a place in a list; metadata are an object, whose keys are texts."""

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> tuple[str, Any]:
        lhs, params = compiler.compile(self.lhs)
        return f"({lhs} ->> %s)", (*params, self.key_name)

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> tuple[str, Any]:
        sql, params = super().as_sqlite(compiler, connection, **extra)
        return sql, (f"$.{json.dumps(self.key_name)}",) * len(params)


def name_systems(rows: Sequence[Item], *, viewer: User, team: Team) -> None:
    """Gives each item its `system`: the name of the version that answered, "" where its file named none.

    None while the viewer is still to review the item blind: knowing who answered sways a verdict. One query.
    """
    hidden = set(
        hidden_items(viewer, team).filter(pk__in=[row.pk for row in rows]).values_list("pk", flat=True)
    )
    for row in rows:
        row.system = None if row.pk in hidden else str(row.system_version)  # type: ignore[attr-defined]  # for lists


def other_answers(item: Item, *, viewer: User) -> list[Item]:
    """The other items that answer the same case, by system and version, none the viewer is to review blind.

    None at all while this very item is hidden: the list would tell whose answer it is by leaving it out.
    """
    team = item.dataset.team
    if hidden_items(viewer, team, item=item.pk).exists():
        return []
    rows = (
        Item.objects.filter(case=item.case_id).exclude(pk=item.pk).exclude(pk__in=hidden_items(viewer, team))
    )
    rows = rows.select_related("system_version__system").defer(
        "submission", "thinking", "prompt", "reference"
    )
    return list(rows.order_by("system_version__system__name", "system_version__position", "attempt"))


def system_counts(dataset: Dataset) -> list[tuple[SystemVersion, int]]:
    """The named system versions that answered, in order, each with its number of items."""
    rows = SystemVersion.objects.filter(items__dataset=dataset).exclude(system__name="")
    rows = rows.select_related("system").annotate(n=Count("items", filter=Q(items__dataset=dataset)))
    return [(row, row.n) for row in rows.order_by("system__name", "position")]


def neighbours(item: Item) -> tuple[Item | None, Item | None]:
    """The items before and after this one in its dataset."""
    around: QuerySet[Item] = Item.objects.filter(dataset_id=item.dataset_id).only("pk", "key", "dataset_id")
    return (
        around.filter(position__lt=item.position).order_by("-position").first(),
        around.filter(position__gt=item.position).order_by("position").first(),
    )


def own_rubric_counts(dataset: Dataset) -> tuple[int, int]:
    """(items, items that bring a rubric of their own)."""
    counts = dataset.items.aggregate(
        everything=Count("pk"), own=Count("pk", filter=Q(rubric_version__isnull=False))
    )
    return counts["everything"], counts["own"]


def runs_over(dataset: Dataset, *, size: int = 10) -> QuerySet[Run]:
    """The newest runs over this dataset, without their results."""
    return dataset.runs.select_related("dataset", "rubric_version").order_by("-created_at", "-pk")[:size]


def queues_over(dataset: Dataset, *, size: int = 10) -> QuerySet[ReviewQueue]:
    """The newest review queues over this dataset."""
    queues = dataset.queues.select_related("dataset", "rubric_version")
    return queues.order_by("-created_at", "-pk")[:size]


@dataclass(frozen=True)
class ImportedRater:
    """Somebody whose labels of a dataset came in files, how many, and what they count as."""

    id: int
    name: str
    rater_kind: str
    labels: int

    @property
    def origin(self) -> Origin:
        return origin_of(self.rater_kind, imported=True)


def imported_raters(dataset: Dataset) -> list[ImportedRater]:
    """Who labelled the dataset in files, by name: people and settled labels found by their reviews, machines
    by their runs. Two queries.
    """
    found: list[ImportedRater] = []
    for rows, rater in (
        (Judgement.objects.in_reviews(queue__dataset=dataset, imported=True), "review__rater"),
        (Judgement.objects.filter(run__dataset=dataset, run__rater__isnull=False), "run__rater"),
    ):
        named = rows.order_by().values_list(rater, f"{rater}__name", f"{rater}__kind")
        found += [ImportedRater(*row) for row in named.annotate(n=Count("pk"))]
    return sorted(found, key=lambda one: (one.name, one.id))


def runs_containing(item: Item, *, size: int = 20) -> QuerySet[RunItem]:
    """The newest runs that grade this item, without what they found: that page asks who is looking."""
    rows = RunItem.objects.filter(item=item).select_related("run__rubric_version")
    return rows.order_by("-run_id")[:size]
