"""Shapes of agreement, disagreements and adjudications."""

from typing import Annotated, Any

from ninja import Schema
from pydantic import BaseModel, Field

from rubricweb.api.paging import ListQuery
from rubricweb.api.schemas.rubrics import Criterion
from rubricweb.api.schemas.shared import Answered, Figure, Id, OneOf, Share
from rubricweb.engine.ground_truth import RULES
from rubricweb.selectors.comparison import DISAGREEMENT_KINDS

Queues = Annotated[
    list[Id],
    Field(min_length=1, max_length=100, description="Queues whose submitted reviews count; repeat it."),
]


class ComparisonQuery(BaseModel):
    queue: Queues


class Confusion(Schema):
    """Counts by ground truth, then the judge: in `met_unmet` the judge missed a MET."""

    met_met: int
    met_unmet: int
    unmet_met: int
    unmet_unmet: int


class Agreement(Schema):
    """Judge against ground truth over the `n` units where both said MET or UNMET."""

    n: int
    confusion: Confusion
    accuracy: Figure
    balanced_accuracy: Figure
    kappa: Figure
    mcc: Figure
    precision: Figure
    recall: Figure
    f1: Figure
    ground_truth_met_rate: Figure
    judge_met_rate: Figure
    abstained: int
    abstained_ground_truth: int
    abstained_judge: int
    missing: int

    @staticmethod
    def resolve_ground_truth_met_rate(pair: Any) -> Any:
        return pair.reference_met_rate

    @staticmethod
    def resolve_judge_met_rate(pair: Any) -> Any:
        return pair.judged_met_rate

    @staticmethod
    def resolve_abstained_ground_truth(pair: Any) -> int:
        return int(pair.abstained_reference)

    @staticmethod
    def resolve_abstained_judge(pair: Any) -> int:
        return int(pair.abstained_judged)


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


class OptionAgreement(Schema):
    """Judge against ground truth on a choice, over the `n` units where both gave an option of the scale.

    `confusion[i][j]` counts units people gave `levels[i]` and the judge `levels[j]`. The figures from
    `linear_kappa` to `value_error` are null unless the options are steps; `steps_apart` is the mean absolute
    error in places, `value_error` in option values.
    """

    levels: list[str]
    n: int
    abstained: int
    missing: int
    confusion: list[list[int]]
    options: list[OptionShares]
    accuracy: Figure
    balanced_accuracy: Figure
    macro_precision: Figure
    macro_recall: Figure
    macro_f1: Figure
    mcc: Figure
    kappa: Figure
    linear_kappa: Figure | None
    quadratic_kappa: Figure | None
    adjacent_accuracy: Figure | None
    steps_apart: Figure | None
    value_error: Figure | None


class HumanCeiling(Schema):
    """One person against the others: what a judge can be asked for at most.

    `accuracy` and `kappa` hold one person against the majority of the others, the `pair_` figures people
    against each other, over `n` units with two labels or more.
    """

    n: int
    accuracy: Figure
    kappa: Figure
    pair_accuracy: Figure
    pair_kappa: Figure


class CriterionComparison(Schema):
    """One criterion by its kind: `agreement` of a binary one, `options` of a choice, `mean_value` of a check.

    What is of another kind is null. `value_bias` is the mean value of the judge's options less people's.
    """

    criterion: Criterion
    agreement: Agreement | None
    options: OptionAgreement | None
    mean_value: Figure | None
    value_bias: Annotated[float | None, Field(description="−1 to 1; positive is a lenient judge.")]
    human_alpha: Annotated[
        Figure,
        Field(description="Krippendorff's α of people, ordinal where options are steps."),
    ]
    ceiling: HumanCeiling
    units: int
    errors: int
    adjudicated: int

    @staticmethod
    def resolve_agreement(row: Any) -> Any:
        return row.pair if row.criterion.kind == "binary" else None


class PairedTest(Schema):
    """Whether a mean difference could be 0: t with its degrees of freedom and two-sided p."""

    n: int
    t: float | None
    df: int | None
    p: float | None


class ScoreAgreement(Schema):
    """Judge's scores against people's over the `n` items that have both; `bias` is judge less people.

    An item has a score of people once all its criteria that people answer are settled.
    """

    n: int
    missing: int
    pearson: Figure
    spearman: Figure
    kendall: Figure
    rmse: Figure
    mae: Figure
    bias: Figure
    bias_t: PairedTest


class MeanScore(Schema):
    """The mean score over all graded items, by people on some and the judge on all (PPI++).

    `estimate` corrects the judge by the labelled items; it asks that these were drawn at random. `trust` is
    0 where the judge is ignored, 1 where it is corrected in full.
    """

    estimate: Figure
    labelled_only: Figure
    judged_only: Figure
    trust: float
    labelled: int
    unlabelled: int


class Comparison(Schema):
    """A run against the people of some queues.

    `overall`, `human_alpha` and `ceiling` pool the `n_binary` units of binary criteria: options of different
    criteria are no common scale. `scores` and `mean_score` are about whole items of any kind. `units` have a
    ground truth; on `judged` of them the judge gave a label (`coverage`), on `errors` it failed. `undecided`
    counts units where people are tied, `hidden_items` what you are still to review blind.
    """

    run_id: int
    queue_ids: list[int]
    overall: Agreement
    n_binary: int
    human_alpha: Annotated[Figure, Field(description="Krippendorff's α of people among themselves.")]
    ceiling: HumanCeiling
    scores: ScoreAgreement
    mean_score: MeanScore
    raters: int
    units: int
    judged: int
    coverage: Share
    errors: int
    undecided: int
    adjudicated: int
    hidden_items: int
    criteria: list[CriterionComparison]

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


class DisagreementQuery(ListQuery):
    queue: Queues
    run: Annotated[
        Id | None, Field(description="The run to hold against people; without it, people only.")
    ] = None
    criterion: Annotated[Id | None, Field(description="One criterion only.")] = None
    kind: Annotated[str, OneOf(DISAGREEMENT_KINDS)] | None = None
    judged: Annotated[
        Answered | None, Field(description="With `truth`: one cell of the confusion matrix.")
    ] = None
    truth: Answered | None = None
    include_decided: Annotated[bool, Field(description="Also what was adjudicated already.")] = False


class Vote(Schema):
    verdict: Answered
    count: int


class Disagreement(Schema):
    item_id: int
    item_key: str
    criterion: Criterion
    kind: Annotated[str, OneOf(DISAGREEMENT_KINDS)]
    truth: Annotated[Answered | None, Field(description="The ground truth; null while people are tied.")]
    rule: Annotated[str, OneOf(RULES)]
    judged: Answered | None
    votes: list[Vote]

    @staticmethod
    def resolve_votes(row: Any) -> list[Vote]:
        return [Vote(verdict=verdict, count=count) for verdict, count in row.votes]
