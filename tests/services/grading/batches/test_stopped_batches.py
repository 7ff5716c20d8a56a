"""Batch runs that are stopped while a batch is away, or while it is on its way out: their figures, what is
asked again, and what a kill leaves.
"""

from datetime import timedelta

import pytest
from django.utils import timezone

from rubricweb.judges.offline.script import Fail, Request, Say
from rubricweb.models import BatchJob, Judgement, Run, RunItem, RunState, RunTally
from rubricweb.selectors import deletions
from rubricweb.selectors.spending.spending import run_spending
from rubricweb.services.grading import session
from rubricweb.services.grading.batches import schedule
from rubricweb.services.runs import lifecycle
from tests.factories import Cast, WakeUps
from tests.services.grading.batches.providers import Answer, answers, desk, provider
from tests.services.grading.batches.scripted import Clock, Judge, started, until_over
from tests.services.grading.batches.test_batch_money import handed_over, sweep
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def until_first_is_over(run: Run, clock: Clock) -> None:
    """Sweeps until the run's first batch is over, and no further."""

    def is_over() -> bool:
        clock.later()
        schedule.advance(run.pk, now=clock, enqueue=WakeUps())
        return run.batches.order_by("pk")[0].stored_at is not None

    wait_for(is_over)
    run.refresh_from_db()


def test_the_figures_of_a_paused_run_count_what_its_batch_brought_later(
    people: Cast, endpoint, script: Judge, clock
) -> None:
    script.instead = {("Paris is the capital", "Names Paris"): [Fail(429)]}
    run = started(people, endpoint)
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    lifecycle.pause_run(run, by=people.alice)
    assert run.summary.scored == 0
    until_first_is_over(run, clock)
    # Of three items one lacks an answer.
    run = Run.objects.get(pk=run.pk)
    assert (run.state, run.summary.scored, run.summary.verdicts) == (RunState.PAUSED, 2, 6)


def test_the_figures_of_a_run_cancelled_while_answers_are_fetched_count_them(people: Cast) -> None:
    run: Run | None = None

    def answer(method: str, path: str) -> Answer:
        if not path.endswith("/content"):
            return provider()(method, path)
        assert run is not None
        lifecycle.cancel_run(Run.objects.get(pk=run.pk), by=people.alice, now=timezone.now())
        return "application/jsonl", b"".join(answers(run).splitlines(keepends=True)[:6])

    with desk(answer) as (url, _):
        run = handed_over(people, url)
        for minutes in (0, 1, 2):
            sweep(run, minutes=minutes)
    # Six answers are two items of three criteria each.
    run = Run.objects.get(pk=run.pk)
    assert (run.state, run.summary.scored, run.summary.verdicts) == (RunState.CANCELLED, 2, 6)


def test_a_failure_asked_again_on_resuming_goes_out_with_the_batch_its_item_is_set_aside_for(
    people: Cast, endpoint, script: Judge, clock
) -> None:
    refusal = Fail(400, "Unsupported value: 'temperature' does not support 0 with this model.")

    def refuses(request: Request) -> Fail | None:
        answered = "Belgium" in request.submission and "two sentences" in request.requirement
        return refusal if "temperature" in request.body and not answered else None

    script.refuses = refuses
    script.instead = {("Belgium", "two sentences"): [Say(None, refusal="no")]}
    run = started(people, endpoint)
    until_first_is_over(run, clock)
    assert list(Judgement.objects.filter(run=run).values_list("error_kind", flat=True)) == ["refused"]
    lifecycle.pause_run(run, by=people.alice)
    lifecycle.resume_run(run, by=people.alice, enqueue=WakeUps())
    assert session.grade(run.pk, now=clock) == [], "nothing is asked live, at twice the price"
    until_over(run, clock)
    assert [job.requests for job in run.batches.order_by("pk")] == [9, 9]
    assert (run.state, script.count) == (RunState.FINISHED, 18)
    assert set(Judgement.objects.filter(run=run).values_list("verdict", flat=True)) == {"MET"}


def test_a_run_cancelled_after_its_batch_was_killed_on_the_way_out_holds_neither_items_nor_money(
    people: Cast, endpoint, clock
) -> None:
    run = started(people, endpoint, budget_usd=5.0)
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    # As a kill before it was handed in would leave it.
    BatchJob.objects.filter(run=run).update(
        provider_id="", state="", requests=0, checked_at=clock() + schedule.STEP_LASTS
    )
    lifecycle.cancel_run(run, by=people.alice, now=clock())
    assert RunItem.objects.filter(run=run, leased_until__gt=clock() + timedelta(days=2)).count() == 3
    assert RunTally.objects.get(run=run).reserved_usd > 0
    clock.later(3600)
    assert schedule.due(clock()) == [run.pk]
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    assert run_spending(run, now=clock()).held_usd == 0
    assert deletions.refusal(run, now=clock()) == ""
    clock.later(3600)
    assert schedule.due(clock()) == []


def test_nobody_asks_all_the_time_about_a_batch_killed_on_the_way_out_of_a_judge_that_is_gone(
    people: Cast, endpoint, clock
) -> None:
    run = started(people, endpoint, budget_usd=5.0)
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    BatchJob.objects.filter(run=run).update(provider_id="", state="", requests=0, checked_at=clock())
    endpoint.base_url = "http://10.0.0.1/v1"
    endpoint.save()
    assert RunTally.objects.get(run=run).reserved_usd > 0
    clock.later(3600)
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert run_spending(run, now=clock()).held_usd == 0
    assert deletions.refusal(run, now=clock()) == "", "nothing is in flight"
    clock.later(3600)
    assert schedule.due(clock()) == []
