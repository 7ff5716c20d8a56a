"""Judge against people: ground truth, agreement per criterion, and what is behind each number."""

# Long because a comparison and the overview of it are made of the same units, side by side.

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q

from rubricweb.engine.agreement import Figure, HumanCeiling, MeanRates, PairAgreement, leaning
from rubricweb.engine.agreement.intervals import CONFIDENCE, widened
from rubricweb.engine.agreement.judge.matrix import ConfusionMatrixRow, confusion_matrix
from rubricweb.engine.agreement.raters.leading import (
    LeadingKappa,
    SeatKappas,
    WithinCriteria,
    leading_kappa,
    seat_kappas,
)
from rubricweb.engine.agreement.raters.unit_values import bias_of, rates_of
from rubricweb.engine.number_format import counted
from rubricweb.engine.scoring.effect import by_effect
from rubricweb.errors import Invalid
from rubricweb.models import (
    Criterion,
    Item,
    JudgeVersion,
    RaterKind,
    Review,
    ReviewQueue,
    ReviewState,
    Run,
    RunItem,
    User,
)
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.comparison.members import PanelComparison, compare_members
from rubricweb.selectors.comparison.people_means import PeopleEstimate, people_estimate
from rubricweb.selectors.comparison.people_rates import PeopleRate, people_rates
from rubricweb.selectors.comparison.people_scores import PeoplesScores, scored_rows
from rubricweb.selectors.comparison.scores import ScoreComparison, compare_item_scores
from rubricweb.selectors.datasets.looks import Look, tested_items
from rubricweb.selectors.judges import version_told_to
from rubricweb.selectors.labels.by_kind import (
    CriterionComparison,
    Evidence,
    UnitsOfTestHalf,
    tied_share,
    units_of_test_half,
)
from rubricweb.selectors.labels.ground_truth import (
    Unit,
    answers_of_other_systems,
    ground_truth,
    labels,
    of_people,
    reviewed_items,
    run_answers,
)
from rubricweb.selectors.labels.incomparable import choices_only, on_other_versions, one_verdict, why_nothing
from rubricweb.selectors.reviews.sampling import DescribedItems
from rubricweb.selectors.shared.cases import repeated_cases
from rubricweb.selectors.shared.unavailable import Unavailable

