"""Shapes of runs, judges and reports."""

# Long because the shapes of a run are read together.

from datetime import datetime
from typing import Annotated, Any, get_args

from ninja import Schema
from pydantic import Field

from rubricweb.api.datasets.schemas import Narrowed
from rubricweb.api.paging import ListQuery
from rubricweb.api.rubrics.schemas import Criterion, VersionReference
from rubricweb.api.runs.watching_schemas import Progress
from rubricweb.api.schemas import (
    Figure,
    Id,
    JudgeVersionName,
    Named,
    OneOf,
    OriginOrNone,
    Share,
    Username,
    WithFields,
)
from rubricweb.api.shapes import Shape
from rubricweb.engine import agreement
from rubricweb.engine.agreement.scores.pairing import Unit
from rubricweb.engine.panels.vote_rules import VOTE_RULES
from rubricweb.engine.scoring import ABSTENTION_POLICIES, ERROR_POLICIES
from rubricweb.engine.scoring.effect import Effect
from rubricweb.models import MemberSnapshot, RunMode, RunState
from rubricweb.selectors.runs.criterion_counts import OptionShare as ShownOptionShare
from rubricweb.selectors.runs.errors import ErrorExample as ShownErrorExample
from rubricweb.selectors.runs.group_means import GroupMean as ShownGroupMean
from rubricweb.selectors.runs.group_means import summarised_groups
from rubricweb.selectors.runs.listing import STATES
from rubricweb.selectors.runs.results import RUN_ITEM_ORDERS
from rubricweb.selectors.runs.votes import JudgeVotes as ShownJudgeVotes
from rubricweb.selectors.runs.votes import RunVotes as ShownRunVotes
from rubricweb.selectors.runs.votes import VoteAgreement as ShownVoteAgreement


class Judge(Schema):
    id: Annotated[str, Field(description="What a new run names as its `judge`.", examples=["offline"])]
    name: str
    model: str


class PricedJudge(Judge):
    """Prices are null when nobody knows them: the cost of such a run is unknown, not 0."""

    input_usd_per_million: float | None
    cached_input_usd_per_million: Annotated[
        float | None, Field(description="Null bills what the provider had in its cache like the rest.")
    ]
    output_usd_per_million: float | None
    price_source: Annotated[
        str,
        Field(
            description="Whose price it is: the endpoint's own, the team's, a dated list's, or nobody's.",
            examples=["endpoint", "team", "list of 2026-11-28", ""],
        ),
    ]


class RunQuery(ListQuery):
    dataset: Annotated[Id | None, Field(description="Runs over this dataset only.")] = None
    rubric: Annotated[Id | None, Field(description="Runs with any version of this rubric only.")] = None
    named_judge: Annotated[
        Id | None, Field(description="Runs by any version of this judge only, see GET /named-judges.")
    ] = None
    state: Annotated[str, OneOf(STATES)] | None = None


Rule = Annotated[str, OneOf(sorted({name for rules in VOTE_RULES.values() for name in rules}))]
RuleByScale = dict[Annotated[str, OneOf(VOTE_RULES)], Rule]


Counted = Annotated[
    str,
    OneOf(get_args(Unit)),
    Field(description="What `n` counts: cases where a case has several answers, which count as one."),
]


class GroupMean(Shape[ShownGroupMean]):
    """The mean score of one group of `criteria` criteria, over the fully judged items on which something of
    it has a value; `score.n` counts them, or their cases, as `unit` says. Null is the name of the criteria
    without a group. `lowest` is the lowest score of an item; a pass rule is of the whole rubric, so that no
    group has a share below the bar.
    """

    unit: Counted


class RunSummary(Schema):
    """What an ended run came to. `score` is the mean over the `cases` that the `scored` of the `fully_judged`
    items answer, several answers to a case counting as one; those with an error enter it once they are
    retried. `verdicts` and `errors` are those of graded items; `cost_usd` is null when a call had no price;
    requests without an answer may have cost `lost_at_most_usd` on top. `lowest` is the lowest score and
    `below_bar` the share that the rubric's pass rule turns down, null without a rule.
    """

    score: Figure
    lowest: float | None
    below_bar: Share
    items: int
    scored: int
    cases: int
    fully_judged: int
    coverage: Share
    verdicts: int
    errors: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    groups: Annotated[
        list[GroupMean] | None,
        Field(description="Null when it was summed up before there were group means; the run has them."),
    ]
    lost_at_most_usd: float

    @staticmethod
    def resolve_lowest(row: Any) -> float | None:
        return None if row.score_lowest is None else float(row.score_lowest)

    @staticmethod
    def resolve_score(row: Any) -> Any:
        return agreement.Figure(row.score_mean, row.score_low, row.score_high, row.cases)

    @staticmethod
    def resolve_groups(row: Any) -> Any:
        return summarised_groups(row)


class PanelMember(Shape[MemberSnapshot]):
    judge: Judge


