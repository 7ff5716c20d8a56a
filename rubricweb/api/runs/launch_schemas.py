"""Shapes of a run that is to be started, and of what it would come to."""

from typing import Annotated, Literal

from ninja import Schema
from pydantic import Field

from rubricweb.api.runs.schemas import Rule, RuleByScale
from rubricweb.api.schemas import Id, Input, OneOf
from rubricweb.api.shapes import Shape
from rubricweb.engine.autograders import AUTOGRADERS
from rubricweb.engine.autograders.panels.cascade import CONDITIONS
from rubricweb.engine.judging.definition import MAX_MEMBERS
from rubricweb.engine.scoring import ABSTENTION_POLICIES, ERROR_POLICIES
from rubricweb.models import RunMode
from rubricweb.models.datasets import SEALS
from rubricweb.selectors.runs.planning.forecasts import JudgeForecast, Range
from rubricweb.services.runs.budgets import MAX_BUDGET_USD
from rubricweb.services.runs.few_shot import MAX_EXAMPLES
from rubricweb.services.runs.starting import MAX_CHOSEN


class NewMember(Input):
    """One judge of a panel; members of stage 1 are asked where stage 0 escalates."""

    judge: Annotated[
        str,
        Field(
            description="The id of a judge, see GET /judges; or a version that asks one model once, "
            "`support-judge@v3`: the model is told the words of that version.",
            examples=["offline"],
        ),
    ]
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False, description="For the rules that weigh.")] = 1.0
    stage: Annotated[int, Field(ge=0, lt=MAX_MEMBERS)] = 0
    name: Annotated[
        str, Field(max_length=190, description="What its votes carry; by default the judge's name.")
    ] = ""


class NewPanel(Input):
    """Several judges, or one asked several times. Members in several stages make a cascade."""

    members: Annotated[list[NewMember], Field(min_length=1, max_length=MAX_MEMBERS)]
    rule: Annotated[
        Rule | RuleByScale | None,
        Field(description="How votes settle a criterion: one rule, or one by scale; null for the defaults."),
    ] = None
    repeats: Annotated[
        int | list[int], Field(description="How often each member is asked: one number, or one per stage.")
    ] = 1
    quorum: Annotated[float, Field(ge=0, le=1, description="Share of votes that must have come.")] = 0.0
    escalate_on: Annotated[
        list[Annotated[str, OneOf(CONDITIONS)]] | None,
        Field(description="What sends a criterion to the next stage; null for everything that can."),
    ] = None
    min_confidence: Annotated[float | None, Field(ge=0, le=1)] = None


class NewFewShot(Input):
    """Examples from what people decided about other items: of a dataset, or of one of its queues."""

    dataset_id: Id | None = None
    queue_id: Id | None = None
    n: Annotated[int, Field(ge=1, le=MAX_EXAMPLES, description="Examples per criterion, at most.")] = 3
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0


MAX_SYSTEMS = 20


