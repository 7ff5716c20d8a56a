"""What one worker's session does with several runs, equal questions, stops, money and an absent database."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from rubricweb.judges.base import JudgeConfig, JudgeError, Reply
from rubricweb.judges.pool import Answered
from rubricweb.judges.rate_limit.store import endpoint_key
from rubricweb.models import JudgeCall, Judgement, Run, RunEvent, RunItem, RunState, RunTally
from rubricweb.selectors.runs.progress import progress
from rubricweb.services.endpoints import endpoints
from rubricweb.services.grading import session as grading
from rubricweb.services.grading.worker_run import WorkerRun
from rubricweb.services.grading.writer import Writer
from rubricweb.services.runs import lifecycle, panels
from rubricweb.services.runs.panels import Panel, PanelMember
from rubricweb.services.shared import bulk_rows
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import InProcessJudge, InProcessLine, LabelJudge, grade, pause, session
from tests.services.grading.batches.providers import Answer, completion, desk
from tests.waiting import PATIENCE_SECONDS, wait_for


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
    assert grading.grade(large.pk, now=timezone.now, queue=judge.line) == []
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
        grading.grade(sound.pk, now=timezone.now, queue=InProcessJudge(answer).line)
    for run, state in ((sound, RunState.FINISHED), (broken, RunState.FAILED)):
        run.refresh_from_db()
        assert run.state == state
    assert not RunItem.objects.filter(leased_until__isnull=False).exists()


def test_who_waits_for_the_answers_of_a_run_that_breaks_asks_anew(
    people: Cast, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GRADING_SESSION_SECONDS = 2
    broken = planned(people, 2, use_cache=True)
    sound = factories.run(
        people.team,
        people.ed,
        dataset=broken.dataset,
        rubric_version=broken.rubric_version,
        use_cache=True,
    )
    whole = Writer.store

    def store(self: Writer, *arguments: Any) -> None:
        if self.run.pk == broken.pk:
            raise RuntimeError("a bug")
        whole(self, *arguments)

    monkeypatch.setattr(Writer, "store", store)
    judge = InProcessJudge(met)
    with pytest.raises(RuntimeError, match="a bug"):
        grading.grade(broken.pk, now=timezone.now, queue=judge.line)
    for run, state in ((sound, RunState.FINISHED), (broken, RunState.FAILED)):
        run.refresh_from_db()
        assert run.state == state
    # Two items of three questions, for either run: each question once.
    assert len(judge.asked) == 2 * 2 * 3


class OneByOne(InProcessLine):
    """A line whose answers come one at a time."""

    def take(self, seconds: float, at_least: int = 1) -> list[Answered]:
        later, self._waiting = self._waiting[1:], self._waiting[:1]
        taken = super().take(seconds, at_least)
        self._waiting += later
        return taken


@pytest.mark.django_db(transaction=True)  # the heartbeat writes meanwhile
def test_answers_to_what_another_worker_has_graded_meanwhile_are_paid_for_and_harm_nothing(
    people: Cast,
) -> None:
    run = planned(people, 2)
    held_up = InProcessJudge(met)

    def answer(requirement: str, response: str) -> str:
        if len(held_up.asked) == 1:  # stopped here until its lease on this item had run out
            RunItem.objects.filter(run=run, item__submission=response).update(leased_until=timezone.now())
            session(run, InProcessJudge(met))
        return "MET"

    held_up.answer = answer
    assert grading.grade(run.pk, now=timezone.now, queue=lambda: OneByOne(held_up), only_this_run=True) == []
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (RunState.FINISHED, "")
    assert Judgement.objects.filter(run=run, verdict="MET").count() == 6
    # Of the first item three questions were asked twice: they were on their way.
    assert tally(run).calls == JudgeCall.objects.filter(run=run).count() == 3 + len(held_up.asked) == 9


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
    panel = Panel([PanelMember("x", name=name, config=judge) for name in ("a", "b")], repeats=2)
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
@pytest.mark.parametrize("stop", [pause, lifecycle.cancel_run])
def test_a_stopped_run_keeps_what_came_and_gives_its_items_back(people: Cast, stop, settings) -> None:
    settings.GRADING_CHUNK_ITEMS = 4
    run = planned(people, 40)
    judge = stops(run, lambda run: stop(run, by=None, now=timezone.now()), after=5)
    session(run, judge)
    stored = JudgeCall.objects.filter(run=run).count()
    assert stored == len(judge.asked) < 120
    assert tally(run).calls == stored
    assert Judgement.objects.filter(run=run).count() == stored
    seen = progress(run, viewer=None, now=timezone.now())
    assert run.summary.verdicts == seen.verdicts == 3 * seen.graded
    assert not RunItem.objects.filter(run=run, leased_until__isnull=False).exists()
    assert lifecycle.resume_run(run, by=None, enqueue=WakeUps()) > 0
    grade(run, judge)
    assert (run.state, len(judge.asked)) == (RunState.FINISHED, 120)


def test_a_worker_told_to_leave_says_what_it_leaves(people: Cast, settings) -> None:
    settings.GRADING_CHUNK_ITEMS = 2
    run = planned(people, 40)
    judge = InProcessJudge(met)
    assert session(run, judge, shutting_down=lambda: bool(judge.asked)) == [run.pk]
    assert not RunItem.objects.filter(run=run, graded_at=None, leased_until__isnull=False).exists()
    assert session(run, judge) == []
    assert len(judge.asked) == 120


@pytest.mark.django_db(transaction=True)  # the session has a thread of its own
def test_when_its_time_is_up_nobody_waits_for_an_endpoint_they_do_not_ask(people: Cast, settings) -> None:
    settings.GRADING_SESSION_SECONDS = 3
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    released, over = threading.Event(), threading.Event()

    def answer(method: str, path: str) -> Answer:
        if path.startswith("/slow"):
            released.wait(PATIENCE_SECONDS)
        return "application/json", completion("MET")

    def work() -> None:
        grading.grade(slow.pk, now=timezone.now)
        over.set()
        connection.close()

    with desk(answer) as (url, asked):
        ids = {
            name: endpoints.add_endpoint(
                people.team, by=people.alice, name=name, base_url=url.replace("/v1", f"/{name}/v1"), model="m"
            ).pk
            for name in ("slow", "quick")
        }
        slow = planned(people, 1, "slow", judge_id=f"endpoint-{ids['slow']}")
        worker = threading.Thread(target=work)
        worker.start()
        try:
            wait_for(lambda: bool(asked))
            time.sleep(settings.GRADING_SESSION_SECONDS + 0.5)
            assert not over.is_set()
            quick = planned(people, 2, "quick", judge_id=f"endpoint-{ids['quick']}")
            wait_for(lambda: Run.objects.get(pk=quick.pk).state == RunState.FINISHED)
            assert not over.is_set()
        finally:
            released.set()
            worker.join(PATIENCE_SECONDS)
    assert over.is_set()
    assert JudgeCall.objects.filter(run=slow, error_kind=None).exists()
    assert len(asked) == JudgeCall.objects.count()


class FallenBack(InProcessJudge):
    """Its model is gone, and the fallback model answers."""

    def __call__(self, *arguments: Any, **options: Any) -> Iterator[Reply]:
        for reply in super().__call__(*arguments, **options):
            yield replace(reply, attempts=2, fallback=True)


def test_asking_the_fallback_model_is_not_told_as_asking_again(people: Cast) -> None:
    run = planned(people, 2)
    session(run, FallenBack(met))
    log = dict(RunEvent.objects.filter(run=run).values_list("kind", "count"))
    assert (log.get("fell_back"), log.get("retried")) == (6, None)


@pytest.mark.django_db(transaction=True)  # the session has a thread of its own
def test_a_run_that_is_answered_429_and_nothing_else_says_so_before_any_question_has_ended(
    people: Cast, settings
) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    enough = threading.Event()

    def work() -> None:
        grading.grade(run.pk, now=timezone.now, shutting_down=enough.is_set)
        connection.close()

    with desk(lambda method, path: (429, b'{"error": {"message": "slow down"}}')) as (url, _):
        endpoint = endpoints.add_endpoint(
            people.team, by=people.alice, name="crowded", base_url=url, model="m"
        )
        run = planned(people, 10, judge_id=f"endpoint-{endpoint.pk}")
        worker = threading.Thread(target=work)
        worker.start()
        try:
            wait_for(lambda: progress(run, viewer=None, now=timezone.now()).waiting == "throttled")
            assert not JudgeCall.objects.exists()
        finally:
            enough.set()
            worker.join(PATIENCE_SECONDS)


@pytest.mark.django_db(transaction=True)  # the server of the endpoint looks into the database
def test_an_endpoint_that_is_removed_while_a_run_asks_it_is_sent_nothing_more(people: Cast, settings) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    turn = itertools.count(1)

    def answer(method: str, path: str) -> Answer:
        if next(turn) == 40:
            endpoints.remove_endpoint(endpoint, by=people.alice, now=timezone.now())
        time.sleep(0.1)
        return "application/json", completion("MET")

    with desk(answer) as (url, asked):
        endpoint = endpoints.add_endpoint(people.team, by=people.alice, name="gone", base_url=url, model="m")
        run = planned(people, 400, judge_id=f"endpoint-{endpoint.pk}")
        grading.grade(run.pk, now=timezone.now)
    run.refresh_from_db()
    assert (run.state, "was removed" in run.stop_reason) == (RunState.FAILED, True)
    # At 16 at once and ten answers a second each 160 go out in the second in which nobody has looked yet.
    assert tally(run).calls == len(asked) < 1200 / 2


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
    assert "would pass the run's budget of $0.10" in run.stop_reason
    assert 0 < tally(run).cost_usd <= 0.1
    assert tally(run).reserved_usd == pytest.approx(0.0)
    assert RunEvent.objects.filter(run=run, kind="paused").exists()
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
    work = WorkerRun(run, panels.judges_of(run), "worker:1", timezone.now)
    assert work.claim(most=2)
    assert work.open_claimed() == []
    work.funding.reserve()
    judge = InProcessJudge(met)
    batch = work.batch(list(judge(work.judges[run.judge.name], work.funding.funded)))
    work.writer.store(batch, now)
    work.writer.store(batch, now)
    assert work.after_storing(batch) == []
    assert (work.unanswered, work.items) == (0, {})
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


def test_a_run_is_told_of_the_pace_of_its_own_key_and_of_its_fallback(people: Cast) -> None:
    judge = JudgeConfig("judge", "http://127.0.0.1:9/v1", "large", fallback_model="small", api_key="ours")
    work = WorkerRun(planned(people, 1), {"judge": judge}, "worker:1", timezone.now)
    theirs = replace(judge, api_key="theirs")
    told = [work.asks(endpoint_key(one)) for one in (judge, judge.as_fallback(), theirs)]
    assert told == [True, True, False]
