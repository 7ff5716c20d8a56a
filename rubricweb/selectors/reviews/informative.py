"""How much an item would tell if a person looked at it: where raters, judges and repeats did not agree."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Max, Min, Q, QuerySet

from rubricweb.models import (
    Criterion,
    Dataset,
    Item,
    Judgement,
    RubricVersion,
    Run,
    RunItem,
    Vote,
)
from rubricweb.selectors.labels.comparable import counting_queues
from rubricweb.selectors.labels.ground_truth import Unit, labels, run_answers
from rubricweb.selectors.labels.people import reading_by

REASONS = {
    "people": "people disagree with each other",
    "judge": "the judge differs from people",
    "flips": "the judge’s votes or repeats differ",
    "cannot_assess": "the judge cannot assess",
    "low_confidence": "the judge is not sure",
    "errors": "the judge failed",
}
"""Why an item is worth a look, the weightiest first."""

WEIGHTS = {reason: 2 ** (len(REASONS) - 1 - place) for place, reason in enumerate(REASONS)}
"""people 32, judge 16, flips 8, cannot_assess 4, low_confidence 2, errors 1."""

LOW_CONFIDENCE = 0.7
"""A judge that says less of its verdict is not sure of it."""

ReasonsByItem = Mapping[int, Mapping[str, frozenset[int]]]
"""Item id → reason → the criteria it holds for; empty where it is about the item as a whole."""


def reasons(
    dataset: Dataset,
    run: Run | None,
    wanted: Collection[str] = REASONS,
    *,
    criteria: Collection[Criterion] = (),
) -> ReasonsByItem:
    """Why each item of a dataset is worth a look; only items with at least one of the `wanted` reasons.

    People's labels are all submitted ones of the dataset, those of files too. Without a run there is only
    the first reason. With `criteria` what holds for others is left out. A handful of queries, whatever the
    size.
    """
    asked = {criterion.pk: criterion.version_id for criterion in criteria}
    read = reading_by(next(iter(asked.values()), None))
    found: dict[int, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for reason in wanted:
        for units in _units(dataset, run, reason):
            for item_id, criterion_id in units:
                if asked and criterion_id is not None and read.criterion(criterion_id) not in asked:
                    continue
                held = found[item_id][reason]
                if criterion_id is not None:
                    held.add(criterion_id)
    return {pk: {name: frozenset(units) for name, units in by.items()} for pk, by in found.items()}


def priorities(
    dataset: Dataset,
    version: RubricVersion | None,
    reasons_by_item: ReasonsByItem,
    *,
    criteria: Collection[Criterion] = (),
) -> dict[int, float]:
    """Item id → priority, for the items with a reason; all others have 0.

    The weights of its reasons added up, so that a weightier reason outweighs all lighter ones together, and
    half the share of its criteria they hold for: of these `criteria` where a queue asks about no others.
    Votes that differ on one of three criteria, on which the judge also cannot assess: 8 + 4 + ½ · 1/3 =
    12.167.
    """
    items = Item.objects.current().filter(dataset=dataset, rubric_version__isnull=False)
    own = dict(items.values_list("pk", "rubric_version_id"))
    asked = Criterion.objects.filter(
        Q(version=version) | Q(version__in=items.values("rubric_version"))
        if version
        else Q(version__in=items.values("rubric_version"))
    )
    counts = asked.order_by().values("version_id").annotate(n=Count("pk"))
    sizes = dict(counts.values_list("version_id", "n"))
    shared = version.pk if version else None
    if shared is not None and criteria:
        sizes[shared] = len(criteria)
    result = {}
    for pk, by in reasons_by_item.items():
        touched = len(frozenset().union(*by.values()))
        version_id = own.get(pk, shared)
        size = sizes.get(version_id, 0) if version_id is not None else 0
        share = min(1.0, touched / size) if size else 0.0
        result[pk] = sum(WEIGHTS[reason] for reason in by) + share / 2
    return result


def _units(dataset: Dataset, run: Run | None, reason: str) -> Iterable[Iterable[tuple[int, int | None]]]:
    """The (item id, criterion id) a reason holds for; criterion None where it holds for the whole item."""
    if reason == "people":
        said = labels(counting_queues(dataset), runs=_some(run))
        return [[unit for unit, by_rater in said.items() if len(set(by_rater.values())) > 1]]
    if run is None:
        return []
    answers = Judgement.objects.filter(run=run).order_by()
    if reason == "judge":
        return [_against_people(dataset, run)]
    if reason == "flips":
        votes = Vote.objects.filter(run=run, verdict__isnull=False).order_by()
        repeats = answers.filter(verdict__isnull=False)
        return [_pairs(_differing(rows)) for rows in (repeats, votes)]
    if reason == "cannot_assess":
        return [_pairs(answers.filter(verdict="CANNOT_ASSESS"))]
    if reason == "low_confidence":
        return [_pairs(answers.filter(confidence__lt=LOW_CONFIDENCE))]
    whole = RunItem.objects.filter(run=run, error_kind__isnull=False).values_list("item_id", flat=True)
    failed = answers.filter(error_kind__isnull=False)
    return [_pairs(failed), ((item_id, None) for item_id in whole.iterator(chunk_size=10_000))]


def _some(run: Run | None) -> list[Run]:
    return [] if run is None else [run]


def _against_people(dataset: Dataset, run: Run) -> list[Unit]:
    """The units whose verdict is not that of more than half of the people."""
    queues = counting_queues(dataset)
    judged = run_answers([run], beside=queues).labels
    return [
        unit
        for unit, by_rater in labels(queues, runs=[run]).items()
        if unit in judged and len(by_rater) >= 2 * list(by_rater.values()).count(judged[unit])
    ]


def _differing(rows: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
    units: QuerySet[Any, Any] = rows.values("item_id", "criterion_id").annotate(
        low=Min("verdict"), high=Max("verdict")
    )
    return units.exclude(low=F("high"))


def _pairs(rows: QuerySet[Any, Any]) -> Iterable[tuple[int, int | None]]:
    return rows.values_list("item_id", "criterion_id").iterator(chunk_size=10_000)


@dataclass(frozen=True)
class ReasonCount:
    reason: str
    words: str
    items: int


def reason_counts(reasons_by_item: ReasonsByItem, of: Collection[int]) -> list[ReasonCount]:
    """How many of these items there are for each reason, the weightiest first; reasons of none left out."""
    among = [reasons_by_item[pk] for pk in of if pk in reasons_by_item]
    counts = {reason: sum(reason in by for by in among) for reason in REASONS}
    return [ReasonCount(name, REASONS[name], counts[name]) for name in REASONS if counts[name]]
