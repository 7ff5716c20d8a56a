"""Tags of cases: which there are, which case has which, and lists narrowed to cases that have some.

People say with a tag what they think of a case, as they do in a comment. So the tags of a case are withheld
as long as its key is: while somebody is still to review an answer to it blind.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from rubricweb.engine.errors import FaultList
from rubricweb.engine.formats.datasets.case_tags import read_tags, split_tags
from rubricweb.errors import Invalid, NotFound, Withheld
from rubricweb.models import Case, CaseTag, Dataset, Item, User
from rubricweb.selectors.blinding import hidden_of, is_hidden

AT_ONCE = 5000
MOST_LISTED = 500


@dataclass(frozen=True)
class TagCount:
    """A tag of a dataset, and how many of its cases have it."""

    tag: str
    cases: int


def asked_tags(said: Iterable[str]) -> tuple[str, ...]:
    """Tags as forms, addresses and commands say them: each text one, or several with commas between them.

    Raises Invalid for what no tag can be, and for more than a case can have.
    """
    faults = FaultList()
    tags = read_tags([tag for text in said for tag in split_tags(text)], "tag", faults)
    if faults:
        raise Invalid("; ".join(map(str, faults)), faults)
    return tags


def tag_counts(dataset: Dataset, *, viewer: User, asked: Iterable[str] = ()) -> list[TagCount]:
    """The tags of the dataset, those of the most cases first, at most 500; without cases withheld.

    Those `asked` for are always among them. One query where there are none, and one more for somebody who
    rates in no open blind queue.
    """
    rows = CaseTag.objects.filter(case__dataset=dataset).order_by().values_list("tag")
    counts = Counter(dict(rows.annotate(n=Count("pk"))))
    if counts:
        withheld = tags_of(_withheld_cases(dataset, viewer)).values()
        counts -= Counter(tag for tags in withheld for tag in tags)
    found = sorted((TagCount(tag, n) for tag, n in counts.items()), key=lambda one: (-one.cases, one.tag))
    found = found[:MOST_LISTED]
    listed = {one.tag for one in found}
    return found + [TagCount(tag, counts[tag]) for tag in asked if tag not in listed]


def tags_of(case_ids: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Case id → its tags in order, for those of these cases that have some. A query for each 5,000."""
    found: dict[int, tuple[str, ...]] = {}
    wanted = sorted(case_ids)
    for begin in range(0, len(wanted), AT_ONCE):
        found |= _by_case(CaseTag.objects.filter(case__in=wanted[begin : begin + AT_ONCE]))
    return found


def dataset_tags(dataset: Dataset) -> dict[int, tuple[str, ...]]:
    """Case id → its tags, as `tags_of` gives them, for all cases of the dataset. One query."""
    return _by_case(CaseTag.objects.filter(case__dataset=dataset))


def name_tags(rows: Sequence[Item], *, told: Collection[int]) -> None:
    """Gives each item `shown_tags`: those of its case, None unless its id is in `told`, what `name_systems`
    gave. One query.
    """
    found = tags_of({row.case_id for row in rows})
    for row in rows:
        row.shown_tags = found.get(row.case_id, ()) if row.pk in told else None  # type: ignore[attr-defined]  # annotated


def tagged(items: QuerySet[Item], tags: Iterable[str]) -> QuerySet[Item]:
    """Those whose cases have all of these tags."""
    for tag in tags:
        items = items.filter(case__in=CaseTag.objects.filter(tag=tag).order_by().values("case"))
    return items


def cases_of(
    dataset: Dataset, *, item_ids: Collection[int] = (), case_ids: Collection[int] = ()
) -> list[int]:
    """The ids of these cases of the dataset, and of those that these items answer, in order.

    Raises NotFound for items and cases of another dataset, Invalid for none.
    """
    found: set[int] = set()
    for what, ids, column in ((Item, item_ids, "case_id"), (Case, case_ids, "pk")):
        wanted = sorted(set(ids))
        for begin in range(0, len(wanted), AT_ONCE):
            part = wanted[begin : begin + AT_ONCE]
            rows = what.objects.filter(dataset=dataset, pk__in=part).order_by().values_list(column, flat=True)
            cases = list(rows)
            if len(cases) < len(part):
                raise NotFound(f"{what._meta.model_name} in {dataset}")
            found.update(cases)
    if not found:
        raise Invalid.at("item_ids", "no items and no cases", "at least one")
    return sorted(found)


def require_shown(case: Case, viewer: User) -> None:
    """Refuses what would tell, or overwrite unseen, the tags of a case with an answer to review blind."""
    if Item.objects.filter(is_hidden(viewer, case.dataset.team), case=case).exists():
        raise Withheld(
            "You are a rater of an answer to this case, or of the same words, in an open blind queue. Its "
            "tags appear once you have submitted your reviews; until then you can add and remove single ones."
        )


def _by_case(rows: QuerySet[CaseTag]) -> dict[int, tuple[str, ...]]:
    found: dict[int, list[str]] = defaultdict(list)
    for case_id, tag in rows.order_by().values_list("case_id", "tag"):
        found[case_id].append(tag)
    return {case_id: tuple(sorted(tags)) for case_id, tags in found.items()}


def _withheld_cases(dataset: Dataset, viewer: User) -> set[int]:
    hidden = sorted(hidden_of(viewer, dataset.team, dataset.pk))
    found: set[int] = set()
    for begin in range(0, len(hidden), AT_ONCE):
        rows = Item.objects.filter(pk__in=hidden[begin : begin + AT_ONCE]).order_by()
        found.update(rows.values_list("case_id", flat=True))
    return found