# ── Agreement ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Comparison:
    """A run, and the `runs` started with it over other system versions, against the people of some queues.

    They were graded alike, so that their judge is one. The estimate in `scores` alone is of `run`.

    `overall` is accuracy against ground truth: the majority of all people, or what was adjudicated. It stands
    beside no ceiling. `ceiling` is one person against the others, and its `judge` the run's judge in that
    person's seat, on the units the judge answered.

    `units` counts units with a ground truth, on `items`; of those the judge gave a label on `judged`
    (`coverage` is their share) and failed on `errors`. `undecided` counts units where people are tied.
    `overall`, `human_alpha`, `human_figures` (by name, α among them) and `ceiling` pool the `n_binary`
    units of binary criteria only, by effect: MET there says that an answer helped the score, whatever the
    sign of its criterion. Options of different criteria are no common scale. `within` is the same with
    chance counted within each criterion, and what is claimed rests on it; None where there is one
    criterion only, or all are items' own. `bias` is over all units both gave a value, `rates` over those
    of binary criteria, by effect; both are means over the means of each unit's raters, ties among them.
    `scores` compares whole items, whatever the kinds of their criteria. `panel` has the judges of a panel
    one by one, None for a single judge. `of_other_systems` counts units of items of system versions that
    none of the runs is about, and `on_other_versions` those labelled by another version of the rubric
    than the run's: the run was asked neither, and they are in no figure. `unavailable` says why no unit
    has an answer of both sides, `describes` of which items the figures tell. `tested` are those of the
    units that are on test cases, and `look` the look at these that was counted for it, if one was.
    `judge_version` is the version of its judge that graded the run, None without one and while it is not
    told.
    """

    run: Run
    runs: tuple[Run, ...]
    queues: tuple[ReviewQueue, ...]
    overall: PairAgreement
    n_binary: int
    has_penalties: bool
    bias: Figure
    rates: MeanRates
    human_alpha: Figure
    human_figures: Mapping[str, Figure]
    ceiling: HumanCeiling
    within: WithinCriteria | None
    scores: ScoreComparison
    raters: int
    items: int
    units: int
    judged: int
    errors: int
    undecided: int
    adjudicated: int
    hidden_items: int
    on_other_versions: int
    of_other_systems: int
    unavailable: Unavailable | None
    describes: DescribedItems | None
    criteria: tuple[CriterionComparison, ...]
    panel: PanelComparison | None
    tested: UnitsOfTestHalf
    look: Look | None = None
    tied_binary: int = 0
    judge_version: JudgeVersion | None = None

    @property
    def together(self) -> str:
        """Which runs are read as one judge; "" where it is one run."""
        if len(self.runs) == 1:
            return ""
        started = f"{self.run} was started together with {counted(len(self.runs) - 1, 'other run')}"
        systems = ", ".join(run.system or "no system named" for run in self.runs)
        return (
            f"{started}. All figures count them as one judge, over the answers of {systems}; only the "
            f"estimated human score is of {self.run} alone."
        )

    @property
    def confidence(self) -> float:
        """At which the claims of the comparison hold: 95 %, or what the look at the test half leaves."""
        return CONFIDENCE if self.look is None else self.look.confidence

    @property
    def coverage(self) -> float | None:
        return self.judged / self.units if self.units else None

    @property
    def tied_share(self) -> float | None:
        """The share of labelled units where people are tied: figures of majorities leave them out."""
        return tied_share(self.undecided, self.units)

    @property
    def leading(self) -> LeadingKappa:
        """The κ over all binary criteria that is shown first, and that words and gates rest on."""
        share = tied_share(self.tied_binary, self.n_binary)
        return leading_kappa(self.overall.kappa, self.ceiling, self.within, share)

    @property
    def on_own_rubrics(self) -> int:
        """Units on a single item's own rubric: they enter the overall figures only."""
        return self.units - sum(row.units for row in self.criteria)

    @property
    def scale_low(self) -> float:
        """Where the drawings of κ and α must begin so that nothing is cut off: 0, or the tenth below."""
        figures = [*self.overall.figures.values(), *self.human_figures.values(), self.human_alpha]
        for row in self.criteria:
            figures += [*row.agreement.figures.values(), *row.human_figures.values(), row.human_alpha]
        if (within := self.within) is not None:
            figures += [within.kappa, within.human_alpha, within.seat.kappa, within.seat.judge_kappa]
        for ceiling in (self.ceiling, *(row.ceiling for row in self.criteria)):
            figures += [ceiling.kappa, *([ceiling.judge.kappa] if ceiling.judge else [])]
        lows = [low for figure in figures for low in (figure.value, figure.low) if low is not None]
        return min(0.0, math.floor(min(lows, default=0.0) * 10) / 10)

    @property
    def matrix(self) -> tuple[ConfusionMatrixRow, ...]:
        return confusion_matrix(self.overall)

    @property
    def leaning(self) -> str:
        """ "lenient" or "strict"; "" where that cannot be told, or the bias of scores has the other sign."""
        bias = widened(self.bias, self.confidence)
        lean, of_scores = leaning(bias), self.scores.agreement.bias.value or 0.0
        return "" if of_scores * (self.bias.value or 0.0) < 0 else lean


