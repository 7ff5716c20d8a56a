"""What somebody writes who has installed the library: it is run, and checked by a strict type checker."""

import asyncio

from rubricweb.engine import (
    Criterion,
    CriterionVerdict,
    EvaluationReport,
    PerCriterionOutput,
    Rubric,
    RubricDataset,
    default_per_criterion_generate_fn,
    evaluate,
)
from rubricweb.engine.agreement import compare_labels
from rubricweb.engine.autograders import PerCriterionGrader


async def ask(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
    return PerCriterionOutput(criterion_status="MET", explanation="It says so.")


async def main() -> None:
    rubric = Rubric([Criterion(name="capital", weight=10, requirement="Names Paris")])
    dataset = RubricDataset(prompt="What is the capital of France?", rubric=rubric, name="capitals")
    dataset.add_item("Paris is the capital of France.", "right", [CriterionVerdict.MET])
    report: EvaluationReport = await rubric.grade(
        dataset[0].submission, autograder=PerCriterionGrader(ask), query=dataset.prompt
    )
    score: float | None = report.score
    verdicts = [entry.verdict for entry in report.report or []]
    compared = compare_labels(["MET"], [str(verdict) for verdict in verdicts], clusters=[0])
    result = await evaluate(dataset, PerCriterionGrader(ask), show_progress=False)
    mean: float | None = result.summary().score.value
    print(score, verdicts[0], compared.n, mean, callable(default_per_criterion_generate_fn))


if __name__ == "__main__":
    asyncio.run(main())
