"""Counts of answers: of rows as they are, and of a finished run by what its summary keeps."""

from typing import Any

import pytest

from rubricweb.judges.base import JudgeError
from rubricweb.models import Criterion, Judgement, Run, RunState
from rubricweb.selectors.runs.criterion_counts import (
    CriterionCounts,
    criterion_counts,
    on_judged_items,
    summarised_counts,
)
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade

TONE: dict[str, Any] = {
    "name": "tone",
    "weight": 2.0,
    "requirement": "How the answer sounds.",
    "kind": "choice",
    "scale_type": "nominal",
    "options": [{"label": "curt", "value": 0.0}, {"label": "warm", "value": 1.0}],
}


def answer(name: str, requirement: str, response: str) -> str | JudgeError:
    if TONE["requirement"] in requirement:
        return "warm" if "capital" in response else "curt"
    if "rather not" in response and "Names Paris" in requirement:
        return JudgeError("refused", "I will not judge this.")
    return "CANNOT_ASSESS" if "outside" in requirement else "MET"


def graded(people: Cast) -> tuple[Run, list[Criterion]]:
    version = factories.version(people.team, people.ed, criteria=[*factories.CRITERIA, TONE])
    dataset = factories.dataset(people.team, people.ed)
    run = grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version),
        LabelJudge(answer),
    )
    return run, list(version.criteria.order_by("position"))


def test_the_summary_of_a_finished_run_says_what_its_rows_say(people: Cast) -> None:
    run, criteria = graded(people)
    kept = summarised_counts(run, criteria)
    assert kept == criterion_counts(criteria, on_judged_items(run))
    # Three items: one names the capital; where one names nothing the judge refuses the first criterion: its
    # error is counted, its answers to the others are not.
    assert [(dict(one.labels), one.errors) for one in kept or []] == [
        ({"MET": 2}, 1),
        ({"MET": 2}, 0),
        ({"CANNOT_ASSESS": 2}, 0),
        ({"warm": 1, "curt": 1}, 0),
    ]


def test_a_run_that_goes_on_is_not_told_by_the_summary_of_its_last_end(people: Cast) -> None:
    run, criteria = graded(people)
    run.state, run.finished_at = RunState.RUNNING, None
    assert summarised_counts(run, criteria) is None


def test_criteria_that_were_not_asked_for_are_left_out(people: Cast) -> None:
    run, criteria = graded(people)
    [one] = criterion_counts(criteria[1:2], Judgement.objects.filter(run=run))
    assert (one.criterion, one.labels) == (criteria[1], {"MET": 3})


def counted(labels: dict[str, int], *values: float, **fields: Any) -> CriterionCounts:
    return CriterionCounts(Criterion(**{"weight": 1.0, **fields}), labels, 0, values)


def test_a_rate_reaches_as_far_as_the_options_do() -> None:
    """Options worth 0.1 and 0.9: thirty times the best is Wilson's 30 / (30 + 3.8415) = 0.8865 of the way."""
    options = [
        {"label": "poor", "value": 0.1},
        {"label": "best", "value": 0.9},
        {"label": "none", "na": True},
    ]
    found = counted({"best": 30, "none": 2}, kind="choice", options=options).rate
    assert (found.value, found.high, found.n) == (pytest.approx(0.9), 0.9, 30)
    assert found.low == pytest.approx(0.1 + 0.8 * 0.8865, abs=1e-4)
    # What can have one value alone has it.
    same = counted(
        {"a": 3}, kind="choice", options=[{"label": "a", "value": 0.5}, {"label": "b", "value": 0.5}]
    )
    assert (same.rate.value, same.rate.low, same.rate.high) == (0.5, 0.5, 0.5)


def test_what_a_check_of_no_weight_finds_has_no_ends() -> None:
    """Forty words thirty times: 0 and 80 are appended, 40·2.0395·√(2/31/32) = 3.663 each way."""
    words = counted({}, *[40.0] * 30, kind="check", weight=0.0).rate
    assert (words.low, words.high) == (
        pytest.approx(40 - 3.663, abs=0.01),
        pytest.approx(40 + 3.663, abs=0.01),
    )
    # With a weight it is a share of what is asked, from 0 to 1.
    share = counted({}, *[1.0] * 30, kind="check").rate
    assert (share.low, share.high) == (pytest.approx(30 / 33.8415, abs=1e-4), 1.0)
