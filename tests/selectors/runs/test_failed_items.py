"""A failed item is not a good one: it is in no figure of a run until it is retried."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from rubricweb.models import Run, RunCriterionSummary, RunItem, RunSummary
from rubricweb.selectors import dashboard
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.runs import reports, results
from rubricweb.selectors.runs.diff import diff
from rubricweb.selectors.runs.diff.items import item_changes
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.failing import (
    CRITERIA,
    MEAN,
    MEAN_RETRIED,
    MEAN_WITH_FAILED,
    by_the_table,
    failing_run,
    refusing,
    retried,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(people: Cast) -> Run:
    return failing_run(people)


def test_the_failed_item_has_the_best_score_and_is_in_no_mean_histogram_or_ranking(
    people: Cast, run: Run
) -> None:
    failed = RunItem.objects.get(run=run, item__key="four")
    assert (failed.score, failed.errors, failed.fully_judged) == (1.0, 4, False)
    found = results.result(run, viewer=people.bob)
    assert found.mean.value == pytest.approx(MEAN)
    assert (found.mean.n, found.fully_judged, found.graded, found.errored) == (3, 3, 4, 1)
    # 5/11 twice and 10/11 once, in tenths from 0.
    assert [number for _, _, number in found.bins] == [0, 0, 0, 0, 2, 0, 0, 0, 0, 1]
    for order in ("score", "-score"):
        page = results.run_items(run, viewer=people.bob, order=order)
        assert "four" not in [row.item.key for row in page.rows]
    assert [row.item.key for row in results.errored_items(run, viewer=people.bob)] == ["four"]


def test_rates_of_criteria_are_over_fully_judged_items_and_count_every_error(people: Cast, run: Run) -> None:
    found = results.result(run, viewer=people.bob)
    # w4: one and two; w3: one and three; w2: one; w1: three; the check: 1 on each of the three.
    assert [(row.criterion.name, row.met, row.errors) for row in found.rates[:4]] == [
        ("w4", 2, 1),
        ("w3", 2, 1),
        ("w2", 1, 1),
        ("w1", 1, 1),
    ]
    assert found.rates[4].values == (1.0, 1.0, 1.0)
    # Every verdict there is is still counted: 12 of the judge, 4 checks, 4 errors.
    totals = found.totals
    assert (totals.met + totals.unmet, totals.measured, totals.errors) == (12, 4, 4)


def test_a_failed_item_is_in_no_pass_rate(people: Cast) -> None:
    draft = {"title": "Ruled", "criteria": CRITERIA, "pass_rule": {"min_score": 0.9}}
    version = rubrics.publish(
        rubrics.create_rubric(people.team, by=people.ed, title="Ruled", draft=draft), by=people.ed
    )
    first = failing_run(people)
    ruled = grade(
        factories.run(people.team, people.ed, dataset=first.dataset, rubric_version=version),
        InProcessJudge(refusing),
    )
    found = results.result(ruled, viewer=people.bob)
    # one passes with 10/11, two and three do not; four would pass with 1.
    assert (found.passed.value, found.passed.n) == (pytest.approx(1 / 3), 3)


def test_who_asks_for_failed_items_by_name_gets_them(people: Cast, run: Run) -> None:
    found = results.result(run, viewer=people.bob, failed_items="include")
    assert (found.mean.value, found.mean.n) == (pytest.approx(MEAN_WITH_FAILED), 4)
    assert found.rates[4].values == (1.0, 1.0, 1.0, 1.0)


def test_a_retried_item_counts_again(people: Cast, run: Run) -> None:
    mended = retried(run, people)
    found = results.result(mended, viewer=people.bob)
    assert (found.mean.value, found.errored, found.fully_judged) == (pytest.approx(MEAN_RETRIED), 0, 4)
    assert mended.summary.score_mean == pytest.approx(MEAN_RETRIED)
    assert mended.summary.fully_judged == 4


def test_an_abstention_is_no_error(people: Cast) -> None:
    first = failing_run(people)
    run = factories.run(
        people.team, people.ed, dataset=first.dataset, rubric_version=first.rubric_version, name="Abstains"
    )
    abstains = grade(
        run,
        InProcessJudge(lambda asked, said: "CANNOT_ASSESS" if "four" in said else by_the_table(asked, said)),
    )
    found = results.result(abstains, viewer=people.bob)
    assert (found.mean.value, found.fully_judged) == (pytest.approx(MEAN_WITH_FAILED), 4)


def test_the_summary_and_the_point_of_the_dashboard_leave_it_out(people: Cast, run: Run) -> None:
    summary = RunSummary.objects.get(run=run)
    assert summary.score_mean == pytest.approx(MEAN)
    assert (summary.items, summary.scored, summary.fully_judged, summary.errors) == (4, 3, 3, 4)
    board = dashboard.dashboard(people.team, people.bob)
    assert board.newest is not None
    assert board.newest.mean == pytest.approx(MEAN)
    assert (board.newest.fully_judged, board.newest.items) == (3, 4)
    # The check's rate on the dashboard is over the same three items.
    assert board.pass_rates[4].judge.n == 3


def test_summaries_of_the_previous_release_are_recounted_and_again_is_fine(people: Cast, run: Run) -> None:
    right = RunSummary.objects.filter(run=run).values().get()
    criteria = list(RunCriterionSummary.objects.filter(run=run).order_by("criterion").values())
    mended = retried(failing_run(people, name="Mended"), people)
    untouched = RunSummary.objects.filter(run=mended).values().get()
    # As the release before stored them: over every item with a score.
    RunSummary.objects.filter(run=run).update(score_mean=MEAN_WITH_FAILED, scored=4, fully_judged=0)
    RunSummary.objects.filter(run=mended).update(fully_judged=0)
    RunCriterionSummary.objects.filter(run=run, criterion__name="short").update(values_mean=0.5)
    recount = import_module("rubricweb.migrations.0015_figures_of_fully_judged_items").recount
    for _ in range(2):
        recount(apps, connection.schema_editor())
        assert RunSummary.objects.filter(run=run).values().get() == right
        assert RunSummary.objects.filter(run=mended).values().get() == untouched
        rows = list(RunCriterionSummary.objects.filter(run=run).order_by("criterion").values())
        assert rows == criteria


def test_a_run_diff_pairs_no_failed_item(people: Cast, run: Run) -> None:
    baseline = grade(
        factories.run(
            people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version, name="Whole"
        ),
        InProcessJudge(by_the_table),
    )
    found = diff.run_diff(run, baseline, viewer=people.bob)
    # Alike on the three; four is 1 with errors against 1/11, which would be the one great "fix".
    assert (found.scores.n, found.scores.difference.value, found.counts["fix"]) == (3, 0.0, 0)
    assert found.unpaired == 1
    assert [(side.scored, side.errored) for side in found.sides] == [(3, 1), (4, 0)]
    changes = item_changes(run, baseline, set())
    assert [one.run.score for one in changes if one.run and one.run.errors] == [None]


def test_the_neighbours_of_a_failed_item_go_by_place(people: Cast, run: Run) -> None:
    row = RunItem.objects.select_related("item").get(run=run, item__key="four")
    keys = {item.pk: item.key for item in run.dataset.items.all()}
    around = reports.neighbours(run, row, viewer=people.bob, order="score")
    assert around.previous is not None
    assert (keys[around.previous], around.next) == ("three", None)
    best = RunItem.objects.select_related("item").get(run=run, item__key="one")
    assert reports.neighbours(run, best, viewer=people.bob, order="score").next is None


def test_the_comparison_of_scores_has_no_score_of_a_failed_item(people: Cast, run: Run) -> None:
    lines = ["item_id,criterion,rater,verdict,reason"]
    for key in ("one", "two", "three", "four"):
        lines += [
            f"{key},{one['name']},xavier,{by_the_table(one['requirement'], f'Answer {key}.')},"
            for one in CRITERIA[:4]
        ]
    queue = factories.import_labels(
        run.dataset,
        run.rubric_version,
        by=people.ed,
        data="\n".join(lines).encode(),
        filename="labels.csv",
        queue_name="X",
    )
    found = comparison.compare(run, [queue], viewer=people.bob, resamples=20)
    # xavier says what the judge says: no bias on the three; with four it would be (1 − 1/11)/4 = 0.227.
    assert (found.scores.agreement.n, found.scores.agreement.bias.value) == (3, pytest.approx(0.0))