def compare(
    run: Run, queues: Sequence[ReviewQueue], *, viewer: User, resamples: int = 1000, seed: int = 0
) -> Comparison:
    """Agreement of a run with the people of `queues`, overall and per criterion, with 95 % intervals.

    Runs that were started with it are read as one with it: the same judge, over other system versions.
    People's labels are the initial ones, given before anything was revealed to them. Only units with a
    decided ground truth count, and none of items the viewer is still to review blind.
    Abstentions (CANNOT_ASSESS, an option that says not applicable) and errors never count as agreement or
    disagreement: they are counted beside it. Raises Invalid when the queues are over another dataset.
    """
    _require_same_dataset(run, queues)
    hidden = hidden_of(viewer, run.team, run.dataset_id)
    runs = tuple(run.launched_with)
    by_rater = labels(queues, runs=[run])
    labelled = ground_truth(queues, by_rater, runs=[run])
    others_answered = answers_of_other_systems(runs, queues)
    of_others = {unit for unit in labelled if unit[0] in others_answered}
    labelled = {unit: truth for unit, truth in labelled.items() if unit not in of_others}
    elsewhere = on_other_versions(run, labelled)
    truths = {
        unit: truth for unit, truth in labelled.items() if unit[0] not in hidden and unit[1] not in elsewhere
    }
    criteria = list(Criterion.objects.filter(version_id=run.rubric_version_id).order_by("position"))
    checks = [criterion.pk for criterion in criteria if criterion.kind == "check"]
    answers = run_answers(runs, beside=queues, everywhere=checks)
    asked = _criteria_of(truths)
    cases = _cases(runs if checks else (), queues)
    evidence = Evidence(truths, by_rater, of_people(by_rater), answers, asked, resamples, seed, cases)
    pooled = evidence.by_effect
    others = _not_binary(asked)
    units = sorted(unit for unit, truth in truths.items() if truth.verdict is not None)
    binary = [unit for unit in units if unit[1] not in others]
    labelled_binary = [unit for unit in truths if unit[1] not in others]
    people = pooled.people(labelled_binary)
    scores = compare_item_scores(run, queues, evidence, by_rater, hidden)
    return Comparison(
        run=run,
        runs=runs,
        queues=tuple(queues),
        overall=pooled.pair(binary),
        n_binary=len(binary),
        has_penalties=evidence.has_penalties,
        bias=bias_of(evidence.valued(sorted(truths))),
        rates=rates_of(pooled.valued(sorted(labelled_binary))),
        human_alpha=people.alpha,
        human_figures=people.figures("compare"),
        ceiling=pooled.ceiling(labelled_binary),
        within=pooled.within(binary, labelled_binary, {criterion.pk for criterion in criteria}),
        scores=scores,
        raters=_raters(queues),
        items=len({item_id for item_id, _ in units}),
        units=len(units),
        judged=sum(unit in answers.labels for unit in units),
        errors=sum(unit in answers.failed for unit in units),
        undecided=sum(truth.verdict is None for truth in truths.values()),
        adjudicated=sum(truth.rule == "adjudicated" for truth in truths.values()),
        hidden_items=_left_out(runs, hidden),
        on_other_versions=sum(unit[1] in elsewhere for unit in labelled),
        of_other_systems=sum(unit[0] not in hidden for unit in of_others),
        unavailable=why_nothing(
            run, queues, labelled, of_others, answers, elsewhere=elsewhere, hidden=hidden, viewer=viewer
        ),
        describes=scores.estimate.described(truths),
        criteria=_per_criterion(criteria, evidence, hidden),
        panel=compare_members(runs, queues, evidence, criteria, others),
        tested=units_of_test_half(evidence, tested_items(run.dataset)),
        judge_version=version_told_to(run, viewer),
        tied_binary=len(labelled_binary) - len(binary),
    )


def _raters(queues: Sequence[ReviewQueue]) -> int:
    """How many people submitted a review in these queues; who settled labels in a file is none of them."""
    submitted = Review.objects.filter(state=ReviewState.SUBMITTED, rater__kind=RaterKind.HUMAN)
    return submitted.filter(queue__in=queues).values("rater").distinct().count()


def _per_criterion(
    criteria: Iterable[Criterion], evidence: Evidence, hidden: set[int]
) -> tuple[CriterionComparison, ...]:
    """The criteria of the run's rubric in order; none when every item brings its own."""
    labelled: dict[int, list[Unit]] = defaultdict(list)
    for unit in evidence.truths:
        labelled[unit[1]].append(unit)
    checked: dict[int, list[Unit]] = defaultdict(list)
    for unit in evidence.judged.values:
        if unit[0] not in hidden:
            checked[unit[1]].append(unit)
    return tuple(
        evidence.compared(criterion, labelled[criterion.pk], checked[criterion.pk]) for criterion in criteria
    )


def _criteria_of(units: Iterable[Unit]) -> dict[int, Criterion]:
    fields = ("kind", "weight", "options", "scale_type")
    return Criterion.objects.only(*fields).in_bulk({unit[1] for unit in units})


def _not_binary(criteria: Mapping[int, Criterion]) -> set[int]:
    return {pk for pk, criterion in criteria.items() if criterion.kind != "binary"}


@dataclass(frozen=True)
class Overview:
    """The `overall`, ceiling, `unavailable` and estimate of `compare`: for pages that show a number of each.

    `leading`, `within` and `items` are those of `compare`. `rates` is what people say of each criterion of
    the run's rubric, by its id, and `rates_describe` of which items.
    """

    run: Run
    runs: tuple[Run, ...]
    overall: PairAgreement
    leading: LeadingKappa
    ceiling: HumanCeiling
    within: WithinCriteria | None
    unavailable: Unavailable | None
    estimate: PeopleEstimate
    items: int
    rates: Mapping[int, PeopleRate]
    rates_describe: DescribedItems | None

    @property
    def seat(self) -> SeatKappas | None:
        """κ of a person and of the judge in that person's seat, within criteria where there are several."""
        return seat_kappas(self.ceiling, self.within)


