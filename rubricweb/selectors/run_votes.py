"""Votes of a run: how far they agree with their verdict, how often a judge differs from itself."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import cast

from rubricweb.engine.agreement import Ratings
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.repeats import flip_rate, panel_agreement
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Criterion, Item, Judgement, Run, User, Vote
from rubricweb.selectors.reviews import hidden_items

ABSTAINED = str(Verdict.CANNOT_ASSESS)


@dataclass(frozen=True)
class VoteAgreement:
    """Votes on one criterion, or on all of them.

    `agreement`: share of the votes that equal the verdict made of them, averaged over items, abstaining and
    failed ones set aside. `flips`: the chance that two repeats by the same judge differ, an abstention being
    an answer like any other; None without repeats. `votes` counts all of them, `failed` those without answer.
    """

    agreement: Figure
    flips: Figure
    votes: int
    failed: int


@dataclass(frozen=True)
class RunVotes:
    """A run's votes together and by criterion, in rubric order (none where items bring their own rubrics)."""

    overall: VoteAgreement
    criteria: tuple[tuple[Criterion, VoteAgreement], ...]


@dataclass(frozen=True)
class _Unit:
    """The votes on one criterion of one item that its verdict was made of: those of the last stage asked."""

    item_id: int
    criterion_id: int
    final: str | None
    votes: tuple[tuple[str, int, str | None], ...]  # judge, repeat, label
    failed: int


def run_votes(run: Run, *, viewer: User) -> RunVotes | None:
    """Agreement among the votes of a run with a panel, None for others. Three queries, whatever its size.

    Items the viewer is still to review blind are not counted.
    """
    if run.panel is None:
        return None
    units = _units(run, viewer)
    by_criterion: dict[int, list[_Unit]] = defaultdict(list)
    for unit in units:
        by_criterion[unit.criterion_id].append(unit)
    criteria = Criterion.objects.filter(pk__in=by_criterion).order_by("version_id", "position")
    labels = {criterion.pk: _abstaining(criterion) for criterion in criteria}
    shared = [one for one in criteria if one.version_id == run.rubric_version_id]
    return RunVotes(
        overall=_agreement(units, labels),
        criteria=tuple((one, _agreement(by_criterion[one.pk], labels)) for one in shared),
    )


def item_votes(run: Run, item: Item) -> dict[int, list[Vote]]:
    """Criterion id → its votes on one item, by stage, judge and repeat.

    `runs.run_item` is the door to them: they are hidden wherever the verdicts are.
    """
    votes: dict[int, list[Vote]] = defaultdict(list)
    rows = Vote.objects.filter(run=run, item=item).select_related("call")
    for vote in rows.order_by("criterion__position", "stage", "judge", "repeat"):
        votes[vote.criterion_id].append(vote)
    return dict(votes)


def _abstaining(criterion: Criterion) -> frozenset[str]:
    """The labels that abstain: CANNOT_ASSESS and the options that are not applicable."""
    options = (option["label"] for option in criterion.options if option.get("na"))
    return frozenset({ABSTAINED, *options})


def _units(run: Run, viewer: User) -> list[_Unit]:
    hidden = hidden_items(viewer, run.team)
    finals = {
        (item_id, criterion_id): verdict
        for item_id, criterion_id, verdict in Judgement.objects.filter(run=run)
        .exclude(item__in=hidden)
        .values_list("item_id", "criterion_id", "verdict")
    }
    rows = (
        Vote.objects.filter(run=run)
        .exclude(item__in=hidden)
        .order_by("item_id", "criterion_id", "-stage", "judge", "repeat")
        .values_list("item_id", "criterion_id", "stage", "judge", "repeat", "verdict")
    )
    units = []
    for (item_id, criterion_id), cast_on in groupby(
        rows.iterator(chunk_size=2000), key=lambda row: (row[0], row[1])
    ):
        votes = list(cast_on)
        last = [row for row in votes if row[2] == votes[0][2]]
        units.append(
            _Unit(
                item_id=item_id,
                criterion_id=criterion_id,
                final=finals.get((item_id, criterion_id)),
                votes=tuple((row[3], row[4], row[5]) for row in last),
                failed=sum(row[5] is None for row in last),
            )
        )
    return units


def _agreement(units: Sequence[_Unit], abstaining: dict[int, frozenset[str]]) -> VoteAgreement:
    return VoteAgreement(
        agreement=panel_agreement(
            [_voices(unit, abstaining[unit.criterion_id]) for unit in units],
            [None if unit.final in abstaining[unit.criterion_id] else unit.final for unit in units],
            [unit.item_id for unit in units],
        ),
        flips=flip_rate(_repeats(units, abstaining)),
        votes=sum(len(unit.votes) for unit in units),
        failed=sum(unit.failed for unit in units),
    )


def _voices(unit: _Unit, abstaining: frozenset[str]) -> list[str | None]:
    return [None if label in abstaining else label for _, _, label in unit.votes]


def _repeats(units: Sequence[_Unit], abstaining: dict[int, frozenset[str]]) -> Ratings:
    """Repeats in the place of raters; one unit is one judge on one criterion of one item."""
    triples: list[tuple[Hashable, Hashable, str | None]] = [
        (
            (unit.item_id, unit.criterion_id, judge),
            repeat,
            ABSTAINED if label in abstaining[unit.criterion_id] else label,
        )
        for unit in units
        for judge, repeat, label in unit.votes
    ]
    return Ratings.from_triples(triples, cluster_of=_item_of)


def _item_of(unit: Hashable) -> Hashable:
    item_id, _, _ = cast(tuple[int, int, str], unit)
    return item_id
