"""Our scores beside those of autorubric 1.6 and rubric 2.0 themselves; run by ``make oracles``.

Where we differ, the difference is named in docs/decisions/0009, has a condition here, and occurs under it
only.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from rubricweb.engine import (
    CriterionEvaluation,
    EvaluationReport,
    OneShotOutput,
    PerCriterionOutput,
    RubricAsJudgeOutput,
    RubricDataset,
)
from rubricweb.engine.autograders import (
    Autograder,
    PerCriterionGrader,
    PerCriterionOneShotGrader,
    RubricAsJudgeGrader,
)
from rubricweb.engine.rubric import LengthPenalty, Rubric
from rubricweb.engine.scoring import length_penalty, score_labels
from rubricweb.engine.submission import Submission
from tests.engine.oracles.cases import (
    DATASET,
    DIFFERENCES,
    Case,
    abstains,
    by_hand,
    grader_cases,
    label_cases,
    length_cases,
)

near = pytest.approx


@pytest.fixture(scope="module")
def ours() -> list[float | None]:
    """The engine's score of every labelled case."""
    return [
        score_labels(
            rubric_of(case), case["labels"], normalize=case["normalize"], abstention=case["abstention"]
        ).score
        for case in label_cases()
    ]


def test_scores_of_labels_are_those_of_exact_fractions(ours) -> None:
    for case, mine in zip(label_cases(), ours, strict=True):
        assert mine == near_or_none(by_hand(case)), case


def test_scores_of_labels_are_autorubrics_but_for_the_named_differences(published, ours) -> None:
    differing = dict.fromkeys(LABEL_DIFFERENCES, 0)
    for case, mine, theirs in zip(label_cases(), ours, published["by_autorubric"], strict=True):
        if mine == near_or_none(theirs):
            continue
        names = [name for name, applies in LABEL_DIFFERENCES.items() if applies(case)]
        assert names, f"ours {mine}, theirs {theirs}: {case}"
        for name in names:
            differing[name] += 1
    assert all(differing.values()), differing


@pytest.mark.parametrize("strategy", ["per_criterion", "one_shot", "rubric_as_judge"])
def test_graders_come_to_what_rubrics_graders_come_to_but_for_the_named_differences(
    published, strategy
) -> None:
    differing = dict.fromkeys(GRADER_DIFFERENCES[strategy], 0)
    reports = asyncio.run(graded(grader_cases(), GRADER_OF[strategy]))
    for case, report, theirs in zip(grader_cases(), reports, published["by_rubric"], strict=True):
        mine = [report.score, report.raw_score, report.llm_raw_score]
        if mine == near(theirs[strategy], abs=1e-9):
            continue
        names = [name for name, (applies, _) in GRADER_DIFFERENCES[strategy].items() if applies(case)]
        assert names, f"ours {mine}, theirs {theirs[strategy]}: {case}"
        for name in names:
            differing[name] += 1
            GRADER_DIFFERENCES[strategy][name][1](case, report)
    assert all(differing.values()), differing


def test_length_costs_what_it_costs_in_both_libraries(published) -> None:
    for case, theirs in zip(length_cases(), published["by_length"], strict=True):
        submission = Submission("word " * case["output_words"], thinking="word " * case["thinking_words"])
        mine = length_penalty(LengthPenalty(**case["rule"]), submission)
        assert [mine, mine] == near(theirs), case


def test_dataset_files_go_both_ways(published) -> None:
    (theirs,) = published["datasets"]
    assert (theirs["prompt"], theirs["name"]) == (DATASET.prompt, DATASET.name)
    assert theirs["submissions"] == [item.submission for item in DATASET]
    assert theirs["ground_truth"] == [item.ground_truth for item in DATASET]
    assert theirs["references"] == ["Light becomes sugar.", "Own", "Light becomes sugar."]
    # (10 − 5) / 10; skipping leaves the error that was avoided, see the first difference; 1 − 0 / 2
    assert theirs["scores"] == [0.5, 1.0, 1.0]
    assert RubricDataset.from_json(theirs["file"]) == DATASET


def test_every_difference_is_named_in_the_decision() -> None:
    names = [*LABEL_DIFFERENCES, *(name for several in GRADER_DIFFERENCES.values() for name in several)]
    assert [name for name in names if name not in DIFFERENCES] == []


async def graded(cases: list[Case], grader_of: Callable[[Case], Autograder]) -> list[EvaluationReport]:
    """Our report on every case."""
    return [await rubric_of(case).grade("text", autograder=grader_of(case)) for case in cases]


def rubric_of(case: Case) -> Rubric:
    return Rubric.from_dict(case["criteria"])


def near_or_none(expected: Any) -> Any:
    return None if expected is None else near(float(expected), abs=1e-9)


