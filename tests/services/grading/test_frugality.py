"""Nothing is paid for twice, and no more than was allowed: counted by the judge server itself."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models import Sum
from django.test import override_settings
from django.utils import timezone

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Action, Garbage, Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import JudgeCall, Judgement, Run, RunEvent, RunState, RunTally
from rubricweb.selectors.runs.planning.forecasts import Forecast, Range
from rubricweb.services.grading import session
from rubricweb.services.runs import budgets, lifecycle
from rubricweb.services.runs.panels import Panel, PanelMember
from rubricweb.services.runs.planning import plan_run
from rubricweb.services.runs.starting import RunOptions
from tests import factories
from tests.factories import Cast, WakeUps

pytestmark = pytest.mark.django_db

MET = '{"explanation": "It is there.", "criterion_status": "MET"}'
TEN: list[dict[str, Any]] = [
    {"name": f"c{number}", "weight": 1.0, "requirement": f"Names town {number}."} for number in range(10)
]
ITEMS = [{"id": f"i{number}", "submission": f"Town {number} is nice."} for number in range(6)]


class Room:
    """A dataset of 6 items, a judge at a real server, and the ways to run it."""

    def __init__(self, people: Cast) -> None:
        self.people, self.url = people, ""
        self.says: Action = Say(MET)
        self.script = Script(lambda _: self.says)
        self.dataset = factories.dataset(people.team, people.ed, items=ITEMS)
        self.version = factories.version(people.team, people.ed, criteria=TEN)

    @property
    def paid(self) -> int:
        """Requests the server has answered."""
        return self.script.count

    def judge(self, **changed: Any) -> JudgeConfig:
        # 100 tokens in at 10 and 10 out at 100 dollars per million: 0.001 + 0.001 = 0.002 a call.
        given = {"input_usd_per_million": 10.0, "output_usd_per_million": 100.0, **changed}
        return JudgeConfig(
            **{"name": "judge", "base_url": self.url, "model": "m", "allow_private_hosts": True, **given}
        )

    def run(self, **options: Any) -> Run:
        usual = {"judge_id": "", "no_cap": False, "use_cache": True}
        options = usual | self._asked(options)
        return self.grade(factories.run(self.people.team, self.people.ed, **options))

    def plan(self, **options: Any) -> Forecast:
        asked = self._asked(options)
        return plan_run(
            self.people.team,
            dataset=asked.pop("dataset"),
            rubric_version=asked.pop("rubric_version"),
            viewer=None,
            now=timezone.now(),
            options=RunOptions(**asked),
        ).forecast

    def _asked(self, options: dict[str, Any]) -> dict[str, Any]:
        if "panel" not in options:
            options = {"judge_id": "command-line", "judge": self.judge()} | options
        return {"dataset": self.dataset, "rubric_version": self.version} | options

    def grade(self, run: Run) -> Run:
        while session.grade(run.pk, now=timezone.now, only_this_run=True):
            pass
        run.refresh_from_db()
        return run


@pytest.fixture
def room(people: Cast) -> Iterator[Room]:
    made = Room(people)
    with running_server(made.script) as made.url:
        yield made
        close_clients()


def spent(run: Run) -> float:
    return float(RunTally.objects.filter(run=run).aggregate(usd=Sum("cost_usd"))["usd"] or 0.0)


# ── The cache ────────────────────────────────────────────────────────────────────────────────────


def test_a_finished_run_started_again_unchanged_makes_no_call(room: Room) -> None:
    first = room.run()
    assert (first.state, room.paid) == (RunState.FINISHED, 60)  # 6 items × 10 criteria
    again = room.run()
    assert (again.state, room.paid) == (RunState.FINISHED, 60)
    assert Judgement.objects.filter(run=again, verdict="MET").count() == 60
    assert spent(again) == 0.0
    tally = RunTally.objects.filter(run=again).aggregate(calls=Sum("calls"), cached=Sum("cached"))
    assert tally == {"calls": 0, "cached": 60}
    sources = JudgeCall.objects.filter(run=again).values_list("cached_from__run_id", flat=True)
    assert set(sources) == {first.pk}


def test_one_changed_criterion_of_ten_makes_one_tenth_of_the_calls(room: Room, people: Cast) -> None:
    room.run()
    changed = [*TEN[:4], {**TEN[4], "requirement": "Names the town."}, *TEN[5:]]
    room.version = factories.version(people.team, people.ed, title="Changed", criteria=changed)
    room.run()
    assert room.paid == 60 + 6


def test_one_item_more_makes_the_calls_of_that_item(room: Room, people: Cast) -> None:
    room.run()
    more = [*ITEMS, {"id": "new", "submission": "No town at all."}]
    room.dataset = factories.dataset(people.team, people.ed, name="One more", items=more)
    room.run()
    assert room.paid == 60 + 10


@pytest.mark.parametrize(
    "changed", [{"model": "other"}, {"temperature": 0.7}, {"seed": 1}, {"max_output_tokens": 500}]
)
def test_another_judge_is_asked_everything(room: Room, changed: dict[str, Any]) -> None:
    room.run()
    room.run(judge=room.judge(**changed))
    assert room.paid == 120


def test_a_judge_with_another_name_and_price_is_the_same_judge(room: Room) -> None:
    room.run()
    room.run(judge=room.judge(name="renamed", input_usd_per_million=1.0, timeout_seconds=5.0))
    assert room.paid == 60


def test_the_offline_judge_is_the_same_judge_wherever_it_was_started(room: Room) -> None:
    offline: dict[str, Any] = {"judge_id": "offline", "judge": None}
    with override_settings(OFFLINE_JUDGE_URL=room.url):
        room.run(**offline)
    assert room.paid == 60
    elsewhere = Script(lambda _: Say(MET))
    with running_server(elsewhere) as url, override_settings(OFFLINE_JUDGE_URL=url):
        plan = room.plan(**offline)
        assert (plan.cached, plan.new) == (Range(60, 60), Range(0, 0))
        assert plan.judges[0].earlier_calls == 60
        again = room.run(**offline)
        assert (again.state, room.paid, elsewhere.count) == (RunState.FINISHED, 60, 0)
        # An endpoint at another address is another judge.
        room.run()
        plan = room.plan(judge=room.judge(base_url=url))
        assert (plan.new, plan.judges[0].earlier_calls) == (Range(60, 60), 0)
        close_clients()


def test_runs_answered_from_the_cache_do_not_hide_what_the_judge_is_known_by(
    room: Room, people: Cast
) -> None:
    room.run()
    asked_before = room.plan(use_cache=False)
    assert asked_before.judges[0].earlier_calls == 60
    for _ in range(3):
        room.run()
    assert room.plan(use_cache=False) == asked_before
    # Nor do runs that asked about one item more each.
    for number in range(3):
        more = [*ITEMS, {"id": "new", "submission": f"The {number} new towns."}]
        room.dataset = factories.dataset(people.team, people.ed, name=f"{number} more", items=more)
        room.version = factories.version(people.team, people.ed, title=f"{number} more", criteria=TEN[:1])
        room.run()
    assert room.plan(use_cache=False).judges[0].earlier_calls == 60


def test_without_the_cache_everything_is_asked_and_paid_for_again(room: Room) -> None:
    room.run()
    again = room.run(use_cache=False)
    assert room.paid == 120
    assert spent(again) == pytest.approx(60 * 0.002)


def test_a_panels_votes_come_from_the_cache_repeat_by_repeat(room: Room) -> None:
    panel = Panel([PanelMember("command-line", config=room.judge())], repeats=3)
    room.run(panel=panel)
    assert room.paid == 180
    room.run(panel=panel)
    assert room.paid == 180
    # The first of three repeats is what one judge asked once is asked.
    room.run()
    assert room.paid == 180


def test_another_teams_answers_are_paid_for_by_each(room: Room, people: Cast) -> None:
    room.run()
    theirs = factories.run(
        people.other_team,
        people.charlie,
        dataset=factories.dataset(people.other_team, people.charlie, items=ITEMS),
        rubric_version=factories.version(people.other_team, people.charlie, criteria=TEN),
        judge_id="command-line",
        judge=room.judge(),
    )
    room.grade(theirs)
    assert room.paid == 120


def test_an_error_is_not_remembered_as_an_answer(room: Room) -> None:
    room.says = Say("what?")
    failed = room.run(judge=room.judge(max_attempts=1))
    assert Judgement.objects.filter(run=failed, error_kind="unreadable_reply").count() == 60
    room.says = Say(MET)
    room.run()
    assert room.paid == 120


# ── Caps ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.django_db(transaction=True)  # the heartbeat writes meanwhile
def test_a_run_pauses_before_a_call_would_pass_its_budget(room: Room) -> None:
    run = room.run(budget_usd=0.05)
    assert run.state == RunState.PAUSED
    assert "the run's budget of $0.05" in run.stop_reason
    # Nobody knows beforehand that a reply has 10 tokens: 400 are set aside until five are in, then what is
    # seen. 25 calls of 0.002 are what the budget pays; a call more could not be paid for.
    assert spent(run) <= 0.05
    assert room.paid * 0.002 == pytest.approx(spent(run))
    assert [line.message for line in RunEvent.objects.filter(run=run, kind__in=("budget", "paused"))] == [
        f"Paused: {run.stop_reason}"
    ]
    assert RunTally.objects.filter(run=run, reserved_usd__gt=0).count() == 0


@pytest.mark.django_db(transaction=True)  # the heartbeat writes meanwhile
def test_a_raised_budget_goes_on_where_it_stopped(room: Room, people: Cast) -> None:
    run = room.run(budget_usd=0.05)
    lifecycle.set_budget(run, by=people.ed, budget_usd=1.0)
    lifecycle.resume_run(run, by=people.ed, enqueue=WakeUps())
    assert room.grade(run).state == RunState.FINISHED
    assert room.paid == 60
    assert spent(run) == pytest.approx(0.12)


@pytest.mark.django_db(transaction=True)  # the heartbeat writes meanwhile
def test_the_teams_month_holds_all_its_runs(room: Room, people: Cast) -> None:
    budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=0.15)
    assert room.run().state == RunState.FINISHED  # 0.12
    second = room.run(use_cache=False)
    assert second.state == RunState.PAUSED
    assert "the team's budget of $0.15 for the month" in second.stop_reason
    assert spent(second) <= 0.03 + 1e-9
    # What is known costs nothing, and so is not held up.
    assert room.run().state == RunState.FINISHED


@pytest.mark.django_db(transaction=True)  # the heartbeat writes meanwhile
def test_known_answers_of_items_a_paused_run_had_not_come_to_are_free_once_it_goes_on(
    room: Room, people: Cast
) -> None:
    room.run()
    first = {"id": "new", "submission": "A town nobody was asked about."}
    room.dataset = factories.dataset(people.team, people.ed, name="One more", items=[first, *ITEMS])
    run = room.run(budget_usd=0.0)
    assert (run.state, room.paid, spent(run)) == (RunState.PAUSED, 60, 0.0)
    lifecycle.set_budget(run, by=people.ed, budget_usd=1.0)
    lifecycle.resume_run(run, by=people.ed, enqueue=WakeUps())
    assert room.grade(run).state == RunState.FINISHED
    assert room.paid == 60 + 10  # the questions about the new item


def test_a_judge_that_never_says_how_many_tokens_it_used_is_held_by_what_was_expected(room: Room) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": MET}, "finish_reason": "stop"}
    room.says = Garbage(json.dumps({"model": "m", "choices": [choice]}))
    run = room.run(budget_usd=0.5)
    assert run.state == RunState.PAUSED
    # 400 tokens out at 100 per million are 0.04, and more for those in: a dozen calls at most.
    assert 5 < room.paid < 0.5 / 0.04
    assert JudgeCall.objects.filter(run=run, cost_usd=None).count() == room.paid
