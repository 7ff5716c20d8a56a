"""Caps against what is lined up already: when replies turn out dear, and when a cap changes meanwhile."""

from collections.abc import Iterator

import pytest
from django.db.models import Sum

from rubricweb.judges.offline.script import Say
from rubricweb.models import Run, RunState, RunTally
from rubricweb.services.runs import budgets, lifecycle
from tests.factories import Cast, WakeUps
from tests.worlds.priced_room import MET, PricedRoom, graded, priced_room

pytestmark = pytest.mark.django_db(transaction=True)

# Each costs 100 × 10 / 1,000,000 + 10,000 × 100 / 1,000,000 = 1.001, and is thought to cost a twentieth.
DEAR = Say(MET, prompt_tokens=100, completion_tokens=10_000, delay_seconds=0.05)


@pytest.fixture
def room(people: Cast) -> Iterator[PricedRoom]:
    with priced_room(people, DEAR) as opened:
        yield opened


def spent(run: Run) -> float:
    return float(RunTally.objects.filter(run=run).aggregate(usd=Sum("cost_usd"))["usd"])


@pytest.mark.parametrize("whose", ["run", "month"])
def test_replies_far_dearer_than_thought_pass_a_cap_by_no_more_than_was_in_flight(
    room: PricedRoom, people: Cast, whose: str
) -> None:
    if whose == "month":
        budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=4.5)
    run = graded(room.started(budget_usd=4.5 if whose == "run" else None))
    assert run.state == RunState.PAUSED
    # Four are within 4.50, and two were in flight when the last of these was seen.
    assert 4 <= room.script.count <= 4 + 2
    assert spent(run) == pytest.approx(room.script.count * 1.001)
    assert not RunTally.objects.filter(run=run, reserved_usd__gt=0).exists()
    budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=None)
    lifecycle.set_budget(run, by=people.ed, budget_usd=200.0)
    lifecycle.resume_run(run, by=people.ed, enqueue=WakeUps())
    assert graded(run).state == RunState.FINISHED
    assert room.script.count == 60, "what was held back was asked, and nothing twice"


@pytest.mark.parametrize("before", [None, 1000.0])
def test_a_cap_that_is_set_or_lowered_holds_what_is_lined_up_too(
    room: PricedRoom, people: Cast, before: float | None
) -> None:
    run = room.started(budget_usd=before)

    def lower() -> None:
        if room.script.count == 5:
            lifecycle.set_budget(Run.objects.get(pk=run.pk), by=people.ed, budget_usd=0.0)

    room.meanwhile = lower
    assert graded(run).state == RunState.PAUSED
    assert "the run's budget of $0.00" in run.stop_reason
    assert room.script.count < 20


def test_a_cap_that_is_lifted_while_the_run_goes_on_leaves_nothing_set_aside(
    room: PricedRoom, people: Cast
) -> None:
    run = room.started(budget_usd=1000.0)

    def lift() -> None:
        if room.script.count == 5:
            lifecycle.set_budget(Run.objects.get(pk=run.pk), by=people.ed, budget_usd=None)

    room.meanwhile = lift
    assert graded(run).state == RunState.FINISHED
    assert room.script.count == 60
    assert not RunTally.objects.filter(run=run, reserved_usd__gt=0).exists()
