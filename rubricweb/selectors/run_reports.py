"""The report on one item of a run: verdicts with what they add, and the calls behind them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from django.db.models import Q, QuerySet

from rubricweb.engine.autograders import AUTOGRADERS
from rubricweb.engine.autograders.base import Prompt, ReplyFormat
from rubricweb.engine.scoring import FAILED, Abstention, OnError, Outcome, contributions
from rubricweb.engine.submission import Submission
from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Invalid
from rubricweb.models import Criterion, Item, JudgeCall, Judgement, Run, RunItem, User
from rubricweb.selectors import runs
from rubricweb.selectors.reviews import hidden_items


@dataclass(frozen=True)
class Call:
    """One call with the prompt it sent, rebuilt from frozen rows.

    `prompt` is None for a call whose failure was asked again later: what it asked for is not stored apart.
    """

    call: JudgeCall
    prompt: Prompt | None


@dataclass(frozen=True)
class CriterionResult:
    """One criterion of the report; `contribution` is what it adds to the raw score, None when it is out."""

    criterion: Criterion
    judgement: Judgement | None
    contribution: float | None
    call: Call | None


@dataclass(frozen=True)
class ItemReport:
    """Everything a run knows about one item. `calls` are those that do not stand under one criterion."""

    row: RunItem
    submission: Submission
    criteria: tuple[CriterionResult, ...]
    calls: tuple[Call, ...]


def item_report(run: Run, item: Item, *, viewer: User) -> ItemReport | None:
    """The report, None when the item is not part of the run; Withheld while the viewer reviews it blind."""
    row = runs.run_item(run, item, viewer=viewer)
    if row is None:
        return None
    criteria = list(row.rubric_version.criteria.order_by("position"))
    found = {judgement.criterion_id: judgement for judgement in runs.judgements(run, item)}
    made = _calls(run, item, row, criteria, found.values())
    under = {judgement.call_id for judgement in found.values()} if _asks_each(made) else set()
    worth = contributions(
        [criterion.weight for criterion in criteria],
        [_outcome(found.get(criterion.pk)) for criterion in criteria],
        abstention=cast(Abstention, run.abstention),
        on_error=cast(OnError, run.on_error),
    )
    return ItemReport(
        row=row,
        submission=item.to_engine(),
        criteria=tuple(
            CriterionResult(
                criterion=criterion,
                judgement=(judgement := found.get(criterion.pk)),
                contribution=share if judgement is not None else None,
                call=made.get(judgement.call_id) if judgement and judgement.call_id in under else None,
            )
            for criterion, share in zip(criteria, worth, strict=True)
        ),
        calls=tuple(call for pk, call in made.items() if pk not in under),
    )


def _outcome(judgement: Judgement | None) -> Outcome:
    return Verdict(judgement.verdict) if judgement is not None and judgement.verdict else FAILED


def _asks_each(made: dict[int | None, Call]) -> bool:
    """Whether every call with a known prompt asked about one criterion only."""
    asked = [call.prompt for call in made.values() if call.prompt is not None]
    return bool(asked) and all(len(prompt.criteria) == 1 for prompt in asked)


def _calls(
    run: Run, item: Item, row: RunItem, criteria: Sequence[Criterion], judgements: Iterable[Judgement]
) -> dict[int | None, Call]:
    """Call id → call with its prompt, oldest first.

    The first call about an item asks for everything it is there for; a later one for what had failed, which
    is what it and the calls after it were stored for.
    """
    place = {criterion.pk: index for index, criterion in enumerate(criteria)}
    stored: dict[int | None, set[int]] = {}
    for judgement in judgements:
        stored.setdefault(judgement.call_id, set()).add(place[judgement.criterion_id])
    grader = AUTOGRADERS[run.autograder](reply_format=cast(ReplyFormat, run.reply_format))
    rubric = row.rubric_version.to_engine()
    one_by_one = len(grader.prompts(item.to_engine(), rubric)) > 1
    calls = list(runs.calls(run, item))
    found: dict[int | None, Call] = {}
    later: set[int] = set()
    for call in reversed(calls):
        asked = stored.get(call.pk, set())
        if not one_by_one:
            later |= asked
            asked = set(place.values()) if call is calls[0] or not stored else set(later)
        whole = len(asked) == len(place)
        prompts = (
            grader.prompts(item.to_engine(), rubric, only=None if whole else sorted(asked))
            if asked or not place
            else []
        )
        found[call.pk] = Call(call, prompts[0] if len(prompts) == 1 else None)
    return dict(reversed(found.items()))


@dataclass(frozen=True)
class Neighbours:
    """The item ids before and after one in the order the reader came by."""

    previous: int | None
    next: int | None


def neighbours(run: Run, row: RunItem, *, viewer: User, order: str = "score") -> Neighbours:
    """The graded items before and after `row`: by score, worst first ("score") or best first, else by place
    in the dataset.

    Items the viewer is still to review blind are stepped over. An item without a score goes by place. Raises
    Invalid for an order that is not in RUN_ITEM_ORDERS.
    """
    if order not in runs.RUN_ITEM_ORDERS:
        allowed = ", ".join(runs.RUN_ITEM_ORDERS)
        raise Invalid(f"Items of a run cannot be sorted by {order[:40]!r}. Allowed: {allowed}.")
    rows = RunItem.objects.filter(run=run, graded_at__isnull=False).exclude(
        item__in=hidden_items(viewer, run.team)
    )
    if order in ("score", "-score") and row.score is not None:
        below = Q(score__lt=row.score) | Q(score=row.score, pk__lt=row.pk)
        above = Q(score__gt=row.score) | Q(score=row.score, pk__gt=row.pk)
        fields = ("score", "pk")
    else:
        below = Q(item__position__lt=row.item.position)
        above = Q(item__position__gt=row.item.position)
        fields = ("item__position", "pk")
    before = _first(rows.filter(below).order_by(*(f"-{name}" for name in fields)))
    after = _first(rows.filter(above).order_by(*fields))
    return (
        Neighbours(after, before)
        if order == "-score" and row.score is not None
        else Neighbours(before, after)
    )


def _first(rows: QuerySet[RunItem]) -> int | None:
    found: int | None = rows.values_list("item_id", flat=True).first()
    return found
