"""Shapes of agreement between judges and people."""

# Long because the shapes of one comparison are read together.

from collections.abc import Iterable
from typing import Annotated, Any, get_args

from ninja import Schema
from pydantic import BaseModel, Field

from rubricweb.api.comparison.figure_schemas import FiguresByName, named_figures
from rubricweb.api.datasets.split_schemas import Look
from rubricweb.api.rubrics.schemas import Criterion
from rubricweb.api.schemas import (
    Answered,
    EffectOrNone,
    Figure,
    Id,
    JudgeVersionName,
    OneOf,
    Share,
    WithFields,
)
from rubricweb.api.shapes import Shape
from rubricweb.engine.agreement.raters.ceiling import HumanCeiling as ShownHumanCeiling
from rubricweb.engine.agreement.raters.ceiling import JudgeSeat as ShownJudgeSeat
from rubricweb.engine.agreement.raters.ceiling import SeatWithin as ShownSeatWithin
from rubricweb.engine.agreement.raters.leading import LeadingKappa as ShownLeadingKappa
from rubricweb.engine.agreement.raters.leading import WithinCriteria as ShownWithinCriteria
from rubricweb.engine.agreement.raters.leniency import MeanRates as ShownMeanRates
from rubricweb.engine.agreement.scores.low_end import LowEnd
from rubricweb.engine.agreement.scores.paired_tests import PairedT
from rubricweb.engine.agreement.scores.pairing import Unit as PairedBy
from rubricweb.engine.agreement.scores.people_mean import LabelsNeeded as ShownLabelsNeeded
from rubricweb.engine.agreement.scores.scores import ScoreAgreement as ShownScoreAgreement
from rubricweb.models.datasets import SEALS
from rubricweb.selectors.comparison.members import MemberComparison
from rubricweb.selectors.comparison.run_table import CriterionShare as ShownCriterionShare
from rubricweb.selectors.comparison.verdict import STATES, comparison_verdict
from rubricweb.selectors.labels.stored_answers import label_effect
from rubricweb.selectors.reviews.queues import reviewers
from rubricweb.selectors.reviews.sampling import DESCRIBED
from rubricweb.selectors.shared.unavailable import CODES


class ComparisonQuery(BaseModel):
    queue: Annotated[
        list[Id],
        Field(
            max_length=100,
            description="Queues whose submitted reviews count; repeat it. Without one all labelled queues "
            "over the dataset by the run's rubric, as `rubricweb compare` takes them.",
        ),
    ] = []


class Confusion(Schema):
    """Counts by ground truth, then the judge: in `met_unmet` the judge missed a MET."""

    met_met: int
    met_unmet: int
    unmet_met: int
    unmet_unmet: int


class Agreement(named_figures("binary")):  # type: ignore[misc]  # made of the figures there are
    """Judge against ground truth over the `n` units where both said MET or UNMET.

    Where criteria are pooled, as in `overall`, MET stands for an answer that helps the score: of a criterion
    with a negative weight that is the verdict UNMET.
    """

    n: int
    confusion: Confusion
    figures: FiguresByName
    abstained: int
    abstained_ground_truth: int
    abstained_judge: int
    missing: int

    @staticmethod
    def resolve_confusion(pair: Any) -> Confusion:
        (met_met, met_unmet), (unmet_met, unmet_unmet) = pair.confusion
        return Confusion(met_met=met_met, met_unmet=met_unmet, unmet_met=unmet_met, unmet_unmet=unmet_unmet)

    @staticmethod
    def resolve_abstained_ground_truth(pair: Any) -> int:
        return int(pair.abstained_reference)

    @staticmethod
    def resolve_abstained_judge(pair: Any) -> int:
        return int(pair.abstained_judged)


class MeanRates(Shape[ShownMeanRates]):
    """What people and the judge give the same units on average: MET is 1, UNMET 0, an option its value.

    `people` is the mean of each unit's raters, so that a tie is ½; no majority and no adjudication is in it.
    """


