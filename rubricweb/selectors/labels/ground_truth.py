"""What people said about every unit, what stands there, and what a run said."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from rubricweb.engine.formats.result_files import GROUND_TRUTH_RATER
from rubricweb.engine.ground_truth import majority, vote_rule
from rubricweb.models import Adjudication, Judgement, Rater, RaterKind, Review, ReviewQueue, Run, in_reviews

Unit = tuple[int, int]
"""(item id, criterion id): what one label is about."""

Labels = dict[Unit, dict[int, str]]
"""Unit → rater id → the label they gave: a verdict, or an option's own label."""

SETTLED_RATER = "ground truth"
"""The rater by whose name the ground truth of a dataset file is kept."""

SETTLED_RATERS = (SETTLED_RATER, GROUND_TRUTH_RATER)
"""The same with the name our own exports of ground truth carry."""


@dataclass(frozen=True)
class Truth:
    """The label that stands for a unit, and by which of the RULES; None while people are tied.

    `labels` counts those of people. An adjudication that only accepted what all said stays unanimous.
    """

    verdict: str | None
    rule: str
    labels: int


def people_first(queues: Sequence[ReviewQueue]) -> list[ReviewQueue]:
    """The queues that count unless somebody chooses: those people labelled.

    The settled labels of a file are no further vote beside people's: they count where nobody else labelled
    the dataset, and when they are asked for. Labels of machines never count.
    """
    links = ReviewQueue.raters.through.objects.filter(reviewqueue__in=queues)
    kinds = set(links.values_list("reviewqueue_id", "rater__kind"))
    by_people, settled = (
        {pk for pk, kind in kinds if kind == wanted} for wanted in (RaterKind.HUMAN, RaterKind.SETTLED)
    )
    labelled = {queue.dataset_id for queue in queues if queue.pk in by_people}
    return [
        queue
        for queue in queues
        if queue.pk in by_people or (queue.pk in settled and queue.dataset_id not in labelled)
    ]


def reviewed_items(queues: Sequence[ReviewQueue]) -> QuerySet[Review, int]:
    """Ids of the items that somebody submitted a review of, for asking `item__in`."""
    submitted = Review.objects.by_people().filter(queue__in=queues).order_by()
    return submitted.values_list("item", flat=True)


def labels_that_count(queues: Sequence[ReviewQueue]) -> QuerySet[Judgement]:
    """Submitted labels of people in these queues; of units none of them labelled, what a file settled.

    So it is unit by unit whichever queues were picked: a settled label is never one more vote.
    """
    said = Judgement.objects.in_reviews(queue__in=queues).filter(verdict__isnull=False)
    links = ReviewQueue.raters.through.objects.filter(reviewqueue__in=queues)
    if not {RaterKind.HUMAN, RaterKind.SETTLED} <= set(links.values_list("rater__kind", flat=True)):
        return said
    by_people = Judgement.objects.in_reviews(queue__in=queues, rater__kind=RaterKind.HUMAN).filter(
        item=OuterRef("item"), criterion=OuterRef("criterion"), verdict__isnull=False
    )
    return said.exclude(in_reviews(rater__kind=RaterKind.SETTLED) & Q(Exists(by_people)))


def of_people(labelled: Labels) -> Labels:
    """The same labels without settled ones: seats, ceilings and agreement among people are made of these."""
    raters = {rater for by_rater in labelled.values() for rater in by_rater}
    settled = set(Rater.objects.filter(pk__in=raters, kind=RaterKind.SETTLED).values_list("pk", flat=True))
    if not settled:
        return labelled
    return {
        unit: {rater: label for rater, label in by_rater.items() if rater not in settled}
        for unit, by_rater in labelled.items()
    }


def labels(queues: Sequence[ReviewQueue], *, final: bool = False) -> Labels:
    """Submitted labels by unit and rater: the initial ones, given before anything was revealed.

    Those are what agreement is measured on. `final` ones, after the reveal, are what ground truth is made of.
    They are people's, else what a file settled: see `labels_that_count`.
    """
    found: Labels = defaultdict(dict)
    rows = labels_that_count(queues).annotate(
        label=Coalesce("revision__verdict", "verdict") if final else F("verdict")
    )
    for item_id, criterion_id, rater_id, label in rows.order_by(
        "item_id", "criterion_id", "review__rater_id", "pk"
    ).values_list("item_id", "criterion_id", "review__rater_id", "label"):
        found[item_id, criterion_id][rater_id] = str(label)
    return dict(found)


def ground_truth(queues: Sequence[ReviewQueue], labelled: Labels | None = None) -> dict[Unit, Truth]:
    """What stands for every labelled unit: an adjudication, else the majority of final labels.

    `labelled` are the labels to count instead: the initial ones where a judge is held against people, so that
    nobody is compared with a judge whose verdict they had already seen.
    """
    labelled = labels(queues, final=True) if labelled is None else labelled
    decided = {
        (item_id, criterion_id): (verdict, cause)
        for item_id, criterion_id, verdict, cause in Adjudication.objects.filter(
            item__dataset__in={queue.dataset_id for queue in queues}
        ).values_list("item_id", "criterion_id", "verdict", "cause")
    }
    truths = {}
    for unit, by_rater in labelled.items():
        if unit in decided:
            verdict, cause = decided[unit]
            truths[unit] = Truth(verdict, "adjudicated" if cause else "unanimous", len(by_rater))
        else:
            said = list(by_rater.values())
            truths[unit] = Truth(majority(said), vote_rule(said), len(said))
    return truths


@dataclass(frozen=True)
class RunAnswers:
    """What a run said: labels of its judge, values of its checks, and the units where it failed."""

    labels: dict[Unit, str] = field(default_factory=dict)
    values: dict[Unit, float] = field(default_factory=dict)
    failed: frozenset[Unit] = frozenset()


def run_answers(
    run: Run, *, beside: Sequence[ReviewQueue] | None = None, everywhere: Collection[int] = ()
) -> RunAnswers:
    """The run's answers, the first of each where it asked several times.

    `beside` queues leaves out what nobody can hold against people: answers on items without a submitted
    review of theirs. A run may be a hundred times as big as what was reviewed. `everywhere` are
    the ids of criteria whose answers stay in on every item.
    """
    said: dict[Unit, str] = {}
    values: dict[Unit, float] = {}
    failed: set[Unit] = set()
    rows = Judgement.objects.filter(run=run, repeat=0)
    if beside is not None:
        kept = Q(item__in=reviewed_items(beside))
        if everywhere:
            kept |= Q(criterion__in=everywhere)
        rows = rows.filter(kept)
    for item_id, criterion_id, verdict, value in rows.values_list(
        "item_id", "criterion_id", "verdict", "value"
    ):
        if verdict is not None:
            said[item_id, criterion_id] = verdict
        elif value is not None:
            values[item_id, criterion_id] = value
        else:
            failed.add((item_id, criterion_id))
    return RunAnswers(said, values, frozenset(failed))
