"""One judge on one submission, in memory: what is left to ask of it, and what its replies come to.

Questions are those of a run, built by what builds a run's: a row that is never stored stands for the run.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.autograders.examples.few_shot import Example
from rubricweb.engine.autograders.option_order import usual_seed
from rubricweb.engine.checks import run_check
from rubricweb.engine.checks.processes.limited import at_once
from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.engine.report import GradingError, Vote
from rubricweb.judges.base import JudgeConfig, JudgeError, Question, Reply
from rubricweb.judges.client.reply_formats import strict_schema
from rubricweb.models import JudgeVersion, RubricVersion, Run, RunItem, Team
from rubricweb.selectors.rubrics.trials import AnswersScore, scored_answers
from rubricweb.selectors.runs.graders import PER_ITEM, settled
from rubricweb.services.endpoints import endpoints
from rubricweb.services.endpoints.trials import ADVICE
from rubricweb.services.grading.asking import strategy_of
from rubricweb.services.grading.asking.base import Outcome, outcomes
from rubricweb.services.grading.asking.open_items import OpenItem, key_of
from rubricweb.services.judges.definitions import resolved
from rubricweb.services.runs import few_shot, panels
from rubricweb.services.tries.answers import TriedReply, TriedResult, TriedSum, TriedVerdict
from rubricweb.services.tries.subject import Subject

AS_IT_CAME = ("unreadable_reply", "missing_criterion", "refused", "truncated")
"""Errors beside which the text is shown that the model gave."""


class OneSide:
    """A definition that is asked about a submission.

    Raises Conflict where it cannot be asked: an endpoint that is no more, is archived, or without its key.
    """

    def __init__(self, side: str, team: Team, definition: JudgeDefinition, subject: Subject) -> None:
        judge, panel = resolved(team, definition)
        run = Run(
            team=team,
            judge_version=JudgeVersion(definition=definition),
            rubric_version=subject.chosen,
            autograder=definition.autograder,
            reply_format=definition.reply_format,
            judge=judge,
            endpoint_id=endpoints.endpoint_of(judge.id),
            panel=panel,
            option_seed=usual_seed(subject.dataset_id, subject.rubric_id),
        )
        endpoints.require_unarchived(team, (one.id for one in run.asked_judges))
        self.side = side
        self.judges: dict[str, JudgeConfig] = panels.judges_of(run)
        self._strategy = strategy_of(run, self.judges)
        self._strategy.graders.examples = _examples(definition, subject)
        self._run = run
        row = RunItem(pk=0, item=subject.item, rubric_version=subject.own or subject.chosen)
        self._open = OpenItem(row, subject.rubric, (), subject.submission)
        self._errors: dict[int, JudgeError] = {}
        self._overall: float | None = None
        self._replies: list[TriedReply] = []
        self.outstanding = 0

    @property
    def _is_holistic(self) -> bool:
        return self._run.panel is None and self._run.autograder == PER_ITEM

    def checks(self) -> Iterator[TriedResult]:
        """What answers for itself; a check that would need a process of its own is left to a run."""
        for index in self._open.unanswered_checks:
            with at_once():
                result = run_check(self._open.rubric.criteria[index], self._open.submission)
            if isinstance(result, GradingError):
                verdict = self._noted(index, Outcome(None, "stopped", result.message))
            else:
                verdict = self._noted(index, Outcome(result))
            yield TriedResult(self.side, "check", (), verdict)

    def questions(self) -> list[Question]:
        """What can be asked now; nothing while answers are outstanding: the next stage follows from them."""
        if self.outstanding:
            return []
        found = list(self._strategy.questions(self._open))
        self.outstanding = len(found)
        return found

    def not_asked(self) -> None:
        """One question fewer is outstanding, and has no answer."""
        self.outstanding -= 1

    def hear(self, reply: Reply, prompt: Prompt) -> Iterator[TriedReply | TriedResult]:
        """What a reply says, and the verdicts that follow from it."""
        self.outstanding -= 1
        key, found = key_of(reply), list(outcomes(reply))
        overall = reply.reading.overall if reply.reading else None
        votes = self._run.panel is not None
        if self._is_holistic:
            self._open.row.llm_raw_score = overall.score if overall else None
            self._open.row.error_kind = reply.error.kind if reply.error else None
            self._overall = overall.score if overall else None
            verdicts: tuple[TriedVerdict, ...] = ()
        elif votes:
            verdicts = tuple(_verdict(index, outcome) for index, outcome in found)
        else:
            verdicts = tuple(self._noted(index, outcome) for index, outcome in found)
        told = self._told(reply, prompt, verdicts)
        self._replies.append(told)
        yield told
        if votes:
            for index, outcome in found:
                yield from self._vote(index, outcome, key.judge, key.repeat)

    def _vote(self, index: int, outcome: Outcome, judge: str, repeat: int) -> Iterator[TriedResult]:
        """Counts a vote; the verdict where it was the last one."""
        voting = self._strategy.graders.voting(self._open.row.rubric_version_id)
        criterion = self._open.rubric.criteria[index]
        error = None
        if outcome.answer is None:
            kind = outcome.error_kind or "stopped"
            error = GradingError(criterion=criterion.name, kind=kind, message=outcome.error_message)
        vote = Vote(
            judge=judge,
            repeat=repeat,
            answer=outcome.answer,
            error=error,
            weight=voting.judges[judge].weight,
        )
        votes = [*self._open.votes.get(index, ()), vote]
        self._open.votes[index] = votes
        come_to = settled(voting, criterion, votes)
        if come_to is not None and index not in self._open.answers:
            failed = come_to.tally.error
            failure = (failed.kind, failed.message) if failed is not None else (None, "")
            verdict = self._noted(index, Outcome(come_to.tally.answer, *failure))
            passed_on = tuple(f"{step.stage} passed it on ({step.reason})" for step in come_to.escalations)
            yield TriedResult(self.side, "votes", passed_on, verdict)

    def _noted(self, index: int, outcome: Outcome) -> TriedVerdict:
        self._open.answers[index] = outcome.answer
        return _verdict(index, outcome)

    def _told(self, reply: Reply, prompt: Prompt, verdicts: tuple[TriedVerdict, ...]) -> TriedReply:
        key, error = key_of(reply), reply.error
        return TriedReply(
            side=self.side,
            judge=key.judge,
            repeat=key.repeat,
            verdicts=verdicts,
            overall=reply.reading.overall if reply.reading else None,
            is_vote=self._run.panel is not None,
            error=error,
            advice=ADVICE[error.kind] if error else "",
            text=reply.text if error is not None and error.kind in AS_IT_CAME else "",
            request=reply.request or _as_sent(prompt, self.judges[key.judge].model),
            model=reply.model,
            fallback=reply.fallback,
            prompt_tokens=reply.prompt_tokens,
            cached_prompt_tokens=reply.cached_prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cost_usd=None if reply.unmetered else reply.cost_usd,
            seconds=reply.latency_seconds,
            is_known=reply.is_known,
        )

    def total(self) -> TriedSum:
        """What came of it."""
        rubric, answers = self._open.rubric, self._open.answers
        left = 0
        if not self._is_holistic:
            left = sum(answers.get(index) is None for index in range(len(rubric.criteria)))
        scored = AnswersScore(None, None, None, None)
        if not self._is_holistic and not self._open.unanswered_criteria:
            in_order = [answers.get(index) for index in range(len(rubric.criteria))]
            scored = scored_answers(rubric, self._open.submission, in_order)
        asked = [reply for reply in self._replies if not reply.is_known]
        costs = [reply.cost_usd for reply in asked if reply.cost_usd is not None or reply.error is None]
        return TriedSum(
            side=self.side,
            overall=self._overall,
            asked=len(asked),
            known=len(self._replies) - len(asked),
            unanswered=left,
            prompt_tokens=sum(reply.prompt_tokens or 0 for reply in asked),
            completion_tokens=sum(reply.completion_tokens or 0 for reply in asked),
            cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
            score=scored.score,
            coverage=scored.coverage,
            passed=scored.passed,
        )


def _verdict(index: int, outcome: Outcome) -> TriedVerdict:
    error = None
    if outcome.answer is None:
        error = JudgeError(_known_kind(outcome.error_kind), outcome.error_message)
    return TriedVerdict(index, outcome.answer, error)


def _known_kind(kind: str | None) -> str:
    """Votes that could not be settled have kinds of their own."""
    return kind if kind is not None and kind in ADVICE else "stopped"


def _examples(definition: JudgeDefinition, subject: Subject) -> Mapping[int, tuple[Example, ...]]:
    """The examples of the judge, by the place of the criterion they are shown with; of a rubric that is not
    published those whose criterion asks in the same words.
    """
    if subject.chosen is None:
        return few_shot.by_place(definition.examples, subject.rubric)
    return _of_version(definition, subject.chosen)


def _of_version(definition: JudgeDefinition, version: RubricVersion) -> Mapping[int, tuple[Example, ...]]:
    shown = few_shot.of_judge(definition.examples, version)
    places = {criterion.pk: criterion.position for criterion in version.criteria.all()} if shown else {}
    found: dict[int, tuple[Example, ...]] = {}
    for one in shown.examples if shown else ():
        assert one.words is not None, "the examples of a judge are words"
        example = Example(one.words.key, one.words.to_engine(), one.label, one.reason)
        found[places[one.criterion]] = (*found.get(places[one.criterion], ()), example)
    return found


def _as_sent(prompt: Prompt, model: str) -> dict[str, Any]:
    """The body of a question that is not asked again: in the best form there is."""
    messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    body: dict[str, Any] = {"model": model, "messages": messages}
    if prompt.reply_format == "json":
        schema = {"name": prompt.schema.__name__, "schema": strict_schema(prompt.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body
