"""The report on one item of a run: verdicts with what they add, and the calls behind them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Q, QuerySet

from rubricweb import engine
from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.scoring import (
    Abstention,
    OnError,
    Outcome,
    Score,
    contributions,
    score_groups,
    value_of,
)
from rubricweb.engine.submission import Submission
from rubricweb.engine.voting import Tally, tally
from rubricweb.errors import Invalid
from rubricweb.models import Criterion, Item, JudgeCall, Judgement, Run, RunItem, User, Vote
from rubricweb.selectors import run_votes, runs
from rubricweb.selectors.reviews import hidden_items
from rubricweb.selectors.run_graders import PER_ITEM, Graders, settled
from rubricweb.selectors.stored_answers import engine_votes, outcomes


@dataclass(frozen=True)
class Call:
    """One call with the prompt it sent, rebuilt from frozen rows.

    `prompt` is None for a call whose failure was asked again later: what it asked for is not stored apart;
    and where it shows examples with labels of items the viewer is still to review blind.
    """

    call: JudgeCall
    prompt: Prompt | None


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
    call: Call | None
    value: float | None = None
    votes: tuple[Vote, ...] = ()
    agreement: float | None = None
    flips: float | None = None


@dataclass(frozen=True)
class ItemReport:
    """Everything a run knows about one item. `calls` are those that do not stand under one criterion.

    `groups` scores every group of criteria as a rubric of its own, None holding the ungrouped; None as a
    whole when no criterion has a group, or the judge answered for all of them at once.
    """

    row: RunItem
    submission: Submission
    criteria: tuple[CriterionResult, ...]
    calls: tuple[Call, ...]
    groups: dict[str | None, Score] | None = None


def item_report(run: Run, item: Item, *, viewer: User) -> ItemReport | None:
    """The report, None when the item is not part of the run; Withheld while the viewer reviews it blind."""
    row = runs.run_item(run, item, viewer=viewer)
    if row is None:
        return None
    rows = list(row.rubric_version.criteria.order_by("position"))
    rubric, graders = row.rubric_version.to_engine(), Graders(run)
    found = {judgement.criterion_id: judgement for judgement in runs.judgements(run, item)}
    votes = run_votes.item_votes(run, item) if run.panel is not None else {}
    asked = _Asked(run, item, row, rubric, rows, graders)
    made = asked.of_votes(votes) if run.panel is not None else asked.of_judgements(found.values())
    if _shows_hidden_examples(run, viewer):
        made = {pk: Call(call.call, None) for pk, call in made.items()}
    under = {one.call_id for one in found.values()} if _asks_each(made) and run.panel is None else set()
    given = {one.criterion_id: (one.verdict, one.value) for one in found.values()}
    worth = outcomes(rubric, rows, given)
    added = contributions(rubric.weights, worth, worst=rubric.worst_values, **_policy(run))
    results = []
    for index, criterion in enumerate(rows):
        judgement, cast_on = found.get(criterion.pk), votes.get(criterion.pk, [])
        settled_as = _settled(graders, row, rubric.criteria[index], cast_on)
        results.append(
            CriterionResult(
                criterion=criterion,
                judgement=judgement,
                contribution=added[index] if judgement is not None else None,
                call=made.get(judgement.call_id) if judgement and judgement.call_id in under else None,
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
) -> Tally | None:
    """What the votes on one criterion came to; while some are missing, what those of a panel say so far."""
    if not votes:
        return None
    cast_on = engine_votes(criterion, votes)
    found = settled(graders.voting(row.rubric_version_id), criterion, cast_on)
    return tally(criterion, cast_on) if found is None else found.tally


def _shows_hidden_examples(run: Run, viewer: User) -> bool:
    """Whether the prompts quote labels of items that the viewer is still to review blind."""
    shown = (run.few_shot or {}).get("item_ids", [])
    return bool(shown) and hidden_items(viewer, run.team).filter(pk__in=shown).exists()


def _asks_each(made: dict[int | None, Call]) -> bool:
    """Whether every call with a known prompt asked about one criterion only."""
    asked = [call.prompt for call in made.values() if call.prompt is not None]
    return bool(asked) and all(len(prompt.criteria) == 1 for prompt in asked)


@dataclass(frozen=True)
class _Asked:
    """The calls about one item, each with its prompt: call id → call, oldest first."""

    run: Run
    item: Item
    row: RunItem
    rubric: engine.Rubric
    criteria: Sequence[Criterion]
    graders: Graders

    def of_votes(self, votes: Mapping[int, Sequence[Vote]]) -> dict[int | None, Call]:
        """Every call of a panel asked about what its votes are on."""
        stored: dict[int | None, set[int]] = {}
        place = self._places()
        for cast_on in votes.values():
            for vote in cast_on:
                stored.setdefault(vote.call_id, set()).add(place[vote.criterion_id])
        calls = runs.calls(self.run, self.item)
        return {call.pk: Call(call, self._prompt(stored.get(call.pk, set()))) for call in calls}

    def of_judgements(self, judgements: Iterable[Judgement]) -> dict[int | None, Call]:
        """The first call about an item asks for everything it is there for; a later one for what had failed,
        which is what it and the calls after it were stored for.
        """
        place = self._places()
        stored: dict[int | None, set[int]] = {}
        for judgement in judgements:
            if judgement.criterion_id in place:
                stored.setdefault(judgement.call_id, set()).add(place[judgement.criterion_id])
        if self.run.autograder == PER_ITEM:
            stored = {}
        grader = self.graders.single(self.row.rubric_version_id)
        one_by_one = len(grader.prompts(self.item.to_engine(), self.rubric)) > 1
        calls = list(runs.calls(self.run, self.item))
        found: dict[int | None, Call] = {}
        later: set[int] = set()
        for call in reversed(calls):
            asked = stored.get(call.pk, set())
            if not one_by_one:
                later |= asked
                asked = set(place.values()) if call is calls[0] or not stored else set(later)
            found[call.pk] = Call(call, self._prompt(asked))
        return dict(reversed(found.items()))

    def _prompt(self, asked: set[int]) -> Prompt | None:
        place = self._places()
        if not asked:
            return None
        only = None if len(asked) == len(place) else sorted(asked)
        grader = self.graders.single(self.row.rubric_version_id)
        prompts = grader.prompts(self.item.to_engine(), self.rubric, only=only)
        return prompts[0] if len(prompts) == 1 else None

    def _places(self) -> dict[int, int]:
        """Criterion id → its place in the rubric, for those a judge is asked about."""
        return {
            criterion.pk: index for index, criterion in enumerate(self.criteria) if criterion.kind != "check"
        }


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