class OptionShares(Schema):
    """One option: how many units people and judge gave it, and the judge's hits."""

    label: str
    ground_truth: int
    judge: int
    precision: Figure
    recall: Figure
    f1: Figure

    @staticmethod
    def resolve_ground_truth(shares: Any) -> int:
        return int(shares.reference)

    @staticmethod
    def resolve_judge(shares: Any) -> int:
        return int(shares.judged)


class OptionAgreement(named_figures("nominal", "ordinal")):  # type: ignore[misc]  # as above
    """Judge against ground truth on a choice, over the `n` units where both gave an option of the scale.

    `confusion[i][j]` counts units people gave `levels[i]` and the judge `levels[j]`. The figures from
    `linear_kappa` to `value_error` are null unless the options are steps; `steps_apart` is the mean absolute
    error in places, `value_error` in option values.
    """

    levels: list[str]
    n: int
    figures: FiguresByName
    abstained: int
    missing: int
    confusion: list[list[int]]
    options: list[OptionShares]


class JudgeSeat(Shape[ShownJudgeSeat]):
    """The judge in a person's seat: against the majority of the others, each person left out in turn.

    These figures, and no others, can be held against the ceiling's. The differences are the judge's less
    the people's; a judge exactly as good as one of them has 0.
    """


class HumanCeiling(Shape[ShownHumanCeiling]):
    """One of these `raters` people against the others: what a judge can be asked for at most.

    `accuracy` and `kappa` hold one person against the majority of the others, the `pair_` figures people
    against each other, over `n` units with two labels or more; beside a judge, of those it answered. They
    are of `items` items, those that answer one case counted as one. `tied` is the share of majorities shared
    between labels. `judge` is null where no judge is compared.
    """

    tied: Share


class SeatWithin(Shape[ShownSeatWithin]):
    """κ of one person, of the judge in that person's seat, and the judge's less the person's."""


class WithinCriteria(Shape[ShownWithinCriteria]):
    """Agreement over several binary criteria with chance counted within each: a judge that only knows how
    often each criterion is met has κ 0 here, and more in one table of all.
    """

    seat: SeatWithin


class LeadingKappa(Shape[ShownLeadingKappa]):
    """The κ of the judge that is shown first, and that words and gates rest on.

    With the majority of people; where more than a tenth of the units they labelled are tied (`tied_share`),
    that of the judge in a person's seat, where a tie is ½ (`in_seat`). Over several criteria chance is
    counted `within` each, and `pooled` is the same κ of one table of all, which claims nothing.
    """

    tied_share: Share
    name: str


class CriterionComparison(Schema):
    """One criterion by its kind: `agreement` of a binary one, `options` of a choice, `mean_value` of a check,
    whose `n` counts the items measured.

    What is of another kind is null. `bias` is how the judge's answers move the score beside people's as a
    share of the weight; `value_bias` is that of a choice alone. Both are of the means of each unit's raters,
    as `rates` are. On `undecided` units people are tied (`tied_share` of all): `agreement` and `options` hold
    the judge against majorities and leave these out.
    """

    criterion: Criterion
    agreement: Agreement | None
    options: OptionAgreement | None
    mean_value: Figure | None
    value_bias: Annotated[float | None, Field(description="−1 to 1; positive is a lenient judge.")]
    bias: Annotated[Figure, Field(description="−1 to 1; positive is a lenient judge, whatever the weight.")]
    rates: MeanRates
    human_alpha: Annotated[
        Figure,
        Field(description="Krippendorff's α of people, ordinal where options are steps."),
    ]
    human_figures: FiguresByName
    ceiling: HumanCeiling
    leading: LeadingKappa
    units: int
    undecided: int
    tied_share: Share
    errors: int
    adjudicated: int

    @staticmethod
    def resolve_agreement(row: Any) -> Any:
        return row.pair if row.criterion.kind == "binary" else None


class PairedTest(Shape[PairedT]):
    """Whether a mean difference could be 0: t with its degrees of freedom and two-sided p.

    `exact`: all differences are the same, so that there is no t and p is that of sign flips.
    """


class ScoreAgreement(Shape[ShownScoreAgreement]):
    """Judge's scores against people's over the `n` items that have both; `bias` is judge less people.

    People's score of an item is the mean of the scores of everybody who answered all its criteria that people
    are asked, each cut at 0 and 1 and penalised by itself; where nobody did, that of their answers put
    together. No majority and no adjudication is in it.
    """


