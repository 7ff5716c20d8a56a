"""A cheap judge first, and the next one only for the criteria where the first is not to be trusted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from rubricweb.engine.autograders.panels.by_vote import (
    Member,
    VoteGrader,
    VotePrompt,
    Votes,
    WrongSetting,
    by_name,
    unanswered,
)
from rubricweb.engine.autograders.panels.panel import PanelGrader
from rubricweb.engine.autograders.prompted import VerdictAutograder, asked_about
from rubricweb.engine.panels.voting import VoteTally
from rubricweb.engine.report import CriterionReport, Escalation, Vote, criterion_report
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.scoring import Abstention, OnError, outcome_of
from rubricweb.engine.submission import Submission
from rubricweb.engine.verdict import Verdict

Condition: TypeAlias = Literal["error", "abstention", "disagreement", "low_confidence"]
"""Why a criterion goes on: no answer came; nothing could be assessed; the votes differ; they are unsure."""

CONDITIONS: Final = get_args(Condition)
"""Every condition, in the order in which they are looked at: the first that holds is the reason given."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a cascade: a panel (of one, perhaps) under a name."""

    name: str
    panel: PanelGrader


@dataclass(frozen=True, slots=True)
class CriterionProgress:
    """How far one criterion has come: its stage (0-based), why it left those before, how that one voted.

    ``settled`` is None while votes of this stage are missing.
    """

    stage: int
    escalations: tuple[Escalation, ...]
    settled: VoteTally | None


class CascadeGrader(VoteGrader):
    """Asks the first stage about everything, and each next one about the criteria its predecessor escalates.

    ``stages``: Stage, PanelGrader or a grader that answers each criterion; the last two are named "stage 1",
    "stage 2", …, and so is the one judge of a grader. ``escalate_on``: conditions, by default all that can
    hold (``low_confidence`` needs ``min_confidence``, a share from 0 to 1). The last stage escalates nothing.
    The verdict of a criterion is that of the last stage asked about it, its error included: an answer that
    was not good enough does not become so because the better judge is away.

    Raises ValueError for no stages, two stages or two judges of one name, an unknown condition, or
    ``low_confidence`` and ``min_confidence`` one without the other.
    """

    def __init__(
        self,
        stages: Sequence[Stage | PanelGrader | VerdictAutograder],
        *,
        escalate_on: Collection[Condition] | None = None,
        min_confidence: float | None = None,
        normalize: bool = True,
        abstention: Abstention = "skip",
        on_error: OnError = "exclude",
    ) -> None:
        super().__init__(normalize=normalize, abstention=abstention, on_error=on_error)
        self.stages = tuple(_stage(number, stage) for number, stage in enumerate(stages, start=1))
        self.escalate_on = _conditions(escalate_on, min_confidence)
        self.min_confidence = min_confidence
        if not self.stages:
            raise ValueError("a cascade without stages; allowed: one or more")
        names = [stage.name for stage in self.stages]
        if len(set(names)) < len(names):
            raise ValueError(f"the stages are called {', '.join(names)}; allowed: a different name for each")
        self._judges = by_name([member for stage in self.stages for member in stage.panel.members])

    @property
    def judges(self) -> Mapping[str, Member]:
        return self._judges

    def escalated(self, criterion: Criterion, votes: Sequence[Vote]) -> Condition | None:
        """Why the criterion goes on, given all votes so far; None: it stays where it is.

        The votes of the last stage that has any decide; the last stage of all escalates nothing, nor does a
        criterion without votes. Confidence is what the votes state, else the agreement of at least two; where
        neither is known it is not low. MET, MET, UNMET with ``min_confidence=0.8`` and disagreement not a
        condition: agreement 0.667, ``low_confidence``.
        """
        voted = [number for number, stage in enumerate(self.stages) if _of_stage(stage, votes)]
        return self._leaves(voted[-1], criterion, votes) if voted else None

    def way(self, criterion: Criterion, votes: Sequence[Vote]) -> CriterionProgress:
        """Follow one criterion through the stages as far as its votes reach."""
        escalations: list[Escalation] = []
        for number, stage in enumerate(self.stages):
            cast = _of_stage(stage, votes)
            if len(cast) < stage.panel.votes_per_criterion:
                return CriterionProgress(number, tuple(escalations), None)
            reason = self._leaves(number, criterion, cast)
            if reason is None:
                return CriterionProgress(number, tuple(escalations), stage.panel.tally(criterion, cast))
            escalations.append(Escalation(stage=stage.name, reason=reason))
        raise AssertionError("the last stage escalates nothing")

    def prompts(
        self,
        submission: Submission,
        rubric: Rubric,
        *,
        only: Sequence[int] | None = None,
        votes: Votes | None = None,
    ) -> list[VotePrompt]:
        votes = votes or {}
        waiting: dict[int, list[int]] = {}
        for index in asked_about(rubric, only):
            way = self.way(rubric.criteria[index], votes.get(index, ()))
            if way.settled is None:
                waiting.setdefault(way.stage, []).append(index)
        return [
            prompt
            for stage, indexes in sorted(waiting.items())
            for prompt in self.stages[stage].panel.prompts(submission, rubric, only=indexes, votes=votes)
        ]

    def settle(self, criterion: Criterion, votes: Sequence[Vote]) -> CriterionReport:
        way = self.way(criterion, votes)
        settled = way.settled
        found = None if settled is None else settled.answer or settled.error
        report = criterion_report(criterion, found or unanswered(criterion), votes)
        stage = None if settled is None else self.stages[way.stage].name
        return report.model_copy(update={"answered_by": stage, "escalations": way.escalations})

    def _leaves(self, number: int, criterion: Criterion, votes: Sequence[Vote]) -> Condition | None:
        if number == len(self.stages) - 1:
            return None
        cast = _of_stage(self.stages[number], votes)
        settled = self.stages[number].panel.tally(criterion, cast)
        holds: dict[Condition, bool] = {
            "error": settled.answer is None,
            "abstention": settled.answer is not None
            and outcome_of(criterion, settled.answer) is Verdict.CANNOT_ASSESS,
            "disagreement": settled.agreement is not None and settled.agreement < 1.0,
            "low_confidence": self._is_low(confidence_of(settled, cast)),
        }
        return next((reason for reason in self.escalate_on if holds[reason]), None)

    def _is_low(self, confidence: float | None) -> bool:
        return self.min_confidence is not None and confidence is not None and confidence < self.min_confidence


