"""Datasets and their items, as lists and pages show them; list pages never load submission bodies."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Length, Substr

from rubricweb.errors import Invalid
from rubricweb.models import (
    NOT_RETIRED,
    Dataset,
    Item,
    ReviewQueue,
    Run,
    RunItem,
    Team,
    User,
    unarchived,
)
from rubricweb.selectors.blinding import case_is_hidden, hidden_datasets, is_hidden
from rubricweb.selectors.datasets.columns import Where, facets_of, name_values, narrowed
from rubricweb.selectors.datasets.halves import of_half
from rubricweb.selectors.datasets.judged.filters import ANYTHING, Judged, judged_as
from rubricweb.selectors.datasets.systems import of_system
from rubricweb.selectors.datasets.tags import name_tags, tagged
from rubricweb.selectors.shared.pages import Page, keyset_page

ITEM_ORDERS = {
    "position": ("position",),
    "key": ("key", "pk"),
    "-key": ("-key", "-pk"),
    "-position": ("-position",),
}
EXCERPT = 160
CURRENT = "current"
RETIRED = "retired"
Version = int | str
"""Which items of a dataset: those of a version by its number, CURRENT or RETIRED ones."""


@dataclass(frozen=True)
class Listed:
    """Of which items a list is: of a version, in a half as `read_half` reads it, of cases with all of `tags`,
    answers of a system or of one version of it as `answers_called` reads it, of which `judged` was said.

    Halves and tags are those of their cases now, whatever the version.
    """

    version: Version = CURRENT
    half: str = ""
    tags: tuple[str, ...] = ()
    system: str = ""
    judged: Judged = ANYTHING

    @property
    def tells_names(self) -> bool:
        """Whether being on the list tells whose answers they are, or what somebody tagged them for: of a file
        of one version's answers the dataset has a version of its own.
        """
        return bool(self.tags or self.system) or self.is_past

    @property
    def is_past(self) -> bool:
        """Whether it is of a version by its number."""
        return self.version not in (CURRENT, RETIRED)


NOW = Listed()


def datasets(
    team: Team, *, search: str = "", archived: bool = False, cursor: str | None = None, size: int = 50
) -> Page[Dataset]:
    """The team's datasets, newest first, each with `item_count` and `run_count`; or those archived."""
    rows = Dataset.objects.filter(unarchived(archived=archived), team=team)
    if search:
        rows = rows.filter(name__icontains=search)
    counts = (
        Item.objects.current()
        .filter(dataset=OuterRef("pk"))
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
    where: Where = (),
    listed: Listed = NOW,
) -> Page[Item]:
    """One page of current items without their bodies: `excerpt` is the beginning, `characters` the length.

    `listed` may name a version of before, retired items, a half, tags, a system; columns narrow the current
    ones only. Each is named as `name_systems` and `name_tags` do. While some key is withheld the order by key
    is that of the dataset, and neither a search nor a column, a tag, a system or a version of before finds an
    item by what is withheld. Raises Invalid for an order that is not in ITEM_ORDERS.
    """
    if order not in ITEM_ORDERS:
        raise Invalid(f"Items cannot be sorted by {order!r}. Allowed: {', '.join(ITEM_ORDERS)}.")
    listed = _of_now(listed, dataset)
    asks_keys = bool(
        search or where or listed.tells_names or listed.judged.is_asked or order.lstrip("-") == "key"
    )
    unnamed = _unnamed(dataset, viewer) if asks_keys else None
    if unnamed is not None:
        order = order.replace("key", "position")
    # First the ids: to put thousands of rows in order, no database is to read their submissions.
    found: Page[Any]
    if where and listed.version != CURRENT:
        raise Invalid.at("where", "a column of past items", "none: columns narrow the current items")
    narrowed_more = search or listed.half or listed.tags or listed.system or listed.judged.is_asked
    by_columns_alone = where and not narrowed_more
    if by_columns_alone and order.lstrip("-") == "position" and unnamed is None:
        facets = facets_of(dataset, where).only("item_id", "position")
        found = keyset_page(facets, order=ITEM_ORDERS[order], cursor=cursor, size=size)
        ids = [facet.item_id for facet in found.rows]
    else:
        rows = _narrowed(dataset, listed, search, where, unnamed)
        fields = ITEM_ORDERS[order]
        if listed.version == RETIRED and fields[-1].lstrip("-") == "position":
            # Several stood at one place, one after the other.
            fields = (*fields, fields[-1].replace("position", "pk"))
        # The item a page ended with may be retired by now, or have other words: it is still one of all.
        found = keyset_page(
            rows.only("position", "key"),
            order=fields,
            cursor=cursor,
            size=size,
            among=Item.objects.filter(dataset=dataset),
        )
        ids = [row.pk for row in found.rows]
    full = (
        Item.objects.filter(pk__in=ids)
        .annotate(excerpt=Substr("submission", 1, EXCERPT), characters=Length("submission"))
        .defer("submission", "thinking", "prompt", "reference")
        .select_related("case", "system_version__system")
        .in_bulk()
    )
    # One that was deleted in between is left out.
    rows_in_order: tuple[Item, ...] = tuple(full[pk] for pk in ids if pk in full)
    page = Page(rows_in_order, found.next_cursor)
    name_tags(page.rows, told=name_systems(page.rows, viewer=viewer, team=dataset.team))
    name_values(page.rows, dataset)
    for row in page.rows:
        if row.metadata and not row.shown_metadata:  # type: ignore[attr-defined]  # see `name_systems`
            row.cells = [""] * len(row.cells)  # type: ignore[attr-defined]  # annotated
    return page


