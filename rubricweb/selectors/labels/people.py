"""What people said, by the criteria of the rubric versions it is read by: the one reader of people's labels.

A label belongs to the words it was given to. It counts for a criterion of another version where both have one
meaning: see `Meaning`. So ground truth, comparisons, boards, exports and few-shot examples outlive a new
version.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q
from django.db.models.functions import Coalesce, Greatest

from rubricweb.models import Adjudication, Criterion, Judgement, Rater, RaterKind, ReviewQueue, Run

Unit = tuple[int, int]
"""(item id, criterion id): what one label is about."""


@dataclass(frozen=True)
class Reading:
    """For which criterion a label counts, by the criterion it was given to; others count for their own."""

    counts_for: Mapping[int, int] = field(default_factory=dict)

    def __call__(self, criterion_id: int) -> int:
        return self.counts_for.get(criterion_id, criterion_id)


class PersonLabel(NamedTuple):
    """One rater's label on one unit: `verdict` before anything was revealed to them, `final` after it.

    `criterion_id` is the criterion it counts for, `given_to` the one it was given to. `rater` and `at`, when
    it was submitted or last changed, are only read where they are asked for.
    """

    item_id: int
    criterion_id: int
    rater_id: int
    verdict: str
    final: str
    given_to: int
    judgement_id: int
    rater: str = ""
    at: datetime | None = None

    @property
    def unit(self) -> Unit:
        return (self.item_id, self.criterion_id)


def readings(
    queues: Iterable[ReviewQueue], *, runs: Iterable[Run] = (), version: int | None = None
) -> Mapping[int, Reading]:
    """Dataset id → how labels of its items are read; those of other datasets by `version` alone.

    Where several versions have the meaning of a label, it counts for `version`, else for the newest of the
    runs over the dataset, else for the newest of its queues. One query.
    """
    wanted: dict[int, list[int]] = defaultdict(list)
    of_runs = [(run.rubric_version_id, run.dataset_id) for run in runs]
    of_queues = [(queue.rubric_version_id, queue.dataset_id) for queue in queues]
    for rows in (of_runs, of_queues):
        for version_id, dataset_id in sorted(rows, key=lambda row: -(row[0] or 0)):
            wanted[dataset_id] += [] if version_id is None else [version_id]
    first = [] if version is None else [version]
    meanings = _meanings({*first, *(version_id for several in wanted.values() for version_id in several)})
    elsewhere = reading_of(first, meanings)
    found: dict[int, Reading] = defaultdict(lambda: elsewhere)
    for dataset_id, several in wanted.items():
        found[dataset_id] = reading_of([*first, *several], meanings)
    return found


def reading_by(version: int | None) -> Reading:
    """How labels are read by one version alone; None is an item's own rubric, which reads its own."""
    return Reading() if version is None else reading_of([version], _meanings([version]))


def reading_of(versions: Sequence[int], meanings: Iterable[Mapping[int, int]]) -> Reading:
    """Each label counts for the first of these versions that has its meaning."""
    counts_for: dict[int, int] = {}
    for of_version in meanings:
        target = next((of_version[version] for version in versions if version in of_version), None)
        if target is not None:
            counts_for |= {pk: target for pk in of_version.values() if pk != target}
    return Reading(counts_for)


def _meanings(versions: Collection[int]) -> list[dict[int, int]]:
    """Every meaning that one of these versions has, as version id → criterion id, in all versions. One
    query.
    """
    if not versions:
        return []
    members = Criterion.objects.filter(meaning__criteria__version__in=versions).order_by().distinct()
    found: dict[int | None, dict[int, int]] = defaultdict(dict)
    for pk, version_id, meaning_id in members.values_list("pk", "version_id", "meaning_id"):
        found[meaning_id][version_id] = pk
    return list(found.values())


def people_labels(
    queues: Sequence[ReviewQueue],
    *,
    runs: Iterable[Run] = (),
    version: int | None = None,
    items: Collection[int] | None = None,
    detailed: bool = False,
) -> list[PersonLabel]:
    """Submitted labels in these queues, by item, criterion and rater, each read as `readings` says.

    Of one rater's labels on a unit that given to the criterion itself counts, else the newest. What a file
    settled is no further vote beside people's: it counts on units none of them labelled. `items` narrows it
    to some; `detailed` reads who and when as well. Three queries.
    """
    read = readings(queues, runs=runs, version=version)
    settled = set(
        Rater.objects.filter(queues__in=queues, kind=RaterKind.SETTLED).values_list("pk", flat=True)
    )
    rows = Judgement.objects.in_reviews(queue__in=queues).filter(verdict__isnull=False)
    if items is not None:
        rows = rows.filter(item__in=items)
    said_columns = ["verdict", "final", "criterion_id", "pk"]
    rows = rows.annotate(final=Coalesce("revision__verdict", "verdict")).order_by("pk")
    if detailed:
        revised = Coalesce("revision__revised_at", "review__submitted_at")
        rows = rows.annotate(at=Greatest("review__submitted_at", revised))
        said_columns += ["review__rater__name", "at"]
    kept: dict[Unit, dict[int, PersonLabel]] = defaultdict(dict)
    for item_id, dataset_id, rater_id, *said in rows.values_list(
        "item_id", "review__queue__dataset_id", "review__rater_id", *said_columns
    ):
        given_to = said[2]
        counts_for = read[dataset_id](given_to)
        of_unit = kept[item_id, counts_for]
        earlier = of_unit.get(rater_id)
        if earlier is None or given_to == counts_for or earlier.given_to != counts_for:
            of_unit[rater_id] = PersonLabel(item_id, counts_for, rater_id, *said)
    return [
        by_rater[rater_id]
        for _, by_rater in sorted(kept.items())
        for rater_id in sorted(_that_count(by_rater, settled))
    ]


def _that_count(raters: Collection[int], settled: Collection[int]) -> Collection[int]:
    """The raters of a unit whose labels count: people; without any, those who settled it in a file."""
    people = [rater for rater in raters if rater not in settled]
    return people or raters


class Decision(NamedTuple):
    """What stands by adjudication, with the id of its row and of the criterion it was decided on."""

    adjudication_id: int
    verdict: str
    cause: str
    reason: str
    given_to: int


def decisions(
    queues: Sequence[ReviewQueue],
    *,
    runs: Iterable[Run] = (),
    version: int | None = None,
    items: Collection[int] | None = None,
) -> dict[Unit, Decision]:
    """Unit → what was decided on items of these queues' datasets, or on these `items`, read as `readings`
    says.

    Two queries.

    Of several decisions that on the criterion itself stands, else the newest.
    """
    read = readings(queues, runs=runs, version=version)
    rows = Adjudication.objects.filter(
        Q(item__dataset__in={queue.dataset_id for queue in queues}) if items is None else Q(item__in=items)
    )
    found: dict[Unit, Decision] = {}
    columns = ("item_id", "item__dataset_id", "pk", "verdict", "cause", "reason", "criterion_id")
    for item_id, dataset_id, *decided in rows.order_by("decided_at", "pk").values_list(*columns):
        decision = Decision(*decided)
        unit = (item_id, read[dataset_id](decision.given_to))
        earlier = found.get(unit)
        if earlier is None or decision.given_to == unit[1] or earlier.given_to != unit[1]:
            found[unit] = decision
    return found
