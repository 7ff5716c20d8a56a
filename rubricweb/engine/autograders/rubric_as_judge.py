"""One holistic question for a score from 0 to 100: the fastest autograder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

from rubricweb.engine.autograders.base import Overall, Prompt, Reading
from rubricweb.engine.autograders.generate import RubricAsJudgeGenerateFn
from rubricweb.engine.autograders.material import criteria_block, guidelines_block, joined, submission_blocks
from rubricweb.engine.autograders.option_order import option_order
from rubricweb.engine.autograders.outputs import RubricAsJudgeOutput
from rubricweb.engine.autograders.prompted import (
    FailedCall,
    GraderOptions,
    PromptedAutograder,
    as_rubric,
    asked_about,
    check_results,
    read_as,
)
from rubricweb.engine.report import CriterionReport, EvaluationReport, criterion_report
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.scoring import outcome_of, score_holistic, score_verdicts
from rubricweb.engine.submission import Query, Submission, ToGrade


@dataclass(frozen=True, slots=True)
class HolisticResult:
    """What a holistic judge said about one submission: an overall answer, or why there is none.

    ``checks`` are the results of the rubric's checks by 0-based index; the judge was not asked about them.
    """

    weights: tuple[float, ...]
    overall: Overall | None
    failure: FailedCall | None = None
    checks: Mapping[int, CriterionReport] = field(default_factory=dict)


class RubricAsJudgeGrader(PromptedAutograder):
    """Asks for one score with the whole rubric in view; the report has no verdicts, only the explanation.

    A number outside 0 to 100 is none in the form asked for, and such a reply unreadable.

    Options are shown with their values. Checks are not the judge's business: they are measured, reported one
    by one, and added to what the judge's number stands for.
    """

    schema = RubricAsJudgeOutput
    system_prompt_names = {"json": "rubric_as_judge"}
    options_prompt_name = "rubric_as_judge_mixed"
    default_generate_fn_name = "default_rubric_as_judge_generate_fn"

    def __init__(
        self,
        generate_fn: RubricAsJudgeGenerateFn | None = None,
        **options: Unpack[GraderOptions],
    ) -> None:
        if options.get("examples"):
            raise ValueError("examples for a holistic grader; allowed: none, they show single verdicts")
        super().__init__(generate_fn, **options)

    def prompts(
        self, submission: Submission, rubric: Rubric, *, only: Sequence[int] | None = None
    ) -> list[Prompt]:
        """One question about all criteria; part of a rubric has no overall score: ``only`` stays None."""
        if only is not None:
            raise ValueError("a holistic question is about the whole rubric; allowed: only=None")
        indexes = asked_about(rubric, None)
        if not indexes:
            return []
        criteria = [rubric.criteria[index] for index in indexes]
        orders = [option_order(criterion, submission, self.option_seed) for criterion in criteria]
        material = submission_blocks(submission)
        user = joined(
            [
                guidelines_block(rubric.guidelines),
                criteria_block(criteria, orders, values=True),
                material,
            ]
        )
        system = self.system_for(options=any(orders))
        shared = len(user) - len(material)
        return [Prompt(system, user, self.schema, indexes, self.reply_format, shared=shared)]

    def reading(self, prompt: Prompt, data: Mapping[str, Any]) -> Reading:
        output: RubricAsJudgeOutput = read_as(RubricAsJudgeOutput, data)
        return Reading({}, overall=Overall(output.overall_score, output.explanation))

    async def judge(
        self,
        to_grade: ToGrade,
        rubric: Iterable[Criterion],
        query: Query | None = None,
        *,
        reference: str | None = None,
        guidelines: str | None = None,
    ) -> HolisticResult:
        """Ask the one question, unless all criteria are checks."""
        whole = as_rubric(rubric, guidelines)
        submission = Submission.of(to_grade, query, reference)
        checks = {
            index: criterion_report(whole.criteria[index], result)
            for index, result in check_results(whole, submission).items()
        }
        for prompt in self.prompts(submission, whole):
            result = await self.ask(prompt, whole)
            if isinstance(result, FailedCall):
                return HolisticResult(whole.weights, None, result, checks)
            return HolisticResult(whole.weights, result.overall, None, checks)
        return HolisticResult(whole.weights, None, None, checks)

    async def aggregate(self, judge_results: HolisticResult) -> EvaluationReport:
        """Turn the judge's number, and what the checks measured, into a score and its weighted sum."""
        overall, failure = judge_results.overall, judge_results.failure
        llm_score = None if overall is None else overall.score
        checks, weights = judge_results.checks, judge_results.weights
        outcomes = {index: outcome_of(entry, entry.answer) for index, entry in checks.items()}
        policy: dict[str, Any] = {
            "normalize": self.normalize,
            "abstention": self.abstention,
            "on_error": self.on_error,
        }
        if checks and len(checks) == len(weights):
            score = score_verdicts(weights, [outcomes[i] for i in range(len(weights))], **policy)
        else:
            score = score_holistic(weights, llm_score, checked=outcomes, **policy)
        failed = [entry.error for entry in checks.values() if entry.error is not None]
        return EvaluationReport(
            score=score.score,
            raw_score=score.raw_score,
            llm_raw_score=score.llm_raw_score,
            report=list(checks.values()) if checks else None,
            coverage=score.coverage,
            errors=tuple(failed if failure is None else [failure.about(None), *failed]),
            explanation=None if overall is None else overall.reason,
        )
