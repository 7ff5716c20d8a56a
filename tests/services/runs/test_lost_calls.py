"""Calls that are cut off count as what they may have cost at most; those never sent cost nothing."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.autograders.outputs import PerCriterionOutput
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.offline.script import Say
from rubricweb.models import Run, RunEvent, RunItem, RunState, RunSummary, RunTally
from rubricweb.selectors.runs.progress import progress
from rubricweb.selectors.spending.spending import month_of, month_spending, run_spending
from rubricweb.services.grading import session
from rubricweb.services.grading.worker_run import WorkerRun
from rubricweb.services.grading.workers import reaper
from rubricweb.services.grading.workers.registry import worker_name
from rubricweb.services.runs import lifecycle
from rubricweb.services.runs.budgets import BudgetReservation
from tests import factories
from tests.factories import Cast, WakeUps
from tests.worlds.priced_room import MET, PricedRoom, graded, priced_room

GONE = f"{socket.gethostname()}:4194301"  # above any real process number
CHEAP = Say(MET, prompt_tokens=100, completion_tokens=10)
PRICED = JudgeConfig(
    "p", "http://127.0.0.1:9/v1", "m", input_usd_per_million=2.5, output_usd_per_million=10.0
)


@pytest.fixture
def run(people: Cast) -> Run:
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
    )


def tally(run: Run, worker: str = GONE, **fields: Any) -> RunTally:
    return RunTally.objects.create(
        run=run, team=run.team, worker=worker, month=month_of(timezone.now()), **fields
    )


# ── What a call costs at most ────────────────────────────────────────────────────────────────────


def test_a_call_costs_at_most_a_token_for_every_byte_and_its_output_limit(run: Run) -> None:
    budget = BudgetReservation.open(run, "w:1")
    limited = JudgeConfig(
        "p",
        "http://127.0.0.1:9/v1",
        "m",
        max_output_tokens=200,
        input_usd_per_million=2.5,
        output_usd_per_million=10.0,
    )
    prompt = Prompt("", "x" * 960, PerCriterionOutput, ())
    # 960 bytes and 40 tokens around them: (1,000 × 2.5 + 200 × 10) / 1,000,000.
    assert budget.most_cost(limited, prompt) == pytest.approx(0.0045)
    # Without a limit four times the usual 400: (1,000 × 2.5 + 1,600 × 10) / 1,000,000.
    assert budget.most_cost(PRICED, prompt) == pytest.approx(0.0185)
    # A reply of 3,000 tokens was seen: (1,000 × 2.5 + 3,000 × 10) / 1,000,000.
    budget.observe_cost(PRICED, 0.03, 3_000)
    assert budget.most_cost(PRICED, prompt) == pytest.approx(0.0325)
    assert budget.most_cost(JudgeConfig("p", "http://127.0.0.1:9/v1", "m"), prompt) is None


def test_once_five_calls_are_answered_the_dearest_of_them_is_the_most_a_call_may_cost(run: Run) -> None:
    prompt, longer = (Prompt("", "x" * size, PerCriterionOutput, ()) for size in (960, 16_000))
    answered = tally(run, "w:2", calls=4, completion_tokens=80, dearest_usd=0.002)
    # Four are no more to go by than none: (1,000 × 2.5 + 1,600 × 10) / 1,000,000.
    assert BudgetReservation.open(run, "w:1").most_cost(PRICED, prompt) == pytest.approx(0.0185)
    answered.calls, answered.completion_tokens = 5, 100
    answered.save()
    budget = BudgetReservation.open(run, "w:1")
    assert budget.most_cost(PRICED, prompt) == pytest.approx(0.002)
    # 16,000 / 4 + 40 tokens in and 20 out, as it probably costs: (4,040 × 2.5 + 20 × 10) / 1,000,000.
    assert budget.most_cost(PRICED, longer) == pytest.approx(0.0103)
    # This worker saw a dearer one.
    budget.observe_cost(PRICED, 0.003, 30)
    assert budget.most_cost(PRICED, prompt) == pytest.approx(0.003)
    # Never more than by bytes and the judge's own limit: (1,000 × 2.5 + 5 × 10) / 1,000,000.
    short = replace(PRICED, max_output_tokens=5)
    assert budget.most_cost(short, prompt) == pytest.approx(0.00255)


# ── A worker that is gone ────────────────────────────────────────────────────────────────────────


def test_what_a_dead_worker_may_have_sent_is_booked_once_and_counts_against_the_caps(run: Run) -> None:
    now = timezone.now()
    run.budget_usd = run.team.monthly_budget_usd = 1.0
    run.save()
    run.team.save()
    dead = tally(run, cost_usd=0.25, at_risk_calls=3, at_risk_unpriced=1, at_risk_usd=0.5, reserved_usd=0.125)
    for _ in range(2):
        reaper.reap(enqueue=WakeUps(), now=now)
        dead.refresh_from_db()
        assert (dead.lost_calls, dead.lost_at_most_usd, dead.unpriced) == (2, 0.5, 1)
        assert (dead.at_risk_calls, dead.at_risk_unpriced, dead.at_risk_usd) == (0, 0, 0.0)
        for spending in (run_spending(run, now=now), month_spending(run.team, now=now)):
            # 1 less 0.25 spent and at most 0.5 lost; nothing is set aside any more.
            assert (spending.lost_calls, spending.lost_at_most_usd) == (2, 0.5)
            assert (spending.left_usd, spending.share, spending.held_usd) == (0.25, 0.75, 0.0)
    [line] = RunEvent.objects.filter(run=run, kind="lost")
    assert line.message.startswith("3 requests had no answer or were cut off")
    budget = BudgetReservation.open(run, "other:1")
    assert not budget.reserve(0.5, now)
    assert "$0.25 is spent, and at most $0.50 by requests without an answer" in budget.refusal


def test_what_was_sent_before_anything_was_known_is_booked_by_what_calls_of_the_run_cost(run: Run) -> None:
    now = timezone.now()
    run.budget_usd = 0.1
    run.save()
    # Of 28 calls killed at the first moment each was thought to cost 0.0185 at most: 0.518 in all.
    dead = tally(run, at_risk_calls=29, at_risk_unpriced=1, at_risk_usd=28 * 0.0185)
    tally(run, "elsewhere:1", calls=6, completion_tokens=60, cost_usd=0.003, dearest_usd=0.0006, beat_at=now)
    reaper.reap(enqueue=WakeUps(), now=now)
    dead.refresh_from_db()
    # 28 × 0.0006: the budget goes on.
    assert (dead.lost_calls, dead.unpriced) == (28, 1)
    assert dead.lost_at_most_usd == pytest.approx(0.0168)
    assert BudgetReservation.open(run, "other:1").reserve(0.05, now)


def test_before_any_sweep_a_worker_that_is_silent_for_a_lease_has_lost_its_calls(run: Run, settings) -> None:
    now = timezone.now()
    silent = now - timedelta(seconds=settings.GRADING_LEASE_SECONDS + 1)
    tally(run, "elsewhere:1", at_risk_calls=2, at_risk_usd=0.5, beat_at=silent)
    tally(run, "elsewhere:2", at_risk_calls=4, at_risk_usd=0.75, beat_at=now)
    seen = run_spending(run, now=now)
    assert (seen.lost_calls, seen.lost_at_most_usd) == (2, 0.5)
    told = progress(run, viewer=None, now=now)
    assert (told.lost_calls, told.lost_at_most_usd) == (2, 0.5)


def test_the_summary_of_a_run_that_ended_meanwhile_says_what_was_lost(run: Run) -> None:
    lifecycle.cancel_run(run, by=None, now=timezone.now())
    assert RunSummary.objects.get(run=run).lost_at_most_usd == 0.0
    tally(run, at_risk_calls=1, at_risk_usd=0.5)
    reaper.reap(enqueue=WakeUps(), now=timezone.now())
    assert RunSummary.objects.get(run=run).lost_at_most_usd == 0.5


def test_a_process_of_the_same_name_books_what_the_one_before_it_left(run: Run) -> None:
    left = tally(run, worker_name(), at_risk_calls=1, at_risk_usd=0.25)
    WorkerRun(run, {"p": PRICED}, worker_name(), timezone.now)
    left.refresh_from_db()
    assert (left.lost_calls, left.lost_at_most_usd, left.at_risk_calls) == (1, 0.25, 0)


# ── A worker that lives ──────────────────────────────────────────────────────────────────────────


@pytest.fixture
def room(people: Cast) -> Iterator[PricedRoom]:
    with priced_room(people, CHEAP) as opened:
        yield opened


@pytest.mark.django_db(transaction=True)
def test_every_call_is_written_down_before_it_is_sent_and_none_is_lost_that_is_answered(
    room: PricedRoom,
) -> None:
    run = room.started()
    written: list[tuple[int, float]] = []
    room.meanwhile = lambda: written.extend(
        RunTally.objects.filter(run=run).values_list("at_risk_calls", "at_risk_usd")
    )
    assert graded(run).state == RunState.FINISHED
    assert len(written) == 60
    assert all(calls >= 1 and usd > 0 for calls, usd in written)
    [found] = RunTally.objects.filter(run=run)
    assert (found.at_risk_calls, found.at_risk_usd, found.lost_calls) == (0, 0.0, 0)
    # 100 × 10 / 1,000,000 + 10 × 100 / 1,000,000, each of them.
    assert found.dearest_usd == pytest.approx(0.002)


@pytest.mark.django_db(transaction=True)
def test_a_stop_that_does_not_wait_loses_what_was_sent_and_nothing_that_was_not(room: PricedRoom) -> None:
    run = room.started()
    room.answer = replace(CHEAP, delay_seconds=30.0)  # nobody waits so long

    def stop() -> None:
        if room.script.count == 2:
            lifecycle.pause_run(Run.objects.get(pk=run.pk), by=None, finish_in_flight=False)

    room.meanwhile = stop
    session.grade(run.pk, now=timezone.now, only_this_run=True)
    run.refresh_from_db()
    assert (run.state, room.script.count) == (RunState.PAUSED, 2)
    [found] = RunTally.objects.filter(run=run)
    assert (found.calls, found.cost_usd) == (0, 0.0)
    # Two of sixty were sent; what waited in line never left.
    assert (found.lost_calls, found.at_risk_calls) == (2, 0)
    # Each was paid for with 100 × 10 / 1,000,000 + 10 × 100 / 1,000,000 = 0.002 at the judge.
    assert found.lost_at_most_usd >= 2 * 0.002
    assert not RunItem.objects.filter(run=run, leased_until__isnull=False).exists()


@pytest.mark.django_db(transaction=True)
def test_answers_used_again_are_never_at_risk(room: PricedRoom) -> None:
    graded(room.started(items=1, use_cache=True))
    asked = room.script.count
    again = graded(room.started("again", items=1, use_cache=True))
    assert room.script.count == asked
    [found] = RunTally.objects.filter(run=again)
    assert (found.cached, found.at_risk_calls, found.lost_calls) == (10, 0, 0)
