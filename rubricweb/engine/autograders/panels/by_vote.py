"""What panels and cascades share: judges asked under their names, and the loop that carries votes home."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rubricweb.engine.answer import Answer
from rubricweb.engine.autograders.base import Autograder, Prompt, Reading
from rubricweb.engine.autograders.one_shot import PerCriterionOneShotGrader
from rubricweb.engine.autograders.prompted import (
    FailedCall,
    VerdictAutograder,
    as_rubric,
    check_results,
    scored_report,
)
from rubricweb.engine.report import (
    CriterionReport,
    EvaluationReport,
    GradingError,
    Vote,
    criterion_report,
)
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.scoring import ABSTENTION_POLICIES, ERROR_POLICIES, Abstention, OnError
from rubricweb.engine.submission import Query, Submission, ToGrade
from rubricweb.engine.together import together

Votes: TypeAlias = Mapping[int, Sequence[Vote]]
"""Votes by 0-based criterion index."""

Checked: TypeAlias = Mapping[int, Answer | GradingError]
"""What the rubric's checks said, by 0-based criterion index."""


class WrongSetting(ValueError):
    """A setting of a panel or a cascade that cannot be: `repeats` or `rule.binary`, found and allowed."""

    def __init__(self, place: str, found: str, allowed: str, said: str = "") -> None:
        super().__init__(place, found, allowed, said)  # what pickle hands back to this constructor
        self.place, self.found, self.allowed = place, found, allowed
        self._said = said or f"{place} is {found}"

    def __str__(self) -> str:
        return f"{self._said}; allowed: {self.allowed}"


@dataclass(frozen=True, slots=True)
class Member:
    """One judge of a panel: how it is asked, the name its votes carry, what they weigh.

    ``weight`` is finite and at least 0; a judge of weight 0 is heard by the rules that count votes, not by
    those that weigh them. The grader's own policies of scoring play no part; those of the panel do. Raises
    ValueError for another weight, an empty name, or a grader that gives no answer per criterion.
    """

    grader: VerdictAutograder
    name: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.grader, VerdictAutograder):
            raise ValueError(
                f"member {self.name!r} is a {type(self.grader).__name__}; "
                "allowed: a grader that answers each criterion (per_criterion, one_shot)"
            )
        if not self.name.strip():
            raise ValueError("a member's name is empty; allowed: a name that no other member has")
        if not 0.0 <= self.weight < float("inf"):
            raise ValueError(
                f"the weight of member {self.name!r} is {self.weight!r}; allowed: a finite number from 0"
            )


@dataclass(frozen=True, slots=True)
class VotePrompt:
    """One question to one judge: ``prompt`` goes to the member called ``judge``, its ``repeat``-th from 0."""

    judge: str
    repeat: int
    prompt: Prompt


