"""The report on one item of a run: verdicts with what they add, and the calls behind them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Q, QuerySet

from rubricweb import engine
from rubricweb.engine.panels.voting import VoteTally, tally
from rubricweb.engine.scoring import (
    Abstention,
    OnError,
    Outcome,
    Score,
    contributions,
    score_groups,
    value_of,
)
from rubricweb.engine.scoring.effect import Effect, effect_of
from rubricweb.engine.submission import Submission
from rubricweb.errors import Invalid
from rubricweb.models import FULLY_JUDGED, Criterion, Item, JudgeCall, Judgement, Run, RunItem, User, Vote
from rubricweb.selectors.blinding import shown
from rubricweb.selectors.labels.stored_answers import engine_votes, outcomes
from rubricweb.selectors.runs import calls as run_calls
from rubricweb.selectors.runs import listing
from rubricweb.selectors.runs import votes as run_votes
from rubricweb.selectors.runs.graders import PER_ITEM, Graders, settled
from rubricweb.selectors.runs.results import RUN_ITEM_ORDERS


@dataclass(frozen=True)
class CriterionResult:
    """One criterion of the report; `contribution` is what it adds to the raw score, None when it is out.

    `value` is the number scoring used, None when the answer abstains or failed. `votes` are those of a panel,
    stage by stage; `agreement` is the share of them that equal the verdict, `flips` the share of pairs of
    repeats by one judge that differ, both None without votes to say it of.
    """

    criterion: Criterion
    judgement: Judgement | None
    contribution: float | None
    call: JudgeCall | None
    value: float | None = None
    votes: tuple[Vote, ...] = ()
    agreement: float | None = None
    flips: float | None = None

    @property
    def effect(self) -> Effect | None:
        """What the answer does to the score; None where it has no value."""
        return effect_of(self.value, self.criterion.weight)


@dataclass(frozen=True)
class ItemReport:
    """Everything a run knows about one item. `calls` are those that do not stand under one criterion; of no
    call is the text here, which `calls.call_in_full` has.

    `groups` scores every group of criteria as a rubric of its own, None holding the ungrouped; None as a
    whole when no criterion has a group, or the judge answered for all of them at once.
    """

    row: RunItem
    submission: Submission
    criteria: tuple[CriterionResult, ...]
    calls: tuple[JudgeCall, ...]
    groups: dict[str | None, Score] | None = None


def item_report(run: Run, item: Item, *, viewer: User) -> ItemReport | None:
    """The report, None when the item is not part of the run; Withheld while the viewer reviews it blind."""
    row = listing.run_item(run, item, viewer=viewer)
    if row is None:
        return None
    rows = list(row.rubric_version.criteria.order_by("position"))
    rubric, graders = row.rubric_version.to_engine(), Graders(run)
    made = {call.pk: call for call in run_calls.calls(run, item)}
    by_criterion = {one.criterion_id: one for one in _judgements(run, item, made)}
    votes = run_votes.item_votes(run, item) if run.panel is not None else {}
    under = {one.call_id for one in by_criterion.values()} if run_calls.asks_each(run, row) else set()
    given = {one.criterion_id: (one.verdict, one.value) for one in by_criterion.values()}
    worth = outcomes(rubric, rows, given)
    added = contributions(rubric.weights, worth, worst=rubric.worst_values, **_policy(run))
    results = []
    for index, criterion in enumerate(rows):
        judgement, cast_on = by_criterion.get(criterion.pk), votes.get(criterion.pk, [])
        settled_as = _settled(graders, row, rubric.criteria[index], cast_on)
        results.append(
            CriterionResult(
                criterion=criterion,
                judgement=judgement,
                contribution=added[index] if judgement is not None else None,
                call=judgement.call if judgement and judgement.call_id in under else None,
                value=value_of(worth[index]),
                votes=tuple(cast_on),
                agreement=settled_as.agreement if settled_as else None,
                flips=settled_as.flips if settled_as else None,
            )
        )
    return ItemReport(
        row=row,
        submission=item.to_engine(),
        criteria=tuple(results),
        calls=tuple(call for pk, call in made.items() if pk not in under),
        groups=_groups(run, rubric, worth),
    )


def _judgements(run: Run, item: Item, made: Mapping[int, JudgeCall]) -> Iterator[Judgement]:
    """The run's answers on the item, each with its call but not what was said in it."""
    for judgement in Judgement.objects.filter(run=run, item=item).order_by("criterion__position", "repeat"):
        if judgement.call_id is not None and judgement.call_id in made:
            judgement.call = made[judgement.call_id]
        yield judgement


def _policy(run: Run) -> dict[str, Any]:
    return {"abstention": cast(Abstention, run.abstention), "on_error": cast(OnError, run.on_error)}


def _groups(run: Run, rubric: engine.Rubric, worth: Sequence[Outcome]) -> dict[str | None, Score] | None:
    names = [criterion.group for criterion in rubric.criteria]
    if run.autograder == PER_ITEM or not any(names):
        return None
    policy = {"worst": rubric.worst_values, "normalize": run.normalize, **_policy(run)}
    return score_groups(names, rubric.weights, worth, **policy)


def _settled(
    graders: Graders, row: RunItem, criterion: engine.Criterion, votes: Sequence[Vote]
) -> VoteTally | None:
    """What the votes on one criterion came to; while some are missing, what those of a panel say so far."""
    if not votes:
        return None
    cast_on = engine_votes(criterion, votes)
    found = settled(graders.voting(row.rubric_version_id), criterion, cast_on)
    return tally(criterion, cast_on) if found is None else found.tally


@dataclass(frozen=True)
class Neighbours:
    """The item ids before and after one in the order the reader came by."""

    previous: int | None
    next: int | None


def neighbours(run: Run, row: RunItem, *, viewer: User, order: str = "score") -> Neighbours:
    """The graded items before and after `row`: by score, worst first ("score") or best first, else by place
    in the dataset.

    Items the viewer is still to review blind are stepped over. An item that is in no ranking, without a score
    or with an error, goes by place. Raises
    Invalid for an order that is not in RUN_ITEM_ORDERS.
    """
    if order not in RUN_ITEM_ORDERS:
        allowed = ", ".join(RUN_ITEM_ORDERS)
        raise Invalid(f"Items of a run cannot be sorted by {order[:40]!r}. Allowed: {allowed}.")
    visible = shown(viewer, run.team, run.dataset_id)
    rows = RunItem.objects.filter(visible, run=run, graded_at__isnull=False)
    ranked = order in ("score", "-score") and row.score is not None and row.fully_judged
    if ranked:
        rows = rows.filter(FULLY_JUDGED)
        below = Q(score__lt=row.score) | Q(score=row.score, pk__lt=row.pk)
        above = Q(score__gt=row.score) | Q(score=row.score, pk__gt=row.pk)
        fields = ("score", "pk")
    else:
        below = Q(item__position__lt=row.item.position)
        above = Q(item__position__gt=row.item.position)
        fields = ("item__position", "pk")
    before = _first(rows.filter(below).order_by(*(f"-{name}" for name in fields)))
    after = _first(rows.filter(above).order_by(*fields))
    return Neighbours(after, before) if ranked and order == "-score" else Neighbours(before, after)


def _first(rows: QuerySet[RunItem]) -> int | None:
    item_id: int | None = rows.values_list("item_id", flat=True).first()
    return item_id
