"""Votes of a run: how far they agree with their verdict, how often a judge differs from itself."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import cast

from rubricweb.engine.agreement import Ratings
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.raters.repeats import flip_rate, panel_agreement
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Criterion, Item, Judgement, Run, User, Vote, of_run
from rubricweb.selectors.blinding import shown
from rubricweb.selectors.runs import calls
from rubricweb.selectors.shared.cases import repeated_cases_of

ABSTAINED = str(Verdict.CANNOT_ASSESS)


@dataclass(frozen=True)
class VoteAgreement:
    """Votes on one criterion, or on all of them.

    `agreement`: share of the votes that equal the verdict made of them, averaged over items, abstaining and
    failed ones set aside. `flips`: the chance that two repeats by the same judge differ, an abstention being
    an answer like any other; None without repeats. `votes` counts all of them, `failed` those without answer.
    Of the `units`, criteria of items, `went_on` were asked about past the first stage: 0 without a cascade.
    """

    agreement: Figure
    flips: Figure
    votes: int
    failed: int
    units: int
    went_on: int


@dataclass(frozen=True)
class JudgeVotes:
    """One judge of the panel: how far its votes equal the verdicts, and what most of the failed ended in.

    `failure` is that kind of error, "" when none failed.
    """

    judge: str
    votes: VoteAgreement
    failure: str


@dataclass(frozen=True)
class RunVotes:
    """A run's votes together, by criterion in rubric order (none where items bring their own rubrics), and by
    judge in the order of the panel.
    """

    overall: VoteAgreement
    criteria: tuple[tuple[Criterion, VoteAgreement], ...]
    judges: tuple[JudgeVotes, ...]


@dataclass(frozen=True)
class _Unit:
    """The votes of one stage on one criterion of one item, and the verdict that all stages came to.

    Units of one `cluster` fall together: it is the item, or its case where a case has several answers.
    """

    item_id: int
    cluster: int
    criterion_id: int
    stage: int
    final: str | None
    votes: tuple[tuple[str, int, str | None, str | None], ...]  # judge, repeat, label, kind of error

    @property
    def failed(self) -> int:
        return sum(label is None for _, _, label, _ in self.votes)

    def of(self, judge: str) -> "_Unit":
        """The votes of one judge alone."""
        return replace(self, votes=tuple(vote for vote in self.votes if vote[0] == judge))


def run_votes(run: Run, *, viewer: User) -> RunVotes | None:
    """Agreement among the votes of a run with a panel, None for others. Five queries at most.

    Items the viewer is still to review blind are not counted.
    """
    if run.panel is None:
        return None
    every = _units(run, viewer)
    # A verdict is made of the votes of the last stage that was asked, which comes first.
    units = [next(stages) for _, stages in groupby(every, key=lambda one: (one.item_id, one.criterion_id))]
    by_criterion: dict[int, list[_Unit]] = defaultdict(list)
    for unit in units:
        by_criterion[unit.criterion_id].append(unit)
    criteria = Criterion.objects.filter(pk__in=by_criterion).order_by("version_id", "position")
    labels = {criterion.pk: _abstaining(criterion) for criterion in criteria}
    shared = [one for one in criteria if one.version_id == run.rubric_version_id]
    return RunVotes(
        overall=_agreement(units, labels),
        criteria=tuple((one, _agreement(by_criterion[one.pk], labels)) for one in shared),
        judges=tuple(_by_judge(member.name, every, labels) for member in run.panel.members),
    )


def item_votes(run: Run, item: Item) -> dict[int, list[Vote]]:
    """Criterion id → its votes on one item, by stage, judge and repeat.

    `runs.run_item` is their access check: they are hidden wherever the verdicts are.
    """
    votes: dict[int, list[Vote]] = defaultdict(list)
    rows = Vote.objects.filter(run=run, item=item).select_related("call")
    rows = rows.defer(*(f"call__{name}" for name in calls.BODIES))
    for vote in rows.order_by("criterion__position", "stage", "judge", "repeat"):
        votes[vote.criterion_id].append(vote)
    return dict(votes)


def _abstaining(criterion: Criterion) -> frozenset[str]:
    """The labels that abstain: CANNOT_ASSESS and the options that are not applicable."""
    options = (option["label"] for option in criterion.options if option.get("na"))
    return frozenset({ABSTAINED, *options})


def _units(run: Run, viewer: User) -> list[_Unit]:
    visible = shown(viewer, run.team, run.dataset_id)
    finals = {
        (item_id, criterion_id): verdict
        for item_id, criterion_id, verdict in Judgement.objects.filter(visible, of_run(run)).values_list(
            "item_id", "criterion_id", "verdict"
        )
    }
    rows = (
        Vote.objects.filter(visible, of_run(run))
        .order_by("item_id", "criterion_id", "-stage", "judge", "repeat")
        .values_list("item_id", "criterion_id", "stage", "judge", "repeat", "verdict", "error_kind")
    )
    cases = repeated_cases_of(run)
    units = []
    for (item_id, criterion_id, stage), cast_on in groupby(
        rows.iterator(chunk_size=2000), key=lambda row: row[:3]
    ):
        votes = tuple((judge, repeat, label, kind) for _, _, _, judge, repeat, label, kind in cast_on)
        final = finals.get((item_id, criterion_id))
        units.append(_Unit(item_id, cases.get(item_id, item_id), criterion_id, stage, final, votes))
    return units


def _by_judge(judge: str, units: Sequence[_Unit], abstaining: dict[int, frozenset[str]]) -> JudgeVotes:
    cast_by = [own for unit in units if (own := unit.of(judge)).votes]
    kinds = Counter(kind for unit in cast_by for _, _, _, kind in unit.votes if kind is not None)
    failure = min(kinds, key=lambda kind: (-kinds[kind], kind), default="")
    return JudgeVotes(judge, _agreement(cast_by, abstaining), failure)


def _agreement(units: Sequence[_Unit], abstaining: dict[int, frozenset[str]]) -> VoteAgreement:
    return VoteAgreement(
        agreement=panel_agreement(
            [_voices(unit, abstaining[unit.criterion_id]) for unit in units],
            [None if unit.final in abstaining[unit.criterion_id] else unit.final for unit in units],
            [unit.cluster for unit in units],
        ),
        flips=flip_rate(_repeats(units, abstaining)),
        votes=sum(len(unit.votes) for unit in units),
        failed=sum(unit.failed for unit in units),
        units=len(units),
        went_on=sum(unit.stage > 0 for unit in units),
    )


def _voices(unit: _Unit, abstaining: frozenset[str]) -> list[str | None]:
    return [None if label in abstaining else label for _, _, label, _ in unit.votes]


def _repeats(units: Sequence[_Unit], abstaining: dict[int, frozenset[str]]) -> Ratings:
    """Repeats in the place of raters; one unit is one judge on one criterion of one item."""
    triples: list[tuple[Hashable, Hashable, str | None]] = [
        (
            (unit.item_id, unit.criterion_id, judge),
            repeat,
            ABSTAINED if label in abstaining[unit.criterion_id] else label,
        )
        for unit in units
        for judge, repeat, label, _ in unit.votes
    ]
    clusters = {unit.item_id: unit.cluster for unit in units}

    def cluster_of(unit: Hashable) -> int:
        item_id, _, _ = cast(tuple[int, int, str], unit)
        return clusters[item_id]

    return Ratings.from_triples(triples, cluster_of=cluster_of)
