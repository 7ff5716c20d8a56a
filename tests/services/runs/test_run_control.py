"""What may happen to a run in which state. Clicks at one moment: tests/processes/people/test_clicks.py."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeError
from rubricweb.models import (
    Dataset,
    DatasetChange,
    Item,
    JournalEntry,
    Judgement,
    Run,
    RunEvent,
    RunItem,
    RunState,
    RunSummary,
)
from rubricweb.selectors.datasets.new_items import new_item_count, new_items
from rubricweb.services.datasets.changes import corrections, retirement
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.runs import budgets, lifecycle
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import InProcessJudge, grade
from tests.worlds.remembered import remembered

Prepare = Callable[..., Run]


def says_met(requirement: str, response: str) -> str:
    return "MET"


def broken(requirement: str, response: str) -> JudgeError:
    return JudgeError("connection", "connection refused")


@pytest.fixture
def run(people: Cast) -> Run:
    return remembered(("run control", people.team.pk), lambda: start(people))


def start(people: Cast) -> Run:
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
    )


def brought_to(state: str, run: Run) -> Run:
    """The run in this state by the way people would bring it there, its three items graded when finished."""
    if state == "paused":
        lifecycle.pause_run(run, by=None)
    elif state == "cancelled":
        lifecycle.cancel_run(run, by=None, now=timezone.now())
    elif state == "failed":
        lifecycle.give_up(run, "The judge did not answer.", timezone.now())
    elif state == "finished":
        grade(run, InProcessJudge(says_met))
    run.refresh_from_db()
    assert run.state == state
    return run


def outcome(run: Run, action: Callable[[Run, WakeUps], Any]) -> tuple[str, object, bool]:
    """(the state after, what was returned or raised, whether workers were called)."""
    wake_ups = WakeUps()
    try:
        returned = action(run, wake_ups)
    except Conflict:
        returned = Conflict
    run.refresh_from_db()
    return run.state, returned, bool(wake_ups.notified)


ACTIONS: dict[str, Callable[[Run, WakeUps], Any]] = {
    "pause": lambda run, wake_ups: lifecycle.pause_run(run, by=None),
    "cancel": lambda run, wake_ups: lifecycle.cancel_run(run, by=None, now=timezone.now()),
    "resume": lambda run, wake_ups: lifecycle.resume_run(run, by=None, enqueue=wake_ups),
    "extend": lambda run, wake_ups: lifecycle.extend_run(run, by=None, enqueue=wake_ups),
    "all graded": lambda run, wake_ups: lifecycle.finish_if_done(run, timezone.now()),
    "give up": lambda run, wake_ups: lifecycle.give_up(run, "The judge did not answer.", timezone.now()),
}

# action → state before → (state after, returned, rung). One item was added to the dataset for "extend".
TABLE: dict[str, dict[str, tuple[str, object, bool]]] = {
    "pause": {
        "running": ("paused", True, False),
        "paused": ("paused", False, False),
        "finished": ("finished", False, False),
        "cancelled": ("cancelled", False, False),
        "failed": ("failed", False, False),
    },
    "cancel": {
        "running": ("cancelled", True, False),
        "paused": ("cancelled", True, False),
        "finished": ("finished", False, False),
        "cancelled": ("cancelled", False, False),
        "failed": ("failed", False, False),
    },
    "resume": {
        "running": ("running", Conflict, False),
        "paused": ("running", 3, True),
        "finished": ("finished", 0, False),
        "cancelled": ("running", 3, True),
        "failed": ("running", 3, True),
    },
    "extend": {
        "running": ("running", 1, True),
        "paused": ("paused", 1, False),
        "finished": ("running", 1, True),
        "cancelled": ("cancelled", 1, False),
        "failed": ("failed", 1, False),
    },
    "all graded": {
        "running": ("finished", True, False),
        "paused": ("finished", True, False),
        "finished": ("finished", False, False),
        "cancelled": ("cancelled", False, False),
        "failed": ("failed", False, False),
    },
    "give up": {
        "running": ("failed", None, False),
        "paused": ("paused", None, False),
        "finished": ("finished", None, False),
        "cancelled": ("cancelled", None, False),
        "failed": ("failed", None, False),
    },
}


def test_the_table_has_every_state_for_every_action() -> None:
    assert set(TABLE) == set(ACTIONS)
    assert all(set(row) == set(RunState.values) for row in TABLE.values())


@pytest.mark.parametrize("state", RunState.values)
@pytest.mark.parametrize("action", ACTIONS)
def test_each_action_does_in_each_state_what_the_table_says(
    action: str, state: str, run: Run, people: Cast, django_capture_on_commit_callbacks
) -> None:
    brought_to(state, run)
    if action == "extend":
        add(run.dataset, people, "late")
    if action == "all graded":
        factories.all_graded(run)

    def committed(run: Run, wake_ups: WakeUps) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return ACTIONS[action](run, wake_ups)

    assert outcome(run, committed) == TABLE[action][state]
    # Whatever happened: over means having an end, and only what is over or paused has figures of its own.
    assert (run.finished_at is None) == (run.state in ("running", "paused"))
    assert RunSummary.objects.filter(run=run).exists() == (run.state != "running")


@pytest.mark.parametrize("action", ["pause", "cancel", "extend"])
def test_doing_it_twice_is_doing_it_once(action: str, run: Run, people: Cast) -> None:
    add(run.dataset, people, "late")
    ACTIONS[action](run, WakeUps())
    after = outcome(run, ACTIONS[action])
    assert after[1] in (False, 0)
    done = {"pause": "paused", "cancel": "cancelled", "extend": "extended"}[action]
    assert JournalEntry.objects.filter(target_kind="run", target_id=run.pk, verb=done).count() == 1
    assert RunEvent.objects.filter(run=run, kind=done).count() == 1


def test_a_gentle_stop_can_be_made_a_hard_one_and_resuming_forgets_it(run: Run) -> None:
    now = timezone.now()
    lifecycle.pause_run(run, by=None)
    assert run.finish_in_flight
    assert lifecycle.pause_run(run, by=None, finish_in_flight=False)
    assert (run.state, run.finish_in_flight) == ("paused", False)
    assert not lifecycle.pause_run(run, by=None)  # nor back: what was broken off is gone
    assert not run.finish_in_flight
    lifecycle.resume_run(run, by=None, enqueue=WakeUps())
    assert run.finish_in_flight
    lifecycle.cancel_run(run, by=None, now=now)
    assert lifecycle.cancel_run(run, by=None, now=now, finish_in_flight=False)
    assert not run.finish_in_flight


def test_a_pause_says_why_and_who(run: Run, people: Cast) -> None:
    lifecycle.pause_run(run, by=people.ed)
    assert RunEvent.objects.filter(run=run).last().message == "Paused by Ed."
    assert run.stop_reason == ""
    lifecycle.resume_run(run, by=people.ed, enqueue=WakeUps())
    why = "The next call, about $0.01, would pass the run's budget of $5.00: $5.00 is spent."
    lifecycle.pause_run(run, by=None, why=why)
    assert run.stop_reason == why
    lines = list(RunEvent.objects.filter(run=run).values_list("kind", "message"))
    assert lines == [
        ("started", "Started by Ed over 3 items."),
        ("paused", "Paused by Ed."),
        ("resumed", "Resumed by Ed: 3 items to do."),
        ("paused", f"Paused: {why}"),
    ]
    # With another cap that is true no more.
    lifecycle.set_budget(run, by=people.ed, budget_usd=10.0)
    assert (run.state, run.stop_reason) == (RunState.PAUSED, "")


# ── Resuming ─────────────────────────────────────────────────────────────────────────────────────


def test_failures_of_some_items_are_asked_for_again_and_no_others(run: Run) -> None:
    grade(run, InProcessJudge(broken))
    good = Item.objects.get(dataset=run.dataset, key="good")
    assert lifecycle.resume_run(run, by=None, enqueue=WakeUps(), item_ids=[good.pk]) == 1
    judge = InProcessJudge(says_met)
    grade(run, judge)
    assert len(judge.asked) == 3
    assert Judgement.objects.filter(run=run, verdict="MET").values("item").distinct().count() == 1
    assert Judgement.objects.filter(run=run, error_kind="connection").count() == 6


def test_a_class_of_failures_of_one_item(run: Run) -> None:
    kinds = {"good": "timeout", "bad": "refused", "empty-ish": "timeout"}
    by_words = {item.submission: kinds[item.key] for item in Item.objects.filter(dataset=run.dataset)}
    grade(run, InProcessJudge(lambda _, response: JudgeError(by_words[response], "failed")))
    good, bad = (Item.objects.get(dataset=run.dataset, key=key).pk for key in ("good", "bad"))
    again = lifecycle.resume_run(
        run, by=None, enqueue=WakeUps(), error_kinds=["timeout"], item_ids=[good, bad]
    )
    assert again == 1
    assert Judgement.objects.filter(run=run).count() == 6


def test_resuming_with_no_class_goes_on_and_repeats_nothing(run: Run, settings) -> None:
    grade(run, InProcessJudge(broken))
    assert lifecycle.resume_run(run, by=None, enqueue=WakeUps(), error_kinds=[]) == 0
    assert Judgement.objects.filter(run=run, error_kind="connection").count() == 9
    assert run.state == RunState.FINISHED


def test_items_of_another_run_cannot_be_named(run: Run, people: Cast) -> None:
    brought_to("finished", run)
    other = factories.dataset(people.team, people.ed, name="others")
    with pytest.raises(Invalid, match=r"item_ids\[1\].*the id of an item in this run") as refused:
        lifecycle.resume_run(
            run,
            by=None,
            enqueue=WakeUps(),
            item_ids=[run.dataset.items.all()[0].pk, other.items.all()[0].pk],
        )
    assert [fault.place for fault in refused.value.faults] == ["item_ids[1]"]


def test_what_a_worker_still_holds_stays_with_it(run: Run) -> None:
    """A pause lets calls finish; a resume before they have must not call others to the same items."""
    held, *_ = RunItem.objects.filter(run=run).order_by("pk")
    until = timezone.now() + timedelta(seconds=40)
    RunItem.objects.filter(pk=held.pk).update(leased_by="elsewhere:1", leased_until=until)
    criterion = held.rubric_version.criteria.all()[0]
    Judgement.objects.create(
        run=run, item=held.item, criterion=criterion, judge="j", error_kind="timeout", error_message="late"
    )
    lifecycle.pause_run(run, by=None)
    assert lifecycle.resume_run(run, by=None, enqueue=WakeUps()) == 3
    held.refresh_from_db()
    assert (held.leased_by, held.leased_until) == ("elsewhere:1", until)
    assert Judgement.objects.filter(run=run, error_kind="timeout").count() == 1
    RunItem.objects.filter(pk=held.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    lifecycle.pause_run(run, by=None)
    lifecycle.resume_run(run, by=None, enqueue=WakeUps())
    assert not Judgement.objects.filter(run=run, error_kind="timeout").exists()


def test_a_paused_run_whose_last_calls_finished_it_is_finished(run: Run) -> None:
    brought_to("paused", run)
    factories.all_graded(run)
    wake_ups = WakeUps()
    assert lifecycle.resume_run(run, by=None, enqueue=wake_ups) == 0
    assert (run.state, wake_ups.notified) == (RunState.FINISHED, [])
    assert run.finished_at is not None


# ── Extending ────────────────────────────────────────────────────────────────────────────────────


def add(dataset: Dataset, people: Cast, *keys: str, **fields: Any) -> int:
    data = "\n".join(json.dumps({"id": key, "submission": f"Paris, says {key}.", **fields}) for key in keys)
    return factories.add_items(dataset, by=people.ed, data=data.encode(), filename="more.jsonl")


def test_a_finished_run_grades_what_was_added_and_nothing_else(run: Run, people: Cast) -> None:
    brought_to("finished", run)
    assert new_item_count(run) == 0
    add(run.dataset, people, "late", "later")
    assert new_item_count(run) == 2
    wake_ups = WakeUps()
    assert lifecycle.extend_run(run, by=people.ed, enqueue=wake_ups) == 2
    judge = InProcessJudge(says_met)
    grade(run, judge)
    assert len(judge.asked) == 2 * 3
    assert run.state == RunState.FINISHED
    assert run.summary.items == 5
    assert new_item_count(run) == 0
    assert lifecycle.extend_run(run, by=people.ed, enqueue=wake_ups) == 0
    assert run.state == RunState.FINISHED


def test_a_stopped_run_that_is_extended_says_how_many_items_it_has_now(run: Run, people: Cast) -> None:
    brought_to("cancelled", run)
    assert Run.objects.get(pk=run.pk).summary.items == 3
    add(run.dataset, people, "late", "later")
    assert lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps()) == 2
    assert Run.objects.get(pk=run.pk).summary.items == 5


def test_what_a_run_over_a_choice_of_items_left_out_is_not_new(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed)
    first = dataset.items.order_by("position")[0]
    version = factories.version(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, item_ids=[first.pk])
    assert list(run.run_items.values_list("item", flat=True)) == [first.pk]
    assert new_item_count(run) == 0
    add(dataset, people, "late")
    assert [item.key for item in new_items(run)] == ["late"]


def test_new_items_are_counted_by_one_row_as_long_as_there_are_none(
    run: Run, people: Cast, django_assert_num_queries
) -> None:
    with django_assert_num_queries(1):
        assert new_item_count(run) == 0
    add(run.dataset, people, "late")
    with django_assert_num_queries(2):
        assert new_item_count(run) == 1
    # As for what was added before datasets had versions: one change stands for all of it.
    DatasetChange.objects.filter(dataset=run.dataset).update(created_at=run.dataset.created_at)
    assert new_item_count(run) == 1


def test_corrected_and_restored_items_are_new(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    items = {item.key: item for item in dataset.items.all()}
    retirement.retire(dataset, [items["bad"].pk], by=people.ed)
    chosen = [items["good"].pk]
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, item_ids=chosen)
    corrections.correct_item(items["good"], Correction(submission="Paris."), by=people.ed)
    assert new_item_count(run) == 1
    retirement.restore(dataset, [items["bad"].pk], by=people.ed)
    # What the run left out when it was planned stays left out, even if it goes and comes back.
    retirement.retire(dataset, [items["empty-ish"].pk], by=people.ed)
    retirement.restore(dataset, [items["empty-ish"].pk], by=people.ed)
    assert new_item_count(run) == 2
    assert lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps()) == 2
    assert new_item_count(run) == 0


def test_a_run_by_items_own_rubrics_takes_in_no_item_without_one(people: Cast) -> None:
    own = [{"name": "only", "weight": 1, "requirement": "Names Paris."}]
    dataset = factories.dataset(
        people.team, people.ed, items=[{"id": "own", "submission": "Paris.", "rubric": own}]
    )
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=None)
    add(dataset, people, "bare")
    with pytest.raises(Invalid, match="1 item without a rubric"):
        lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps())
    assert run.run_items.count() == 1


def test_a_run_of_checks_takes_in_no_item_that_needs_a_judge(people: Cast) -> None:
    check = [{"name": "short", "weight": 1, "check": "length_between", "params": {"max": 40}}]
    version = factories.version(people.team, people.ed, title="Checks", criteria=check)
    dataset = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, judge_id="")
    own = [{"name": "only", "weight": 1, "requirement": "Names Paris."}]
    add(dataset, people, "judged", rubric=own)
    with pytest.raises(Invalid, match="criteria for a judge, in a run of checks alone"):
        lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps())


@pytest.mark.parametrize("whose", ["run", "month"])
def test_a_cap_that_was_raised_while_it_refused_a_call_pauses_nothing(
    run: Run, people: Cast, whose: str
) -> None:
    why = "The next call would pass it."
    refused_by = Run.objects.select_related("team").get(pk=run.pk)
    if whose == "run":
        lifecycle.set_budget(run, by=people.ed, budget_usd=10.0)
    else:
        budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=10.0)
    assert not lifecycle.pause_for_money(refused_by, why=why)
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert lifecycle.pause_for_money(Run.objects.get(pk=run.pk), why=why)
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (RunState.PAUSED, why)


def test_a_run_its_cap_paused_says_so_once_whoever_else_was_refused(run: Run) -> None:
    why = "The next call would pass it."
    refused = [Run.objects.select_related("team").get(pk=run.pk) for _worker in range(2)]
    paused = [lifecycle.pause_for_money(one, why=why) for one in refused]
    assert paused == [True, False]
    lines = RunEvent.objects.filter(run=run, message__contains=why)
    assert [(line.kind, line.message) for line in lines] == [("paused", f"Paused: {why}")]
