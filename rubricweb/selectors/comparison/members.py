"""The judges of a panel one by one: how far they agree among themselves, and each with people."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rubricweb.engine.agreement import Figure, PairAgreement
from rubricweb.engine.agreement.raters.leading import LeadingKappa, leading_kappa
from rubricweb.models import Criterion, MemberSnapshot, ReviewQueue, Run, Vote
from rubricweb.selectors.labels.by_kind import Evidence, tied_share
from rubricweb.selectors.labels.ground_truth import RunAnswers, Unit, reviewed_items


@dataclass(frozen=True)
class MemberOnCriterion:
    """One member against people on one criterion: `pair` of a binary one, `options` of a choice."""

    criterion: Criterion
    pair: PairAgreement | None
    options: PairAgreement | None


@dataclass(frozen=True)
class MemberComparison:
    """One member of a panel against people, by the rules for the panel's verdict.

    `overall` pools the units of binary criteria in one table, `leading` is the κ that is shown first and
    believed. `failed` counts units with a ground truth on which its vote
    was an error, `unasked` those on which it has no vote: a later stage of a cascade is only asked where an
    earlier one was unsure, and its figures are about those units alone.
    """

    name: str
    weight: float
    stage: int
    overall: PairAgreement
    leading: LeadingKappa
    criteria: tuple[MemberOnCriterion, ...]
    failed: int
    unasked: int


@dataclass(frozen=True)
class PanelComparison:
    """The members of a panel among themselves, over the units people labelled, and each against people.

    `alpha` is Krippendorff's, nominal, over units of binary criteria in one table, `alpha_within` with chance
    counted within each (None where there is one), `alphas` that of each criterion (ordinal where options are
    steps). With fewer than two members it is None.
    """

    members: tuple[MemberComparison, ...]
    alpha: Figure
    alpha_within: Figure | None
    alphas: tuple[tuple[Criterion, Figure], ...]

    @property
    def by_criterion(self) -> tuple["PanelOnCriterion", ...]:
        """The same criterion by criterion."""
        return tuple(
            PanelOnCriterion(
                criterion,
                alpha,
                tuple(
                    (member.name, member.criteria[place].pair or member.criteria[place].options)
                    for member in self.members
                ),
            )
            for place, (criterion, alpha) in enumerate(self.alphas)
        )


@dataclass(frozen=True)
class PanelOnCriterion:
    """One criterion: α among the members, and each by name against people."""

    criterion: Criterion
    alpha: Figure
    members: tuple[tuple[str, PairAgreement | None], ...]


def compare_members(
    runs: Sequence[Run],
    queues: Sequence[ReviewQueue],
    evidence: Evidence,
    criteria: Iterable[Criterion],
    not_binary: set[int],
) -> PanelComparison | None:
    """The members of the panel of these runs, one and the same; None for runs without one. One query.

    Of a member that was asked several times the first vote counts, as of a run. `evidence` says what people
    said; hidden items are in none of it. `not_binary` are the ids of criteria whose labels are no verdicts.
    """
    panel = runs[0].panel
    if panel is None:
        return None
    votes = _votes(runs, queues)
    asked = [criterion for criterion in criteria if criterion.kind != "check"]
    by_criterion: dict[int, list[Unit]] = defaultdict(list)
    for unit in evidence.truths:
        by_criterion[unit[1]].append(unit)
    among: dict[Unit, dict[int, str]] = {unit: {} for unit in evidence.truths}
    for number, member in enumerate(panel.members):
        for unit, label in votes[member.name].labels.items():
            if unit in among:
                among[unit][number] = label
    members = replace(evidence, labelled=among)
    binary = [unit for unit in among if unit[1] not in not_binary]
    of_rubric = {criterion.pk for criterion in asked}
    return PanelComparison(
        members=tuple(
            _member(member, replace(evidence, judged=votes[member.name]), asked, by_criterion, binary)
            for member in panel.members
        ),
        alpha=members.by_effect.people(binary).alpha,
        alpha_within=members.by_effect.alpha_within(binary, of_rubric),
        alphas=tuple((one, members.people(by_criterion[one.pk], one).alpha) for one in asked),
    )


def _votes(runs: Sequence[Run], queues: Sequence[ReviewQueue]) -> dict[str, RunAnswers]:
    """Judge → the first vote it gave on every unit of a reviewed item, or that it failed."""
    rows = (
        Vote.objects.filter(run__in=runs, item__in=reviewed_items(queues))
        # The first vote comes last, and stays.
        .order_by("-stage", "-repeat", "pk")
        .values_list("judge", "item_id", "criterion_id", "verdict")
    )
    first: dict[str, dict[Unit, str | None]] = defaultdict(dict)
    for judge, item_id, criterion_id, label in rows:
        first[judge][item_id, criterion_id] = label
    found: dict[str, RunAnswers] = defaultdict(RunAnswers)
    for judge, votes in first.items():
        found[judge] = RunAnswers(
            labels={unit: label for unit, label in votes.items() if label is not None},
            failed=frozenset(unit for unit, label in votes.items() if label is None),
        )
    return found


def _member(
    member: MemberSnapshot,
    evidence: Evidence,
    criteria: Sequence[Criterion],
    by_criterion: Mapping[int, Sequence[Unit]],
    binary: Sequence[Unit],
) -> MemberComparison:
    decided = sorted(unit for unit, truth in evidence.truths.items() if truth.verdict is not None)
    voted, failed = evidence.judged.labels, evidence.judged.failed
    labelled = set(binary)
    settled = [unit for unit in decided if unit in labelled]
    pooled = evidence.by_effect
    overall, of_rubric = pooled.pair(settled), {criterion.pk for criterion in criteria}
    within = pooled.within(settled, binary, of_rubric)
    tied = tied_share(len(binary) - len(settled), len(settled))
    return MemberComparison(
        name=member.name,
        weight=member.weight,
        stage=member.stage,
        overall=overall,
        leading=leading_kappa(overall.kappa, pooled.ceiling(binary), within, tied),
        criteria=tuple(
            MemberOnCriterion(criterion, *evidence.against_people(criterion, by_criterion[criterion.pk]))
            for criterion in criteria
        ),
        failed=sum(unit in failed for unit in decided),
        unasked=sum(unit not in failed and unit not in voted for unit in decided),
    )
