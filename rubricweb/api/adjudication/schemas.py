"""Shapes of the inbox of adjudication, its units, decisions and where ground truth comes from."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import AwareDatetime, BaseModel, Field

from rubricweb.api.comparison.schemas import Vote, vote_counts
from rubricweb.api.paging import ListQuery
from rubricweb.api.reviews.schemas import Quote
from rubricweb.api.rubrics.schemas import Criterion
from rubricweb.api.schemas import (
    Answered,
    EffectOrNone,
    Figure,
    Id,
    Input,
    OneOf,
    OriginOrNone,
    Username,
    WithFields,
)
from rubricweb.api.shapes import Shape
from rubricweb.engine.ground_truth import RULES
from rubricweb.models import Cause, Item
from rubricweb.models import Criterion as StoredCriterion
from rubricweb.selectors.adjudication.inbox import KINDS
from rubricweb.selectors.labels.provenance import Provenance
from rubricweb.selectors.labels.provenance import SaidLabel as ShownSaidLabel
from rubricweb.selectors.labels.stored_answers import label_effect
from rubricweb.selectors.rubrics.todo import CriterionWork as ShownCriterionWork

CauseOrNone = Annotated[
    str,
    OneOf(["", *Cause.values]),
    Field(description="Empty where nobody differed: what all said was accepted."),
]


class InboxQuery(ListQuery):
    queue: Annotated[
        list[Id], Field(max_length=100, description="These queues only; else all that people labelled.")
    ] = []
    run: Annotated[
        Id | None,
        Field(description="This run’s judge alone stands beside people."),
    ] = None
    criterion: Annotated[list[Id], Field(max_length=100, description="These criteria only.")] = []
    kind: Annotated[str, OneOf(KINDS)] | None = None
    cause: Annotated[
        Annotated[str, OneOf(Cause.values)] | None,
        Field(description="Those decided for this cause; an unclear rubric also where a rater said so."),
    ] = None
    judged: Annotated[
        Answered | None,
        Field(
            description="With `truth` and `run`: every unit behind one number of the confusion matrix, of "
            "`criterion` if one is given, else of all met-or-unmet criteria pooled by effect."
        ),
    ] = None
    truth: Answered | None = None
    include_decided: Annotated[bool, Field(description="Also what was adjudicated already.")] = False


class Adjudication(Schema):
    item_id: int
    criterion_id: int
    verdict: Answered
    effect: EffectOrNone
    cause: CauseOrNone
    reason: str
    decided_by: Username
    decided_at: datetime

    @staticmethod
    def resolve_effect(row: Any) -> Any:
        return label_effect(row.criterion, row.verdict)


class InboxUnit(Schema):
    """One criterion of one item to look at; `kinds` say why, the most telling first.

    `votes` are people's final labels, `judged` those of the judges beside them, each with its effect in
    `judged_effects` and where it comes from in `judged_origins` (null: a judge asked here). `stands` is the
    ground truth by `rule`; null while people are tied.
    """

    item_id: int
    item_key: Annotated[
        str | None, Field(description="null while it would tell you whose answer you review blind.")
    ]
    criterion: Criterion
    kinds: list[Annotated[str, OneOf(KINDS)]]
    votes: list[Vote]
    judged: list[Answered]
    judged_effects: list[EffectOrNone]
    judged_origins: list[OriginOrNone]
    stands: Answered | None
    rule: Annotated[str, OneOf(RULES)]
    decided: Adjudication | None

    @staticmethod
    def resolve_votes(row: Any) -> list[Vote]:
        return vote_counts(row.criterion, row.votes)

    @staticmethod
    def resolve_judged_effects(row: Any) -> list[Any]:
        return [label_effect(row.criterion, label) for label in row.judged]


class UnitAnswer(Schema):
    """What one rater said. `initial` is a person's first label where they changed it after the reveal.

    `later` is why they changed, `unclear` whether they found the rubric so. `votes` are the answers a judge's
    label was made of.
    """

    name: str
    is_judge: bool
    verdict: Answered | None
    effect: EffectOrNone
    initial: Answered | None
    reason: str
    later: str
    unclear: bool
    error: str
    evidence: list[Quote]
    votes: list[Vote]
    origin: OriginOrNone


class Unit(Schema):
    """Everybody's word on one criterion of one item; `most` is the majority of people's final labels."""

    item_id: int
    criterion: Criterion
    answers: list[UnitAnswer]
    most: Answered | None
    decision: Adjudication | None

    @staticmethod
    def resolve_item_id(row: Any) -> int:
        return int(row.item.pk)

    @staticmethod
    def resolve_answers(row: Any) -> list[WithFields]:
        return [
            WithFields(
                one,
                effect=label_effect(row.criterion, one.verdict),
                votes=vote_counts(row.criterion, one.votes),
            )
            for one in row.answers
        ]


class NewAdjudication(Input):
    """A reason is required to decide against the majority of people's final labels."""

    verdict: Answered
    cause: Annotated[str, OneOf(Cause.values)]
    reason: Annotated[str, Field(max_length=10_000)] = ""
    seen: Annotated[
        AwareDatetime | None,
        Field(
            strict=False, description="`decided_at` of another person's decision that this one is to replace."
        ),
    ] = None


