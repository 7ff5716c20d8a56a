"""Means of raw sums: their intervals reach as far as the rubric allows, not as far as was seen.

Thirty items with 20 of 30 points each. One of 0 and one of 30 points are appended: mean 630/32 = 19.6875,
Σ(x − m)² = 496.875, t of 31 degrees 2.0395: 19.6875 ± 2.0395·√(496.875/31/32) = 19.6875 ± 1.4434. As shares
a thirtieth. A difference has −15 and 15 points appended: ± 2.0395·√(450/31/32) = 1.3737.
"""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from rubricweb.engine.agreement import Figure
from rubricweb.models import RubricVersion, Run, RunState, RunSummary
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.runs import results
from rubricweb.selectors.runs.diff.diff import run_diff
from rubricweb.selectors.runs.over_time.shared_cases import shared_cases
from rubricweb.selectors.shared.score_ends import raw_score_ends, score_ends
from rubricweb.services.shared.run_summaries import summarise_stopped
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.sampled import label, numbered, opened

pytestmark = pytest.mark.django_db

POINTS: list[dict[str, Any]] = [
    {"name": "one", "weight": 10.0, "requirement": "Is one.", "group": "Both"},
    {"name": "two", "weight": 10.0, "requirement": "Is two.", "group": "Both"},
    {"name": "rare", "weight": 10.0, "requirement": "Is rare."},
]
LOW, HIGH = 18.244, 21.131
REACH = 1.3737


@pytest.fixture
def run(people: Cast) -> Run:
    return graded(people, normalize=False)


def graded(people: Cast, *, dataset: Any = None, criteria: Any = POINTS, **options: Any) -> Run:
    if dataset is None:
        dataset = factories.dataset(people.team, people.ed, items=numbered(30))
    version = factories.version(people.team, people.ed, criteria=criteria)
    planned = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, **options)
    return grade(planned, InProcessJudge(lambda asked, said: "UNMET" if "rare" in asked else "MET"))


def between(found: Figure | RunSummary) -> tuple[Any, Any]:
    if isinstance(found, RunSummary):
        return found.score_low, found.score_high
    return found.low, found.high


def about(low: float, high: float) -> Any:
    return pytest.approx((low, high), abs=1e-3)


def test_more_points_than_were_seen_are_possible(people: Cast, run: Run) -> None:
    assert between(RunSummary.objects.get(run=run)) == about(LOW, HIGH)
    found = results.result(run, viewer=people.bob)
    assert (found.mean.value, between(found.mean)) == (20, about(LOW, HIGH))
    # Both criteria of the group were met thirty times, Wilson's 30 / (30 + 3.8415) of 20 points; of the third
    # none of 10, up to 3.8415 / 33.8415.
    both, rest = found.groups
    assert between(both.score) == about(17.730, 20)
    assert between(rest.score) == about(0, 1.135)


def test_while_a_run_is_under_way_it_says_the_same(people: Cast, run: Run) -> None:
    ended = results.result(run, viewer=people.bob)
    RunSummary.objects.all().delete()
    Run.objects.update(state=RunState.RUNNING, finished_at=None)
    assert results.result(Run.objects.get(pk=run.pk), viewer=people.bob) == ended


def test_summaries_of_before_are_worked_out_anew_where_scores_are_raw(people: Cast, run: Run) -> None:
    normalised = graded(people, dataset=run.dataset)
    RunSummary.objects.update(score_low=19.91, score_high=20.0)
    before = import_module("rubricweb.migrations.0059_raw_means_summed_up_anew")
    before.forget_raw_means(apps, SimpleNamespace(connection=connection))
    assert set(RunSummary.objects.values_list("run", flat=True)) == {normalised.pk}
    summarise_stopped()
    assert between(RunSummary.objects.get(run=run)) == about(LOW, HIGH)


def test_the_ends_are_what_the_rubrics_of_the_items_allow(people: Cast, run: Run) -> None:
    own = [{"weight": 4.0, "requirement": "Is one."}, {"weight": -7.0, "requirement": "Is rare."}]
    items = [*numbered(2), {"id": "own", "submission": "Text.", "rubric": own}]
    dataset = factories.dataset(people.team, people.ed, name="With an own rubric", items=items)
    with_own, normalised = (graded(people, dataset=dataset, normalize=one) for one in (False, True))
    assert raw_score_ends([run, with_own]) == {run.pk: (0, 30), with_own.pk: (-7, 30)}
    assert (score_ends(run), score_ends(normalised)) == ((0, 30), (0, 1))
    # Two runs of which one is raw meet on raw scores.
    assert score_ends(normalised, with_own) == (-7, 30)
    # What length takes off comes on top.
    penalty = {"free_budget": 10, "max_cap": 20, "penalty_at_cap": 2.5, "exponent": 1.0, "counts": "ALL"}
    RubricVersion.objects.filter(pk=run.rubric_version_id).update(length_penalty=penalty)
    assert score_ends(run) == (-2.5, 30)


def test_raw_scores_of_people_and_judge_have_the_same_scale(people: Cast, run: Run) -> None:
    queue = opened(people, run, Source("sample", size=20, seed=3))
    label(queue, people.ann, 20, lambda item, name: "UNMET" if name == "rare" else "MET")
    found = comparison.compare(run, [queue], viewer=people.bob).scores
    assert between(found.estimate.judged) == about(LOW, HIGH)
    assert found.estimate.like_these is not None
    # As if normalised, 30 times as far.
    normalised = graded(people, dataset=run.dataset)
    other = opened(people, normalised, Source("sample", size=20, seed=3), name="Second look")
    label(other, people.ann, 20, lambda item, name: "UNMET" if name == "rare" else "MET")
    share = comparison.compare(normalised, [other], viewer=people.bob).scores
    assert share.estimate.like_these is not None
    for raw, one in (
        (found.estimate.like_these, share.estimate.like_these),
        (found.agreement.bias, share.agreement.bias),
        (found.agreement.mae, share.agreement.mae),
        (found.agreement.rmse, share.agreement.rmse),
    ):
        assert one.high is not None
        assert one.high < 1
        assert (raw.value, raw.low, raw.high) == pytest.approx(
            tuple(30 * (end or 0.0) for end in (one.value, one.low, one.high))
        )


def test_two_raw_runs_without_a_difference_may_still_differ_by_points(people: Cast, run: Run) -> None:
    found = run_diff(graded(people, dataset=run.dataset, normalize=False), run, viewer=people.bob)
    assert found.scores.difference.value == 0
    assert between(found.scores.difference) == about(-REACH, REACH)
    assert between(found.scores.mean_one) == about(LOW, HIGH)


def test_over_shared_cases_raw_means_reach_as_far(people: Cast, run: Run) -> None:
    run.refresh_from_db()
    found = shared_cases([run])
    assert between(found.means[run.pk]) == about(LOW, HIGH)
