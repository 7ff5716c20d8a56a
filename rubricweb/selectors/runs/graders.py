"""What a run asks with, built from what its row remembers: autograder, option order, examples, panel."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from rubricweb.engine.autograders import (
    AUTOGRADERS,
    CascadeGrader,
    Member,
    PanelGrader,
    PromptedAutograder,
    ReplyFormat,
    Stage,
)
from rubricweb.engine.autograders.examples.few_shot import Example
from rubricweb.engine.autograders.instructions import JudgeWording
from rubricweb.engine.autograders.panels.cascade import CONDITIONS, Condition
from rubricweb.engine.autograders.prompted import VerdictAutograder
from rubricweb.engine.number_format import counted
from rubricweb.engine.panels.vote_rules import DEFAULT_RULES, Scale
from rubricweb.engine.panels.voting import VoteTally
from rubricweb.engine.report import Escalation, Vote
from rubricweb.engine.rubric import Criterion as EngineCriterion
from rubricweb.models import CascadeSnapshot, Criterion, FewShotSnapshot, Item, PanelSnapshot, Run

PER_ITEM = "rubric_as_judge"


@dataclass(frozen=True)
class SettledVotes:
    """What all votes on one criterion came to, after the stages that passed it on."""

    tally: VoteTally
    escalations: tuple[Escalation, ...]


@dataclass
class Graders:
    """The autograders of one run, each built once.

    `examples` are shown in the place of those that the run's row names, by the 0-based place of the
    criterion: where a rubric is tried that is not published, there are no rows to name.
    """

    run: Run
    examples: Mapping[int, tuple[Example, ...]] | None = None
    _single: dict[tuple[bool, str], PromptedAutograder] = field(default_factory=dict)
    _voting: dict[bool, PanelGrader | CascadeGrader] = field(default_factory=dict)

    @cached_property
    def member_words(self) -> dict[str, JudgeWording]:
        """What members are told before they are asked, by name, where that is not what all are told."""
        version = self.run.judge_version
        members = version.definition.members if version and self.run.panel else ()
        return {member.name: member.wording for member in members if member.wording is not None}

    def single(self, version_id: int, member: str = "") -> PromptedAutograder:
        """What asks the judge, or this member of a panel, about an item of this rubric version.

        Examples belong to the run's own version: an item that brings a rubric along is shown none.
        """
        with_examples = self._shows_examples(version_id)
        key = with_examples, member if member in self.member_words else ""
        if key not in self._single:
            version = self.run.judge_version
            usual = version.definition.wording if version else JudgeWording()
            self._single[key] = AUTOGRADERS[self.run.autograder](
                system_prompt=self.member_words.get(member, usual),
                reply_format=cast(ReplyFormat, self.run.reply_format),
                normalize=self.run.normalize,
                option_seed=self.run.option_seed,
                examples=self._shown if with_examples else None,
            )
        return self._single[key]

    def voting(self, version_id: int) -> PanelGrader | CascadeGrader:
        """The panel or cascade of a run that has one."""
        with_examples = self._shows_examples(version_id)
        if with_examples not in self._voting:
            assert self.run.panel is not None, "only a run that votes is asked for one"
            self._voting[with_examples] = vote_grader(
                self.run.panel, lambda member: cast(VerdictAutograder, self.single(version_id, member))
            )
        return self._voting[with_examples]

    def _shows_examples(self, version_id: int | None) -> bool:
        there = bool(self.examples) if self.examples is not None else bool(self.run.few_shot)
        return there and version_id == self.run.rubric_version_id

    @cached_property
    def _shown(self) -> Mapping[int, tuple[Example, ...]]:
        return examples_of(self.run) if self.examples is None else self.examples


def vote_grader(
    panel: PanelSnapshot, grader: Callable[[str], VerdictAutograder]
) -> PanelGrader | CascadeGrader:
    """The panel or cascade that a run's `panel` describes; `grader` says how the member of a name asks.

    Raises ValueError, naming what is allowed, for rules, repeats and conditions that do not exist.
    """
    panels = [
        PanelGrader(
            [
                Member(grader(member.name), member.name, member.weight)
                for member in panel.members
                if member.stage == number
            ],
            rule=cast("str | Mapping[Scale, str] | None", panel.rule),
            repeats=repeats,
            quorum=panel.quorum,
        )
        for number, repeats in enumerate(panel.repeats_by_stage)
    ]
    if panel.cascade is None:
        return panels[0]
    return CascadeGrader(
        [Stage(f"stage {number}", stage) for number, stage in enumerate(panels, start=1)],
        escalate_on=cast("Sequence[Condition] | None", panel.cascade.escalate_on),
        min_confidence=panel.cascade.min_confidence,
    )


def panel_words(panel: PanelSnapshot) -> tuple[str, ...]:
    """Who votes, how often, and how that is settled: all that tells two panels apart but their judges."""
    stages: list[list[str]] = [[] for _ in panel.repeats_by_stage]
    for member in panel.members:
        stages[member.stage].append(f"{member.name} × {member.weight:g}")
    return (
        ", then ".join(", ".join(members) for members in stages),
        "asked " + ", then ".join(counted(times, "time") for times in panel.repeats_by_stage),
        f"settled by {rule_words(panel.rule)}",
        *((f"goes on at {escalation_words(panel.cascade)}",) if panel.cascade else ()),
        f"at least {panel.quorum:.0%} of the votes" if panel.quorum else "however few votes",
    )


def examples_words(shown: FewShotSnapshot | None) -> str:
    """How many labels the judge is shown; others may read alike, their digest tells."""
    if shown is None or not shown.examples:
        return "no examples"
    return f"{counted(len(shown.examples), 'example')}, seed {shown.seed}"


def rule_words(rule: str | Mapping[str, str] | None) -> str:
    """How votes are settled: one rule's name, one per scale, or each scale's usual one."""
    if isinstance(rule, str) and rule:
        return rule.replace("_", " ")
    by_scale = DEFAULT_RULES if not rule or isinstance(rule, str) else rule
    return ", ".join(f"{scale} {name.replace('_', ' ')}" for scale, name in by_scale.items())


def escalation_words(cascade: CascadeSnapshot) -> str:
    """When a cascade asks its next stage, in words."""
    least = cascade.min_confidence
    named = cascade.escalate_on or [
        condition for condition in CONDITIONS if condition != "low_confidence" or least is not None
    ]
    return ", ".join(
        f"confidence below {least:g}" if condition == "low_confidence" else condition.replace("_", " ")
        for condition in named
    )


def settled(
    grader: PanelGrader | CascadeGrader, criterion: EngineCriterion, votes: Sequence[Vote]
) -> SettledVotes | None:
    """What the votes on one criterion come to; None while some are still to come."""
    if isinstance(grader, CascadeGrader):
        way = grader.way(criterion, votes)
        return None if way.settled is None else SettledVotes(way.settled, way.escalations)
    if len(votes) < grader.votes_per_criterion:
        return None
    return SettledVotes(grader.tally(criterion, votes), ())


def stage_of(grader: PanelGrader | CascadeGrader, judge: str) -> int:
    """The stage, from 0, in which this member is asked."""
    if isinstance(grader, PanelGrader):
        return 0
    return next(n for n, stage in enumerate(grader.stages) if judge in stage.panel.judges)


def examples_of(run: Run) -> dict[int, tuple[Example, ...]]:
    """What the judge is shown with each criterion (0-based index in the run's rubric version).

    Labels and reasons are those of the start; a label decided since changes nothing. An item that is gone has
    left its words.
    """
    drawn = run.few_shot.examples if run.few_shot else ()
    items = Item.objects.select_related("dataset").in_bulk({one.item for one in drawn})
    version_criteria = Criterion.objects.filter(version_id=run.rubric_version_id).order_by("position")
    place = {pk: index for index, pk in enumerate(version_criteria.values_list("pk", flat=True))}
    examples: dict[int, tuple[Example, ...]] = {}
    for one in drawn:
        item = items.get(one.item)
        if one.words is not None:
            key, shown = one.words.key, one.words.to_engine()
        elif item is not None:
            key, shown = item.key, item.to_engine()
        else:
            continue
        index = place[one.criterion]
        example = Example(key, shown, one.label, one.reason)
        examples[index] = (*examples.get(index, ()), example)
    return examples