class Panel(Schema):
    """Who votes and how it is settled; `repeats` has one number per stage."""

    members: list[PanelMember]
    rule: Rule | RuleByScale | None
    repeats: list[int]
    quorum: float
    escalate_on: list[str] | None
    min_confidence: float | None

    @staticmethod
    def resolve_repeats(panel: Any) -> Any:
        return panel.repeats_by_stage

    @staticmethod
    def resolve_escalate_on(panel: Any) -> Any:
        return panel.cascade and panel.cascade.escalate_on

    @staticmethod
    def resolve_min_confidence(panel: Any) -> Any:
        return panel.cascade and panel.cascade.min_confidence


class FewShot(Schema):
    """Which items the judge is shown as examples; equal digests show the same words. Both are null while you
    are still to review an item of that dataset blind.
    """

    dataset_id: int
    queue_id: int | None
    item_ids: list[int] | None
    n: int
    seed: int
    digest: str | None


class Run(Schema):
    """One autograder with one judge, or a panel of several, over one dataset.

    `summary` is null until it has ended, a moment longer where somebody stopped it, and while it is
    `withheld`; `panel` and `few_shot` are null where there are none. The judge of a panel is called `panel`,
    that of checks alone `none`, that of an `imported` run `imported`: its grades came in a file, so nothing
    of it is retried, extended, capped or billed.
    """

    id: int
    name: str
    state: Annotated[str, OneOf(RunState.values)]
    dataset: Named
    rubric_version: Annotated[
        VersionReference | None, Field(description="Null when every item brings its own rubric.")
    ]
    dataset_version: Annotated[int, Field(description="Of which version of the dataset its items are.")]
    system: Annotated[
        str, Field(description="The system version whose answers it judges; empty without one.")
    ]
    split: Annotated[
        str | None, Field(description="The split of the dataset it is over, dev or test; null for all cases.")
    ]
    launch_id: Annotated[int | None, Field(description="The launch it was started in with others.")]
    autograder: str
    judge: Judge
    judge_name: Annotated[
        str | None,
        Field(description="Of the judge with versions; null for checks alone and imported grades."),
    ]
    judge_version: JudgeVersionName
    panel: Panel | None
    few_shot: FewShot | None
    option_seed: int | None
    reply_format: str
    normalize: bool
    abstention: Annotated[str, OneOf(ABSTENTION_POLICIES)]
    on_error: Annotated[str, OneOf(ERROR_POLICIES)]
    mode: Annotated[str, OneOf(RunMode.values)]
    use_cache: Annotated[bool, Field(description="Whether earlier answers are used again.")]
    budget_usd: Annotated[float | None, Field(description="What it may cost; null is no cap of its own.")]
    created_by: Username
    created_at: datetime
    archived_at: datetime | None
    finished_at: datetime | None
    stop_reason: Annotated[str, Field(description="Why it ended before everything was graded.")]
    imported: bool
    origin: OriginOrNone
    summary: RunSummary | None
    withheld: Annotated[
        bool, Field(description="Whether the summary waits until you have reviewed its items blind.")
    ]

    @staticmethod
    def resolve_split(run: Any) -> str | None:
        return run.half or None


class Launch(Schema):
    """Runs that were started together, one for each system version, in the order asked for."""

    runs: list[Run]


class ErrorExample(Shape[ShownErrorExample]):
    """The newest error of a kind: what was said instead of an answer, about which criterion of which item."""

    criterion: Annotated[str, Field(description="Empty where a holistic judge failed the item as a whole.")]


class ErrorClass(Schema):
    """Errors of one kind. Without `example` and `newest` while you are still to review some items blind;
    there are none while the run's progress is `withheld`.
    """

    kind: str
    count: int
    example: str
    newest: ErrorExample | None


class OptionShare(Shape[ShownOptionShare]):
    """How often one option was chosen; `share` is among all answers to the criterion."""


class CriterionRate(Schema):
    """`rate` is the share of MET among MET and UNMET; of a choice and a check, the mean value. Where the
    `unit` of the run is `case`, it and the shares of `options` are means over cases.

    `options` is empty but for a choice; `cannot_assess` counts the options that are not applicable too.
    """

    criterion: Criterion
    met: int
    unmet: int
    cannot_assess: int
    errors: int
    rate: Figure
    options: list[OptionShare]


class VoteAgreement(Shape[ShownVoteAgreement]):
    """`agreement` is the share of votes that equal the verdict made of them; `flips` the chance that two
    repeats by one judge differ, null without repeats. Of the `units`, criteria of items, `went_on` were asked
    about past the first stage of a cascade.
    """


class CriterionVotes(VoteAgreement):
    criterion: Criterion


class JudgeVotes(Shape[ShownJudgeVotes]):
    """`failure` is the kind of error that most of the judge's failed votes ended in, null without any."""

    failure: str | None

    @staticmethod
    def resolve_failure(row: Any) -> str | None:
        return row.failure or None