# ── Where autorubric's scores differ ───────────────────────────────────────────────────────────────


def _own_side_left_out(case: Case) -> bool:
    """Skipping leaves nothing on the side the rubric's formula divides by, but something beside it."""
    if not case["normalize"] or case["abstention"] != "skip":
        return False
    weights = [criterion["weight"] for criterion in case["criteria"]]
    sign = 1 if any(weight > 0 for weight in weights) else -1
    judged = [i for i in range(len(weights)) if not abstains(case, i)]
    return any(weights) and bool(judged) and not any(weights[i] * sign > 0 for i in judged)


LABEL_DIFFERENCES: dict[str, Callable[[Case], bool]] = {
    "Skipping never changes the formula.": _own_side_left_out,
}


# ── Where rubric's graders differ ──────────────────────────────────────────────────────────────────


def _labels_by_requirement(case: Case) -> dict[str, str]:
    pairs = zip(case["criteria"], case["labels"], strict=True)
    return {criterion["requirement"]: label for criterion, label in pairs}


def _per_criterion(case: Case) -> PerCriterionGrader:
    labels = _labels_by_requirement(case)

    async def generate(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
        requirement = user_prompt.split("<criterion>")[1].split("</criterion>")[0]
        return PerCriterionOutput(criterion_status=labels[requirement], explanation="e")

    return PerCriterionGrader(generate, normalize=case["normalize"])


def _one_shot(case: Case) -> PerCriterionOneShotGrader:
    labels = _labels_by_requirement(case)
    silent = {case["criteria"][i]["requirement"] for i in case["unanswered"]}

    async def generate(system_prompt: str, user_prompt: str) -> OneShotOutput | str:
        asked = re.findall(r'<criterion number="(\d+)"[^>]*>(.+?)</criterion>', user_prompt)
        evaluations = [
            CriterionEvaluation(
                criterion_number=number, criterion_status=labels[requirement], explanation="e"
            )
            for number, requirement in asked
            if requirement not in silent
        ]
        return OneShotOutput(criteria_evaluations=evaluations) if evaluations else "I have said it all."

    return PerCriterionOneShotGrader(generate, normalize=case["normalize"])


def _holistic(case: Case) -> RubricAsJudgeGrader:
    async def generate(system_prompt: str, user_prompt: str) -> RubricAsJudgeOutput:
        return RubricAsJudgeOutput(overall_score=case["llm_score"], explanation="e")

    return RubricAsJudgeGrader(generate, normalize=case["normalize"])


GRADER_OF: dict[str, Callable[[Case], Autograder]] = {
    "per_criterion": _per_criterion,
    "one_shot": _one_shot,
    "rubric_as_judge": _holistic,
}


def _has_gaps(case: Case) -> bool:
    return bool(case["unanswered"])


def _gaps_are_errors(case: Case, report: EvaluationReport) -> None:
    """The criteria the judge passed over are errors, and the rest is scored as if they abstained."""
    gaps = case["unanswered"]
    assert [entry.error is not None for entry in report.report or ()] == [
        i in gaps for i in range(len(case["labels"]))
    ]
    labels = ["CANNOT_ASSESS" if i in gaps else label for i, label in enumerate(case["labels"])]
    rest = case | {"labels": labels, "abstention": "skip"}
    assert report.score == near_or_none(by_hand(rest))
    assert report.raw_score == near_or_none(by_hand(rest | {"normalize": False}))


def _lies_outside_the_scale(case: Case) -> bool:
    return not 0 <= case["llm_score"] <= 100


def _number_is_no_answer(case: Case, report: EvaluationReport) -> None:
    """130 of 100 is not what was asked for: an error, and no score."""
    assert (report.score, report.raw_score, report.llm_raw_score) == (None, None, None)
    assert [error.kind for error in report.errors] == ["unreadable_reply"]


def _has_metrics_only(case: Case) -> bool:
    weights = [criterion["weight"] for criterion in case["criteria"]]
    return not any(weights) and not _lies_outside_the_scale(case)


def _metrics_score_zero(case: Case, report: EvaluationReport) -> None:
    """Weights that are all zero score 0.0, as they do with every other grader."""
    assert (report.score, report.raw_score) == (0.0, 0.0)


GRADER_DIFFERENCES: dict[str, dict[str, Any]] = {
    "per_criterion": {},
    "one_shot": {"A criterion missing from a one-shot reply is an error.": (_has_gaps, _gaps_are_errors)},
    "rubric_as_judge": {
        "A holistic number outside 0–100 is an error.": (_lies_outside_the_scale, _number_is_no_answer),
        "Metrics alone score 0.0 with a holistic judge too.": (_has_metrics_only, _metrics_score_zero),
    },
}
"""By grader and name: when it applies, and what then holds of our report."""
