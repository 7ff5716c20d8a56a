"""The same work done by other libraries, in an environment of theirs; `benchmarks.grading --peers` starts it.

    python -m benchmarks.peers rubric|autorubric --base-url URL --items 200 --criteria 10 --in-flight 64

Each is used as its documentation recommends, with one shared client, as many requests in flight as we have,
and rubric with a shorter system prompt than its own. Prints one line of JSON: wall and CPU seconds from the
first call to the last verdict, and how many verdicts there were.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from typing import Any

SYSTEM_PROMPT = "Decide whether the response meets the criterion. Answer with JSON."


def submission(number: int) -> str:
    """As in `benchmarks.grading`."""
    return f"Text {number}. " * 100


def requirements(criteria: int) -> list[dict[str, Any]]:
    return [{"weight": 1.0, "requirement": f"Says thing number {n}."} for n in range(criteria)]


async def with_rubric(base_url: str, items: int, criteria: int, in_flight: int) -> int:
    """`rubric` 2.2: a generate function as in its README, but its client made once and not per call."""
    from openai import AsyncOpenAI
    from rubric import PerCriterionOutput, Rubric
    from rubric.autograders import PerCriterionGrader

    client = AsyncOpenAI(api_key="bench", base_url=base_url)
    slots = asyncio.Semaphore(in_flight)
    schema = {"name": "criterion_output", "schema": PerCriterionOutput.model_json_schema()}

    async def generate(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
        async with slots:
            response = await client.chat.completions.create(
                model="bench",
                messages=[
                    {"role": "system", "content": system_prompt},
                    {"role": "user", "content": user_prompt},
                ],
                response_format={"type": "json_schema", "json_schema": schema},
                max_tokens=400,
                temperature=0.0,
            )
        return PerCriterionOutput.model_validate_json(response.choices[0].message.content or "{}")

    rubric = Rubric.from_dict(requirements(criteria))
    grader = PerCriterionGrader(generate_fn=generate, system_prompt=SYSTEM_PROMPT)
    reports = await asyncio.gather(
        *(rubric.grade(to_grade=submission(number), autograder=grader) for number in range(items))
    )
    return sum(criterion.verdict == "MET" for report in reports for criterion in report.report)


async def with_autorubric(base_url: str, items: int, criteria: int, in_flight: int) -> int:
    """`autorubric` 1.6: its EvalRunner as it is by default."""
    from autorubric import CriterionVerdict, LLMConfig, Rubric, RubricDataset
    from autorubric.eval import EvalConfig, EvalRunner
    from autorubric.graders import CriterionGrader

    rubric = Rubric.from_dict(requirements(criteria))
    dataset = RubricDataset(prompt="Write a text.", rubric=rubric, name="bench")
    for number in range(items):
        dataset.add_item(submission=submission(number), description=str(number))
    grader = CriterionGrader(
        judge_model_config=LLMConfig(
            model="openai/bench",
            api_key="bench",
            api_base=base_url,
            temperature=0.0,
            max_parallel_requests=in_flight,
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        config = EvalConfig(experiments_dir=folder)
        result = await EvalRunner(dataset=dataset, grader=grader, config=config).run()
    return sum(
        criterion.final_verdict == CriterionVerdict.MET
        for item in result.item_results
        for criterion in item.report.report
    )


WAYS = {"rubric": with_rubric, "autorubric": with_autorubric}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("library", choices=WAYS)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--criteria", type=int, default=10)
    parser.add_argument("--in-flight", type=int, default=64)
    options = parser.parse_args()
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else litellm asks the network for prices
    # On a line of its own: a progress bar may have left one open.
    print("\n" + json.dumps(asyncio.run(measured(options))))


async def measured(options: argparse.Namespace) -> dict[str, float]:
    work = WAYS[options.library]
    await work(options.base_url, 1, 2, options.in_flight)  # imports and first connections
    wall, cpu = time.perf_counter(), time.process_time()
    verdicts = await work(options.base_url, options.items, options.criteria, options.in_flight)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"wall_seconds": wall, "cpu_seconds": cpu, "verdicts": verdicts}


if __name__ == "__main__":
    main()
