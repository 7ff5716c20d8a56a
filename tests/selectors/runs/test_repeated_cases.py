"""Several answers to one case count as one in every figure of a run; numbers by tests/worlds/attempts.py."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from django.apps import apps
from django.db import connection

from rubricweb.engine.agreement import Figure, mean_figure
from rubricweb.engine.agreement.intervals import mean_interval
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Run, RunState, RunSummary
from rubricweb.selectors.dashboard import dashboard
from rubricweb.selectors.runs import results
from rubricweb.selectors.runs.votes import run_votes
from rubricweb.services.runs.panels import Panel, PanelMember
from rubricweb.services.shared.run_summaries import summarise_stopped
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade
from tests.worlds.attempts import attempts_run, dataset, rubric_version, verdict_on

pytestmark = pytest.mark.django_db

BY_CASE = mean_figure([3 / 4, 1 / 4, 3 / 4])


@pytest.fixture
def run(people: Cast) -> Run:
    return attempts_run(people)


def shown(found: Figure) -> tuple[float, float, float, int]:
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    return round(found.value, 12), round(found.low, 12), round(found.high, 12), found.n


def test_scores_pass_rates_and_groups_count_cases(people: Cast, run: Run) -> None:
    found = results.result(run, viewer=people.bob)
    assert (found.unit, found.scored, found.mean.n) == ("case", 6, 3)
    assert found.mean.value == pytest.approx(7 / 12)
    assert shown(found.mean) == shown(BY_CASE)
    # Half the score passes: three of four answers to a, none to b, that to c.
    assert shown(found.passed) == shown(mean_figure([3 / 4, 0.0, 1.0]))
    # The facts are right as often as an answer passes; the tone is warm in a 3/4, b 1 and c 0.
    facts, rest = found.groups
    assert (facts.unit, rest.unit) == ("case", "case")
    assert shown(facts.score) == shown(mean_figure([3 / 4, 0.0, 1.0]))
    assert shown(rest.score) == shown(mean_figure([3 / 4, 1.0, 0.0]))


def test_rates_and_shares_of_options_count_cases(people: Cast, run: Run) -> None:
    fact, tone = results.result(run, viewer=people.bob).rates
    assert (fact.met, fact.unmet) == (4, 2)
    assert shown(fact.rate) == shown(mean_figure([3 / 4, 0.0, 1.0]))
    assert shown(tone.rate) == shown(mean_figure([3 / 4, 1.0, 0.0]))
    curt, warm = tone.options
    assert (curt.count, warm.count) == (2, 4)
    assert shown(curt.share) == shown(mean_figure([1 / 4, 0.0, 1.0]))
    assert shown(warm.share) == shown(mean_figure([3 / 4, 1.0, 0.0]))
    rated = dashboard(people.team, people.bob).pass_rates
    assert [shown(row.judge) for row in rated] == [shown(fact.rate), shown(tone.rate)]


def test_the_summary_of_the_run_and_its_point_on_the_dashboard_count_cases(people: Cast, run: Run) -> None:
    summary = RunSummary.objects.get(run=run)
    assert (summary.items, summary.scored, summary.cases) == (6, 6, 3)
    [series] = dashboard(people.team, people.bob).series
    [point] = series.points
    kept = Figure(point.mean, point.low, point.high, point.cases or 0)
    assert shown(kept) == shown(BY_CASE)


def test_a_run_without_a_summary_says_the_same(people: Cast, run: Run) -> None:
    ended = results.result(run, viewer=people.bob)
    RunSummary.objects.all().delete()
    Run.objects.update(state=RunState.RUNNING, finished_at=None)
    assert results.result(Run.objects.get(pk=run.pk), viewer=people.bob) == ended


def test_summaries_of_before_are_counted_and_those_by_answer_worked_out_anew(people: Cast, run: Run) -> None:
    RunSummary.objects.update(cases=0, score_mean=2 / 3)
    before = import_module("rubricweb.migrations.0051_cases_of_a_summary")
    before.count_cases(apps, SimpleNamespace(connection=connection))
    assert not RunSummary.objects.exists()
    summarise_stopped()
    assert (run.summary.cases, RunSummary.objects.get().score_mean) == (3, pytest.approx(7 / 12))


def test_votes_on_several_answers_to_a_case_fall_together(people: Cast) -> None:
    """b differs from a and c on both criteria of every answer to case a and on no other answer."""
    members = [
        PanelMember("command-line", name=name, config=JudgeConfig(name, "http://127.0.0.1:9/v1", "m"))
        for name in "abc"
    ]
    planned = factories.run(
        people.team,
        people.ed,
        dataset=dataset(people),
        rubric_version=rubric_version(people),
        judge_id="",
        panel=Panel(members),
    )
    other = {"MET": "UNMET", "UNMET": "MET", "warm": "curt", "curt": "warm"}

    def said(name: str, requirement: str, submission: str) -> str:
        usual = verdict_on(requirement, submission)
        return other[usual] if name == "b" and submission.endswith("a") else usual

    votes = run_votes(grade(planned, LabelJudge(said)), viewer=people.bob)
    assert votes is not None
    # Eight units of case a with two votes of three alike, two of b and two of c with all three.
    agreed = np.array([2 / 3] * 8 + [1.0] * 4)
    expected = mean_interval(agreed, np.repeat([0, 1, 2], [8, 2, 2]), limits=(0.0, 1.0))
    assert shown(votes.overall.agreement) == shown(expected)
