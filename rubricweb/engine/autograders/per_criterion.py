"""One question per criterion, asked concurrently: the most careful autograder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from rubricweb.engine.autograders.base import Answer, Prompt, Reading
from rubricweb.engine.autograders.examples.blocks import example_blocks
from rubricweb.engine.autograders.generate import PerCriterionGenerateFn
from rubricweb.engine.autograders.material import (
    criterion_blocks,
    guidelines_block,
    joined,
    submission_blocks,
)
from rubricweb.engine.autograders.option_order import option_order
from rubricweb.engine.autograders.option_reply import chosen_option
from rubricweb.engine.autograders.outputs import ChoiceOutput, PerCriterionOutput, choice_schema
from rubricweb.engine.autograders.prompted import (
    FailedCall,
    GraderOptions,
    VerdictAutograder,
    as_rubric,
    asked_about,
    check_results,
    criterion_reports,
    read_as,
)
from rubricweb.engine.errors import UnreadableReply, shortened
from rubricweb.engine.parsers.yes_no import read_yes_no
from rubricweb.engine.report import CriterionReport
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.submission import Query, Submission, ToGrade
from rubricweb.engine.together import together
from rubricweb.engine.verdict import Verdict


class PerCriterionGrader(VerdictAutograder):
    """Asks about every criterion in a call of its own.

    ``reply_format="yes_no"`` asks for prose led by *Yes* (present, MET) or *No*, for models that cannot
    write JSON (see ``read_yes_no``); the whole reply is then the reason. A criterion with options is asked
    for in JSON all the same, and its schema allows its labels only.
    """

    schema = PerCriterionOutput
    reply_formats = ("json", "yes_no")
    system_prompt_names = {"json": "per_criterion", "yes_no": "per_criterion_yes_no"}
    options_prompt_name = "per_criterion_choice"
    default_generate_fn_name = "default_per_criterion_generate_fn"

    def __init__(
        self,
        generate_fn: PerCriterionGenerateFn | None = None,
        **options: Unpack[GraderOptions],
    ) -> None:
        super().__init__(generate_fn, **options)

    def prompts(
        self, submission: Submission, rubric: Rubric, *, only: Sequence[int] | None = None
    ) -> list[Prompt]:
        # The same in every one of them, and the longest part.
        about, material = guidelines_block(rubric.guidelines), submission_blocks(submission)
        return [
            self._prompt(submission, rubric, index, about, material) for index in asked_about(rubric, only)
        ]

    def _prompt(
        self, submission: Submission, rubric: Rubric, index: int, about: str, material: str
    ) -> Prompt:
        criterion = rubric.criteria[index]
        order = option_order(criterion, submission, self.option_seed)
        asked = criterion_blocks(criterion, order)
        examples = example_blocks(criterion, self.examples.get(index, ()), submission=submission)
        # What many prompts share comes first, for providers that keep the beginnings of prompts in a cache:
        # a criterion's examples are the same for all items, an item's material for all criteria.
        user = joined([about, asked, examples, material] if examples else [about, material, asked])
        shared = len(user) - len(material if examples else asked)
        if not criterion.is_multi_choice:
            return Prompt(self.system_prompt, user, self.schema, (index,), self.reply_format, shared=shared)
        labels = tuple(criterion.options[i].label for i in order)
        system, schema = self.system_for(options=True), choice_schema(labels)
        return Prompt(system, user, schema, (index,), options=(labels,), shared=shared)

    def read(self, prompt: Prompt, reply: str, rubric: Rubric) -> Reading:
        if prompt.reply_format == "json":
            return super().read(prompt, reply, rubric)
        answer = read_yes_no(reply)
        if answer is None:
            raise UnreadableReply(f"no yes or no that is the one answer in {shortened(reply.strip(), 120)!r}")
        verdict = Verdict.MET if answer else Verdict.UNMET
        return Reading({prompt.criteria[0]: Answer(verdict, reply.strip())})

    def reading(self, prompt: Prompt, data: Mapping[str, Any]) -> Reading:
        labels = prompt.options_at(0)
        if labels:
            choice: ChoiceOutput = read_as(ChoiceOutput, data)
            chosen = chosen_option(choice.option, labels)
            return Reading({prompt.criteria[0]: Answer(None, choice.explanation, option=chosen)})
        output: PerCriterionOutput = read_as(PerCriterionOutput, data)
        return Reading({prompt.criteria[0]: Answer(Verdict(output.criterion_status), output.explanation)})

    async def judge(
        self,
        to_grade: ToGrade,
        rubric: Iterable[Criterion],
        query: Query | None = None,
        *,
        reference: str | None = None,
        guidelines: str | None = None,
    ) -> list[CriterionReport]:
        """Ask all questions at once; report every criterion in order, a failed call as its own error."""
        whole = as_rubric(rubric, guidelines)
        submission = Submission.of(to_grade, query, reference)
        prompts = self.prompts(submission, whole)
        results = await together(self.ask(prompt, whole) for prompt in prompts)
        failures = {
            prompt.criteria[0]: result
            for prompt, result in zip(prompts, results, strict=True)
            if isinstance(result, FailedCall)
        }
        readings = [result for result in results if isinstance(result, Reading)]
        return criterion_reports(whole, readings, failures, check_results(whole, submission))
