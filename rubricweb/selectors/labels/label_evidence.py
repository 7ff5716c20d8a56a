"""What labels and judges have shown about the criteria of one rubric version so far."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from rubricweb import engine
from rubricweb.engine.agreement import Ratings, alpha_nominal, alpha_ordinal
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.raters.unit_values import UnitValue, bias_of
from rubricweb.engine.lint import CriterionEvidence
from rubricweb.engine.scoring.outcomes import outcome_of, value_of
from rubricweb.models import (
    Criterion,
    Item,
    Judgement,
    ReviewQueue,
    RubricVersion,
    Run,
    RunState,
    Team,
    User,
)
from rubricweb.selectors.blinding import hidden_items
from rubricweb.selectors.labels.by_kind import option_gaps, option_levels
from rubricweb.selectors.labels.ground_truth import (
    Labels,
    Unit,
    labels,
    of_people,
    people_first,
    reviewed_items,
)
from rubricweb.selectors.labels.meanings import counting_criteria
from rubricweb.selectors.labels.stored_answers import answer_of
from rubricweb.selectors.shared.cases import repeated_cases


def label_evidence(version: RubricVersion, team: Team, *, viewer: User) -> list[CriterionEvidence]:
    """One entry per criterion of the version that people labelled, on items this person may know of.

    Labels are those of people in every queue that asked what the version asks, settled labels of files where
    there are no others. The judge's bias beside the means of raters is that of the newest ended run of each
    dataset, so that an item counts once. Reads `version.criteria`; the number of queries
    does not depend on the number of items.
    """
    criteria = sorted(version.criteria.all(), key=lambda one: one.position)
    queues = people_first(_labelled_queues(version, criteria))
    hidden = set(hidden_items(viewer, team).values_list("pk", flat=True))
    by_rater = {
        unit: said for unit, said in labels(queues, version=version.pk).items() if unit[0] not in hidden
    }
    units: dict[int, list[Unit]] = defaultdict(list)
    for unit in by_rater:
        units[unit[1]].append(unit)
    said_by_people = of_people(by_rater)
    biases = _biases(version, queues, criteria, by_rater)
    return [
        CriterionEvidence(
            criterion=index,
            items=len(units[criterion.pk]),
            labels=Counter(label for unit in units[criterion.pk] for label in by_rater[unit].values()),
            alpha=alpha.value,
            alpha_units=alpha.n,
            judge_bias=biases.get(criterion.pk),
        )
        for index, criterion in enumerate(criteria)
        if units[criterion.pk]
        for alpha in [_alpha(criterion, units[criterion.pk], said_by_people)]
    ]


def _labelled_queues(version: RubricVersion, criteria: Iterable[Criterion]) -> list[ReviewQueue]:
    """Queues with a submitted label that counts for one of the version's criteria, whichever version it was
    given to; items bring their own to queues of any.
    """
    asked = {criterion.pk for criterion in criteria}
    for counting in counting_criteria(version.pk).values():
        asked |= set(counting.values())
    judgements = Judgement.objects.in_reviews(queue__team__deleted_at=None).filter(criterion__in=asked)
    return list(
        ReviewQueue.objects.filter(pk__in=judgements.order_by().values("review__queue")).order_by("pk")
    )


def _alpha(criterion: Criterion, units: Iterable[Unit], by_rater: Labels) -> Figure:
    triples = [(unit, rater, label) for unit in units for rater, label in by_rater[unit].items()]
    is_choice = criterion.kind == "choice"
    ratings = Ratings.from_triples(
        triples, gaps=option_gaps(criterion), levels=option_levels(criterion) if is_choice else None
    )
    measure = alpha_ordinal if criterion.scale_type == "ordinal" else alpha_nominal
    return measure(ratings, resamples=0)


def _biases(
    version: RubricVersion, queues: list[ReviewQueue], criteria: list[Criterion], by_rater: Labels
) -> dict[int, Figure]:
    """Criterion id → how far the judge moves the score beside people, over the items where both gave a value.

    People's value of an item is the mean of its raters: a majority would make them look strict where few of
    them say MET. Several answers to a case fall together.
    """
    asked = {criterion.pk: criterion.to_engine() for criterion in criteria if criterion.kind != "check"}
    cases = repeated_cases(Item.objects.filter(pk__in=reviewed_items(queues)))
    found: dict[int, list[UnitValue]] = defaultdict(list)
    answers = Judgement.objects.filter(
        run__in=_newest_runs(version, {queue.dataset_id for queue in queues}),
        repeat=0,
        criterion__in=asked,
        verdict__isnull=False,
    )
    for item_id, pk, verdict in answers.values_list("item_id", "criterion_id", "verdict"):
        said = {rater: _value(asked[pk], label) for rater, label in by_rater.get((item_id, pk), {}).items()}
        by_person = {rater: value for rater, value in said.items() if value is not None}
        judged = _value(asked[pk], str(verdict))
        if judged is not None and by_person:
            found[pk].append(UnitValue(judged, by_person, asked[pk].weight, cases.get(item_id, item_id)))
    return {pk: bias_of(units) for pk, units in found.items()}


def _newest_runs(version: RubricVersion, datasets: set[int]) -> list[int]:
    """The newest ended run of each dataset whose items were graded against the version."""
    runs = Run.objects.filter(dataset__in=datasets).exclude(state=RunState.RUNNING)
    if version.rubric_id is None:
        own = Item.objects.filter(rubric_version=version)
        runs = runs.filter(dataset__in=own.order_by().values("dataset"))
    else:
        runs = runs.filter(rubric_version=version)
    newest = {row[0]: row[1] for row in runs.order_by("created_at", "pk").values_list("dataset_id", "pk")}
    return list(newest.values())


def _value(criterion: engine.Criterion, label: str) -> float | None:
    return value_of(outcome_of(criterion, answer_of(criterion, label)))
