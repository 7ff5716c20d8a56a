"""Under the policy "fail" an abstained choice costs what its worst option would, wherever a run shows it."""

import pytest

from rubricweb.models import Run, RunItem
from rubricweb.selectors.runs.diff.diff import run_diff
from rubricweb.selectors.runs.reports import item_report
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade

CRITERIA = [
    {
        "name": "help",
        "weight": 6.0,
        "requirement": "How helpful is it?",
        "group": "Content",
        "options": [
            {"label": "Little", "value": 0.4},
            {"label": "Much", "value": 0.9},
            {"label": "No way to tell", "na": True},
        ],
    },
    {"name": "paris", "weight": 4.0, "requirement": "Names Paris."},
]


def graded(people: Cast, answer: str, **options) -> Run:
    run = factories.run(people.team, people.ed, abstention="fail", **options)
    grade(run, LabelJudge(lambda name, requirement, response: "MET" if "Paris" in requirement else answer))
    return run


def test_item_report_and_diff_agree_on_the_worst_option(people: Cast) -> None:
    shared = {
        "rubric_version": factories.version(people.team, people.ed, criteria=CRITERIA),
        "dataset": factories.dataset(people.team, people.ed, items=[{"id": "a", "submission": "Paris"}]),
    }
    before, run = graded(people, "Much", **shared), graded(people, "No way to tell", **shared)
    row = RunItem.objects.get(run=run)
    # (6 · 0.4 + 4) / 10, of which 4 were judged.
    assert (row.score, row.coverage) == (pytest.approx(0.64), pytest.approx(0.4))
    report = item_report(run, row.item, viewer=people.ed)
    assert report is not None
    assert [one.contribution for one in report.criteria] == pytest.approx([2.4, 4.0])
    assert report.groups is not None
    assert report.groups["Content"].score == pytest.approx(0.4)
    diff = run_diff(run, before, viewer=people.ed)
    # 0.6 · (0.4 − 0.9), and nothing else moved.
    assert diff.scores.difference.value == pytest.approx(-0.3)
    assert diff.rest == pytest.approx(0.0)
