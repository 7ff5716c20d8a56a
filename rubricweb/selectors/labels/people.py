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

from rubricweb.engine.origin import Origin, origin_of
from rubricweb.models import Adjudication, Criterion, Judgement, Rater, RaterKind, ReviewQueue, Run
from rubricweb.selectors.labels.meanings import SharedMeaning, meanings_of
from rubricweb.selectors.shared.option_maps import flows

Unit = tuple[int, int]
"""(item id, criterion id): what one label is about."""


@dataclass(frozen=True)
class LabelMapping:
    """For which criterion a label counts, by the criterion it was given to; others count for their own.

    Where an author carried labels to other options, `option_maps` has what each label counts as there.
    """

    counts_for: Mapping[int, int] = field(default_factory=dict)
    option_maps: Mapping[int, Mapping[str, str]] = field(default_factory=dict)

    def criterion(self, given_to: int) -> int:
        """The criterion for which labels that were given to this one count."""
        return self.counts_for.get(given_to, given_to)

    def label(self, given_to: int, label: str) -> tuple[int, str]:
        """The criterion a label counts for, and as what; its own and itself where it is carried to
        nothing.
        """
        options = self.option_maps.get(given_to)
        if options is None:
            return self.criterion(given_to), label
        return (self.criterion(given_to), options[label]) if label in options else (given_to, label)

    def labels(self, given_to: int, verdict: str, final: str) -> tuple[int, str, str]:
        """The criterion a first and a final label count for, and as what; both stay as they were given where
        one of them is carried to nothing.
        """
        counts_for, final_here = self.label(given_to, final)
        first_for, verdict_here = self.label(given_to, verdict)
        return (
            (counts_for, verdict_here, final_here) if first_for == counts_for else (given_to, verdict, final)
        )


class PersonLabel(NamedTuple):
    """One rater's label on one unit: `verdict` before anything was revealed to them, `final` after it.

    `criterion_id` is the criterion it counts for, `given_to` the one it was given to. `rater`, `at`, when it
    was submitted or last changed, and `origin` are only read where they are asked for.
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
    origin: Origin | None = None

    @property
    def unit(self) -> Unit:
        return (self.item_id, self.criterion_id)


def readings(
    queues: Iterable[ReviewQueue], *, runs: Iterable[Run] = (), version: int | None = None
) -> Mapping[int, LabelMapping]:
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
    meanings = meanings_of({*first, *(version_id for several in wanted.values() for version_id in several)})
    elsewhere = reading_of(first, meanings)
    found: dict[int, LabelMapping] = defaultdict(lambda: elsewhere)
    for dataset_id, several in wanted.items():
        found[dataset_id] = reading_of([*first, *several], meanings)
    return found


def reading_by(version: int | None) -> LabelMapping:
    """How labels are read by one version alone; None is an item's own rubric, which reads its own."""
    return LabelMapping() if version is None else reading_of([version], meanings_of([version]))


def reading_of(versions: Sequence[int], meanings: Mapping[int, SharedMeaning]) -> LabelMapping:
    """Each label counts for the first of these versions that has its meaning, or into which it flows."""
    rank = {version: place for place, version in reversed(list(enumerate(versions)))}
    best: dict[int, tuple[int, int, Mapping[str, str] | None]] = {}
    for meaning in meanings.values():
        ranked = [(rank[version], pk) for version, pk in meaning.members.items() if version in rank]
        if not ranked:
            continue
        place, target = min(ranked)
        for flowing, options in flows(meaning, meanings):
            for pk in flowing.members.values():
                if pk not in best or place < best[pk][0]:
                    best[pk] = (place, target, options)
    moved = {pk: found for pk, found in best.items() if found[1] != pk}
    return LabelMapping(
        {pk: target for pk, (_, target, _) in moved.items()},
        {pk: options for pk, (_, _, options) in moved.items() if options is not None},
    )


def people_labels(
    queues: Sequence[ReviewQueue],
    *,
    runs: Iterable[Run] = (),
    version: int | None = None,
    items: Collection[int] | None = None,
    detailed: bool = False,
    also_in: Sequence[ReviewQueue] = (),
) -> list[PersonLabel]:
    """Submitted labels in these queues, by item, criterion and rater, each read as `readings` says.

    Of one rater's labels on a unit that given to the criterion itself counts; of several of these, or of
    others, that submitted last. What a file settled is no further vote beside people's: it counts on units
    none of them labelled. `items` narrows it to some; `detailed` reads who, when and from where as well;
    `also_in` are more queues over the same datasets, whose labels are read as those of `queues`.
    Three queries.
    """
    read = readings(queues, runs=runs, version=version)
    everywhere = [*queues, *also_in]
    settled = set(
        Rater.objects.filter(queues__in=everywhere, kind=RaterKind.SETTLED).values_list("pk", flat=True)
    )
    rows = Judgement.objects.in_reviews(queue__in=everywhere).filter(verdict__isnull=False)
    if items is not None:
        rows = rows.filter(item__in=items)
    said_columns = ["verdict", "final", "criterion_id", "pk"]
    rows = rows.annotate(final=Coalesce("revision__verdict", "verdict")).in_order_given()
    if detailed:
        revised = Coalesce("revision__revised_at", "review__submitted_at")
        rows = rows.annotate(at=Greatest("review__submitted_at", revised))
        said_columns += ["review__rater__name", "at", "review__rater__kind", "review__imported"]
    kept: dict[Unit, dict[int, PersonLabel]] = defaultdict(dict)
    for item_id, dataset_id, rater_id, verdict, final, given_to, *rest in rows.values_list(
        "item_id", "review__queue__dataset_id", "review__rater_id", *said_columns
    ):
        counts_for, verdict_here, final_here = read[dataset_id].labels(given_to, verdict, final)
        of_unit = kept[item_id, counts_for]
        if detailed:
            *rest, kind, imported = rest
            rest.append(origin_of(kind, imported=imported))
        earlier = of_unit.get(rater_id)
        if earlier is None or given_to == counts_for or earlier.given_to != counts_for:
            of_unit[rater_id] = PersonLabel(
                item_id, counts_for, rater_id, verdict_here, final_here, given_to, *rest
            )
    return [
        by_rater[rater_id]
        for _, by_rater in sorted(kept.items())
        for rater_id in sorted(_that_count(by_rater, settled))
    ]


