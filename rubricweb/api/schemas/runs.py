"""Shapes of runs, judges and reports."""

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from rubricweb.api.paging import ListQuery
from rubricweb.api.schemas.rubrics import Criterion, VersionReference
from rubricweb.api.schemas.shared import Figure, Id, Input, Named, OneOf, Share, Username
from rubricweb.engine.autograders import AUTOGRADERS
from rubricweb.engine.verdict import Verdict
from rubricweb.judges.base import ERROR_KINDS
from rubricweb.models import RunState
from rubricweb.selectors.runs import RUN_ITEM_ORDERS


class Judge(Schema):
    id: Annotated[str, Field(description="What a new run names as its `judge`.", examples=["offline"])]
    name: str
    model: str


class PricedJudge(Judge):
    """Prices are null when nobody entered them: the cost of such a run is unknown, not 0."""

    input_usd_per_million: float | None
    output_usd_per_million: float | None


class RunQuery(ListQuery):
    dataset: Annotated[Id | None, Field(description="Runs over this dataset only.")] = None
    rubric: Annotated[Id | None, Field(description="Runs with any version of this rubric only.")] = None
    state: Annotated[str, OneOf(RunState.values)] | None = None


class NewRun(Input):
    """Without `rubric_version_id` the version that came with the dataset is used; an item's own wins."""

    dataset_id: Id
    rubric_version_id: Id | None = None
    judge: Annotated[str, Field(description="The id of a judge, see GET /judges.", examples=["offline"])]
    autograder: Annotated[str, OneOf(AUTOGRADERS)] = "per_criterion"
    reply_format: Annotated[
        Literal["json", "yes_no"], Field(description="How the judge answers; yes_no for per_criterion only.")
    ] = "json"
    normalize: Annotated[bool, Field(description="Scores in 0 to 1; raw weighted sums otherwise.")] = True
    name: Annotated[str, Field(max_length=200)] = ""


class Resumption(Input):
    error_kinds: Annotated[
        list[Annotated[str, OneOf(ERROR_KINDS)]] | None,
        Field(description="Ask again only for verdicts that failed this way; null for all of them."),
    ] = None


class RunSummary(Schema):
    """What an ended run came to. `score` is the mean over scored items; `cost_usd` is null when a call had no
    price.
    """

    score: Figure
    items: int
    scored: int
    coverage: Share
    verdicts: int
    errors: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None

    @staticmethod
    def resolve_score(row: Any) -> Figure:
        return Figure(value=row.score_mean, low=row.score_low, high=row.score_high, n=row.scored)


class Run(Schema):
    """One autograder with one judge over one dataset. `summary` is null until it has ended."""

    id: int
    name: str
    state: Annotated[str, OneOf(RunState.values)]
    dataset: Named
    rubric_version: Annotated[
        VersionReference | None, Field(description="Null when every item brings its own rubric.")
    ]
    autograder: str
    judge: Judge
    reply_format: str
    normalize: bool
    created_by: Username
    created_at: datetime
    finished_at: datetime | None
    stop_reason: Annotated[str, Field(description="Why it ended before everything was graded.")]
    summary: RunSummary | None

    @staticmethod
    def resolve_summary(run: Any) -> Any:
        return getattr(run, "summary", None)


class Progress(Schema):
    """Counted afresh. `errors` are verdicts that ended as errors; `seconds_left` is null when unknown."""

    items: int
    graded: int
    share: float
    verdicts: int
    errors: int
    calls: int
    calls_per_second: float | None
    seconds_left: float | None
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    latest_call_at: datetime | None


class ErrorClass(Schema):
    kind: str
    count: int
    example: str


class CriterionRate(Schema):
    """`rate` is the share of MET among MET and UNMET."""

    criterion: Criterion
    met: int
    unmet: int
    cannot_assess: int
    errors: int
    rate: Figure


class RunInFull(Run):
    """A run with everything counted up to now. Criteria leave out items you are still to review blind."""

    progress: Progress
    score: Figure
    coverage: Share
    error_classes: list[ErrorClass]
    criteria: list[CriterionRate]


class ResumedRun(Schema):
    items: Annotated[int, Field(description="How many items will be worked on; 0 when nothing is missing.")]
    run: Run


class RunItemQuery(ListQuery):
    sort: Annotated[
        Annotated[str, OneOf(RUN_ITEM_ORDERS)],
        Field(description="`score` is worst first; sorted by score, items without one are left out."),
    ] = "score"


class RunItem(Schema):
    """One graded item. `score` is null when nothing could be judged; `errors` counts verdicts that failed."""

    item_id: int
    key: str
    description: str
    score: float | None
    raw_score: float | None
    llm_raw_score: Annotated[float | None, Field(description="What a holistic judge said, 0 to 100.")]
    coverage: Annotated[float | None, Field(description="Share of the rubric's weight that was judged.")]
    errors: int
    graded_at: datetime | None

    @staticmethod
    def resolve_key(row: Any) -> str:
        return str(row.item.key)

    @staticmethod
    def resolve_description(row: Any) -> str:
        return str(row.item.description)


class JudgeError(Schema):
    kind: Annotated[str, Field(examples=["rate_limited"])]
    message: str


def _error(row: Any) -> JudgeError | None:
    return JudgeError(kind=row.error_kind, message=row.error_message) if row.error_kind else None


class RunVerdict(Schema):
    """A judge's verdict on one criterion, or the error that took its place."""

    criterion: Criterion
    verdict: Verdict | None
    reason: str
    error: JudgeError | None
    model: Annotated[str, Field(description="What the endpoint says answered.")]

    @staticmethod
    def resolve_error(row: Any) -> JudgeError | None:
        return _error(row)

    @staticmethod
    def resolve_model(row: Any) -> str:
        return row.call.model if row.call else str(row.judge)


class Report(RunItem):
    """The full report on one item: the score, every verdict with its reason, every error."""

    rubric_version_id: int
    reason: Annotated[str, Field(description="A holistic judge's reason for its score.")]
    error: JudgeError | None
    verdicts: list[RunVerdict]

    @staticmethod
    def resolve_error(row: Any) -> JudgeError | None:
        return _error(row)
