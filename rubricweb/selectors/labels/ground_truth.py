"""What people said about every unit, what stands there, and what a run said."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Q, QuerySet

from rubricweb.engine.formats.result_files import GROUND_TRUTH_RATER
from rubricweb.engine.ground_truth import majority, vote_rule
from rubricweb.models import Item, Judgement, Rater, RaterKind, Review, ReviewQueue, ReviewState, Run
from rubricweb.selectors.labels.people import AppliedAdjudication, decided_alone, decisions, people_labels
from rubricweb.selectors.labels.people import Unit as Unit

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
    the dataset, and when they are asked for.
    """
    links = ReviewQueue.raters.through.objects.filter(reviewqueue__in=queues)
    kinds = set(links.values_list("reviewqueue_id", "rater__kind"))
    by_people, settled = (
        {pk for pk, kind in kinds if kind == wanted} for wanted in (RaterKind.HUMAN, RaterKind.SETTLED)
    )
    # Whoever labelled in a queue may rate in it no more: it stays people's, also when all of them left.
    only_settled = settled - by_people
    labelled = {queue.dataset_id for queue in queues if queue.pk not in only_settled}
    return [queue for queue in queues if queue.pk not in only_settled or queue.dataset_id not in labelled]


def reviewed_items(queues: Sequence[ReviewQueue]) -> QuerySet[Review, int]:
    """Ids of the items that somebody submitted a review of, for asking `item__in`."""
    submitted = Review.objects.filter(state=ReviewState.SUBMITTED, queue__in=queues).order_by()
    return submitted.values_list("item", flat=True)


def answers_of_other_systems(runs: Sequence[Run], queues: Sequence[ReviewQueue]) -> frozenset[int]:
    """The reviewed items that answer for system versions none of the runs is about. One query at most."""
    versions = {run.system_version_id for run in runs}
    if None in versions:
        return frozenset()
    reviewed = Item.objects.filter(pk__in=reviewed_items(queues)).exclude(system_version__in=versions)
    return frozenset(reviewed.values_list("pk", flat=True))


def of_people(labelled: Labels) -> Labels:
    """The same labels without settled ones: seats, ceilings and agreement among people are made of these."""
    settled = _settled(labelled)
    if not settled:
        return labelled
    return {
        unit: {rater: label for rater, label in by_rater.items() if rater not in settled}
        for unit, by_rater in labelled.items()
    }


def _settled(labelled: Labels) -> set[int]:
    """The raters by whose names files of ground truth are kept; one query."""
    raters = {rater for by_rater in labelled.values() for rater in by_rater}
    return set(Rater.objects.filter(pk__in=raters, kind=RaterKind.SETTLED).values_list("pk", flat=True))


def labels(
    queues: Sequence[ReviewQueue],
    *,
    final: bool = False,
    runs: Iterable[Run] = (),
    version: int | None = None,
) -> Labels:
    """Submitted labels by unit and rater: the initial ones, given before anything was revealed.

    Those are what agreement is measured on. `final` ones, after the reveal, are what ground truth is made of.
    They are people's, else what a file settled, read by `version`, `runs` and queues: see `people_labels`.
    """
    found: Labels = defaultdict(dict)
    for label in people_labels(queues, runs=runs, version=version):
        found[label.unit][label.rater_id] = label.final if final else label.verdict
    return dict(found)


def ground_truth(
    queues: Sequence[ReviewQueue],
    labelled: Labels | None = None,
    *,
    runs: Iterable[Run] = (),
    version: int | None = None,
    datasets: Collection[int] = (),
) -> dict[Unit, Truth]:
    """What stands for every labelled unit: an adjudication, else the majority of final labels. With
    `datasets` also what was decided on these, by id, and on those of the queues, where no label is left.

    `labelled` are the labels to count instead: the initial ones where a judge is held against people, so that
    nobody is compared with a judge whose verdict they had already seen, read by the same `runs` or `version`.
    """
    decided = decisions(queues, runs=runs, version=version, datasets=datasets)
    if labelled is None:
        labelled = labels(queues, final=True, runs=runs, version=version)
    alone: Mapping[Unit, AppliedAdjudication] = {}
    if datasets:
        read_by = [version, *(queue.rubric_version_id for queue in queues)]
        alone = decided_alone(decided, labelled, versions=[pk for pk in read_by if pk is not None])
    truths = {}
    by_file = _settled(labelled)
    for unit, by_rater in labelled.items():
        if unit in decided:
            truths[unit] = _decided(decided[unit], len(by_rater))
        else:
            said = list(by_rater.values())
            rule = vote_rule(said, settled=by_file.issuperset(by_rater))
            truths[unit] = Truth(majority(said), rule, len(said))
    return truths | {unit: _decided(decision, 0) for unit, decision in alone.items()}


def _decided(decision: AppliedAdjudication, labels: int) -> Truth:
    return Truth(decision.verdict, "adjudicated" if decision.cause else "unanimous", labels)


@dataclass(frozen=True)
class RunAnswers:
    """What runs said: labels of its judge, values of its checks, and the units where it failed."""

    labels: dict[Unit, str] = field(default_factory=dict)
    values: dict[Unit, float] = field(default_factory=dict)
    failed: frozenset[Unit] = frozenset()


def run_answers(
    runs: Iterable[Run], *, beside: Sequence[ReviewQueue] | None = None, everywhere: Collection[int] = ()
) -> RunAnswers:
    """The answers of runs that have no item in common, the first of each where a run asked several times.

    `beside` queues leaves out what nobody can hold against people: answers on items without a submitted
    review of theirs. A run may be a hundred times as big as what was reviewed. `everywhere` are
    the ids of criteria whose answers stay in on every item.
    """
    said: dict[Unit, str] = {}
    values: dict[Unit, float] = {}
    failed: set[Unit] = set()
    rows = Judgement.objects.filter(run__in=runs, repeat=0)
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
