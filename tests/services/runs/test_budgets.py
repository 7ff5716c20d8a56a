"""What a worker may spend: caps of runs and of teams' months, and what is set aside for calls in flight."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db.models import F

from rubricweb.engine.autograders import Prompt
from rubricweb.engine.autograders.outputs import PerCriterionOutput
from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import JournalEntry, JudgeSnapshot, Run, RunTally
from rubricweb.selectors.spending.spending import month_of, month_spending, run_spending
from rubricweb.services.runs import budgets
from rubricweb.services.runs import lifecycle as services
from rubricweb.services.runs.budgets import BudgetReservation
from tests.factories import Cast, dataset, run, version

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
PRICED = JudgeConfig(
    name="priced",
    base_url="https://api.example.org/v1",
    model="m",
    input_usd_per_million=2.5,
    output_usd_per_million=10.0,
)
UNPRICED = JudgeConfig(name="unpriced", base_url="https://api.example.org/v1", model="m")


@pytest.fixture
def runs(people: Cast) -> list[Run]:
    """Two runs of one team."""
    items, rubric = dataset(people.team, people.ed), version(people.team, people.ed)
    return [run(people.team, people.ed, dataset=items, rubric_version=rubric) for _ in range(2)]


def capped(one: Run, *, run_usd: float | None = None, month_usd: float | None = None) -> Run:
    one.budget_usd = run_usd
    one.save()
    one.team.monthly_budget_usd = month_usd
    one.team.save()
    return Run.objects.select_related("team").get(pk=one.pk)


def spend(budget: BudgetReservation, estimate: float, cost: float) -> None:
    """Stores a reply the way grading does: cost up and reservation down in one statement."""
    tally = RunTally.objects.filter(run=budget.run, worker=budget.worker, month=month_of(NOW))
    assert tally.update(
        cost_usd=F("cost_usd") + cost, reserved_usd=F("reserved_usd") - estimate, calls=F("calls") + 1
    )
    budget.released(estimate)


def test_a_run_ends_at_its_budget_and_not_before(runs: list[Run]) -> None:
    budget = BudgetReservation.open(capped(runs[0], run_usd=1.0), "a:1")
    paid = 0
    while budget.reserve(0.01, NOW):
        spend(budget, 0.01, 0.01)
        paid += 1
    assert paid == 100  # a hundredth of a dollar a hundred times
    assert budget.final
    assert (
        budget.refusal == "The next call, about $0.01, would pass the run's budget of $1.00: $1.00 is spent."
    )


def test_calls_in_flight_count_before_they_are_paid(runs: list[Run]) -> None:
    budget = BudgetReservation.open(capped(runs[0], run_usd=1.0), "a:1")
    in_flight = 0
    while budget.reserve(0.1, NOW):
        in_flight += 1
    assert in_flight == 10
    assert not budget.final  # replies that cost less than thought would make room
    for _ in range(in_flight):
        spend(budget, 0.1, 0.02)
    assert budget.reserve(0.1, NOW)


def test_what_another_worker_holds_is_not_there_to_spend_and_what_it_gives_back_is(runs: list[Run]) -> None:
    one = capped(runs[0], run_usd=1.0)
    first, second = BudgetReservation.open(one, "a:1"), BudgetReservation.open(one, "a:2")
    assert first.reserve(0.7, NOW)
    assert not second.reserve(0.7, NOW)
    assert not second.final
    first.close()
    assert second.reserve(0.7, NOW)


def test_a_dead_workers_reservation_lapses_with_its_lease(runs: list[Run]) -> None:
    one = capped(runs[0], run_usd=1.0)
    assert BudgetReservation.open(one, "a:1").reserve(0.7, NOW)
    lease = timedelta(seconds=settings.GRADING_LEASE_SECONDS)
    living = BudgetReservation.open(one, "a:2")
    assert not living.reserve(0.7, NOW + lease - timedelta(seconds=1))
    assert living.reserve(0.7, NOW + lease)


def test_a_worker_that_starts_again_has_its_own_reservation_back(runs: list[Run]) -> None:
    one = capped(runs[0], run_usd=1.0)
    assert BudgetReservation.open(one, "a:1").reserve(0.7, NOW)
    assert BudgetReservation.open(one, "a:1").reserve(0.7, NOW)


def test_a_months_budget_is_shared_by_the_runs_of_the_team(runs: list[Run]) -> None:
    first, second = (
        BudgetReservation.open(capped(runs[0], month_usd=1.0), "a:1"),
        BudgetReservation.open(capped(runs[1], month_usd=1.0), "a:1"),
    )
    assert first.reserve(0.6, NOW)
    spend(first, 0.6, 0.6)
    assert not second.reserve(0.6, NOW)
    assert "the team's budget of $1.00 for the month" in second.refusal
    assert second.reserve(0.3, NOW)


def test_a_month_begins_with_its_whole_budget(runs: list[Run]) -> None:
    budget = BudgetReservation.open(capped(runs[0], month_usd=1.0), "a:1")
    assert budget.reserve(0.9, NOW)
    spend(budget, 0.9, 0.9)
    assert not budget.reserve(0.9, NOW)
    assert budget.reserve(0.9, datetime(2026, 12, 1, 0, 0, tzinfo=UTC))


def test_a_runs_budget_is_over_all_its_months(runs: list[Run]) -> None:
    budget = BudgetReservation.open(capped(runs[0], run_usd=1.0), "a:1")
    assert budget.reserve(0.9, NOW)
    spend(budget, 0.9, 0.9)
    assert not budget.reserve(0.9, datetime(2026, 12, 1, 0, 0, tzinfo=UTC))


def test_a_cap_that_is_raised_or_set_meanwhile_holds_from_the_next_reservation(
    runs: list[Run], people: Cast
) -> None:
    one = capped(runs[0], run_usd=0.1)
    budget = BudgetReservation.open(one, "a:1")
    assert not budget.reserve(0.5, NOW)
    services.set_budget(Run.objects.get(pk=one.pk), by=people.ed, budget_usd=2.0)
    assert budget.reserve(0.5, NOW)
    budgets.change_monthly_budget(one.team, by=people.alice, monthly_budget_usd=0.4)
    assert not budget.reserve(0.5, NOW)


def test_without_a_cap_nothing_is_asked_of_the_database(
    runs: list[Run], django_assert_num_queries: Any
) -> None:
    one = capped(runs[0])
    with django_assert_num_queries(0):
        budget = BudgetReservation.open(one, "a:1")
        assert all(budget.reserve(1e6, NOW) for _ in range(100))
        budget.released(1e6)
        budget.close()


def test_one_reservation_in_the_database_serves_many_calls(
    runs: list[Run], django_assert_max_num_queries: Any
) -> None:
    budget = BudgetReservation.open(capped(runs[0], run_usd=100.0), "a:1")
    # 320 calls of a cent, 32 to a reservation: ten of them, eleven statements each at most.
    with django_assert_max_num_queries(110):
        for _ in range(320):
            assert budget.reserve(0.01, NOW)


def test_calls_that_cost_nothing_pass_a_budget_of_nothing(runs: list[Run]) -> None:
    budget = BudgetReservation.open(capped(runs[0], run_usd=0.0), "a:1")
    assert budget.reserve(0.0, NOW)
    assert not budget.reserve(0.000001, NOW)
    assert budget.final


def test_what_a_call_will_cost_is_read_off_its_prompt_and_the_runs_own_replies(runs: list[Run]) -> None:
    one = capped(runs[0], run_usd=1.0)
    prompt = Prompt("s" * 1840, "u" * 2000, PerCriterionOutput, (0,))
    # 3,840 bytes / 4 + 40 = 1,000 tokens at 2.5 and 400 at 10 per million.
    assert BudgetReservation.open(one, "a:1").expected_cost(PRICED, prompt) == pytest.approx(0.0025 + 0.004)
    assert BudgetReservation.open(one, "a:1").expected_cost(UNPRICED, prompt) is None
    # 10 calls, and 2 answers without asking: 700 tokens in 10 replies are 70 each.
    RunTally.objects.create(
        run=one, team=one.team, worker="b:1", month=month_of(NOW), calls=10, cached=2, completion_tokens=700
    )
    assert BudgetReservation.open(one, "a:1").expected_cost(PRICED, prompt) == pytest.approx(0.0025 + 0.0007)


def test_four_bytes_are_a_token_in_any_script() -> None:
    greek = Prompt("", "α" * 400, PerCriterionOutput, (0,))
    assert budgets.expected_prompt_tokens(greek) == 800 / 4 + 40


def test_spending_counts_all_workers_and_names_its_month_in_utc(runs: list[Run], people: Cast) -> None:
    one = capped(runs[0], run_usd=5.0, month_usd=9.0)
    for worker, month, cost, held in (
        ("a:1", date(2026, 11, 1), 1.5, 0.25),
        ("a:2", date(2026, 11, 1), 0.5, 0.0),
        ("a:1", date(2026, 10, 1), 2.0, 0.0),
    ):
        RunTally.objects.create(
            run=one,
            team=one.team,
            worker=worker,
            month=month,
            cost_usd=cost,
            reserved_usd=held,
            beat_at=NOW,
            unpriced=1,
        )
    of_run, of_month = run_spending(one, now=NOW), month_spending(one.team, now=NOW)
    assert (of_run.spent_usd, of_run.held_usd, of_run.left_usd, of_run.unpriced) == (4.0, 0.25, 0.75, 3)
    assert (of_month.spent_usd, of_month.left_usd, of_month.unpriced) == (2.0, 6.75, 2)
    assert month_of(datetime.fromisoformat("2026-12-01T00:30:00+02:00")) == date(2026, 11, 1)
    assert month_spending(people.other_team, now=NOW).spent_usd == 0.0


def test_a_judge_without_a_price_needs_the_wish_to_run_without_a_cap() -> None:
    priced, unpriced = (JudgeSnapshot.of("", config) for config in (PRICED, UNPRICED))
    budgets.require_caps_hold([priced], budget_usd=1.0, no_cap=False)
    budgets.require_caps_hold([priced, unpriced], budget_usd=None, no_cap=True)
    with pytest.raises(Invalid, match="no price for 'unpriced'") as refused:
        budgets.require_caps_hold([priced, unpriced], budget_usd=None, no_cap=False)
    assert refused.value.faults[0].place == "no_cap"
    with pytest.raises(Invalid, match="one of them"):
        budgets.require_caps_hold([priced], budget_usd=1.0, no_cap=True)


def test_a_run_by_a_judge_without_a_price_starts_only_on_purpose(people: Cast) -> None:
    items, rubric = dataset(people.team, people.ed), version(people.team, people.ed)
    with pytest.raises(Invalid, match="no price for 'unpriced'"):
        run(people.team, people.ed, dataset=items, rubric_version=rubric, judge=UNPRICED, no_cap=False)
    assert not Run.objects.exists()
    assert run(people.team, people.ed, dataset=items, rubric_version=rubric, judge=UNPRICED, no_cap=True)


@pytest.mark.parametrize("usd", [-1.0, float("nan"), float("inf"), 1e10])
def test_a_budget_is_an_amount(usd: float, people: Cast) -> None:
    with pytest.raises(Invalid, match="budget_usd"):
        budgets.require_caps_hold([JudgeSnapshot.of("", PRICED)], budget_usd=usd, no_cap=False)
    with pytest.raises(Invalid, match="monthly_budget_usd"):
        budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=usd)


def test_changing_a_budget_is_in_the_audit_log(runs: list[Run], people: Cast) -> None:
    budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=25.0)
    assert JournalEntry.objects.filter(verb="changed the budget of").get().detail == {
        "was": None,
        "monthly_budget_usd": 25.0,
    }