class SampleAsked(Schema):
    """A random queue that would do, as `POST /queues` takes it."""

    name: str
    dataset_id: int
    rubric_version_id: int | None
    systems: list[str]
    split: Annotated[str, OneOf(SEALS)] | None
    source: Annotated[dict[str, Any], Field(examples=[{"kind": "sample", "size": 20}])]
    raters: Annotated[
        list[str],
        Field(
            description="Everybody who may review; put others in their place to see figures at once: a rater "
            "sees none over items they are still to review."
        ),
    ]

    @staticmethod
    def resolve_split(asked: Any) -> str | None:
        return asked.half or None

    @staticmethod
    def resolve_source(asked: Any) -> dict[str, Any]:
        return {"kind": "sample", "size": asked.size}

    @staticmethod
    def resolve_raters(asked: Any) -> list[str]:
        return [user.username for user in reviewers(asked.team)]


class Unavailable(Schema):
    """Why there is nothing, and what to do next, a sentence each.

    `queue_id` is where to go on labelling, `sample` the queue to open, where that is what to do; `command` is
    the same at the terminal.
    """

    code: Annotated[str, OneOf(CODES)]
    why: str
    next_step: str
    queue_id: int | None
    run_id: int | None
    sample: SampleAsked | None
    command: str


class PeopleMean(Schema):
    """What people would say on average, from `n` labelled of `population_size` items, with a 95 % interval.

    `trust` is 0 where the judge is ignored, 1 where it is corrected in full, null where it tells nothing or
    everything is labelled. `missing` items were drawn and have no label; above a tenth of the draw `worst`
    and `best` are where the interval would end with all of them at that end. `reason` says why there is no
    interval. `raters` gave the labels, 0 where that is not known; `of_raters` says "of these 2 raters" where
    they are too few to tell how other people would differ, so that the interval is of these raters alone.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    population_size: int
    trust: float | None
    missing: int
    worst: float | None
    best: float | None
    reason: str
    raters: int
    of_raters: str

    @staticmethod
    def resolve_trust(comparison: Any) -> float | None:
        return None if comparison.lam is None else float(comparison.lam)


class LabelsNeeded(Shape[ShownLabelsNeeded]):
    """How many random labels in all tell a mean from one 0.05 away; null where it takes more cases."""

    reason: Annotated[
        str,
        Field(
            description="Qualifies `labels` where it is not empty: beside a number, that these are only what "
            "to label first, since fewer tell too little of the spread; beside null, how many cases it takes."
        ),
    ]


class MeanWithLowEnd(Figure):
    """A mean score, beside it the `lowest` score of an item and the share `below_bar` that does not pass,
    null without a pass rule.
    """

    lowest: float | None
    below_bar: Share


class MeanScore(Schema):
    """The mean score that people would give to all items, from a random sample of labels and the judge.

    `these` tells of the `population`, `like_these` of cases like them. Both are null where the labelled items
    are no random sample: `unavailable` says why, and which queue would allow an estimate. People's score of
    an item is the one of `scores`. `labelled` and `judged_labelled` are the plain means of people and
    judge over the items people labelled and tell of no others; `judged` is the judge's over all `items`.
    People's `lowest` is the lowest of their scores of an item; in their `below_bar` an item counts by the
    share of its raters whose answers do not pass. `left_out` are labelled items that are no part of the
    random sample. Every `n` counts items, and every case weighs the same.
    """

    items: int
    population: str
    is_census: Annotated[bool, Field(description="Whether people were asked about every item.")]
    these: PeopleMean | None
    like_these: PeopleMean | None
    unavailable: Unavailable | None
    labelled: MeanWithLowEnd
    judged_labelled: MeanWithLowEnd
    judged: MeanWithLowEnd
    left_out: int
    needed: LabelsNeeded | None

    @staticmethod
    def resolve_labelled(estimate: Any) -> Any:
        return _with_low_end(estimate.labelled, estimate.labelled_low_end)

    @staticmethod
    def resolve_judged_labelled(estimate: Any) -> Any:
        return _with_low_end(estimate.judged_labelled, estimate.judged_labelled_low_end)

    @staticmethod
    def resolve_judged(estimate: Any) -> Any:
        return _with_low_end(estimate.judged, estimate.judged_low_end)


def _with_low_end(mean: Any, end: LowEnd) -> WithFields:
    return WithFields(mean, lowest=end.lowest, below_bar=end.below_bar)


class MemberOnCriterion(Schema):
    """One member on one criterion: `agreement` of a binary one, `options` of a choice; the other is null."""

    criterion_id: int
    name: str
    agreement: Agreement | None
    options: OptionAgreement | None

    @staticmethod
    def resolve_criterion_id(row: Any) -> int:
        return int(row.criterion.pk)

    @staticmethod
    def resolve_name(row: Any) -> str:
        return str(row.criterion.name)

    @staticmethod
    def resolve_agreement(row: Any) -> Any:
        return row.pair


class ComparedMember(Shape[MemberComparison]):
    """One judge of a panel against people, by the rules for the panel's verdict; its first vote counts.

    `overall` pools the units of binary criteria. On `failed` units with a ground truth its vote was an error,
    on `unasked` it has none: a later stage of a cascade is asked only where an earlier one was unsure.
    """

    overall: Agreement
    leading: LeadingKappa
    criteria: list[MemberOnCriterion]


class MembersAlpha(Schema):
    """Krippendorff's α among the members on one criterion, ordinal where options are steps."""

    criterion_id: int
    name: str
    alpha: Figure