def read_version(text: str) -> Version:
    """As addresses and commands say it: "current" or nothing, "retired", a number. Raises Invalid else."""
    if text in ("", CURRENT):
        return CURRENT
    if text == RETIRED:
        return RETIRED
    if text.isdecimal() and len(text) < 10:
        return int(text)
    raise Invalid.at("version", repr(text[:40]), "current, retired, or the number of a version")


def _listed(dataset: Dataset, version: Version) -> QuerySet[Item]:
    rows = Item.objects.filter(dataset=dataset)
    if version == CURRENT:
        return rows.current()
    if version == RETIRED:
        return rows.exclude(retired_in=NOT_RETIRED)
    number = int(version)
    if not 1 <= number <= dataset.version:
        raise Invalid.at("version", str(number), f"1 to {dataset.version}, current or retired")
    return rows.in_version(number)


def matching_ids(
    dataset: Dataset,
    *,
    viewer: User,
    search: str = "",
    where: Where = (),
    most: int,
    listed: Listed = NOW,
) -> list[int]:
    """The ids of the items that `items` lists, in their order, the first `most`."""
    listed = _of_now(listed, dataset)
    tells = listed.tells_names or listed.judged.is_asked
    unnamed = _unnamed(dataset, viewer) if search or where or tells else None
    rows = _narrowed(dataset, listed, search, where, unnamed)
    return list(rows.order_by("position").values_list("pk", flat=True)[:most])


def _of_now(listed: Listed, dataset: Dataset) -> Listed:
    """The same, with the newest version as the current items."""
    return replace(listed, version=CURRENT) if listed.version == dataset.version else listed


def _unnamed(dataset: Dataset, viewer: User) -> Exists | None:
    """The condition on items that their key is withheld; None where none of the dataset is."""
    if dataset.pk not in hidden_datasets(viewer, dataset.team):
        return None
    return is_hidden(viewer, dataset.team)


def _narrowed(
    dataset: Dataset, listed: Listed, search: str, where: Where, unnamed: Exists | None
) -> QuerySet[Item]:
    rows = narrowed(_listed(dataset, listed.version), dataset, where)
    rows = of_system(tagged(of_half(rows, listed.half), listed.tags), listed.system)
    # A file of one version's answers made a version of the dataset: which items came with it tells as much.
    # Tags are of the case: any of its answers would tell those of one that is hidden. So would a system, by
    # which of a case's answers it lists.
    if listed.tells_names and unnamed is not None:
        rows = rows.exclude(case_is_hidden(unnamed))
    if listed.judged.is_asked:
        rows = judged_as(rows if unnamed is None else rows.exclude(unnamed), listed.judged)
    if where and unnamed is not None:
        # Their metadata may tell which system answered.
        rows = rows.exclude(Q(unnamed) & ~Q(system_version__system__name=""))
    return matching(rows, search=search, unnamed=unnamed)


