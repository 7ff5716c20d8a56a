"""The same work done by another library, in an environment of its own; `benchmarks.grading.peers` starts it.

    python -m benchmarks.grading.libraries rubric|autorubric --base-url URL --items 200

Each is used as its documentation recommends, with one client for everything, and rubric with a shorter
system prompt than its own. Prints one line of JSON: wall and CPU seconds from the first call to the last
verdict, and how many verdicts there were, after WARM_ITEMS that count for nothing.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Awaitable, Callable

from benchmarks.grading.workload import IN_FLIGHT, requirements, submission

WARM_ITEMS = 20
SYSTEM_PROMPT = "Decide whether the response meets the criterion. Answer with JSON."

Grade = Callable[[range], Awaitable[int]]
"""Grades the submissions with these numbers; how many verdicts came of it."""


def rubric(base_url: str) -> Grade:
    """`rubric` 2.2: a generate function as in its README, but its client made once and not per call."""
    from openai import AsyncOpenAI
    from openai.types.shared_params import ResponseFormatJSONSchema
    from rubric import PerCriterionOutput, Rubric
    from rubric.autograders import PerCriterionGrader

    client = AsyncOpenAI(api_key="bench", base_url=base_url)
    slots = asyncio.Semaphore(IN_FLIGHT)
    response_format: ResponseFormatJSONSchema = {
        "type": "json_schema",
        "json_schema": {"name": "criterion_output", "schema": PerCriterionOutput.model_json_schema()},
    }

    async def generate(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
        async with slots:
            response = await client.chat.completions.create(
                model="bench",
                messages=[
                    {"role": "system", "content": system_prompt},
                    {"role": "user", "content": user_prompt},
                ],
                response_format=response_format,
                max_tokens=400,
                temperature=0.0,
            )
        return PerCriterionOutput.model_validate_json(response.choices[0].message.content or "{}")

    rubric = Rubric.from_dict(requirements())
    grader = PerCriterionGrader(generate_fn=generate, system_prompt=SYSTEM_PROMPT)

    async def grade(numbers: range) -> int:
        reports = await asyncio.gather(
            *(rubric.grade(to_grade=submission(number), autograder=grader) for number in numbers)
        )
        return sum(criterion.verdict == "MET" for report in reports for criterion in report.report)

    return grade


def autorubric(base_url: str) -> Grade:
    """`autorubric` 1.6: its EvalRunner as it is by default, without its progress bar."""
    from autorubric import CriterionVerdict, LLMConfig, Rubric, RubricDataset
    from autorubric.eval import EvalConfig, EvalRunner
    from autorubric.graders import CriterionGrader

    rubric = Rubric.from_dict(requirements())
    grader = CriterionGrader(
        judge_model_config=LLMConfig(
            model="openai/bench",
            api_key="bench",
            api_base=base_url,
            temperature=0.0,
            max_parallel_requests=IN_FLIGHT,
        )
    )

    async def grade(numbers: range) -> int:
        dataset = RubricDataset(prompt="Write a text.", rubric=rubric, name="bench")
        for number in numbers:
            dataset.add_item(submission=submission(number), description=str(number))
        with tempfile.TemporaryDirectory() as folder:
            config = EvalConfig(experiments_dir=folder, show_progress=False)
            result = await EvalRunner(dataset=dataset, grader=grader, config=config).run()
        return sum(
            criterion.final_verdict == CriterionVerdict.MET
            for item in result.item_results
            for criterion in item.report.report
        )

    return grade


LIBRARIES = {"rubric": rubric, "autorubric": autorubric}


async def measured(grade: Grade, items: int) -> dict[str, float]:
    await grade(range(WARM_ITEMS))
    wall, cpu = time.perf_counter(), time.process_time()
    verdicts = await grade(range(WARM_ITEMS, WARM_ITEMS + items))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"wall_seconds": wall, "cpu_seconds": cpu, "verdicts": verdicts}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grading.libraries")
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--items", type=int, required=True)
    options = parser.parse_args()
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else litellm asks the network for prices
    found = asyncio.run(measured(LIBRARIES[options.library](options.base_url), options.items))
    print("\n" + json.dumps(found))  # on a line of its own


if __name__ == "__main__":
    main()
