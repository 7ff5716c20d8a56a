"""How far a run is, by numbers worked out by hand; and how few rows that takes."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from rubricweb.judges.base import JudgeError
from rubricweb.models import BatchJob, JudgeCall, Run, RunEvent, RunItem, RunMode, RunState, RunTally, Worker
from rubricweb.selectors.runs import errors as run_errors
from rubricweb.selectors.runs import listing, log, progress, results
from rubricweb.services.grading.workers import registry
from rubricweb.services.runs import budgets, events
from rubricweb.services.runs import lifecycle as services
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, LabelJudge, grade

NOW = datetime(2026, 5, 31, 23, 59, 30, tzinfo=UTC)
MAY, JUNE = NOW.date().replace(day=1), datetime(2026, 6, 1, tzinfo=UTC).date()


@pytest.fixture
def run(people: Cast) -> Run:
    """Three items of three criteria, planned and not yet graded."""
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    return factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)


def graded(run: Run, *, at: datetime, errors: int = 0) -> RunItem:
    """The next item of the run, graded at a moment with so many errors."""
    item = RunItem.objects.filter(run=run, graded_at=None).earliest("pk")
    item.graded_at, item.errors, item.score, item.coverage = at, errors, 0.5, 1.0
    item.leased_until = None
    item.save()
    return item


def called(run: Run, *moments: datetime) -> None:
    item = RunItem.objects.filter(run=run).earliest("pk").item
    for moment in moments:
        call = JudgeCall.objects.create(run=run, item=item)
        JudgeCall.objects.filter(pk=call.pk).update(created_at=moment)


# ── Counts ───────────────────────────────────────────────────────────────────────────────────────


def test_verdicts_and_errors_are_those_of_graded_items(run: Run) -> None:
    graded(run, at=NOW, errors=2)
    graded(run, at=NOW)
    seen = progress.progress(run, viewer=None, now=NOW)
    # Two graded items of three criteria are six answers, two of them errors.
    assert (seen.items, seen.graded, seen.left, seen.errored) == (3, 2, 1, 1)
    assert (seen.verdicts, seen.errors) == (4, 2)
    assert seen.share == pytest.approx(2 / 3)


def test_results_progress_and_summary_count_the_same_verdicts_however_a_run_was_broken_off(
    run: Run, people: Cast
) -> None:
    def answer(requirement: str, response: str) -> str | JudgeError:
        return JudgeError("refused", "No.") if "Paris as the capital" in requirement else "MET"

    grade(run, InProcessJudge(answer))
    # Broken off while the last item had its verdicts, but not all of them.
    last = RunItem.objects.filter(run=run).latest("pk")
    RunItem.objects.filter(pk=last.pk).update(graded_at=None, score=None, errors=0)
    Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING, finished_at=None)
    services.cancel_run(run, by=people.alice, now=timezone.now())
    seen = progress.progress(run, viewer=None, now=timezone.now())
    found = results.result(run, viewer=people.alice)
    # Two graded items of three criteria, one of which failed each time.
    assert (seen.verdicts, seen.errors) == (4, 2)
    assert (run.summary.verdicts, run.summary.errors) == (4, 2)
    assert (found.totals.met, found.totals.errors, found.errors) == (4, 2, 2)
    # Both items have an error, so no answer on them is in a rate until they are retried.
    assert [(rate.met, rate.errors) for rate in found.rates] == [(0, 2), (0, 0), (0, 0)]


def test_a_holistic_judge_answers_once_for_all_criteria_that_are_not_checks(people: Cast) -> None:
    brief = {
        "name": "brief",
        "weight": 1.0,
        "requirement": "Is brief.",
        "check": "length_between",
        "params": {"max": 9},
    }
    version = factories.version(people.team, people.ed, criteria=[*factories.CRITERIA, brief])
    dataset = factories.dataset(people.team, people.ed)
    run = factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=version, autograder="rubric_as_judge"
    )
    grade(run, LabelJudge(lambda name, requirement, response: 70.0))
    seen = progress.progress(run, viewer=None, now=timezone.now())
    # One answer of the judge and one of the check for each of three items.
    assert (seen.graded, seen.verdicts, seen.errors) == (3, 6, 0)


def test_parts_of_the_bar_add_up_to_all_items(run: Run) -> None:
    graded(run, at=NOW, errors=1)
    RunItem.objects.filter(run=run, graded_at=None).update(leased_until=NOW + timedelta(seconds=9))
    RunItem.objects.filter(pk=RunItem.objects.filter(run=run).latest("pk").pk).update(leased_until=None)
    parts = progress.progress(run, viewer=None, now=NOW).parts
    assert {label: count for label, count, _ in parts} == {
        "Graded": 0,
        "With errors": 1,
        "Running": 1,
        "Waiting": 1,
    }


def test_spending_is_summed_over_workers_and_months(run: Run, people: Cast) -> None:
    for worker, month, cost, unpriced in (("a:1", MAY, 0.5, 0), ("a:1", JUNE, 0.25, 1), ("b:2", MAY, 1.0, 0)):
        RunTally.objects.create(
            run=run,
            team=run.team,
            worker=worker,
            month=month,
            calls=10,
            cached=2,
            attempts=13,
            cost_usd=cost,
            unpriced=unpriced,
        )
    people.team.monthly_budget_usd = 5.0
    people.team.save()
    run = Run.objects.get(pk=run.pk)
    seen = progress.progress(run, viewer=None, now=NOW)
    assert (seen.calls, seen.cached, seen.attempts, seen.retries) == (30, 6, 39, 9)
    assert (seen.cost_usd, seen.unpriced) == (1.75, 1)
    # In May, the month of NOW in UTC, 0.5 + 1.0 were spent.
    assert (seen.month_usd, seen.month_budget_usd) == (1.5, 5.0)


def test_a_run_none_of_whose_calls_has_a_price_costs_nobody_knows_what(run: Run) -> None:
    RunTally.objects.create(run=run, team=run.team, worker="a:1", month=MAY, calls=3, unpriced=3)
    assert progress.progress(run, viewer=None, now=NOW).cost_usd is None


# ── Pace ─────────────────────────────────────────────────────────────────────────────────────────


def test_speed_is_that_of_the_last_minute(run: Run) -> None:
    called(run, *(NOW - timedelta(seconds=61 + second) for second in range(50)))
    called(run, *(NOW - timedelta(seconds=20 - second) for second in range(10)))
    # Ten calls, the first of them 20 s ago; those before the minute do not count.
    assert progress.progress(run, viewer=None, now=NOW).calls_per_second == pytest.approx(0.5)


def test_speed_of_a_run_is_its_own_beside_others(run: Run, people: Cast) -> None:
    other = factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version)
    called(run, NOW - timedelta(seconds=10), NOW - timedelta(seconds=5))
    called(other, *(NOW - timedelta(seconds=second) for second in range(9, 0, -1)))
    assert progress.progress(run, viewer=None, now=NOW).calls_per_second == pytest.approx(0.2)


def test_time_left_follows_from_the_items_of_the_last_minute(run: Run) -> None:
    graded(run, at=NOW - timedelta(seconds=30))
    assert progress.progress(run, viewer=None, now=NOW).seconds_left is None  # one item is no pace
    graded(run, at=NOW - timedelta(seconds=10))
    # Two items in 30 s; one is left: 15 s.
    assert progress.progress(run, viewer=None, now=NOW).seconds_left == pytest.approx(15.0)


def test_how_soon_to_look_again(run: Run) -> None:
    assert progress.progress(run, viewer=None, now=timezone.now()).poll_seconds == 2
    services.pause_run(run, by=None)
    assert progress.progress(run, viewer=None, now=timezone.now()).poll_seconds == 10
    RunItem.objects.filter(run=run).update(leased_until=timezone.now() + timedelta(seconds=60))
    # Calls are still coming in.
    assert progress.progress(run, viewer=None, now=timezone.now()).poll_seconds == 2
    RunItem.objects.filter(run=run).update(leased_until=None)
    services.cancel_run(run, by=None, now=timezone.now())
    assert progress.progress(run, viewer=None, now=timezone.now()).poll_seconds is None


# ── What it waits for ────────────────────────────────────────────────────────────────────────────


def waits_for(run: Run, *, after: timedelta = timedelta(seconds=16)) -> str:
    run.refresh_from_db()
    return progress.progress(run, viewer=None, now=run.created_at + after).waiting


def test_a_run_without_a_worker_says_so_after_15_seconds(run: Run) -> None:
    assert waits_for(run, after=timedelta(seconds=15)) == ""
    assert waits_for(run) == "no_worker"
    assert progress.progress(run, viewer=None, now=run.created_at + timedelta(seconds=16)).start_command
    registry.beat("here:1", 2, run.created_at + timedelta(seconds=10))
    assert waits_for(run) == "queued"
    Worker.objects.all().delete()
    # `rubricweb grade` at a terminal is no worker, but holds items and says that it lives.
    RunItem.objects.filter(run=run).update(leased_until=run.created_at + timedelta(seconds=60))
    beat = run.created_at + timedelta(seconds=10)
    RunTally.objects.create(
        run=run, team=run.team, worker="here:2", month=beat.date().replace(day=1), beat_at=beat
    )
    assert waits_for(run) == ""
    # Killed with what it held, it is nobody: the leases have not run out yet.
    assert waits_for(run, after=timedelta(seconds=26)) == "no_worker"


def test_a_run_that_is_slowed_down_says_so_while_it_is(run: Run) -> None:
    RunItem.objects.filter(run=run).update(leased_until=run.created_at + timedelta(seconds=90))
    events.note(run.pk, "throttled", "429: waited as long as the endpoint asked.")
    RunEvent.objects.filter(run=run).update(latest_at=run.created_at)
    registry.beat("here:1", 2, run.created_at + timedelta(seconds=75))
    assert waits_for(run) == "throttled"
    assert waits_for(run, after=timedelta(seconds=80)) == "throttled"  # and nothing has come since
    JudgeCall.objects.create(run=run, item=run.dataset.items.first(), model="m", content_key=uuid4())
    JudgeCall.objects.update(created_at=run.created_at + timedelta(seconds=70))
    assert waits_for(run, after=timedelta(seconds=80)) == ""


def test_a_run_by_batch_waits_for_the_provider_and_for_a_worker_that_looks(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(mode=RunMode.BATCH)
    RunItem.objects.filter(run=run).update(leased_until=run.created_at + timedelta(days=2))
    job = BatchJob.objects.create(run=run, judge="one")
    assert waits_for(run, after=timedelta(seconds=15)) == ""  # not with the provider yet
    assert waits_for(run) == "no_worker"  # and nobody takes it there
    BatchJob.objects.filter(pk=job.pk).update(provider_id="batch_1")
    assert waits_for(run, after=timedelta(seconds=15)) == "batch"
    assert waits_for(run) == "no_worker"
    registry.beat("here:1", 2, run.created_at + timedelta(seconds=10))
    assert waits_for(run) == "batch"
    BatchJob.objects.filter(pk=job.pk).update(stored_at=timezone.now())
    assert waits_for(run) == ""


def test_a_paused_run_says_whether_somebody_or_its_budget_paused_it(run: Run, people: Cast) -> None:
    services.pause_run(run, by=people.ed)
    assert waits_for(run) == "paused"
    services.resume_run(run, by=people.ed, enqueue=factories.WakeUps())
    services.set_budget(run, by=people.ed, budget_usd=1.0)
    services.pause_run(run, by=None, why="The next call would pass the run's budget.")
    assert waits_for(run) == "budget"
    services.resume_run(run, by=people.ed, enqueue=factories.WakeUps())
    # Both are capped, and neither cap stopped it.
    budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=5.0)
    services.pause_run(run, by=None, why="The provider refused the batch: no such key")
    assert waits_for(run) == "paused"
    services.set_budget(run, by=people.ed, budget_usd=2.0)
    assert run.stop_reason == "The provider refused the batch: no such key"
    services.resume_run(run, by=people.ed, enqueue=factories.WakeUps())
    budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=0.0)
    budget = budgets.BudgetReservation.open(Run.objects.get(pk=run.pk), "here:1")
    assert not budget.reserve(0.01, timezone.now())
    services.pause_for_money(Run.objects.get(pk=run.pk), why=budget.refusal)
    assert waits_for(run) == "month_budget"
    services.cancel_run(run, by=people.ed, now=timezone.now())
    assert waits_for(run) == ""


# ── Costs of looking ─────────────────────────────────────────────────────────────────────────────


def test_looking_takes_as_many_queries_however_large_the_run(
    run: Run, people: Cast, django_assert_num_queries
) -> None:
    items = [{"id": str(number), "submission": f"Answer {number}"} for number in range(150)]
    many = factories.dataset(people.team, people.ed, name="many", items=items)
    large = factories.run(people.team, people.ed, dataset=many, rubric_version=run.rubric_version)
    for one in (run, large):
        one = Run.objects.select_related("team", "summary").get(pk=one.pk)
        RunItem.objects.filter(run=one).update(leased_until=timezone.now() + timedelta(seconds=60))
        called(one, timezone.now(), timezone.now())
        # Items, criteria, tallies; the newest call and those about it; whether it is slowed down.
        with django_assert_num_queries(6):
            progress.progress(one, viewer=None, now=timezone.now())
        with django_assert_num_queries(1):
            log.run_log(one, viewer=None)
        with django_assert_num_queries(1):
            run_errors.error_classes(one, viewer=people.bob)  # no item has an error


def test_the_list_counts_items_only_of_runs_that_have_not_ended(
    run: Run, people: Cast, django_assert_num_queries
) -> None:
    ended = grade(
        factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version),
        InProcessJudge(lambda requirement, response: "MET"),
    )
    services.pause_run(run, by=people.ed)
    # Runs, items of those that have not ended, whether the viewer rates blind.
    with django_assert_num_queries(3):
        rows = listing.runs(people.team, viewer=people.bob).rows
    assert {row.run.pk: (row.graded, row.items) for row in rows} == {
        run.pk: (0, 3),
        ended.pk: (None, None),
    }


# ── Errors and results ───────────────────────────────────────────────────────────────────────────


def test_errors_are_counted_by_class_with_where_the_newest_is(run: Run, people: Cast) -> None:
    def answer(requirement: str, response: str) -> str | JudgeError:
        if "Names Paris" in requirement:
            return JudgeError("timeout", f"No answer about {response}")
        if "Belgium" in response and "two sentences" in requirement:
            return JudgeError("refused", "No.")
        return "MET"

    grade(run, InProcessJudge(answer))
    first, second = run_errors.error_classes(run, viewer=people.bob)
    assert (first.kind, first.count, second.kind, second.count) == ("timeout", 3, "refused", 1)
    assert second.newest is not None
    assert second.newest == run_errors.ErrorExample("No.", second.newest.item_id, "bad", "concise")
    assert first.example.startswith("No answer about")


def test_totals_are_the_sum_over_criteria_unless_items_bring_rubrics_of_their_own(
    run: Run, people: Cast
) -> None:
    grade(
        run, InProcessJudge(lambda requirement, response: "MET" if "Paris" in response else "CANNOT_ASSESS")
    )
    totals = results.result(run, viewer=people.bob).totals
    # "good" and "bad" name Paris: two items of three criteria; the third item abstains three times.
    assert (totals.met, totals.unmet, totals.cannot_assess, totals.errors) == (6, 0, 3, 0)


def test_an_ended_run_shows_the_mean_it_ended_with(run: Run, people: Cast) -> None:
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    assert run.state == RunState.FINISHED
    run = Run.objects.select_related("summary").get(pk=run.pk)
    mean = results.result(run, viewer=people.bob).mean
    assert (mean.value, mean.n) == (run.summary.score_mean, run.summary.scored)
