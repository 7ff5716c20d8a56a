"""The halves of a dataset whose cases are marked dev or test."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from rubricweb.errors import Invalid
from rubricweb.models import Case, CaseSplit, Dataset, Item, User
from rubricweb.models.datasets import SEALS
from rubricweb.selectors.blinding import hidden_datasets
from rubricweb.selectors.datasets.looks import Look, looks

DEV, TEST = SEALS
WITHOUT = "none"
HALVES = (DEV, TEST, WITHOUT)
"""What lists of items are narrowed by; the last are cases that came after the split."""


@dataclass(frozen=True)
class Halves:
    """How many cases are in which half, those without a current answer left out, and how they came there.

    `draws`, the newest first, begin with the one that split the dataset. `report` says how alike the halves
    were after the newest; its labels are None while some of them are hidden from the reader, and so is what
    looks tell of them, see `Look`. `looks` at the
    test half are the newest first; a sealed copy has them too.
    """

    dev: int
    test: int
    without: int
    draws: tuple[CaseSplit, ...]
    report: dict[str, Any] | None
    looks: tuple[Look, ...] = ()

    @property
    def are_drawn(self) -> bool:
        return bool(self.draws)


def halves(dataset: Dataset, *, viewer: User) -> Halves:
    """The halves as they are now. Five queries where the dataset is split, else two."""
    draws = tuple(CaseSplit.objects.filter(dataset=dataset).select_related("created_by").order_by("-number"))
    looked = tuple(looks(dataset))
    withheld = bool(draws or looked) and dataset.pk in hidden_datasets(viewer, dataset.team)
    if withheld:
        looked = tuple(one.withheld for one in looked)
    if not draws:
        return Halves(0, 0, 0, (), None, looked)
    answered = Case.objects.filter(_answered(), dataset=dataset).order_by()
    sizes = dict(answered.values("half").annotate(n=Count("pk")).values_list("half", "n"))
    report = dict(draws[0].report)
    if withheld:
        report |= {"labels": None, "largest_difference": None}
    return Halves(sizes.get(DEV, 0), sizes.get(TEST, 0), sizes.get("", 0), draws, report, looked)


def split_is_withheld(half: Dataset, viewer: User) -> bool:
    """Whether report, seal and salt of a sealed half are withheld from this person: while verdicts on an item
    of it, of the other half or of the dataset both come from are hidden from them. The report counts the
    labels of both halves, so what is hidden in one is told by that of the other.

    Where the origin is deleted nobody can tell which dataset has the same words: then while anything is
    hidden from them. At most three queries more than `hidden_datasets`.
    """
    hidden = hidden_datasets(viewer, half.team) if half.sealed_as else frozenset()
    if not hidden or half.pk in hidden:
        return bool(hidden)
    family = Dataset.objects.filter(team=half.team).filter(
        Q(pk=half.split_of_id) | Q(split_of=half.split_of_id)
    )
    ids = set(family.values_list("pk", flat=True)) if half.split_of_id else set()
    return half.split_of_id not in ids or not ids.isdisjoint(hidden)


def without_half(dataset: Dataset) -> QuerySet[Case, int]:
    """The ids of the cases with a current answer that no draw has marked, in their order."""
    rows = Case.objects.filter(_answered(), dataset=dataset, half="")
    return rows.order_by("position").values_list("pk", flat=True)


def same_words(dataset: Dataset) -> int:
    """How many current answers to dev cases ask and say what one to a test case does: they leak into it."""
    current = Item.objects.current().filter(dataset=dataset).exclude(content_hash="").order_by()
    twins = current.filter(case__half=TEST, content_hash=OuterRef("content_hash"))
    return current.filter(Exists(twins), case__half=DEV).count()


def read_half(text: str) -> str:
    """As addresses and commands say it: dev, test, none (of neither), or nothing for all. Raises Invalid."""
    if text in ("", *HALVES):
        return text
    raise Invalid.at("split", repr(text[:40]), ", ".join(HALVES))


def of_half(items: QuerySet[Item], half: str) -> QuerySet[Item]:
    """Those whose cases are in this half, as `read_half` reads it."""
    return items.filter(case__half="" if half == WITHOUT else half) if half else items


def in_half(items: QuerySet[Item], dataset: Dataset, half: str) -> QuerySet[Item]:
    """Those to cases in this half of the dataset, dev or test, as runs and queues are over one; "" is all.

    Raises Invalid for another word, and for a half without any of them.
    """
    if not half:
        return items
    if half not in SEALS:
        raise Invalid.at("split", repr(half[:40]), ", ".join(SEALS))
    found = of_half(items, half)
    if not found.exists():
        raise Invalid.at(
            "split", f"no {half} case in {dataset}", "all cases, or a dataset whose cases are split"
        )
    return found


def _answered() -> Exists:
    return Exists(Item.objects.current().filter(case=OuterRef("pk")).order_by())
