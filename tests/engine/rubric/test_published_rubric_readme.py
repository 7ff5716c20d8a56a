"""Every script of the published rubric's front page, with only the imports changed.

Models answer from a scripted server behind ``OPENAI_BASE_URL``, or are functions of the test.
"""

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from openai import AsyncOpenAI
from pydantic import ValidationError

from rubricweb.engine import Criterion, PerCriterionOutput, Rubric, default_per_criterion_generate_fn
from rubricweb.engine.autograders import Autograder, PerCriterionGrader, RubricAsJudgeGrader
from rubricweb.engine.types import EvaluationReport
from rubricweb.judges.offline.script import Say, Script, ScriptRule
from rubricweb.judges.offline.server import running_server

MARGIN = "States Q4 2023 base margin as 17.2%"
SHAPLEY = "Explicitly uses Shapley attribution for decomposition"
DELIVERIES = "Uses total deliveries instead of cash-only deliveries"


def reply(status: str, explanation: str = "...") -> Say:
    return Say(json.dumps({"criterion_status": status, "explanation": explanation}))


@pytest.fixture
def model(monkeypatch):
    """`with model(script):` makes that script the endpoint which the environment names."""

    @contextmanager
    def serve(script: Script) -> Iterator[Script]:
        with running_server(script) as url:
            monkeypatch.setenv("OPENAI_API_KEY", "your_api_key_here")
            monkeypatch.setenv("OPENAI_BASE_URL", url)
            yield script

    return serve


def test_quick_start_with_default_generate_functions(model, capsys):
    async def main():
        rubric = Rubric.from_dict(
            [
                {"weight": 10.0, "requirement": "Response mentions Paris"},
                {"weight": 5.0, "requirement": "Response is concise"},
            ]
        )

        grader = PerCriterionGrader(generate_fn=default_per_criterion_generate_fn)
        result = await rubric.grade("Paris is the capital of France.", autograder=grader)
        print(f"Score: {result.score}")

    met, unmet = (
        ScriptRule([reply("MET")], requirement="Paris"),
        ScriptRule([reply("UNMET")], requirement="concise"),
    )
    with model(Script(rules=[met, unmet])):
        asyncio.run(main())
    assert capsys.readouterr().out == f"Score: {10 / 15}\n"


