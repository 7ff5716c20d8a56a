"""Every script of the published rubric's guide, with only the imports changed and functions for models."""

import asyncio
import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Protocol

import pytest
from pydantic import BaseModel, ValidationError

from rubricweb.engine import (
    Criterion,
    CriterionEvaluation,
    CriterionReport,
    EvaluationReport,
    OneShotOutput,
    PerCriterionOutput,
    Rubric,
    RubricAsJudgeOutput,
)
from rubricweb.engine.autograders import (
    Autograder,
    PerCriterionGrader,
    PerCriterionOneShotGrader,
    RubricAsJudgeGrader,
)
from rubricweb.engine.types import Criterion as PublishedCriterion
from rubricweb.engine.types import EvaluationReport as PublishedReport


async def paris_only(system_prompt: str, user_prompt: str, **kwargs) -> PerCriterionOutput:
    """Meets the criterion about Paris and no other."""
    if "<criterion>Response mentions Paris</criterion>" in user_prompt:
        return PerCriterionOutput(criterion_status="MET", explanation="It says Paris.")
    return PerCriterionOutput(criterion_status="UNMET", explanation="It does not.")


def test_core_types():
    criterion = Criterion(weight=-15.0, requirement="Uses total deliveries")
    assert (criterion.weight, criterion.requirement) == (-15.0, "Uses total deliveries")
    entry = CriterionReport(weight=10.0, requirement="a", verdict="MET", reason="because")
    assert isinstance(entry, Criterion)
    report = EvaluationReport(score=1.0, raw_score=10.0, llm_raw_score=10.0, report=[entry])
    assert [(each.verdict, each.reason) for each in report.report] == [("MET", "because")]
    assert EvaluationReport(score=0.5).report is None


def test_accessing_schemas_for_constrained_decoding():
    # Get JSON schema for your LLM client
    schema = PerCriterionOutput.model_json_schema()

    class Completions:
        async def create(self, model, messages, response_format):
            assert response_format["json_schema"]["schema"] is schema
            content = '{"criterion_status": "UNMET", "explanation": "Absent."}'
            return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=content))])

    openai_client = SimpleNamespace(chat=SimpleNamespace(completions=Completions()))

    # Example with OpenAI structured outputs
    async def main():
        return await openai_client.chat.completions.create(
            model="gpt-4",
            messages=[...],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "criterion_output", "schema": schema},
            },
        )

    response = asyncio.run(main())
    # Parse response into validated Pydantic model
    output = PerCriterionOutput.model_validate_json(response.choices[0].message.content)
    assert (output.criterion_status, output.explanation) == ("UNMET", "Absent.")
    for model in (PerCriterionOutput, OneShotOutput, RubricAsJudgeOutput):
        assert model.model_json_schema()["type"] == "object"


@pytest.mark.parametrize("grader", [PerCriterionGrader, PerCriterionOneShotGrader, RubricAsJudgeGrader])
def test_common_constructor_parameters(grader):
    made = grader(generate_fn=paris_only, system_prompt="Mine", normalize=False)
    assert (made.generate_fn, made.system_prompt, made.normalize) == (paris_only, "Mine", False)
    assert grader(paris_only).normalize is True
    assert isinstance(made, Autograder)


def test_grade_calculation():
    criteria = [Criterion(weight=weight, requirement=f"Wants {weight}") for weight in (10.0, 5.0, -3.0)]
    for verdicts in itertools.product(["MET", "UNMET"], repeat=3):
        answers = dict(zip(("Wants 10.0", "Wants 5.0", "Wants -3.0"), verdicts, strict=True))

        async def generate(system_prompt, user_prompt, answers=answers):
            status = next(answers[wanted] for wanted in answers if f">{wanted}<" in user_prompt)
            return PerCriterionOutput(criterion_status=status, explanation="...")

        report = asyncio.run(Rubric(criteria).grade("text", autograder=PerCriterionGrader(generate)))
        # As published, word for word
        total_positive_weight = sum(max(0.0, c.weight) for c in criteria)
        weighted_sum = sum(
            (1.0 if verdict == "MET" else 0.0) * c.weight
            for c, verdict in zip(criteria, verdicts, strict=True)
        )
        score = max(0.0, min(1.0, weighted_sum / total_positive_weight))
        assert report.score == pytest.approx(score)
        assert report.raw_score == report.llm_raw_score == weighted_sum