def confidence_of(settled: VoteTally, votes: Sequence[Vote]) -> float | None:
    """How sure the votes are of what they add up to, 0 to 1; None when there is no telling.

    What the votes for it state on average, when all of them state something; else their agreement, when there
    are at least two answers. MET, MET, UNMET without stated confidence: 0.667; a single vote: None.
    """
    if settled.answer is None:
        return None
    if settled.answer.confidence is not None:
        return settled.answer.confidence
    return settled.agreement if sum(vote.answer is not None for vote in votes) >= 2 else None


def _stage(number: int, given: Stage | PanelGrader | VerdictAutograder) -> Stage:
    name = f"stage {number}"
    if isinstance(given, Stage):
        return given
    return Stage(name, given if isinstance(given, PanelGrader) else PanelGrader([Member(given, name)]))


def _conditions(given: Collection[Condition] | None, min_confidence: float | None) -> tuple[Condition, ...]:
    if min_confidence is not None and not 0.0 <= min_confidence <= 1.0:
        raise WrongSetting("min_confidence", repr(min_confidence), "a share from 0 to 1")
    if given is None:
        return tuple(c for c in CONDITIONS if c != "low_confidence" or min_confidence is not None)
    for condition in given:
        if condition not in CONDITIONS:
            sentence = f"escalate_on holds {condition!r}"
            raise WrongSetting("escalate_on", repr(condition), ", ".join(CONDITIONS), said=sentence)
    if ("low_confidence" in given) != (min_confidence is not None):
        both = "low_confidence and min_confidence"
        given_alone = (
            "low_confidence alone" if min_confidence is None else "no low_confidence among the conditions"
        )
        raise WrongSetting("min_confidence", given_alone, f"{both}, both or neither", said=both)
    return tuple(condition for condition in CONDITIONS if condition in given)


def _of_stage(stage: Stage, votes: Sequence[Vote]) -> list[Vote]:
    return [vote for vote in votes if vote.judge in stage.panel.judges]