class NewRun(Input):
    """Without `rubric_version_id` the version that came with the dataset is used; an item's own wins."""

    dataset_id: Id
    rubric_version_id: Id | None = None
    judge: Annotated[
        str,
        Field(
            description="The id of a judge, see GET /judges, or a version of one, see GET /named-judges: "
            "`support-judge@v3`, `support-judge` for its current one; left out with a panel, or for checks "
            "alone. "
            "`offline` only compares words: it is for trying rubricweb without a key.",
            examples=["offline"],
        ),
    ] = ""
    panel: NewPanel | None = None
    few_shot: NewFewShot | None = None
    option_seed: Annotated[
        int | None,
        Field(ge=0, lt=2**63, description="Orders the options a judge is shown; null is the rubric's own."),
    ] = None
    autograder: Annotated[
        Annotated[str, OneOf(AUTOGRADERS)],
        Field(description="Left out with a version of a judge, which has its own, as `reply_format` is."),
    ] = "per_criterion"
    reply_format: Annotated[
        Literal["json", "yes_no"], Field(description="How the judge answers; yes_no for per_criterion only.")
    ] = "json"
    normalize: Annotated[bool, Field(description="Scores in 0 to 1; raw weighted sums otherwise.")] = True
    abstention: Annotated[
        Annotated[str, OneOf(ABSTENTION_POLICIES)],
        Field(description="What CANNOT_ASSESS is worth: left out, 0, half a weight, or the worst there is."),
    ] = "skip"
    on_error: Annotated[
        Annotated[str, OneOf(ERROR_POLICIES)],
        Field(description="What a failed question is worth: left out, 0, or no score for the item."),
    ] = "exclude"
    name: Annotated[str, Field(max_length=200)] = ""
    budget_usd: Annotated[
        float | None,
        Field(
            ge=0, le=MAX_BUDGET_USD, description="It pauses before a call would pass this; null is no cap."
        ),
    ] = None
    no_cap: Annotated[
        bool, Field(description="Needed for a judge without a price, which no budget can hold.")
    ] = False
    use_cache: Annotated[
        bool, Field(description="Whether what the team was answered before, word for word, is used again.")
    ] = True
    mode: Annotated[
        Annotated[str, OneOf(RunMode.values)],
        Field(description="live, or batch: answered within a day, where endpoints take batches."),
    ] = RunMode.LIVE.value
    item_ids: Annotated[
        list[Id] | None, Field(description="Grade these items of the dataset only; null for all.")
    ] = None
    sample: Annotated[
        int | None,
        Field(ge=1, le=MAX_CHOSEN, description="Grade only so many items, spread over the dataset."),
    ] = None
    systems: Annotated[
        list[Annotated[str, Field(max_length=201)]],
        Field(
            max_length=MAX_SYSTEMS,
            description="Grade only answers of these system versions, as `assistant@v4`: one of a run, "
            "several of a launch. Needed where the dataset has answers of several.",
            examples=[["assistant@v4"]],
        ),
    ] = []
    split: Annotated[
        Annotated[str, OneOf(SEALS)] | None,
        Field(description="Grade only answers to dev or to test cases; null for all."),
    ] = None


class Span(Shape[Range]):
    """A number that is probably between the two, equal where it is certain."""


class JudgePlan(Shape[JudgeForecast]):
    """One judge's share. Tokens and cost are those of the new calls; `cost_usd` is null without a price."""

    earlier_calls: Annotated[
        int, Field(description="How many of its calls the numbers rest on; 0 where they are assumed.")
    ]


class MonthSpending(Schema):
    """What the team's runs cost this calendar month (UTC), without lost calls; with `unpriced` ones as far as
    a cap had money set aside for them.
    """

    cap_usd: float | None
    spent_usd: float
    held_usd: Annotated[float, Field(description="Set aside for calls in flight.")]
    left_usd: Annotated[float | None, Field(description="Null without a cap.")]
    unpriced: int
    lost_calls: Annotated[int, Field(description="Requests cut off or never answered; perhaps paid for.")]
    lost_at_most_usd: float


class RunPlan(Schema):
    """What a run would come to; asking again after errors comes on top.

    Of its `calls`, `cached` are answered from earlier answers and `new` are paid for. The cost is that of
    judges with a price, `unpriced` names the others; `seconds` is null when nobody is asked.
    """

    items: int
    own_rubrics: Annotated[int, Field(description="How many of the items bring a rubric of their own.")]
    criteria_fewest: Annotated[int, Field(description="Criteria per item, checks among them.")]
    criteria_most: int
    calls: Span
    cached: Span
    new: Span
    prompt_tokens: Span
    completion_tokens: Span
    cost_usd: Span | None
    unpriced: list[str]
    seconds: Span | None
    judges: list[JudgePlan]
    month: Annotated[
        MonthSpending | None,
        Field(description="Null while what a run cost is withheld from you, who review its items blind."),
    ]
    sampled: Annotated[int, Field(description="How many items' prompts were put together and measured.")]
    basis: Annotated[list[str], Field(description="What the numbers rest on, in sentences.")]
