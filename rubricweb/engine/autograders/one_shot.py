"""All criteria in one question: the cheapest autograder with a verdict per criterion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from pydantic import BaseModel, ValidationError

from rubricweb.engine.autograders.base import Answer, Prompt, Reading
from rubricweb.engine.autograders.examples.blocks import list_example_blocks
from rubricweb.engine.autograders.generate import OneShotGenerateFn
from rubricweb.engine.autograders.material import criteria_block, guidelines_block, joined, submission_blocks
from rubricweb.engine.autograders.option_order import option_order
from rubricweb.engine.autograders.option_reply import chosen_option
from rubricweb.engine.autograders.outputs import (
    ChoiceEvaluation,
    CriterionEvaluation,
    CriterionNumber,
    MixedOneShotOutput,
    OneShotOutput,
)
from rubricweb.engine.autograders.prompted import (
    FailedCall,
    GraderOptions,
    VerdictAutograder,
    as_rubric,
    asked_about,
    check_results,
    criterion_reports,
)
from rubricweb.engine.errors import UnreadableReply
from rubricweb.engine.report import CriterionReport
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.submission import Query, Submission, ToGrade
from rubricweb.engine.verdict import Verdict

MOST_ENTRIES = 1000
"""So many more entries than criteria are looked through for the answers: a longer list is no answer."""


class PerCriterionOneShotGrader(VerdictAutograder):
    """Asks about all criteria in one call.

    A reply that leaves criteria out is not a verdict on them: they are asked about once more, together, and
    are errors (``missing_criterion``) if they are left out again. The same goes for a number answered twice
    with different answers. Numbers that were not asked about are ignored.
    """

    schema = OneShotOutput
    system_prompt_names = {"json": "one_shot"}
    options_prompt_name = "one_shot_mixed"
    default_generate_fn_name = "default_oneshot_generate_fn"

    def __init__(
        self,
        generate_fn: OneShotGenerateFn | None = None,
        **options: Unpack[GraderOptions],
    ) -> None:
        super().__init__(generate_fn, **options)

    def prompts(
        self, submission: Submission, rubric: Rubric, *, only: Sequence[int] | None = None
    ) -> list[Prompt]:
        indexes = asked_about(rubric, only)
        if not indexes:
            return []
        criteria = [rubric.criteria[index] for index in indexes]
        orders = [option_order(criterion, submission, self.option_seed) for criterion in criteria]
        material = submission_blocks(submission)
        user = joined(
            [
                guidelines_block(rubric.guidelines),
                criteria_block(criteria, orders),
                list_example_blocks(rubric, indexes, self.examples, submission=submission),
                material,
            ]
        )
        shared = len(user) - len(material)
        if not any(orders):
            return [Prompt(self.system_prompt, user, self.schema, indexes, self.reply_format, shared=shared)]
        labels = tuple(
            tuple(criterion.options[i].label for i in order)
            for criterion, order in zip(criteria, orders, strict=True)
        )
        system = self.system_for(options=True)
        return [Prompt(system, user, MixedOneShotOutput, indexes, self.reply_format, labels, shared)]

    def reading(self, prompt: Prompt, data: Mapping[str, Any]) -> Reading:
        entries = data.get("criteria_evaluations")
        if not isinstance(entries, list) or not entries:
            raise UnreadableReply("criteria_evaluations: a list with one entry per criterion is needed")
        if len(entries) > MOST_ENTRIES + len(prompt.criteria):
            raise UnreadableReply(
                f"criteria_evaluations: {len(entries)} entries for {len(prompt.criteria)} criteria"
            )
        answers = _answers(entries, prompt)
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
        checked = check_results(whole, submission)
        missing = asked_about(whole, None)
        readings: list[Reading] = []
        failures: dict[int, FailedCall] = {}
        for _ in range(2):
            if not missing:
                break
            result = await self.ask(self.prompts(submission, whole, only=missing)[0], whole)
            if isinstance(result, Reading):
                readings.append(result)
                missing, failures = result.missing, {}
                continue
            failures = dict.fromkeys(missing, result)
            if result.kind != "unreadable_reply":
                break
        return criterion_reports(whole, readings, failures, checked)


def _answers(entries: Sequence[Any], prompt: Prompt) -> dict[int, Answer]:
    """Answers by criterion index, without entries that do not fit, were not asked for or contradict."""
    asked = prompt.criteria
    numbers = {number for entry in entries if (number := _number(entry)) is not None}
    if len(asked) not in numbers and any(_is_numbered_zero(entry) for entry in entries):
        # Counted from zero: every verdict would land on its neighbour.
        raise UnreadableReply(f"criteria are numbered 1 to {len(asked)}; the reply counts from 0")
    given: dict[int, list[Answer]] = {}
    for entry in entries:
        number = _number(entry)
        if number is None or not 1 <= number <= len(asked):
            continue
        answer = _answer(entry, prompt.options_at(number - 1))
        if answer is not None:
            given.setdefault(number, []).append(answer)
    return {
        asked[number - 1]: several[0]
        for number, several in given.items()
        if len({(answer.verdict, answer.option) for answer in several}) == 1
    }


def _number(entry: Any) -> int | None:
    """The criterion an entry is about; None when it names none or carries no answer of either kind."""
    for kind in (CriterionEvaluation, ChoiceEvaluation):
        try:
            return kind.model_validate(entry).criterion_number
        except ValidationError:
            continue
    return None


class _Numbered(BaseModel):
    criterion_number: CriterionNumber


def _is_numbered_zero(entry: Any) -> bool:
    """Whether an entry is about a criterion 0, whatever else it says."""
    try:
        return _Numbered.model_validate(entry).criterion_number == 0
    except ValidationError:
        return False


def _answer(entry: Any, labels: Sequence[str]) -> Answer | None:
    """One entry's answer, or None when it does not fit: a bad entry costs its own criterion only."""
    try:
        if not labels:
            evaluation = CriterionEvaluation.model_validate(entry)
            return Answer(Verdict(evaluation.criterion_status), evaluation.explanation)
        choice = ChoiceEvaluation.model_validate(entry)
        return Answer(None, choice.explanation, option=chosen_option(choice.option, labels))
    except (ValidationError, UnreadableReply):
        return None
