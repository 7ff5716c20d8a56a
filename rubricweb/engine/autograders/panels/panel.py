"""Several judges, or one asked several times, settling every criterion by a vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rubricweb.engine.autograders.panels.by_vote import (
    Member,
    VoteGrader,
    VotePrompt,
    Votes,
    WrongSetting,
    by_name,
    missing_votes,
    unanswered,
)
from rubricweb.engine.autograders.prompted import asked_about
from rubricweb.engine.panels.vote_rules import DEFAULT_RULES, VOTE_RULES, Scale
from rubricweb.engine.panels.voting import VoteTally, rule_for, tally
from rubricweb.engine.report import CriterionReport, Vote, criterion_report
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.scoring import Abstention, OnError
from rubricweb.engine.submission import Submission

__all__ = ["Member", "PanelGrader", "VotePrompt"]

MAX_REPEATS = 100


class PanelGrader(VoteGrader):
    """Asks every member ``repeats`` times about every criterion and settles the votes by ``rule``.

    ``rule``: a name for every scale it exists for ("unanimous": binary and nominal), or a mapping from
    ``binary``, ``ordinal``, ``nominal`` to one each; what is left open follows ``DEFAULT_RULES``. A
    criterion's own ``aggregation`` stands above it. ``quorum``: share (0 to 1) of a criterion's votes that
    must have come for a verdict; 0 asks for one. A member that fails wholly costs its own votes only.

    Repeats differ only as far as the judge does: at temperature 0, or behind a cache, they are one vote said
    several times. Raises ValueError for no members, two of one name, an unknown rule, fewer than 1 or more
    than 100 repeats, a quorum outside 0 to 1, or an unknown policy.
    """

    def __init__(
        self,
        members: Sequence[Member],
        *,
        rule: str | Mapping[Scale, str] | None = None,
        repeats: int = 1,
        quorum: float = 0.0,
        normalize: bool = True,
        abstention: Abstention = "skip",
        on_error: OnError = "exclude",
    ) -> None:
        super().__init__(normalize=normalize, abstention=abstention, on_error=on_error)
        if not members:
            raise ValueError("a panel without members; allowed: one or more")
        if not 1 <= repeats <= MAX_REPEATS:
            raise WrongSetting("repeats", repr(repeats), f"1 to {MAX_REPEATS}")
        if not 0.0 <= quorum <= 1.0:
            raise WrongSetting("quorum", repr(quorum), "a share from 0 to 1")
        self.members = tuple(members)
        self.rules = _rules(rule)
        self.repeats = repeats
        self.quorum = quorum
        self._judges = by_name(self.members)

    @property
    def judges(self) -> Mapping[str, Member]:
        return self._judges

    @property
    def votes_per_criterion(self) -> int:
        """How many votes settle a criterion."""
        return len(self.members) * self.repeats

    def prompts(
        self,
        submission: Submission,
        rubric: Rubric,
        *,
        only: Sequence[int] | None = None,
        votes: Votes | None = None,
    ) -> list[VotePrompt]:
        return missing_votes(
            self.members, self.repeats, submission, rubric, only=asked_about(rubric, only), votes=votes or {}
        )

    def tally(self, criterion: Criterion, votes: Sequence[Vote]) -> VoteTally:
        """What the votes on one criterion add up to by this panel's rule, or the criterion's own."""
        return tally(criterion, votes, rule_for(criterion, self.rules), quorum=self.quorum)

    def settle(self, criterion: Criterion, votes: Sequence[Vote]) -> CriterionReport:
        settled = self.tally(criterion, votes)
        return criterion_report(criterion, settled.answer or settled.error or unanswered(criterion), votes)


def _rules(rule: str | Mapping[Scale, str] | None) -> dict[Scale, str]:
    if rule is None:
        return dict(DEFAULT_RULES)
    if isinstance(rule, str):
        rules: dict[Scale, str] = {scale: rule for scale, known in VOTE_RULES.items() if rule in known}
        if not rules:
            every = sorted({name for known in VOTE_RULES.values() for name in known})
            raise WrongSetting("rule", repr(rule), ", ".join(every))
        return {**DEFAULT_RULES, **rules}
    for scale, name in rule.items():
        if scale not in VOTE_RULES:
            raise WrongSetting("rule", scale, ", ".join(VOTE_RULES), said=f"rule names the scale {scale!r}")
        if name not in VOTE_RULES[scale]:
            sentence = f"rule of {scale} is {name!r}"
            raise WrongSetting(f"rule.{scale}", repr(name), ", ".join(VOTE_RULES[scale]), said=sentence)
    return {**DEFAULT_RULES, **rule}