class ComparedPanel(Schema):
    """The judges of a panel: `alpha` among them over the labelled units of binary criteria (null with fewer
    than two) in one table, `alpha_within` with chance counted within each criterion (null where there is
    one), `alphas` by criterion, and each against people.
    """

    alpha: Figure
    alpha_within: Figure | None
    alphas: list[MembersAlpha]
    members: list[ComparedMember]

    @staticmethod
    def resolve_alphas(row: Any) -> list[MembersAlpha]:
        return [
            MembersAlpha(criterion_id=criterion.pk, name=criterion.name, alpha=alpha)
            for criterion, alpha in row.alphas
        ]


class Described(Schema):
    """Which items the figures describe, in which each label counts once; `sentence` says it to people."""

    code: Annotated[str, OneOf(DESCRIBED)]
    sentence: str


class ComparisonVerdict(Schema):
    """What the comparison comes to in one sentence, as the page says it first, and `why` in two at most.

    `leads` says what decides it: the bias of the judge where it is told and large, else the agreement.
    """

    state: Annotated[str, OneOf(STATES)]
    title: str
    sentence: str
    why: str
    leads: Annotated[str, OneOf(["agreement", "bias"])]
    more_items: Annotated[
        int | None,
        Field(
            description="About how many more labelled items would decide, of two people or more where the "
            "judge stands beside a person; null where none are needed or none would do."
        ),
    ]