def test_basic_training_setup(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rubric.yaml").write_text('- {weight: 2, requirement: "a"}\n- {weight: -9, requirement: "b"}\n')

    async def your_llm_fn(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
        return PerCriterionOutput(criterion_status="MET", explanation="...")

    # Configure for training: raw scores
    grader = PerCriterionGrader(
        generate_fn=your_llm_fn,
        normalize=False,  # Return raw weighted sums
    )

    rubric = Rubric.from_file("rubric.yaml")
    result = asyncio.run(rubric.grade("text", autograder=grader))
    assert (result.score, result.raw_score) == (-7.0, -7.0)  # 2 − 9, unclamped


def test_the_outputs_are_built_with_keywords_in_any_order():
    PerCriterionOutput(criterion_status="MET", explanation="...")
    RubricAsJudgeOutput(overall_score=85.0, explanation="Good quality overall")
    OneShotOutput(
        criteria_evaluations=[
            CriterionEvaluation(
                criterion_number=1, criterion_status="MET", explanation="First criterion satisfied"
            ),
        ]
    )
    with pytest.raises(ValidationError):
        OneShotOutput(criteria_evaluations=[])
    with pytest.raises(ValidationError):
        PerCriterionOutput(criterion_status="YES", explanation="...")
    with pytest.raises(ValidationError):
        RubricAsJudgeOutput(overall_score=float("nan"), explanation="...")


def test_raw_scores_compare_across_graders():
    rubric = Rubric.from_dict(
        [{"weight": weight, "requirement": f"Wants {weight}"} for weight in (10.0, 5.0, -3.0)]
    )

    async def all_met(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
        status = "UNMET" if "negative" in user_prompt else "MET"
        return PerCriterionOutput(criterion_status=status, explanation="...")

    async def holistic(system_prompt: str, user_prompt: str) -> RubricAsJudgeOutput:
        return RubricAsJudgeOutput(overall_score=85.0, explanation="Good quality overall")

    async def main(normalize):
        result1 = await rubric.grade("text", autograder=PerCriterionGrader(all_met, normalize=normalize))
        result2 = await rubric.grade("text", autograder=RubricAsJudgeGrader(holistic, normalize=normalize))
        return result1, result2

    result1, result2 = asyncio.run(main(True))
    assert (result1.score, result1.raw_score, result1.llm_raw_score) == (1.0, 15.0, 15.0)
    assert (result2.score, result2.raw_score, result2.llm_raw_score) == (0.85, 12.75, 85.0)
    assert result2.report is None

    result1, result2 = asyncio.run(main(False))
    assert (result1.score, result1.raw_score) == (15.0, 15.0)
    assert (result2.score, result2.llm_raw_score) == (12.75, 85.0)


def test_one_shot_with_a_typed_function():
    async def my_generate_fn(system_prompt: str, user_prompt: str, **kwargs) -> OneShotOutput:
        return OneShotOutput(
            criteria_evaluations=[
                CriterionEvaluation(criterion_number=2, criterion_status="UNMET", explanation="No"),
                CriterionEvaluation(criterion_number=1, criterion_status="MET", explanation="Yes"),
            ]
        )

    grader = PerCriterionOneShotGrader(generate_fn=my_generate_fn)
    rubric = Rubric.from_dict([{"weight": 3, "requirement": "a"}, {"weight": 1, "requirement": "b"}])
    report = asyncio.run(rubric.grade("text", autograder=grader))
    assert report.score == 0.75
    assert [(entry.verdict, entry.reason) for entry in report.report] == [("MET", "Yes"), ("UNMET", "No")]


def test_batches_of_rewards():
    grader = PerCriterionGrader(paris_only, normalize=False)

    async def compute_rewards_batch(responses, rubrics, queries=None):
        tasks = []
        for i, (response, rubric) in enumerate(zip(responses, rubrics, strict=True)):
            query = queries[i] if queries else None
            tasks.append(rubric.grade(response, autograder=grader, query=query))

        results = await asyncio.gather(*tasks)
        return [r.score for r in results]

    rubric = Rubric.from_dict([{"weight": 10.0, "requirement": "Response mentions Paris"}])
    assert asyncio.run(compute_rewards_batch(["a", "b"], [rubric, rubric])) == [10.0, 10.0]


class MyCustomOutput(BaseModel):
    score: float
    reasoning: str


class MyCustomGenerateFn(Protocol):
    async def __call__(self, system_prompt: str, user_prompt: str, **kwargs) -> MyCustomOutput: ...


class MyAutograder(Autograder):
    def __init__(
        self,
        generate_fn: MyCustomGenerateFn,
        *,
        system_prompt: str = "Grade this response.",
        normalize: bool = True,
    ):
        super().__init__(normalize=normalize)
        self.generate_fn = generate_fn
        self.system_prompt = system_prompt

    async def judge(
        self, to_grade: str, rubric: list[PublishedCriterion], query: str | None = None
    ) -> MyCustomOutput:
        user_prompt = f"Response: {to_grade}\nCriteria: {rubric}"
        return await self.generate_fn(self.system_prompt, user_prompt)

    async def aggregate(self, judge_results: MyCustomOutput) -> PublishedReport:
        return EvaluationReport(
            score=judge_results.score,
            raw_score=judge_results.score,
            llm_raw_score=None,
            report=None,
        )


def test_a_custom_autograder_with_the_published_signatures_works():
    seen = []

    async def generate(system_prompt, user_prompt, **kwargs):
        seen.append(user_prompt)
        return MyCustomOutput(score=0.4, reasoning="...")

    rubric = Rubric([Criterion(requirement="a")], guidelines="not in the published signature")
    report = asyncio.run(
        rubric.grade("some text", autograder=MyAutograder(generate), query="q", reference="r")
    )
    assert report.score == 0.4
    assert seen[0].startswith("Response: some text\nCriteria: [Criterion(")


def test_a_custom_judge_that_declares_them_receives_reference_and_guidelines():
    class Curious(MyAutograder):
        async def judge(self, to_grade, rubric, query=None, *, reference=None, guidelines=None):
            return MyCustomOutput(score=1.0, reasoning=f"{to_grade} {query} {reference} {guidelines}")

        async def aggregate(self, judge_results):
            return EvaluationReport(score=None, explanation=judge_results.reasoning)

    rubric = Rubric([Criterion(requirement="a")], guidelines="g")
    report = asyncio.run(
        rubric.grade(
            {"thinking": "t", "output": "o"}, autograder=Curious(paris_only), query="q", reference="r"
        )
    )
    assert report.explanation == "{'thinking': 't', 'output': 'o'} q r g"


def test_public_exports():
    from rubricweb.engine import (  # noqa: F401 - as published
        # Core classes
        Criterion,
        CriterionEvaluation,
        CriterionReport,
        EvaluationReport,
        # Typed protocols
        OneShotGenerateFn,
        # Pydantic output schemas
        OneShotOutput,
        PerCriterionGenerateFn,
        PerCriterionOutput,
        Rubric,
        RubricAsJudgeGenerateFn,
        RubricAsJudgeOutput,
        # Default generate functions
        default_oneshot_generate_fn,
        default_per_criterion_generate_fn,
        default_rubric_as_judge_generate_fn,
    )
    from rubricweb.engine.autograders import (  # noqa: F401  imported because the page does
        Autograder,  # Base class
        PerCriterionGrader,  # Parallel per-criterion grading
        PerCriterionOneShotGrader,  # Single-call all-criteria grading
        RubricAsJudgeGrader,  # Holistic scoring
    )
    from rubricweb.engine.types import CriterionReport as SameReport

    assert SameReport is CriterionReport