def matching(
    rows: QuerySet[Item], *, search: str = "", metadata: str = "", unnamed: Exists | None = None
) -> QuerySet[Item]:
    """Items with this text in key, description or submission, and this "key=value" in their metadata.

    Those `unnamed` are found by their words alone. A value that is a list matches by each of its texts. The
    key is a value to the database, never a name.
    """
    if search:
        rows = rows.filter(
            (Q(key__icontains=search) if unnamed is None else Q(key__icontains=search) & ~Q(unnamed))
            | Q(description__icontains=search)
            | Q(submission__icontains=search)
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


def name_systems(rows: Sequence[Item], *, viewer: User, team: Team) -> frozenset[int]:
    """Gives each item what may be told of whose answer it is: `shown_key`, `case_key`, `system`, the name of
    the version that answered ("" where its file named none), `shown_attempt` and `shown_metadata`.

    The first four are None, and the metadata of an answer whose file names a system are {}, while
    `is_hidden` holds: knowing who answered sways a verdict. The ids of the items of whose cases no answer is
    hidden: see `name_tags`. Two queries.
    """
    condition = is_hidden(viewer, team)
    of_hidden_cases = Item.objects.filter(case_is_hidden(condition), pk__in=[row.pk for row in rows])
    known = of_hidden_cases.order_by().annotate(is_hidden=condition)
    untold = dict(known.values_list("pk", "is_hidden"))
    hidden = {pk for pk, is_one in untold.items() if is_one}
    for row in rows:
        is_told, system = row.pk not in hidden, str(row.system_version)
        row.system = system if is_told else None  # type: ignore[attr-defined]  # for lists
        row.shown_key = row.key if is_told else None  # type: ignore[attr-defined]  # annotated
        row.case_key = row.case.key if is_told else None  # type: ignore[attr-defined]  # annotated
        row.shown_attempt = row.attempt if is_told else None  # type: ignore[attr-defined]  # annotated
        row.shown_metadata = row.metadata if is_told or not system else {}  # type: ignore[attr-defined]  # annotated
    return frozenset(row.pk for row in rows if row.pk not in untold)


def other_answers(item: Item, *, viewer: User) -> list[Item]:
    """The other current answers to the same case, by system and version, without those that are hidden.

    None at all of an item that is hidden itself: the list would tell whose answer that is by leaving it out.
    """
    hidden = is_hidden(viewer, item.dataset.team)
    if Item.objects.filter(hidden, pk=item.pk).exists():
        return []
    rows = Item.objects.current().filter(~Q(hidden), case=item.case_id).exclude(pk=item.pk)
    rows = rows.select_related("system_version__system").defer(
        "submission", "thinking", "prompt", "reference"
    )
    return list(rows.order_by("system_version__system__name", "system_version__position", "attempt"))


def corrections_of(item: Item) -> tuple[Item | None, Item | None]:
    """The item this one corrects, and the one that corrects it. Without corrections no query is asked for
    current items.
    """
    if item.replaces_id is None and item.retired_in == NOT_RETIRED:
        return None, None
    there = Item.objects.filter(dataset=item.dataset_id, position=item.position).only("pk")
    return there.filter(pk__lt=item.pk).order_by("-pk").first(), there.filter(pk__gt=item.pk).order_by(
        "pk"
    ).first()


def is_sole_answer(item: Item) -> bool:
    """Whether no other current item answers the same case."""
    return not Item.objects.current().filter(case=item.case_id).exclude(pk=item.pk).exists()


def neighbours(item: Item) -> tuple[Item | None, Item | None]:
    """The current items before and after this one in its dataset."""
    around: QuerySet[Item] = (
        Item.objects.current().filter(dataset_id=item.dataset_id).only("pk", "key", "dataset_id")
    )
    return (
        around.filter(position__lt=item.position).order_by("-position").first(),
        around.filter(position__gt=item.position).order_by("position").first(),
    )


def own_rubric_counts(dataset: Dataset) -> tuple[int, int]:
    """(current items, those that bring a rubric of their own)."""
    counts = dataset.items.current().aggregate(
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


def runs_containing(item: Item, *, viewer: User, size: int = 20) -> QuerySet[RunItem]:
    """The newest runs that grade this item, without what they found: that page asks who is looking.

    None over one system version while that is withheld: the run names it.
    """
    rows = RunItem.every.filter(item=item, run__team__deleted_at=None).select_related("run__rubric_version")
    if Item.objects.filter(is_hidden(viewer, item.dataset.team), pk=item.pk).exists():
        rows = rows.filter(run__system_version=None)
    return rows.order_by("-run_id")[:size]
