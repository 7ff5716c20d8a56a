"""A program for the environment of ``make oracles``: cases as JSON in, what the published libraries say out.

It imports nothing of rubricweb and asks no model: every generate function answers from the case.
"""

import asyncio
import json
import os
import sys
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import asks the network for prices

import autorubric
import rubric
from autorubric.graders import CriterionGrader
from autorubric.types import CannotAssessStrategy, JudgeVote, MultiChoiceJudgeVote
from autorubric.utils import compute_length_penalty as autorubric_length_penalty
from rubric.autograders import PerCriterionGrader, PerCriterionOneShotGrader, RubricAsJudgeGrader
from rubric.utils import compute_length_penalty

LOOP = asyncio.Runner()
Case = dict[str, Any]  # JSON


def by_autorubric(case: Case) -> float | None:
    """The score of the case's labels, under its abstention policy."""
    criteria = [
        autorubric.Criterion(
            weight=criterion["weight"],
            requirement=criterion["requirement"],
            options=[autorubric.CriterionOption(**option) for option in criterion.get("options", ())] or None,
        )
        for criterion in case["criteria"]
    ]
    score: float | None = autorubric.Rubric(criteria).compute_score(
        case["labels"],
        normalize=case["normalize"],
        cannot_assess_strategy=CannotAssessStrategy(case["abstention"]),
    )
    return score


def by_rubric(case: Case) -> dict[str, list[float | None]]:
    """score, raw_score and llm_raw_score of the three graders, for a case of plain verdicts."""
    numbers = {criterion["requirement"]: i for i, criterion in enumerate(case["criteria"])}
    labels = case["labels"]

    async def one(system_prompt: str, user_prompt: str) -> rubric.PerCriterionOutput:
        requirement = user_prompt.split("<criterion>\n")[1].split("\n</criterion>")[0]
        status = labels[numbers[requirement]]
        return rubric.PerCriterionOutput(criterion_status=status, explanation="e")

    async def all_at_once(system_prompt: str, user_prompt: str) -> rubric.OneShotOutput:
        return rubric.OneShotOutput(
            criteria_evaluations=[
                rubric.CriterionEvaluation(criterion_number=i + 1, criterion_status=label, explanation="e")
                for i, label in enumerate(labels)
                if i not in case["unanswered"]
            ]
        )

    async def holistic(system_prompt: str, user_prompt: str) -> rubric.RubricAsJudgeOutput:
        return rubric.RubricAsJudgeOutput(overall_score=case["llm_score"], explanation="e")

    whole = rubric.Rubric.from_dict(case["criteria"])

    async def grade_with(
        grader: PerCriterionGrader | PerCriterionOneShotGrader | RubricAsJudgeGrader,
    ) -> list[float | None]:
        report = await whole.grade("text", autograder=grader)
        return [report.score, report.raw_score, report.llm_raw_score]

    async def grade() -> dict[str, list[float | None]]:
        return {
            "per_criterion": await grade_with(PerCriterionGrader(one, normalize=case["normalize"])),
            "one_shot": await grade_with(PerCriterionOneShotGrader(all_at_once, normalize=case["normalize"])),
            "rubric_as_judge": await grade_with(RubricAsJudgeGrader(holistic, normalize=case["normalize"])),
        }

    return LOOP.run(grade())


def by_length(case: Case) -> list[float]:
    """What length costs by both libraries."""
    texts = {"thinking": "word " * case["thinking_words"], "output": "word " * case["output_words"]}
    return [
        compute_length_penalty(texts, rubric.LengthPenalty(**case["rule"])),
        autorubric_length_penalty(texts, autorubric.LengthPenalty(**case["rule"])),
    ]


def by_votes(case: Case) -> float | None:
    """The value that autorubric's panel settles on, None when it abstains."""
    rule = case["rule"]
    setting = {"binary": "aggregation", "ordinal": "ordinal_aggregation", "nominal": "nominal_aggregation"}
    grader = CriterionGrader(
        judge_model_config=autorubric.LLMConfig(model="none"), **{setting[case["scale"]]: rule}
    )
    if case["scale"] == "binary":
        verdicts = [
            JudgeVote(judge_id=f"judge {i}", verdict=label, reason="", weight=weight)
            for i, (label, weight) in enumerate(case["votes"])
        ]
        verdict, _ = grader._aggregate_votes(verdicts, case["weight"])
        values: dict[str, float | None] = {"MET": 1.0, "UNMET": 0.0, "CANNOT_ASSESS": None}
        return values[verdict.value]
    criterion = autorubric.Criterion(
        weight=case["weight"],
        requirement="Requirement",
        scale_type=case["scale"],
        options=[autorubric.CriterionOption(**option) for option in case["options"]],
    )
    votes = []
    for i, (label, weight) in enumerate(case["votes"]):
        index = criterion.find_option_by_label(label)
        option = criterion.options[index]
        votes.append(
            MultiChoiceJudgeVote(
                judge_id=f"judge {i}",
                selected_index=index,
                selected_label=option.label,
                value=option.value,
                na=option.na,
                reason="",
                weight=weight,
            )
        )
    settled, _ = grader._aggregate_multi_choice_votes(votes, criterion)
    value: float | None = None if settled.na else settled.value
    return value


def datasets(case: Case) -> dict[str, object]:
    """What autorubric makes of our dataset file: its parts, and the file it writes of them."""
    read = autorubric.RubricDataset.from_json(case["file"])
    return {
        "prompt": read.prompt,
        "name": read.name,
        "submissions": [item.submission for item in read.items],
        "ground_truth": [item.ground_truth for item in read.items],
        "scores": [
            read.compute_weighted_score(item.ground_truth, rubric=read.get_item_rubric(i))
            for i, item in enumerate(read.items)
        ],
        "references": [read.get_item_reference_submission(i) for i in range(len(read.items))],
        "file": read.to_json(),
    }


def main() -> None:
    """Answer every list of cases by the function of its name."""
    asked = json.load(sys.stdin)
    answers = {name: [globals()[name](case) for case in cases] for name, cases in asked.items()}
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
