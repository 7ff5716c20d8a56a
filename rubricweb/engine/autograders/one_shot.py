"""All criteria in one question: the cheapest autograder with a verdict per criterion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from rubricweb.engine.autograders.base import Answer, Prompt, Reading, ReplyFormat
from rubricweb.engine.autograders.generate import OneShotGenerateFn
from rubricweb.engine.autograders.material import criteria_block, guidelines_block, joined, submission_blocks
from rubricweb.engine.autograders.outputs import CriterionEvaluation, OneShotOutput
from rubricweb.engine.autograders.prompted import (
    FailedCall,
    VerdictAutograder,
    as_rubric,
    criterion_reports,
)
from rubricweb.engine.errors import UnreadableReply
from rubricweb.engine.report import CriterionReport
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.scoring import Abstention, OnError
from rubricweb.engine.submission import Query, Submission, ToGrade
from rubricweb.engine.verdict import Verdict


class PerCriterionOneShotGrader(VerdictAutograder):
    """Asks about all criteria in one call.

    A reply that leaves criteria out is not a verdict on them: they are asked about once more, together, and
    are errors (``missing_criterion``) if they are left out again. The same goes for a number answered twice
    with different verdicts. Numbers that were not asked about are ignored.
    """

    schema = OneShotOutput
    system_prompt_names = {"json": "one_shot"}
    default_generate_fn_name = "default_oneshot_generate_fn"

    def __init__(
        self,
        generate_fn: OneShotGenerateFn | None = None,
        *,
        system_prompt: str | None = None,
        normalize: bool = True,
        reply_format: ReplyFormat = "json",
        abstention: Abstention = "skip",
        on_error: OnError = "exclude",
    ) -> None:
        super().__init__(
            generate_fn,
            system_prompt=system_prompt,
            normalize=normalize,
            reply_format=reply_format,
            abstention=abstention,
            on_error=on_error,
        )

    def prompts(
        self, submission: Submission, rubric: Rubric, *, only: Sequence[int] | None = None
    ) -> list[Prompt]:
        indexes = tuple(range(len(rubric.criteria)) if only is None else only)
        if not indexes:
            return []
        user = joined(
            [
                guidelines_block(rubric.guidelines),
                criteria_block(rubric.criteria[index] for index in indexes),
                submission_blocks(submission),
            ]
        )
        return [Prompt(self.system_prompt, user, self.schema, indexes, self.reply_format)]

    def reading(self, prompt: Prompt, data: Mapping[str, Any]) -> Reading:
        entries = data.get("criteria_evaluations")
        if not isinstance(entries, list) or not entries:
            raise UnreadableReply("criteria_evaluations: a list with one entry per criterion is needed")
        answers = _answers(entries, prompt.criteria)
        if not answers:
            raise UnreadableReply(f"no usable entry for any of the criteria 1 to {len(prompt.criteria)}")
        return Reading(answers, missing=tuple(index for index in prompt.criteria if index not in answers))

    async def judge(
        self,
        to_grade: ToGrade,
        rubric: Iterable[Criterion],
        query: Query | None = None,
        *,
        reference: str | None = None,
        guidelines: str | None = None,
    ) -> list[CriterionReport]:
        """Ask once, ask again about what is missing, and report every criterion in order."""
        whole = as_rubric(rubric, guidelines)
        submission = Submission.of(to_grade, query, reference)
        first = await self.ask(self.prompts(submission, whole)[0], whole)
        missing = tuple(range(len(whole.criteria)))
        if isinstance(first, Reading):
            missing = first.missing
        elif first.kind != "unreadable_reply":
            return criterion_reports(whole, [], dict.fromkeys(missing, first))
        if not missing:
            return criterion_reports(whole, [result for result in [first] if isinstance(result, Reading)], {})
        second = await self.ask(self.prompts(submission, whole, only=missing)[0], whole)
        failures = dict.fromkeys(missing, second) if isinstance(second, FailedCall) else {}
        return criterion_reports(
            whole, [result for result in (first, second) if isinstance(result, Reading)], failures
        )


def _answers(entries: Sequence[Any], asked: tuple[int, ...]) -> dict[int, Answer]:
    """Answers by criterion index, without entries that do not fit, were not asked for or contradict."""
    evaluations = [evaluation for entry in entries if (evaluation := _evaluation(entry)) is not None]
    numbers = {evaluation.criterion_number for evaluation in evaluations}
    if 0 in numbers and len(asked) not in numbers:
        # Counted from zero: every verdict would land on its neighbour.
        raise UnreadableReply(f"criteria are numbered 1 to {len(asked)}; the reply counts from 0")
    given: dict[int, list[CriterionEvaluation]] = {}
    for evaluation in evaluations:
        if 1 <= evaluation.criterion_number <= len(asked):
            given.setdefault(evaluation.criterion_number, []).append(evaluation)
    return {
        asked[number - 1]: Answer(Verdict(several[0].criterion_status), several[0].explanation)
        for number, several in given.items()
        if len({evaluation.criterion_status for evaluation in several}) == 1
    }


def _evaluation(entry: Any) -> CriterionEvaluation | None:
    """One entry, or None when it does not fit: a bad entry costs its own criterion, not the others."""
    try:
        return CriterionEvaluation.model_validate(entry)
    except ValidationError:
        return None