def labelled_units(
    queues: Sequence[ReviewQueue], *, read_with: Sequence[ReviewQueue], runs: Iterable[Run] = ()
) -> set[Unit]:
    """The units of which somebody gave a label in these queues, read as those of `read_with` are. Two
    queries.
    """
    read = readings(read_with, runs=runs)
    rows = Judgement.objects.in_reviews(queue__in=queues).filter(verdict__isnull=False).order_by()
    columns = rows.values_list("item_id", "review__queue__dataset_id", "criterion_id", "verdict")
    return {
        (item_id, read[dataset_id].label(given_to, verdict)[0])
        for item_id, dataset_id, given_to, verdict in columns.distinct()
        if verdict is not None
    }


def _that_count(raters: Collection[int], settled: Collection[int]) -> Collection[int]:
    """The raters of a unit whose labels count: people; without any, those who settled it in a file."""
    people = [rater for rater in raters if rater not in settled]
    return people or raters


class AppliedAdjudication(NamedTuple):
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
    datasets: Collection[int] = (),
) -> dict[Unit, AppliedAdjudication]:
    """Unit → what was decided on items of these queues' datasets and of `datasets`, by id, or on these
    `items`, read as `readings` says.

    Two queries.

    Of several decisions that on the criterion itself stands, else the newest.
    """
    read = readings(queues, runs=runs, version=version)
    everywhere = {*datasets, *(queue.dataset_id for queue in queues)}
    rows = Adjudication.objects.undeleted().filter(
        Q(item__dataset__in=everywhere) if items is None else Q(item__in=items)
    )
    found: dict[Unit, AppliedAdjudication] = {}
    columns = ("item_id", "item__dataset_id", "pk", "verdict", "cause", "reason", "criterion_id")
    for item_id, dataset_id, pk, verdict, cause, reason, given_to in rows.order_by(
        "decided_at", "pk"
    ).values_list(*columns):
        counts_for, verdict_here = read[dataset_id].label(given_to, verdict)
        earlier = found.get((item_id, counts_for))
        if earlier is None or given_to == counts_for or earlier.given_to != counts_for:
            found[item_id, counts_for] = AppliedAdjudication(pk, verdict_here, cause, reason, given_to)
    return found


def decided_alone(
    decided: Mapping[Unit, AppliedAdjudication], labelled: Collection[Unit], *, versions: Collection[int]
) -> dict[Unit, AppliedAdjudication]:
    """Those of criteria of these rubric versions, or of items' own rubrics, on units that nobody's label is
    left of: queues are deleted, what was decided in them stays. `labelled` are units known to have some.
    Three queries at most.
    """
    left = {unit: one for unit, one in decided.items() if unit not in labelled}
    asked = Q(version__in=versions) | Q(version__rubric=None)
    criteria = (
        Criterion.objects.filter(asked, pk__in={criterion_id for _, criterion_id in left}) if left else []
    )
    known = {criterion.pk for criterion in criteria}
    left = {unit: one for unit, one in left.items() if unit[1] in known}
    if not left:
        return {}
    given_to = Criterion.objects.filter(pk__in={one.given_to for one in left.values()})
    meanings = dict(given_to.values_list("pk", "meaning_id"))
    judgements = Judgement.objects.in_reviews(item__in={item_id for item_id, _ in left})
    rows = judgements.filter(verdict__isnull=False).order_by()
    units = set(rows.values_list("item_id", "criterion_id"))
    by_meaning = set(rows.exclude(criterion__meaning=None).values_list("item_id", "criterion__meaning"))
    return {
        (item_id, criterion_id): one
        for (item_id, criterion_id), one in left.items()
        if (item_id, one.given_to) not in units and (item_id, meanings[one.given_to]) not in by_meaning
    }


def decided_rows(decided: Mapping[Unit, AppliedAdjudication]) -> dict[Unit, Adjudication]:
    """The rows of these decisions, each with its label as it is read: to be shown, never saved. One query."""
    rows = Adjudication.objects.select_related("criterion", "decided_by").in_bulk(
        [decision.adjudication_id for decision in decided.values()]
    )
    found = {unit: rows[decision.adjudication_id] for unit, decision in decided.items()}
    for unit, row in found.items():
        row.verdict = decided[unit].verdict
    return found