class WithdrawQuery(BaseModel):
    seen: Annotated[
        AwareDatetime | None,
        Field(
            description="`decided_at` of the decision that is to be taken back; needed for another person's. "
            "Nothing happens where only an earlier one is left."
        ),
    ] = None


class Agreed(Schema):
    """`units` on which all people and the judge gave one label; on those `waiting` somebody differs."""

    units: int
    waiting: int
    hidden_items: Annotated[int, Field(description="Items you are still to review blind: left out.")]


class Accepted(Schema):
    accepted: int


class SaidLabel(Shape[ShownSaidLabel]):
    rater: Annotated[str | None, Field(description="Null unless names are asked for.")]
    verdict: Answered
    effect: EffectOrNone
    origin: OriginOrNone


class GroundTruth(Schema):
    """The label that stands for one criterion of an item, and where it comes from.

    `verdict` is null while people are tied. `decided_by` is null where nobody had to decide; `decided_at` is
    then when the last of the `labels` was given.
    """

    criterion: Criterion
    verdict: Answered | None
    effect: EffectOrNone
    rule: Annotated[str, OneOf(RULES)]
    decided_by: Username
    decided_at: datetime | None
    cause: CauseOrNone
    reason: str
    labels: list[SaidLabel]

    @staticmethod
    def resolve_effect(row: Any) -> Any:
        return label_effect(row.criterion, row.verdict)

    @staticmethod
    def resolve_labels(row: Any) -> list[WithFields]:
        return [
            WithFields(
                one, rater=one.rater if row.names else None, effect=label_effect(row.criterion, one.verdict)
            )
            for one in row.labels
        ]


class GroundTruthOfItem(Schema):
    item_id: int
    criteria: list[GroundTruth]


def ground_truth_of_item(
    item: Item, provenances: Iterable[tuple[StoredCriterion, Provenance]], *, names: bool
) -> dict[str, Any]:
    """What stands for an item, for the schema `GroundTruthOfItem`; raters by name only with `names`."""
    return {
        "item_id": item.pk,
        "criteria": [
            WithFields(one, criterion=criterion, decided_by=one.decided_by or None, names=names)
            for criterion, one in provenances
        ],
    }


class CauseCount(Schema):
    cause: Annotated[str, OneOf(Cause.values)]
    count: int


class CriterionWork(Shape[ShownCriterionWork]):
    """How often each cause was given on a criterion, over all versions in which it says the same.

    `unclear_said` of the unclear ones were said by raters after the reveal and not decided so. `done`: the
    newest version no longer has the criterion as it was.
    """

    criterion: Criterion
    counts: list[CauseCount]

    @staticmethod
    def resolve_counts(row: Any) -> list[CauseCount]:
        return [CauseCount(cause=cause.value, count=count) for cause, count in row.counts]


class RubricWork(Schema):
    rubric_id: int
    criteria: list[CriterionWork]


class RevisionRate(Schema):
    """Of the `n` verdicts from which the judge differed when it was shown: the shares changed afterwards.

    `to_judge` is the share changed to the judge's label. `unanswered` verdicts are in no share.
    """

    criterion: Criterion | None
    n: int
    changed: Figure
    to_judge: Figure
    unclear: int
    unanswered: int


class RevisionRates(Schema):
    """`overall` has no criterion. `reveals`: a queue shows this judge after submitting and not before."""

    run_id: int
    reveals: bool
    overall: RevisionRate
    criteria: list[RevisionRate]


class RevisionRatesQuery(BaseModel):
    queue: Annotated[
        list[Id], Field(max_length=100, description="Queues over the run's dataset; else all with labels.")
    ] = []
