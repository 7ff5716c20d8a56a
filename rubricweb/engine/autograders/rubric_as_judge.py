"""One holistic question for a score from 0 to 100: the fastest autograder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.autograders.base import Overall, Prompt, Reading, ReplyFormat
from rubricweb.engine.autograders.generate import RubricAsJudgeGenerateFn
from rubricweb.engine.autograders.material import criteria_block, guidelines_block, joined, submission_blocks
from rubricweb.engine.autograders.outputs import RubricAsJudgeOutput
from rubricweb.engine.autograders.prompted import FailedCall, PromptedAutograder, as_rubric, fitted
from rubricweb.engine.report import EvaluationReport
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.scoring import Abstention, OnError, score_holistic
from rubricweb.engine.submission import Query, Submission, ToGrade


@dataclass(frozen=True, slots=True)
class HolisticResult:
    """What a holistic judge said about one submission: an overall answer, or why there is none."""

    weights: tuple[float, ...]
    overall: Overall | None
    failure: FailedCall | None = None


class RubricAsJudgeGrader(PromptedAutograder):
    """Asks for one score with the whole rubric in view; the report has no verdicts, only the explanation."""

    schema = RubricAsJudgeOutput
    system_prompt_names = {"json": "rubric_as_judge"}
    default_generate_fn_name = "default_rubric_as_judge_generate_fn"

    def __init__(
        self,
        generate_fn: RubricAsJudgeGenerateFn | None = None,
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
        """One question about all criteria; part of a rubric has no overall score: ``only`` stays None."""
        if only is not None:
            raise ValueError("a holistic question is about the whole rubric; allowed: only=None")
        user = joined(
            [
                guidelines_block(rubric.guidelines),
                criteria_block(rubric.criteria),
                submission_blocks(submission),
            ]
        )
        return [
            Prompt(
                self.system_prompt, user, self.schema, tuple(range(len(rubric.criteria))), self.reply_format
            )
        ]

    def reading(self, prompt: Prompt, data: Mapping[str, Any]) -> Reading:
        output: RubricAsJudgeOutput = fitted(RubricAsJudgeOutput, data)
        said = output.overall_score
        score = min(100.0, max(0.0, said))
        return Reading({}, overall=Overall(score, output.explanation, said=None if said == score else said))

    async def judge(
        self,
        to_grade: ToGrade,
        rubric: Iterable[Criterion],
        query: Query | None = None,
        *,
        reference: str | None = None,
        guidelines: str | None = None,
    ) -> HolisticResult:
        """Ask the one question."""
        whole = as_rubric(rubric, guidelines)
        prompt = self.prompts(Submission.of(to_grade, query, reference), whole)[0]
        result = await self.ask(prompt, whole)
        if isinstance(result, FailedCall):
            return HolisticResult(whole.weights, None, result)
        return HolisticResult(whole.weights, result.overall)

    async def aggregate(self, judge_results: HolisticResult) -> EvaluationReport:
        """Turn the judge's number into a score and the weighted sum it stands for."""
        overall, failure = judge_results.overall, judge_results.failure
        said = None if overall is None else overall.score if overall.said is None else overall.said
        score = score_holistic(judge_results.weights, said, normalize=self.normalize)
        return EvaluationReport(
            score=score.score,
            raw_score=score.raw_score,
            llm_raw_score=score.llm_raw_score,
            report=None,
            coverage=score.coverage,
            errors=() if failure is None else (failure.about(None),),
            explanation=None if overall is None else overall.reason,
        )
