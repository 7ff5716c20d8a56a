"""The published packages' examples, with only the imports changed and a local function for the model."""

import asyncio
from typing import Protocol

import pytest
from pydantic import BaseModel, ValidationError

from rubricweb.engine import (
    Criterion,
    CriterionEvaluation,
    CriterionReport,
    EvaluationReport,
    OneShotGenerateFn,
    OneShotOutput,
    PerCriterionGenerateFn,
    PerCriterionOutput,
    Rubric,
    RubricAsJudgeGenerateFn,
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


def test_quick_start(capsys):
    async def main():
        rubric = Rubric.from_dict(
            [
                {"weight": 10.0, "requirement": "Response mentions Paris"},
                {"weight": 5.0, "requirement": "Response is concise"},
            ]
        )

        grader = PerCriterionGrader(generate_fn=paris_only)
        result = await rubric.grade("Paris is the capital of France.", autograder=grader)
        print(f"Score: {result.score}")

    asyncio.run(main())
    assert capsys.readouterr().out == f"Score: {10 / 15}\n"


def test_custom_generate_function(capsys):
    async def generate_locally(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
        assert system_prompt == "This overrides the default grader system prompt"
        assert "<query>\nInput query...\n</query>" in user_prompt
        assert "<response>\nOutput to evaluate...\n</response>" in user_prompt
        content = '{"criterion_status": "MET", "explanation": "Stated in full."}'
        return PerCriterionOutput.model_validate_json(content)

    async def main():
        # Build rubric
        rubric = Rubric.from_dict(
            [
                {"weight": 10.0, "requirement": "States Q4 2023 base margin as 17.2%"},
                {"weight": 8.0, "requirement": "Explicitly uses Shapley attribution for decomposition"},
                {"weight": -15.0, "requirement": "Uses total deliveries instead of cash-only deliveries"},
            ]
        )

        # Select autograder strategy
        grader = PerCriterionGrader(
            generate_fn=generate_locally,
            system_prompt="This overrides the default grader system prompt",
        )

        # Grade output
        result = await rubric.grade(
            query="Input query...", to_grade="Output to evaluate...", autograder=grader
        )

        print(f"Score: {result.score:.2f}")  # Score is 0.0-1.0
        for criterion in result.report:
            print(f"  [{criterion.verdict}] {criterion.requirement}")
            print(f"    → {criterion.reason}")

    asyncio.run(main())
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Score: 0.17"  # (10 + 8 − 15) / 18
    assert printed[1:3] == ["  [MET] States Q4 2023 base margin as 17.2%", "    → Stated in full."]


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


def test_loading_rubrics(tmp_path, monkeypatch):
    expected = Rubric([Criterion(weight=10.0, requirement="Example requirement")])
    assert Rubric.from_dict([{"weight": 10.0, "requirement": "Example requirement"}]) == expected
    assert Rubric.from_json('[{"weight": 10.0, "requirement": "Example requirement"}]') == expected
    yaml_data = """
- weight: 10.0
  requirement: "Example requirement"
"""
    assert Rubric.from_yaml(yaml_data) == expected
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rubric.json").write_text(expected.to_json())
    (tmp_path / "rubric.yaml").write_text(yaml_data)
    assert Rubric.from_file("rubric.json") == expected
    assert Rubric.from_file("rubric.yaml") == expected


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


def test_every_published_name_is_exported():
    import rubricweb.engine
    import rubricweb.engine.autograders
    import rubricweb.engine.types

    package = {"Rubric", "Criterion", "CriterionReport", "EvaluationReport", "PerCriterionOutput"}
    package |= {"OneShotOutput", "RubricAsJudgeOutput", "CriterionEvaluation", "PerCriterionGenerateFn"}
    package |= {"OneShotGenerateFn", "RubricAsJudgeGenerateFn"}
    assert package <= set(rubricweb.engine.__all__)
    assert package - {"Rubric"} <= set(rubricweb.engine.types.__all__)
    graders = {"Autograder", "PerCriterionGrader", "PerCriterionOneShotGrader", "RubricAsJudgeGrader"}
    assert graders <= set(rubricweb.engine.autograders.__all__)
    assert all((CriterionReport, OneShotGenerateFn, PerCriterionGenerateFn, RubricAsJudgeGenerateFn))