class RunVotes(Shape[ShownRunVotes]):
    """Votes of a panel, over all criteria, by criterion and by judge."""

    criteria: list[CriterionVotes]

    @staticmethod
    def resolve_criteria(row: Any) -> list[WithFields]:
        return [WithFields(agreement, criterion=criterion) for criterion, agreement in row.criteria]


class RunInFull(Run):
    """A run with everything counted up to now. All figures leave out the `hidden_items` you are still to
    review blind.

    Of the graded items `errored` have a failed verdict and `fully_judged` have none. Those with an error are
    in no `score`, `pass_rate` or rate of `criteria` until they are retried. `pass_rate` is the share that
    passes by the rubric's rule, null without one; `votes` is null without a panel. `lowest` is the lowest
    score of an item, `below_bar` the share that does not pass.
    """

    progress: Progress
    score: Figure
    lowest: float | None
    below_bar: Share
    coverage: Share
    error_classes: list[ErrorClass]
    criteria: list[CriterionRate]
    pass_rate: Figure
    fully_judged: int
    errored: int
    groups: list[GroupMean]
    no_groups: Annotated[str, Field(description="Why `groups` is empty, in a sentence; else empty.")]
    votes: RunVotes | None
    hidden_items: int
    unit: Counted


class RunItemQuery(ListQuery):
    sort: Annotated[
        Annotated[str, OneOf(RUN_ITEM_ORDERS)],
        Field(
            description="`position` is the order of the dataset, `score` worst first. By score, items "
            "without one or with an error are left out and counted."
        ),
    ] = "position"
    where: Narrowed = []


class RunItem(Schema):
    """One graded item. `score` is null when nothing could be judged; `errors` counts verdicts that failed.

    Unless it is `fully_judged`, without an error, its score stands in no figure of the run.
    """

    item_id: int
    key: str
    description: str
    score: float | None
    raw_score: float | None
    llm_raw_score: Annotated[float | None, Field(description="What a holistic judge said, 0 to 100.")]
    coverage: Annotated[float | None, Field(description="Share of the rubric's weight that was judged.")]
    passed: Annotated[bool | None, Field(description="By the rubric's pass rule; null without one.")]
    length_penalty: Annotated[float, Field(description="What the submission's length took off the score.")]
    errors: int
    fully_judged: bool
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


class FromJudge(Schema):
    """A row of a judge: its error, and the model that answered the call behind it."""

    @staticmethod
    def resolve_error(row: Any) -> JudgeError | None:
        return _error(row)

    @staticmethod
    def resolve_model(row: Any) -> str:
        return row.call.model if row.call else str(row.judge)


class RunVote(FromJudge):
    """What one judge of a panel answered once, or the error it gave instead; `stage` is that of a cascade."""

    judge: str
    repeat: int
    stage: int
    weight: float
    verdict: Annotated[str | None, Field(description="A verdict, or the chosen option's label.")]
    confidence: Share
    reason: str
    error: JudgeError | None
    model: Annotated[str, Field(description="What the endpoint says answered.")]


class RunVerdict(FromJudge):
    """The answer to one criterion, by a judge, a panel or a check, or the error that took its place.

    `votes` are a panel's; `agreement` is the share of them that equal the verdict, `flips` the share of pairs
    of repeats by one judge that differ.
    """

    criterion: Criterion
    verdict: Annotated[
        str | None,
        Field(description="MET, UNMET, CANNOT_ASSESS, or the chosen option's label; null for a check."),
    ]
    value: Annotated[
        float | None, Field(description="The number scoring used; null for an abstention or an error.")
    ]
    contribution: Annotated[float | None, Field(description="What it adds to the raw score.")]
    effect: Annotated[
        Effect | None,
        Field(description="What it does to the score: MET of a negative weight hurt. Null without a value."),
    ]
    confidence: Share
    reason: str
    votes: list[RunVote]
    agreement: Share
    flips: Share
    error: JudgeError | None
    model: Annotated[str, Field(description="What the endpoint says answered.")]


class GroupScore(Schema):
    """A group of criteria scored as a rubric of its own; null is the name of those without a group."""

    name: str | None
    score: float | None
    raw_score: float | None
    coverage: float


class Report(RunItem):
    """The full report on one item: the score, every verdict with its reason, every error."""

    rubric_version_id: int
    reason: Annotated[str, Field(description="A holistic judge's reason for its score.")]
    error: JudgeError | None
    verdicts: list[RunVerdict]
    groups: Annotated[list[GroupScore] | None, Field(description="Null where no criterion has a group.")]
    replaced: Annotated[
        bool,
        Field(description="The run was extended by another answer in its place: it is in no figure."),
    ]

    @staticmethod
    def resolve_error(row: Any) -> JudgeError | None:
        return _error(row)

    @staticmethod
    def resolve_groups(row: Any) -> list[GroupScore] | None:
        if row.groups is None:
            return None
        return [
            GroupScore(name=name, score=one.score, raw_score=one.raw_score, coverage=one.coverage)
            for name, one in row.groups.items()
        ]
