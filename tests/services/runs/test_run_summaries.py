"""A run that stops is summed up, and nobody who works on it waits for that."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from rubricweb.judges.base import JudgeError
from rubricweb.models import Run, RunCriterionSummary, RunItem, RunState, RunSummary
from rubricweb.services.grading.workers import reaper
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import WakeUps
from tests.judging import InProcessJudge, grade

pytestmark = pytest.mark.django_db(transaction=True)

SCORES = 'SELECT "rubricweb_runitem"."score"'


@pytest.fixture
def run(people: factories.Cast) -> Run:
    """Three items: one scored, one failed, one open; running again."""

    def judge(requirement: str, response: str) -> str | JudgeError:
        return "MET" if "capital" in response else JudgeError("connection", "connection refused")

    made = grade(
        factories.run(
            people.team,
            people.ed,
            dataset=factories.dataset(people.team, people.ed),
            rubric_version=factories.version(people.team, people.ed),
        ),
        InProcessJudge(judge),
    )
    RunItem.objects.filter(run=made, item__key="empty-ish").update(graded_at=None, score=None)
    lifecycle.resume_run(made, by=None, enqueue=WakeUps(), error_kinds=())
    return made


def while_summing_up(do: Callable[[], object], times: int = 1) -> Any:
    """Has `do` happen right after the scores were read, at the first so many readings."""
    left = [do] * times

    def reading(execute: Any, sql: str, *rest: Any) -> Any:
        found = execute(sql, *rest)
        if SCORES in sql and left:
            left.pop()()
        return found

    return connection.execute_wrapper(reading)


def late_answer(run: Run) -> None:
    """What a call in flight brings: the open item is scored."""
    RunItem.objects.filter(run=run, item__key="empty-ish").update(
        graded_at=timezone.now(), score=0.25, errors=0
    )


@pytest.mark.parametrize("stop", ["pause", "cancel", "give up", "finish"])
def test_what_stops_a_run_holds_it_for_no_score_and_no_verdict(run: Run, stop: str) -> None:
    held: list[str] = []

    def look(execute: Any, sql: str, *rest: Any) -> Any:
        if connection.in_atomic_block:
            held.append(sql)
        return execute(sql, *rest)

    now = timezone.now()
    if stop == "finish":
        late_answer(run)
    with connection.execute_wrapper(look):
        if stop == "pause":
            lifecycle.pause_run(run, by=None)
        elif stop == "cancel":
            lifecycle.cancel_run(run, by=None, now=now)
        elif stop == "give up":
            lifecycle.give_up(run, "The judge did not answer.", now)
        else:
            lifecycle.finish_if_done(run, now)
    assert any("UPDATE" in sql for sql in held)
    assert not [sql for sql in held if SCORES in sql or "rubricweb_judgement" in sql]
    summary = RunSummary.objects.get(run=run)
    assert (summary.items, summary.scored) == (3, 2 if stop == "finish" else 1)
    assert RunCriterionSummary.objects.filter(run=run).count() == 3


@pytest.mark.parametrize("end", ["finish", "give up"])
def test_whoever_sees_that_a_run_has_ended_sees_its_summary(run: Run, end: str) -> None:
    summaries: list[bool] = []

    def look(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith('UPDATE "rubricweb_run" SET "state"'):
            transaction.on_commit(lambda: summaries.append(RunSummary.objects.filter(run=run).exists()))
        return execute(sql, *rest)

    now = timezone.now()
    with connection.execute_wrapper(look):
        if end == "finish":
            late_answer(run)
            lifecycle.finish_if_done(run, now)
        else:
            lifecycle.give_up(run, "The judge did not answer.", now)
    assert summaries == [True]


@pytest.mark.parametrize("times", [1, 5])
def test_an_answer_that_comes_while_a_run_is_summed_up_is_counted(run: Run, times: int) -> None:
    """Also where the run's rows change every time: it is summed up all the same."""
    with while_summing_up(lambda: late_answer(run), times):
        lifecycle.pause_run(run, by=None)
    assert RunSummary.objects.get(run=run).scored == 2


def test_a_run_that_is_resumed_while_it_is_summed_up_has_no_summary(run: Run) -> None:
    with while_summing_up(lambda: lifecycle.resume_run(run, by=None, enqueue=WakeUps(), error_kinds=())):
        lifecycle.pause_run(run, by=None)
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert not RunSummary.objects.filter(run=run).exists()
    assert not RunCriterionSummary.objects.filter(run=run).exists()


def test_a_sweep_sums_up_what_a_killed_process_left(run: Run) -> None:
    lifecycle.pause_run(run, by=None)
    before = RunSummary.objects.values().get(run=run)
    RunSummary.objects.all().delete()
    RunCriterionSummary.objects.all().delete()
    reaper.reap(enqueue=WakeUps(), now=timezone.now())
    assert RunSummary.objects.values().get(run=run) | {"id": before["id"]} == before
    assert RunCriterionSummary.objects.filter(run=run).count() == 3
