"""Counts of answers: of rows as they are, and of a finished run by what its summary keeps."""

from typing import Any

from rubricweb.judges.base import JudgeError
from rubricweb.models import Criterion, Judgement, Run, RunState
from rubricweb.selectors.runs.criterion_counts import criterion_counts, on_judged_items, summarised_counts
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