class Comparison(Schema):
    """A run against the people of some queues.

    `overall`, `human_alpha` and `ceiling` pool the `n_binary` units of binary criteria: options of different
    criteria are no common scale. `scores` and `mean_score` are about whole items of any kind. `units` have a
    ground truth; on `judged` of them the judge gave a label (`coverage`), on `errors` it failed. `undecided`
    counts units where people are tied (`tied_share` of all), `hidden_items` what you are still to review
    blind, `on_other_versions` units people labelled by another version than the run's: the run was never
    asked them; `of_other_systems` units of system versions' answers the run was not over. A run that was
    started together with others is read as one with them (`run_ids`), but for `mean_score`.
    """

    run_id: int
    run_ids: list[int]
    judge_version: JudgeVersionName
    queue_ids: list[int]
    verdict: Annotated[
        ComparisonVerdict | None, Field(description="Null where judge and people have no answer in common.")
    ]
    overall: Agreement
    n_binary: int
    bias: Annotated[
        Figure,
        Field(
            description="Of all units with a value on both sides: Σ w·(judge − people) / Σ|w|, of people the "
            "mean of each unit's raters."
        ),
    ]
    rates: Annotated[MeanRates, Field(description="Of the units of binary criteria, pooled as in `overall`.")]
    leaning: Annotated[
        str,
        OneOf(["lenient", "strict", ""]),
        Field(description="Empty where the interval of the bias holds 0, or the bias of scores differs."),
    ]
    human_alpha: Annotated[Figure, Field(description="Krippendorff's α of people among themselves.")]
    human_figures: FiguresByName
    ceiling: HumanCeiling
    within: Annotated[
        WithinCriteria | None,
        Field(description="Null where there is one criterion only, or all are items' own."),
    ]
    leading: LeadingKappa
    scores: ScoreAgreement
    mean_score: MeanScore
    raters: int
    items: int
    units: int
    judged: int
    coverage: Share
    errors: int
    undecided: int
    tied_share: Share
    adjudicated: int
    hidden_items: int
    on_other_versions: int
    of_other_systems: int
    unavailable: Annotated[
        Unavailable | None, Field(description="Why no unit has an answer of both sides; null where one has.")
    ]
    describes: Annotated[
        Described | None,
        Field(description="Null without labels. People's mean in `mean_score` has a population of its own."),
    ]
    criteria: list[CriterionComparison]
    panel: Annotated[ComparedPanel | None, Field(description="Null for a single judge asked once.")]
    look: Annotated[
        Look | None,
        Field(
            description="The look at the test split of the dataset that this is; null where no test case is "
            "compared. `leaning` holds at its confidence, every interval at 95 %."
        ),
    ]

    @staticmethod
    def resolve_verdict(row: Any) -> Any:
        return comparison_verdict(row)

    @staticmethod
    def resolve_run_ids(row: Any) -> list[int]:
        return [run.pk for run in row.runs]

    @staticmethod
    def resolve_run_id(row: Any) -> int:
        return int(row.run.pk)

    @staticmethod
    def resolve_queue_ids(row: Any) -> list[int]:
        return [queue.pk for queue in row.queues]

    @staticmethod
    def resolve_scores(row: Any) -> Any:
        return row.scores.agreement

    @staticmethod
    def resolve_mean_score(row: Any) -> Any:
        return row.scores.estimate


class Vote(Schema):
    verdict: Answered
    effect: EffectOrNone
    count: int


def vote_counts(criterion: Any, votes: Iterable[tuple[str, int]]) -> list[Vote]:
    """Labels of a criterion with their numbers, as votes."""
    return [Vote(verdict=label, effect=label_effect(criterion, label), count=count) for label, count in votes]


class RunTableQuery(BaseModel):
    run: Annotated[
        list[Id], Field(min_length=2, max_length=12, description="The runs, two to twelve of them.")
    ]


class CriterionShare(Shape[ShownCriterionShare]):
    """How often a criterion passed in a run: MET, of a penalty UNMET, of what was one or the other."""

    value: Share


class RunInTable(Schema):
    """One of the runs. `score` is over its own items; null until it has ended, and while it is `withheld`.

    `shares` are of the table's criteria, empty for another rubric version than the first run's.
    """

    run_id: int
    name: str
    system: str
    judge: str
    judge_version: JudgeVersionName
    withheld: bool
    items: int | None
    score: Figure | None
    passes: Annotated[Share, Field(description="Null where the rubric has no pass rule.")]
    shares: list[CriterionShare]
    kappa: Figure | None
    no_kappa: str
    cost_usd: float | None
    difference: Figure | None
    paired_by: Annotated[str, OneOf(get_args(PairedBy))] | None
    no_difference: str

    @staticmethod
    def resolve_run_id(row: Any) -> int:
        return int(row.run.pk)

    @staticmethod
    def resolve_name(row: Any) -> str:
        return str(row.run)

    @staticmethod
    def resolve_system(row: Any) -> str:
        return str(row.run.system)

    @staticmethod
    def resolve_items(row: Any) -> int | None:
        return None if row.summary is None else row.summary.items


class RunTable(Schema):
    """Runs beside each other, by system version; the first is what the others are held against."""

    rows: list[RunInTable]
    criteria: list[Criterion]