def overview(
    run: Run, queues: Sequence[ReviewQueue], *, viewer: User, resamples: int = 1000, seed: int = 0
) -> Overview:
    """What `compare` says over all criteria, without the rest of its work."""
    _require_same_dataset(run, queues)
    hidden = hidden_of(viewer, run.team, run.dataset_id)
    runs = tuple(run.launched_with)
    by_rater = labels(queues, runs=[run])
    others_answered = answers_of_other_systems(runs, queues)
    found = ground_truth(queues, by_rater, runs=[run])
    labelled = {unit: truth for unit, truth in found.items() if unit[0] not in others_answered}
    elsewhere = on_other_versions(run, labelled)
    asked = _criteria_of(labelled)
    others = _not_binary(asked) | elsewhere
    units = sorted(
        unit
        for unit, truth in labelled.items()
        if truth.verdict is not None and unit[0] not in hidden and unit[1] not in others
    )
    answers = run_answers(runs, beside=queues)
    cases = _cases((), queues)
    evidence = Evidence(labelled, by_rater, of_people(by_rater), answers, asked, resamples, seed, cases)
    pooled = evidence.by_effect
    agreement = pooled.pair(units)
    labelled_binary = [unit for unit in labelled if unit[0] not in hidden and unit[1] not in others]
    of_others = found.keys() - labelled.keys()
    unavailable = why_nothing(
        run, queues, labelled, of_others, answers, elsewhere=elsewhere, hidden=hidden, viewer=viewer
    )
    criteria = list(Criterion.objects.filter(version_id=run.rubric_version_id))
    own = {criterion.pk for criterion in criteria}
    ceiling, within = pooled.ceiling(labelled_binary), pooled.within(units, labelled_binary, own)
    tied = tied_share(len(labelled_binary) - len(units), len(units))
    leading = leading_kappa(agreement.kappa, ceiling, within, tied)
    if unavailable is None and leading.kappa.value is None:
        unavailable = one_verdict(run, within=leading.within) if agreement.n else choices_only(run)
    rows = scored_rows([run], hidden)
    scores = PeoplesScores(run, rows).of(by_rater, answers.values)
    estimate = people_estimate(run, queues, rows, scores, hidden=hidden)
    items = {row.item_id for row in rows}
    return Overview(
        run=run,
        runs=runs,
        overall=agreement,
        leading=leading,
        ceiling=ceiling,
        within=within,
        unavailable=unavailable,
        estimate=estimate,
        items=len({item_id for item_id, _ in units}),
        rates=people_rates(criteria if rows else [], by_rater, items, estimate.samples, estimate.cases),
        rates_describe=estimate.described(
            {unit for unit in by_rater if unit[0] in items and unit[1] in own}, weighted=True
        ),
    )


def _left_out(runs: Sequence[Run], hidden: set[int]) -> int:
    """How many of the hidden items the runs graded. One query at most."""
    graded = RunItem.objects.filter(run__in=runs).order_by()
    return len(hidden.intersection(graded.values_list("item_id", flat=True))) if hidden else 0


def _cases(runs: Sequence[Run], queues: Sequence[ReviewQueue]) -> dict[int, int]:
    """The `repeated_cases` among the reviewed items and all of these runs. One query."""
    items = Q(pk__in=reviewed_items(queues))
    if runs:
        items |= Q(pk__in=RunItem.objects.filter(run__in=runs).order_by().values("item"))
    return repeated_cases(Item.objects.filter(items))


def _require_same_dataset(run: Run, queues: Sequence[ReviewQueue]) -> None:
    for queue in queues:
        if queue.dataset_id != run.dataset_id:
            raise Invalid(
                f"{queue} is over {queue.dataset}, the run is over {run.dataset}: nothing to compare."
            )


# ── Cells of the confusion matrix ────────────────────────────────────────────────────────────────


def cell_units(
    run: Run, queues: Sequence[ReviewQueue], *, judged: str, truth: str, criterion: Criterion | None = None
) -> list[Unit]:
    """The units behind one number of the confusion matrix: what the judge said where this stands.

    Of a criterion, else of all binary criteria pooled by effect. Labels are the initial ones, as in the
    matrix. Nothing is hidden here: whoever shows the units leaves out what its viewer may not see.
    """
    verdicts = run_answers(run.launched_with, beside=queues).labels
    truths = ground_truth(queues, labels(queues, runs=[run]), runs=[run])
    criteria = Criterion.objects.in_bulk({unit[1] for unit in truths})

    def in_matrix(label: str | None, unit: Unit) -> str | None:
        """The label as the matrix counts it; None where it does not."""
        if criterion is not None or label is None:
            return label
        of = criteria[unit[1]]
        return by_effect(label, of.weight) if of.kind == "binary" else None

    return [
        unit
        for unit, stands in truths.items()
        if (criterion is None or unit[1] == criterion.pk)
        and in_matrix(verdicts.get(unit), unit) == judged
        and in_matrix(stands.verdict, unit) == truth
    ]
