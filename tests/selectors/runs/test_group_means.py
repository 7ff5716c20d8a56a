"""The mean of every group of criteria over a run: fully judged items, each group as a rubric of its own.

By tests/worlds/failing.py the group Facts (weights 4, 3) gives one 7/7, two 4/7, three 3/7: 14/21 = 2/3; the
group Tone (2, 1) gives 2/3, 0, 1/3: 1/3; the check without a group 1 each. `four` failed, and retried has
0, 0, 1.
"""

import pytest

from rubricweb.models import Run, RunSummary
from rubricweb.selectors import dashboard
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.runs import results
from rubricweb.selectors.runs.group_means import ONE_SCORE, no_groups
from rubricweb.services.shared.run_summaries import summarise_stopped
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, LabelJudge, grade
from tests.worlds.failing import CRITERIA, failing_run, retried

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(people: Cast) -> Run:
    return failing_run(people)


def means(run: Run, people: Cast, **options) -> list[tuple[str | None, float | None, int]]:
    found = results.result(run, viewer=people.bob, **options).groups
    return [(one.name, one.score.value and round(one.score.value, 6), one.score.n) for one in found]


def test_groups_have_means_over_fully_judged_items(people: Cast, run: Run) -> None:
    expected = [("Facts", round(2 / 3, 6), 3), ("Tone", round(1 / 3, 6), 3), (None, 1.0, 3)]
    assert means(run, people) == expected
    facts, tone, rest = results.result(run, viewer=people.bob).groups
    assert (facts.lowest, tone.lowest, rest.lowest) == (pytest.approx(3 / 7), 0.0, 1.0)
    assert facts.criteria == 2
    assert facts.score.low is not None
    assert facts.score.low < 2 / 3 < facts.score.high
    # An item of whose group nothing could be judged is not in its mean, even when failed items are.
    assert means(run, people, failed_items="include") == [*expected[:2], (None, 1.0, 4)]


def test_a_retried_item_is_in_the_mean_of_its_groups(people: Cast, run: Run) -> None:
    mended = retried(run, people)
    # Facts 2/4, Tone 1/4.
    assert means(mended, people) == [("Facts", 0.5, 4), ("Tone", 0.25, 4), (None, 1.0, 4)]


def test_the_means_are_kept_when_a_run_ends_and_worked_out_for_runs_of_before(people: Cast, run: Run) -> None:
    kept = RunSummary.objects.get(run=run).groups
    assert [(one["name"], one["score"]["n"]) for one in kept] == [("Facts", 3), ("Tone", 3), (None, 3)]
    shown = results.result(run, viewer=people.bob).groups
    RunSummary.objects.filter(run=run).update(groups=None)
    assert results.result(Run.objects.get(pk=run.pk), viewer=people.bob).groups == shown


def test_groups_summed_up_before_get_their_lowest_scores_from_a_worker(people: Cast, run: Run) -> None:
    kept = RunSummary.objects.get(run=run).groups
    without = [{name: part for name, part in one.items() if name != "lowest"} for one in kept]
    RunSummary.objects.filter(run=run).update(groups=without, score_high=0.99)
    shown = results.result(Run.objects.get(pk=run.pk), viewer=people.bob).groups
    assert [(one.score.n, one.lowest) for one in shown] == [(3, None)] * 3
    summarise_stopped()
    assert RunSummary.objects.get(run=run).groups == kept
    # What has its lowest scores, or no group, is not summed up again.
    RunSummary.objects.filter(run=run).update(score_high=0.99)
    summarise_stopped()
    assert RunSummary.objects.get(run=run).score_high == 0.99
    RunSummary.objects.filter(run=run).update(groups=[])
    summarise_stopped()
    assert RunSummary.objects.get(run=run).score_high == 0.99


def test_a_group_on_which_everything_abstained_has_no_mean(people: Cast) -> None:
    first = failing_run(people)
    run = factories.run(
        people.team, people.ed, dataset=first.dataset, rubric_version=first.rubric_version, name="Abstains"
    )
    judge = InProcessJudge(lambda asked, said: "MET" if "Names" in asked else "CANNOT_ASSESS")
    assert means(grade(run, judge), people) == [("Facts", 1.0, 4), ("Tone", None, 0), (None, 1.0, 4)]
    kept = RunSummary.objects.get(run=run)
    assert [one["lowest"] for one in kept.groups] == [1.0, None, 1.0]
    RunSummary.objects.filter(run=run).update(score_high=0.99)
    summarise_stopped()  # a lowest score that there is none of is not looked for again
    assert RunSummary.objects.get(run=run).score_high == 0.99


def test_why_there_are_no_groups_is_said(people: Cast, run: Run) -> None:
    plain = [{name: part for name, part in one.items() if name != "group"} for one in CRITERIA]
    version = factories.version(people.team, people.ed, title="Plain", criteria=plain)
    ungrouped = factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=version)
    assert no_groups(ungrouped) == "No criterion of the rubric has a group."
    holistic = factories.run(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=run.rubric_version,
        autograder="rubric_as_judge",
    )
    grade(holistic, LabelJudge(lambda name, requirement, response: 70.0))
    assert no_groups(holistic) == ONE_SCORE
    assert means(holistic, people) == []
    assert no_groups(run) == ""


def test_the_dashboard_has_the_groups_of_the_run_it_rates(people: Cast, run: Run) -> None:
    board = dashboard.dashboard(people.team, people.bob)
    assert [(one.name, one.score.n) for one in board.groups] == [("Facts", 3), ("Tone", 3), (None, 3)]


def test_who_may_see_no_item_yet_is_shown_no_groups(people: Cast, run: Run) -> None:
    asked = {"dataset": run.dataset, "rubric_version": run.rubric_version, "raters": [people.ann]}
    factories.queue(people.team, people.alice, **asked)
    assert results.groups_shown(run, viewer=people.ann) == ()
    assert results.groups_shown(run, viewer=people.bob) != ()


def test_the_dashboard_shows_no_groups_of_a_run_that_is_withheld(people: Cast, run: Run) -> None:
    one = run.dataset.items.get(key="one")
    asked = {"dataset": run.dataset, "rubric_version": run.rubric_version, "raters": [people.ann]}
    factories.queue(people.team, people.alice, **asked, source=Source("items", item_ids=(one.pk,)))
    # Two of the run's three judged items are not hidden from her; their means are not the run's.
    board = dashboard.dashboard(people.team, people.ann)
    assert (board.rates_withheld, board.groups) == (True, ())
    assert [found.score.n for found in dashboard.dashboard(people.team, people.bob).groups] == [3, 3, 3]