def test_custom_generate_function_with_openai(model, capsys):
    # Declare custom generate function with any model and inference provider
    async def generate_with_openai(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
        client = AsyncOpenAI(api_key=os.getenv("OPENAI_API_KEY"))
        response = await client.chat.completions.create(
            model="gpt-5-mini",
            messages=[
                {"role": "system", "content": system_prompt},
                {"role": "user", "content": user_prompt},
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {
                    "name": "criterion_output",
                    "schema": PerCriterionOutput.model_json_schema(),
                },
            },
            max_tokens=400,
            temperature=0.0,
        )
        content = response.choices[0].message.content or "{}"
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
            generate_fn=generate_with_openai,
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

    rules = [ScriptRule([reply("MET", "Stated in full.")], requirement="margin")]
    with model(Script(reply("MET", "Done."), rules=rules)) as script:
        asyncio.run(main())
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Score: 0.17"  # (10 + 8 − 15) / 18
    assert printed[1:3] == [f"  [MET] {MARGIN}", "    → Stated in full."]
    assert printed[5:] == [f"  [MET] {DELIVERIES}", "    → Done."]
    asked = script.requests[0].body
    system, user = (message["content"] for message in asked["messages"])
    assert system == "This overrides the default grader system prompt"
    assert "<query>\nInput query...\n</query>" in user
    assert "<response>\nOutput to evaluate...\n</response>" in user
    wanted = asked["response_format"]["json_schema"]["schema"]
    assert set(wanted["required"]) == {"criterion_status", "explanation"}


async def asked_for(to_grade, **more) -> str:
    """The user prompt that the default grader makes."""
    prompts = []

    async def generate(system_prompt, user_prompt):
        prompts.append(user_prompt)
        return PerCriterionOutput(criterion_status="MET", explanation="...")

    await Rubric([Criterion(requirement=MARGIN)]).grade(to_grade, PerCriterionGrader(generate), **more)
    return prompts[0]


def test_xml_tag_structure():
    plain = asyncio.run(asked_for("{content}"))
    assert "<response>\n{content}\n</response>" in plain
    assert "<query>" not in plain
    assert f"<criterion>{MARGIN}</criterion>" in plain
    assert "<criterion_type>positive</criterion_type>" in plain
    nested = asyncio.run(
        asked_for({"thinking": "{thinking_content}", "output": "{output_content}"}, query="q")
    )
    inside = nested.split("<response>\n")[1].split("\n</response>")[0].replace("\n", "")
    assert inside == "<thinking>{thinking_content}</thinking><output>{output_content}</output>"
    assert "<query>\nq\n</query>" in nested


def test_customisation_by_a_function_of_your_own():
    async def your_custom_function(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
        # Your LLM call here with structured outputs
        return PerCriterionOutput(criterion_status="MET", explanation="...")

    grader = PerCriterionGrader(generate_fn=your_custom_function)
    assert asyncio.run(Rubric([Criterion(requirement="a")]).grade("text", autograder=grader)).score == 1.0


def test_override_system_prompts():
    seen = []

    async def your_function(system_prompt, user_prompt):
        seen.append(system_prompt)
        return PerCriterionOutput(criterion_status="MET", explanation="...")

    grader = PerCriterionGrader(generate_fn=your_function, system_prompt="Your custom system prompt here")
    asyncio.run(Rubric([Criterion(requirement="a")]).grade("text", autograder=grader))
    assert seen == ["Your custom system prompt here"]


def test_create_custom_autograder_without_any_model():
    class ByLength(Autograder):
        async def judge(self, to_grade, rubric, query=None):
            return len(to_grade.split())

        async def aggregate(self, judge_results) -> EvaluationReport:
            return EvaluationReport(score=1.0 if judge_results < 10 else 0.0)

    assert asyncio.run(Rubric([Criterion(requirement="a")]).grade("short", ByLength())).score == 1.0


def test_error_handling_with_retries():
    replies = iter(
        ["not JSON", '{"criterion_status": "PERHAPS"}', '{"criterion_status": "MET", "explanation": "e"}']
    )

    async def your_llm_call(system_prompt, user_prompt):
        return next(replies)

    async def generate_with_retries(  # noqa: RET503 - as published
        system_prompt: str, user_prompt: str, max_retries: int = 3
    ) -> PerCriterionOutput:
        for attempt in range(max_retries):
            try:
                response = await your_llm_call(system_prompt, user_prompt)
                return PerCriterionOutput.model_validate_json(response)
            except ValidationError as e:  # noqa: F841 - as published
                if attempt == max_retries - 1:
                    raise
                continue  # Retry on validation error

    grader = PerCriterionGrader(generate_with_retries)
    assert asyncio.run(Rubric([Criterion(requirement="a")]).grade("text", autograder=grader)).score == 1.0


def test_invalid_data_is_the_error_of_its_criterion():
    async def generate(system_prompt, user_prompt):
        return PerCriterionOutput.model_validate_json("{}")  # raises ValidationError

    report = asyncio.run(Rubric([Criterion(requirement="a")]).grade("text", PerCriterionGrader(generate)))
    assert (report.score, report.coverage) == (None, 0.0)
    assert [error.criterion for error in report.errors] == ["C1"]


def test_cross_grader_consistency(model, capsys):
    text = "Paris is the capital of France."
    rubric = Rubric([Criterion(weight=10.0, requirement="a"), Criterion(weight=5.0, requirement="b")])

    async def main():
        # Same rubric, different graders - raw_score is comparable
        result1 = await rubric.grade(text, autograder=PerCriterionGrader())
        result2 = await rubric.grade(text, autograder=RubricAsJudgeGrader())

        # Both raw_scores are on the same scale (weighted sum)
        print(result1.raw_score)
        print(result2.raw_score)  # e.g., 12.75 (converted from LLM's 85/100)
        print(result2.llm_raw_score)  # e.g., 85.0 (original LLM output)

    holistic = Say('{"overall_score": 85, "explanation": "..."}')

    def answer(request):
        return holistic if "overall_score" in json.dumps(request.body) else reply("MET")

    with model(Script(answer)):
        asyncio.run(main())
    assert capsys.readouterr().out.split() == ["15.0", "12.75", "85.0"]


def test_loading_rubrics(tmp_path, monkeypatch):
    # Direct construction
    rubric = Rubric(
        [
            Criterion(weight=10.0, requirement="States Q4 2023 base margin as 17.2%"),
            Criterion(weight=8.0, requirement="Explicitly uses Shapley attribution for decomposition"),
            Criterion(weight=-15.0, requirement="Uses total deliveries instead of cash-only deliveries"),
        ]
    )
    # From list of dictionaries
    direct = rubric
    rubric = Rubric.from_dict(
        [
            {"weight": 10.0, "requirement": "States Q4 2023 base margin as 17.2%"},
            {"weight": 8.0, "requirement": "Explicitly uses Shapley attribution for decomposition"},
            {"weight": -15.0, "requirement": "Uses total deliveries instead of cash-only deliveries"},
        ]
    )
    assert rubric == direct
    assert [criterion.requirement for criterion in rubric.rubric] == [MARGIN, SHAPLEY, DELIVERIES]
    # From JSON string
    rubric = Rubric.from_json('[{"weight": 10.0, "requirement": "Example requirement"}]')
    # From YAML string
    yaml_data = """
- weight: 10.0
  requirement: "Example requirement"
"""
    assert Rubric.from_yaml(yaml_data) == rubric
    # From files
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rubric.json").write_text(JSON_FORMAT)
    (tmp_path / "rubric.yaml").write_text(YAML_FORMAT)
    assert Rubric.from_file("rubric.json") == direct
    assert Rubric.from_file("rubric.yaml") == direct


JSON_FORMAT = f"""
[
  {{
    "weight": 10.0,
    "requirement": "{MARGIN}"
  }},
  {{
    "weight": 8.0,
    "requirement": "{SHAPLEY}"
  }},
  {{
    "weight": -15.0,
    "requirement": "{DELIVERIES}"
  }}
]
"""
YAML_FORMAT = f"""
- weight: 10.0
  requirement: "{MARGIN}"
- weight: 8.0
  requirement: "{SHAPLEY}"
- weight: -15.0
  requirement: "{DELIVERIES}"
"""
