"""Looks at the test half of a dataset: judges held against people on its cases (decision 0032)."""

from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from django.db.models import QuerySet

from rubricweb.engine.agreement.intervals import confidence_of_look
from rubricweb.engine.datasets.overlaps import salted
from rubricweb.models import Dataset, HalfLook, Item, Run, User

TEST = "test"
CHUNK = 5000


@dataclass(frozen=True)
class Look:
    """One look; `number` counts those at the same half, of all people, rubrics and judges, from the first.

    What is claimed at it holds at `confidence`, see `confidence_of_look`. `units`, `items` and `seal` are
    None where it is `withheld`, while something of the dataset is hidden from the reader: what could be
    compared tells who abstained, the seal who answered. The rest is as in `HalfLook`.
    """

    number: int
    confidence: float
    units: int | None
    items: int | None
    dataset: Dataset
    dataset_version: int
    seal: str | None
    run: Run | None
    looked_by: User | None
    at: datetime

    @property
    def withheld(self) -> "Look":
        """The same, without what it tells of hidden labels and of who answered."""
        return replace(self, units=None, items=None, seal=None)


def looks(dataset: Dataset) -> list[Look]:
    """All of them, the newest first. One query."""
    rows = list(_rows().filter(dataset=dataset).order_by("-pk"))
    return [_numbered(row, len(rows) - place) for place, row in enumerate(rows)]


def look_with(dataset: Dataset, data: str) -> Look | None:
    """The look at these verdicts and labels (see `HalfLook.data`), if there was one. Two queries."""
    row = _rows().filter(dataset=dataset, data=data).first()
    if row is None:
        return None
    number = HalfLook.objects.filter(dataset=dataset, pk__lte=row.pk).count()
    return _numbered(row, number)


def _rows() -> QuerySet[HalfLook]:
    return HalfLook.objects.select_related("dataset", "run", "looked_by")


def _numbered(row: HalfLook, number: int) -> Look:
    return Look(
        number=number,
        confidence=confidence_of_look(number),
        units=row.units,
        items=row.items,
        dataset=row.dataset,
        dataset_version=row.dataset_version,
        seal=row.seal,
        run=row.run,
        looked_by=row.looked_by,
        at=row.at,
    )


def tested_items(dataset: Dataset) -> QuerySet[Item]:
    """The items a judge is tested on, retired ones too: answers to test cases, or a sealed copy of such."""
    items = Item.objects.filter(dataset=dataset)
    return items if dataset.sealed_as == TEST else items.filter(case__half=TEST)


def seal_of(dataset: Dataset) -> str:
    """Digest of the answers that are in the test half now, whose they are and to which words of which case,
    with the salt of the dataset.

    It changes where an answer comes in, is corrected or retired; labels do not change it. One query.
    """
    current = tested_items(dataset).filter(pk__in=Item.objects.current().filter(dataset=dataset))
    columns = ("case__key", "wording", "system_version__system__name", "system_version__label", "attempt")
    rows = current.order_by("case__position", "wording", "position").values_list(*columns, "content_hash")
    digest = sha256()
    for row in rows.iterator(chunk_size=CHUNK):
        digest.update("\0".join(map(str, row)).encode() + b"\n")
    return salted(digest.hexdigest(), dataset.seal_salt)
