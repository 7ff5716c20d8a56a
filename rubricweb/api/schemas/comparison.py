"""Shapes of agreement, disagreements and adjudications."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import BaseModel, Field

from rubricweb.api.paging import ListQuery
from rubricweb.api.schemas.rubrics import Criterion
from rubricweb.api.schemas.shared import Figure, Id, Input, OneOf, Share, Username
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Cause
from rubricweb.selectors.comparison import DISAGREEMENT_KINDS
from rubricweb.selectors.ground_truth import RULES

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


class CriterionComparison(Schema):
    criterion: Criterion
    agreement: Agreement
    human_alpha: Annotated[Figure, Field(description="Krippendorff's α of people among themselves.")]
    errors: int
    adjudicated: int

    @staticmethod
    def resolve_agreement(row: Any) -> Any:
        return row.pair


class Comparison(Schema):
    """A run against the people of some queues.

    `units` have a ground truth; on `judged` of them the judge gave a verdict (`coverage`), on `errors` it
    failed. `undecided` counts units where people are tied, `hidden_items` what you are still to review blind.
    """

    run_id: int
    queue_ids: list[int]
    overall: Agreement
    human_alpha: Annotated[Figure, Field(description="Krippendorff's α of people among themselves.")]
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


class DisagreementQuery(ListQuery):
    queue: Queues
    run: Annotated[
        Id | None, Field(description="The run to hold against people; without it, people only.")
    ] = None
    criterion: Annotated[Id | None, Field(description="One criterion only.")] = None
    kind: Annotated[str, OneOf(DISAGREEMENT_KINDS)] | None = None
    judged: Annotated[
        Verdict | None, Field(description="With `truth`: one cell of the confusion matrix.")
    ] = None
    truth: Verdict | None = None
    include_decided: Annotated[bool, Field(description="Also what was adjudicated already.")] = False


class Vote(Schema):
    verdict: Verdict
    count: int


class Disagreement(Schema):
    item_id: int
    item_key: str
    criterion: Criterion
    kind: Annotated[str, OneOf(DISAGREEMENT_KINDS)]
    truth: Annotated[Verdict | None, Field(description="The ground truth; null while people are tied.")]
    rule: Annotated[str, OneOf(RULES)]
    judged: Verdict | None
    votes: list[Vote]

    @staticmethod
    def resolve_votes(row: Any) -> list[Vote]:
        return [Vote(verdict=verdict, count=count) for verdict, count in row.votes]


class NewAdjudication(Input):
    """A reason is required to decide against the majority of submitted reviews."""

    verdict: Verdict
    cause: Annotated[str, OneOf(Cause.values)]
    reason: Annotated[str, Field(max_length=10_000)] = ""


class Adjudication(Schema):
    item_id: int
    criterion_id: int
    verdict: Verdict
    cause: Annotated[str, OneOf(Cause.values)]
    reason: str
    decided_by: Username
    decided_at: datetime
