"""What one worker's session does with several runs, equal questions, stops, money and an absent database."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from rubricweb.judges.base import JudgeConfig, JudgeError
from rubricweb.models import JudgeCall, Judgement, Run, RunEvent, RunItem, RunState, RunTally
from rubricweb.services import bulk_rows, claims, grading, panels, runs
from rubricweb.services.panels import Member, Panel
from rubricweb.services.shares import Share
from tests import factories
from tests.factories import Bells, Cast
from tests.judging import InProcessJudge, LabelJudge, grade, session


def met(requirement: str, response: str) -> str:
    return "MET"


def planned(people: Cast, items: int, name: str = "many", *, team: Any = None, **options: Any) -> Run:
    """A run over so many items of three criteria: three questions each."""
    team = team or people.team
    by = people.ed if team == people.team else people.charlie
    lines = [{"id": f"{name} {n}", "submission": f"Text {n} of {name}."} for n in range(items)]
    return factories.run(
        team,
        by,
        dataset=factories.dataset(team, by, name=name, items=lines),
        rubric_version=factories.version(team, by),
        **options,
    )


def tally(run: Run) -> RunTally:
    [found] = RunTally.objects.filter(run=run)
    return found


def test_a_session_grades_all_running_runs_and_small_ones_do_not_wait_for_large_ones(people: Cast) -> None:
    large = planned(people, 120, "large")
    small = planned(people, 2, "small")
    judge = InProcessJudge(met)
    assert grading.grade(large.pk, now=timezone.now, line=judge.line) == []
    for run in (large, small):
        run.refresh_from_db()
        assert run.state == RunState.FINISHED
    assert len(judge.asked) == 122 * 3
    ended = [number for number, (_, response) in enumerate(judge.asked) if "small" in response]
    assert max(ended) < 366 / 3  # among the first third, though it was started last


def test_a_session_alone_leaves_other_runs_alone(people: Cast) -> None:
    mine, other = planned(people, 2, "mine"), planned(people, 2, "other")
    grade(mine, InProcessJudge(met))
    assert not JudgeCall.objects.filter(run=other).exists()


def test_what_breaks_in_one_run_ends_that_run_only(people: Cast) -> None:
    sound, broken = planned(people, 3, "sound"), planned(people, 3, "broken")

    def answer(requirement: str, response: str) -> str:
        if "broken" in response:
            raise RuntimeError("a bug")
        return "MET"

    with pytest.raises(RuntimeError, match="a bug"):
        grading.grade(sound.pk, now=timezone.now, line=InProcessJudge(answer).line)
    for run, state in ((sound, RunState.FINISHED), (broken, RunState.FAILED)):
        run.refresh_from_db()
        assert run.state == state
    assert not RunItem.objects.filter(leased_until__isnull=False).exists()


# ── Asked once ───────────────────────────────────────────────────────────────────────────────────


def test_the_same_run_again_asks_nothing_and_costs_nothing(people: Cast) -> None:
    first = planned(people, 4, use_cache=True)
    grade(first, InProcessJudge(met))
    again = factories.run(
        people.team,
        people.ed,
        dataset=first.dataset,
        rubric_version=first.rubric_version,
        use_cache=True,
    )
    judge = InProcessJudge(met)
    grade(again, judge)
    assert judge.asked == []
    assert Judgement.objects.filter(run=again, verdict="MET").count() == 12
    assert (tally(again).calls, tally(again).cached, tally(again).cost_usd) == (0, 12, 0.0)
    sources = JudgeCall.objects.filter(run=again).values_list("cached_from__run", flat=True)
    assert set(sources) == {first.pk}
    assert (again.summary.prompt_tokens, again.summary.cost_usd) == (0, 0.0)


def test_another_team_pays_for_its_own_answers(people: Cast) -> None:
    grade(planned(people, 2, use_cache=True), InProcessJudge(met))
    judge = InProcessJudge(met)
    grade(planned(people, 2, team=people.other_team, use_cache=True), judge)
    assert len(judge.asked) == 6


def test_items_with_the_same_words_are_asked_about_once(people: Cast) -> None:
    lines = [{"id": str(n), "submission": "The very same."} for n in range(5)]
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=lines),
        rubric_version=factories.version(people.team, people.ed),
        use_cache=True,
    )
    judge = InProcessJudge(met)
    grade(run, judge)
    assert len(judge.asked) == 3  # one per criterion
    assert Judgement.objects.filter(run=run, verdict="MET").count() == 15
    assert (tally(run).calls, tally(run).cached) == (3, 12)


def test_a_failure_is_nobody_elses_answer(people: Cast) -> None:
    lines = [{"id": str(n), "submission": "The very same."} for n in range(3)]
    asked: Counter[str] = Counter()

    def second_time(requirement: str, response: str) -> str | JudgeError:
        asked[requirement] += 1
        return JudgeError("timeout", "late") if asked[requirement] == 1 else "MET"

    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=lines),
        rubric_version=factories.version(people.team, people.ed),
        use_cache=True,
    )
    grade(run, InProcessJudge(second_time))
    # Per criterion: the first fails, the second is asked anew, the third takes its answer.
    assert set(asked.values()) == {2}
    assert Judgement.objects.filter(run=run, error_kind="timeout").count() == 3
    assert Judgement.objects.filter(run=run, verdict="MET").count() == 6


def test_votes_are_independent_though_members_ask_alike(people: Cast) -> None:
    judge = JudgeConfig("j", "http://127.0.0.1:9/v1", "m", allow_private_hosts=True)
    panel = Panel([Member("x", name=name, config=judge) for name in ("a", "b")], repeats=2)
    run = planned(people, 2, judge_id="", panel=panel, use_cache=True)
    asked = LabelJudge(lambda name, requirement, response: "MET")
    grade(run, asked)
    assert len(asked.asked) == 2 * 3 * 2 * 2
    assert tally(run).cached == 0


def test_an_answer_that_can_no_longer_be_read_is_asked_for_anew(people: Cast) -> None:
    first = planned(people, 1, use_cache=True)
    grade(first, InProcessJudge(met))
    JudgeCall.objects.filter(run=first).update(reply="Well, it depends.")
    again = factories.run(
        people.team, people.ed, dataset=first.dataset, rubric_version=first.rubric_version, use_cache=True
    )
    judge = InProcessJudge(met)
    grade(again, judge)
    assert len(judge.asked) == 3
    assert Judgement.objects.filter(run=again, verdict="MET").count() == 3


# ── Stopping ─────────────────────────────────────────────────────────────────────────────────────


def stops(run: Run, stop: Callable[[Run], object], after: int) -> InProcessJudge:
    """A judge during whose answer number `after` somebody stops the run.

    It takes a moment for each: the session looks for stopped runs every tenth of a second only.
    """
    judge = InProcessJudge(met)

    def answer(requirement: str, response: str) -> str:
        time.sleep(0.01)
        if len(judge.asked) == after:
            stop(run)
        return "MET"

    judge.answer = answer
    return judge


@pytest.mark.django_db(transaction=True)  # the heartbeat writes meanwhile
@pytest.mark.parametrize("stop", [runs.pause_run, runs.cancel_run])
def test_a_stopped_run_keeps_what_came_and_gives_its_items_back(people: Cast, stop, settings) -> None:
    settings.GRADING_CHUNK_ITEMS = 4
    run = planned(people, 40)
    judge = stops(run, lambda run: stop(run, by=None, now=timezone.now()), after=5)
    session(run, judge)
    stored = JudgeCall.objects.filter(run=run).count()
    assert stored == len(judge.asked) < 120
    assert tally(run).calls == stored
    assert run.summary.verdicts == stored
    assert not RunItem.objects.filter(run=run, leased_until__isnull=False).exists()
    assert runs.resume_run(run, by=None, enqueue=Bells()) > 0
    grade(run, judge)
    assert (run.state, len(judge.asked)) == (RunState.FINISHED, 120)


def test_a_worker_told_to_leave_says_what_it_leaves(people: Cast, settings) -> None:
    settings.GRADING_CHUNK_ITEMS = 2
    run = planned(people, 40)
    judge = InProcessJudge(met)
    assert session(run, judge, leave=lambda: bool(judge.asked)) == [run.pk]
    assert not RunItem.objects.filter(run=run, graded_at=None, leased_until__isnull=False).exists()
    assert session(run, judge) == []
    assert len(judge.asked) == 120


# ── Money ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.django_db(transaction=True)  # the heartbeat writes meanwhile
def test_a_run_pauses_before_its_budget_is_passed(people: Cast) -> None:
    # The judge of these tests counts 100 tokens in, 0.001 dollars; its prompts are longer than 400 bytes, so
    # that every call is expected to cost more.
    priced = JudgeConfig(
        "p",
        "http://127.0.0.1:9/v1",
        "m",
        input_usd_per_million=10.0,
        output_usd_per_million=0.0,
        concurrency=2,
        allow_private_hosts=True,
    )
    run = planned(people, 200, judge_id="p", judge=priced, budget_usd=0.1)
    judge = InProcessJudge(met)
    session(run, judge)
    run.refresh_from_db()
    assert run.state == RunState.PAUSED
    assert "would pass the run's budget of $0.1000" in run.stop_reason
    assert 0 < tally(run).cost_usd <= 0.1
    assert tally(run).reserved_usd == pytest.approx(0.0)
    assert RunEvent.objects.filter(run=run, kind="budget").exists()
    assert not RunItem.objects.filter(run=run, leased_until__isnull=False).exists()


# ── A database that is away ──────────────────────────────────────────────────────────────────────


@pytest.mark.django_db(transaction=True)
def test_replies_are_kept_while_the_database_is_away() -> None:
    people = factories.cast()
    run = planned(people, 3)
    refused: list[str] = []

    def away(execute, sql, params, many, context):
        if "rubricweb_judgement" in sql and sql.startswith("INSERT") and len(refused) < 2:
            refused.append(sql)
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, params, many, context)

    judge = InProcessJudge(met)
    with connection.execute_wrapper(away):
        grade(run, judge)
    assert len(refused) == (2 if connection.vendor == "sqlite" else 0)  # PostgreSQL is sent a COPY
    assert run.state == RunState.FINISHED
    assert len(judge.asked) == 9
    assert JudgeCall.objects.filter(run=run).count() == tally(run).calls == 9
    assert Judgement.objects.filter(run=run, verdict="MET").count() == 9
    assert RunEvent.objects.filter(run=run, kind="database").exists() == bool(refused)


def test_what_was_committed_without_our_knowing_is_not_counted_twice(people: Cast) -> None:
    run = planned(people, 2)
    now = timezone.now()
    share = Share(run, panels.judges_of(run), "worker:1", timezone.now)
    assert share.take_in(claims.claim(run, "worker:1", now, 2)) == []
    share.pay()
    judge = InProcessJudge(met)
    batch = share.batch(list(judge(share.judges[run.judge["name"]], share.paid)))
    share.ledger.store(batch, now)
    share.ledger.store(batch, now)
    assert share.settle(batch) == []
    assert (share.outstanding, share.items) == (0, {})
    assert JudgeCall.objects.filter(run=run).count() == tally(run).calls == 6
    assert RunItem.objects.filter(run=run, graded_at__isnull=False).count() == 2


# ── Rows ─────────────────────────────────────────────────────────────────────────────────────────


def test_what_no_database_stores_is_replaced(people: Cast) -> None:
    run = planned(people, 1)
    judge = InProcessJudge(
        lambda requirement, response: '{"explanation": "a\\u0000b \\ud800", "criterion_status": "MET"}'
    )
    grade(run, judge)
    assert run.state == RunState.FINISHED
    assert set(Judgement.objects.filter(run=run).values_list("reason", flat=True)) == {"a\ufffdb ?"}


def test_ids_are_nobody_elses(people: Cast) -> None:
    run = planned(people, 1)
    grade(run, InProcessJudge(met))
    newest = max(JudgeCall.objects.values_list("pk", flat=True))
    ids = bulk_rows.reserve_ids(JudgeCall, 3)
    assert len(set(ids)) == 3
    assert min(ids) > newest