class VoteGrader(Autograder):
    """An autograder whose verdicts are settled votes of several judges, or of one asked several times.

    Like every autograder it is without input or output at heart. Ask what ``prompts()`` says, turn every
    reply into votes (``read()``, ``votes_of()``), and go on until there is nothing left to ask; then
    ``combine()``. Given the votes that are already there, ``prompts()`` asks for the missing ones only: to
    resume is to call it again. ``judge()`` is that loop on the members' own ``generate_fn``.
    """

    def __init__(
        self, *, normalize: bool = True, abstention: Abstention = "skip", on_error: OnError = "exclude"
    ) -> None:
        super().__init__(normalize=normalize)
        for name, value, allowed in (
            ("abstention", abstention, ABSTENTION_POLICIES),
            ("on_error", on_error, ERROR_POLICIES),
        ):
            if value not in allowed:
                raise ValueError(f"{name} is {value!r}; allowed here: {', '.join(allowed)}")
        self.abstention: Abstention = abstention
        self.on_error: OnError = on_error

    @property
    @abstractmethod
    def judges(self) -> Mapping[str, Member]:
        """Every member by its name, in the order they are asked."""

    @abstractmethod
    def prompts(
        self,
        submission: Submission,
        rubric: Rubric,
        *,
        only: Sequence[int] | None = None,
        votes: Votes | None = None,
    ) -> list[VotePrompt]:
        """What to ask next, given the votes so far; nothing when every verdict can be settled.

        ``only``: the 0-based criteria to ask about, all by default. Checks are never asked about.
        """

    @abstractmethod
    def settle(self, criterion: Criterion, votes: Sequence[Vote]) -> CriterionReport:
        """What the votes on one criterion, by judge and repeat, come to; an error when that is no answer."""

    def combine(self, rubric: Rubric, votes: Votes, checked: Checked | None = None) -> list[CriterionReport]:
        """One report per criterion with its settled answer and the votes behind it, by judge and repeat.

        ``checked`` answers the rubric's checks. A criterion without votes or answer is an error
        (``missing_criterion``).
        """
        return [
            criterion_report(criterion, (checked or {}).get(index, unanswered(criterion)))
            if criterion.is_check
            else self.settle(criterion, in_order(self.judges, votes.get(index, ())))
            for index, criterion in enumerate(rubric.criteria)
        ]

    def read(self, asked: VotePrompt, reply: str, rubric: Rubric) -> Reading:
        """What the raw reply to a question says. Raises UnreadableReply when nothing can be read."""
        return self.judges[asked.judge].grader.read(asked.prompt, reply, rubric)

    def votes_of(
        self,
        asked: VotePrompt,
        rubric: Rubric,
        reading: Reading | None,
        failure: FailedCall | None = None,
    ) -> dict[int, Vote]:
        """One vote for every criterion that was asked about: its answer, else the failure.

        Without a failure an answer that is missing is ``missing_criterion``.
        """
        member = self.judges[asked.judge]
        answers = {} if reading is None else reading.answers
        why = failure or FailedCall("missing_criterion", "the reply left this criterion out")
        return {
            index: Vote(
                judge=member.name,
                repeat=asked.repeat,
                weight=member.weight,
                answer=answers.get(index),
                error=None if index in answers else why.about(rubric.criteria[index].name),
            )
            for index in asked.prompt.criteria
        }

    async def judge(
        self,
        to_grade: ToGrade,
        rubric: Iterable[Criterion],
        query: Query | None = None,
        *,
        reference: str | None = None,
        guidelines: str | None = None,
    ) -> list[CriterionReport]:
        """Ask everything that can be asked at once, again for what that leaves open, and settle the votes.

        What fails costs its own votes only; a wrong set-up (``is_setup_error``) and interruptions pass
        through.
        """
        whole = as_rubric(rubric, guidelines)
        submission = Submission.of(to_grade, query, reference)
        votes: dict[int, list[Vote]] = {}
        while asked := self.prompts(submission, whole, votes=votes):
            for cast in await together(self._cast(one, submission, whole) for one in asked):
                for index, vote in cast.items():
                    votes.setdefault(index, []).append(vote)
        return self.combine(whole, votes, check_results(whole, submission))

    async def aggregate(self, judge_results: Sequence[CriterionReport]) -> EvaluationReport:
        """Score the settled answers by ``engine/scoring``; a criterion without one counts as failed."""
        return scored_report(
            judge_results, normalize=self.normalize, abstention=self.abstention, on_error=self.on_error
        )

    async def _cast(self, asked: VotePrompt, submission: Submission, rubric: Rubric) -> dict[int, Vote]:
        """The votes that one question brings, asking once more about what a list of criteria left out."""
        grader = self.judges[asked.judge].grader
        first = await grader.ask(asked.prompt, rubric)
        missing = _to_ask_again(grader, asked.prompt, first)
        votes = (
            self.votes_of(asked, rubric, None, first)
            if isinstance(first, FailedCall)
            else self.votes_of(asked, rubric, first)
        )
        for prompt in grader.prompts(submission, rubric, only=missing) if missing else ():
            second = await grader.ask(prompt, rubric)
            again = VotePrompt(asked.judge, asked.repeat, prompt)
            if isinstance(second, FailedCall):
                votes |= self.votes_of(again, rubric, None, second)
            else:
                votes |= self.votes_of(again, rubric, second)
        return votes


def missing_votes(
    members: Iterable[Member],
    repeats: int,
    submission: Submission,
    rubric: Rubric,
    *,
    only: Sequence[int],
    votes: Votes,
) -> list[VotePrompt]:
    """The questions that bring every vote of these members on ``only`` that is not there yet."""
    there = {(index, vote.judge, vote.repeat) for index, cast in votes.items() for vote in cast}
    asked = []
    for member in members:
        for repeat in range(repeats):
            still_open = [index for index in only if (index, member.name, repeat) not in there]
            if still_open:
                prompts = member.grader.prompts(submission, rubric, only=still_open)
                asked += [VotePrompt(member.name, repeat, prompt) for prompt in prompts]
    return asked


def by_name(members: Sequence[Member]) -> dict[str, Member]:
    """The members by name. Raises ValueError when two share one."""
    named: dict[str, Member] = {}
    for member in members:
        if member.name in named:
            called = f"two members are called {member.name!r}"
            raise WrongSetting("members", called, "a different name for each", said=called)
        named[member.name] = member
    return named


def in_order(judges: Mapping[str, Member], votes: Sequence[Vote]) -> list[Vote]:
    """The votes by judge, in the order of the panel, then by repeat. Raises ValueError for a stranger's."""
    places = {name: place for place, name in enumerate(judges)}
    for vote in votes:
        if vote.judge not in places:
            raise ValueError(f"a vote by {vote.judge!r}; allowed: votes by {', '.join(places)}")
    return sorted(votes, key=lambda vote: (places[vote.judge], vote.repeat))


def unanswered(criterion: Criterion) -> GradingError:
    """The error of a criterion that nobody was asked about."""
    return FailedCall("missing_criterion", "nobody answered this criterion").about(criterion.name)


def _to_ask_again(grader: VerdictAutograder, prompt: Prompt, first: Reading | FailedCall) -> tuple[int, ...]:
    if isinstance(first, Reading):
        return first.missing
    lists = isinstance(grader, PerCriterionOneShotGrader)
    return prompt.criteria if lists and first.kind == "unreadable_reply" else ()
