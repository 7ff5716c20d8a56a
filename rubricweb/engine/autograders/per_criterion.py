"""One question per criterion, asked concurrently: the most careful autograder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rubricweb.engine.autograders.base import Answer, Prompt, Reading, ReplyFormat
from rubricweb.engine.autograders.generate import PerCriterionGenerateFn
from rubricweb.engine.autograders.material import (
    criterion_blocks,
    guidelines_block,
    joined,
    submission_blocks,
)
from rubricweb.engine.autograders.outputs import PerCriterionOutput
from rubricweb.engine.autograders.prompted import (
    FailedCall,
    VerdictAutograder,
    as_rubric,
    criterion_reports,
    fitted,
)
from rubricweb.engine.errors import UnreadableReply, shortened
from rubricweb.engine.parsers.yes_no import read_yes_no
from rubricweb.engine.report import CriterionReport
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.scoring import Abstention, OnError
from rubricweb.engine.submission import Query, Submission, ToGrade
from rubricweb.engine.verdict import Verdict


class PerCriterionGrader(VerdictAutograder):
    """Asks about every criterion in a call of its own.

    ``reply_format="yes_no"`` asks for prose led by *Yes* (present, MET) or *No*, for models that cannot
    write JSON; the whole reply is then the reason.
    """

    schema = PerCriterionOutput
    reply_formats = ("json", "yes_no")
    system_prompt_names = {"json": "per_criterion", "yes_no": "per_criterion_yes_no"}
    default_generate_fn_name = "default_per_criterion_generate_fn"

    def __init__(
        self,
        generate_fn: PerCriterionGenerateFn | None = None,
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
        before, after = guidelines_block(rubric.guidelines), submission_blocks(submission)
        return [
            Prompt(
                system=self.system_prompt,
                user=joined([before, criterion_blocks(rubric.criteria[index]), after]),
                schema=self.schema,
                criteria=(index,),
                reply_format=self.reply_format,
            )
            for index in (range(len(rubric.criteria)) if only is None else only)
        ]

    def read(self, prompt: Prompt, reply: str, rubric: Rubric) -> Reading:
        if prompt.reply_format == "json":
            return super().read(prompt, reply, rubric)
        answer = read_yes_no(reply)
        if answer is None:
            raise UnreadableReply(f"no yes or no in the reply {shortened(reply.strip(), 120)!r}")
        verdict = Verdict.MET if answer else Verdict.UNMET
        return Reading({prompt.criteria[0]: Answer(verdict, reply.strip())})

    def reading(self, prompt: Prompt, data: Mapping[str, Any]) -> Reading:
        output: PerCriterionOutput = fitted(PerCriterionOutput, data)
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
        prompts = self.prompts(Submission.of(to_grade, query, reference), whole)
        results = await asyncio.gather(*(self.ask(prompt, whole) for prompt in prompts))
        failures = {
            prompt.criteria[0]: result
            for prompt, result in zip(prompts, results, strict=True)
            if isinstance(result, FailedCall)
        }
        return criterion_reports(
            whole, [result for result in results if isinstance(result, Reading)], failures
        )
