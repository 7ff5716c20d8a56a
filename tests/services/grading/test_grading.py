"""What a run stores, and what it never asks twice."""

from itertools import cycle

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeError
from rubricweb.models import Judgement, Run, RunItem, RunState
from rubricweb.services.grading import leases
from rubricweb.services.grading.workers import reaper
from rubricweb.services.grading.workers.registry import worker_name
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import InProcessJudge, grade, session


def by_the_book(requirement: str, response: str) -> str:
    """good: MET MET UNMET; bad: MET MET MET; empty-ish: UNMET MET UNMET."""
    if "Names Paris" in requirement:
        return "MET" if "Paris" in response else "UNMET"
    if "two sentences" in requirement:
        return "MET"
    return "MET" if "Belgium" in response else "UNMET"


@pytest.fixture
def run(people: Cast) -> Run:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    return factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)


def test_every_verdict_is_stored_and_the_scores_follow_the_rubric(run: Run) -> None:
    judge = InProcessJudge(by_the_book)
    grade(run, judge)
    assert run.state == RunState.FINISHED
    assert Judgement.objects.filter(run=run).count() == 9
    scores = dict(RunItem.objects.filter(run=run).values_list("item__key", "score"))
    # weights 10, 5, −15; P = 15. good 15/15; bad (10 + 5 − 15)/15 = 0; empty-ish 5/15.
    assert scores == {"good": 1.0, "bad": 0.0, "empty-ish": pytest.approx(1 / 3)}
    assert run.summary.score_mean == pytest.approx(4 / 9)
    assert run.summary.coverage == 1.0
    assert run.summary.prompt_tokens == 900
    assert run.summary.cost_usd == pytest.approx(0.009)
    counts = [(row.met, row.unmet) for row in run.criterion_summaries.all()]
    assert counts == [(2, 1), (3, 0), (1, 2)]


def test_grading_again_asks_nothing(run: Run) -> None:
    judge = InProcessJudge(by_the_book)
    grade(run, judge)
    assert len(judge.asked) == 9
    assert session(run, judge) == []
    assert len(judge.asked) == 9


def test_two_workers_never_claim_the_same_item(run: Run) -> None:
    first = leases.claim(run, "one:1", timezone.now(), 2)
    second = leases.claim(run, "two:2", timezone.now(), 2)
    assert [len(first), len(second)] == [2, 1]
    assert not set(first) & set(second)


def test_one_failed_criterion_is_its_own_error_and_costs_nothing_else(run: Run) -> None:
    def answer(requirement: str, response: str) -> str | JudgeError:
        if "two sentences" in requirement and "Belgium" in response:
            return JudgeError("timeout", "no answer within 60 s, 5 attempts")
        return by_the_book(requirement, response)

    grade(run, InProcessJudge(answer))
    assert run.state == RunState.FINISHED
    failed = Judgement.objects.get(run=run, verdict=None)
    assert (failed.error_kind, failed.criterion.name, failed.item.key) == ("timeout", "concise", "bad")
    row = RunItem.objects.get(run=run, item__key="bad")
    # Σ|w| = 30, of which 25 judged; raw = 10 − 15 = −5 over P = 10 → clamped to 0.
    assert (row.errors, row.coverage, row.score) == (1, pytest.approx(25 / 30), 0.0)
    assert run.summary.errors == 1


def test_an_unreadable_reply_is_an_error_never_a_verdict(run: Run) -> None:
    grade(run, InProcessJudge(lambda requirement, response: "Well, it depends."))
    assert not Judgement.objects.filter(run=run, verdict__isnull=False).exists()
    assert set(RunItem.objects.filter(run=run).values_list("score", "coverage")) == {(None, 0.0)}
    assert run.summary.score_mean is None


def test_resuming_asks_only_for_what_failed(run: Run) -> None:
    broken = InProcessJudge(
        lambda requirement, response: (
            JudgeError("rate_limited", "429")
            if "Names Paris" in requirement
            else by_the_book(requirement, response)
        )
    )
    grade(run, broken)
    assert Judgement.objects.filter(run=run, error_kind="rate_limited").count() == 3
    wake_ups = WakeUps()
    assert lifecycle.resume_run(run, by=None, enqueue=wake_ups) == 3
    mended = InProcessJudge(by_the_book)
    grade(run, mended)
    assert {requirement for requirement, _ in mended.asked} == {"Names Paris as the capital."}
    assert len(mended.asked) == 3
    assert Judgement.objects.filter(run=run, verdict__isnull=False).count() == 9
    assert run.summary.errors == 0


def test_resuming_one_class_of_errors_leaves_the_others(run: Run) -> None:
    kinds = iter(["timeout", "refused"] * 5)
    grade(run, InProcessJudge(lambda requirement, response: JudgeError(next(kinds), "failed")))
    lifecycle.resume_run(run, by=None, enqueue=WakeUps(), error_kinds=["timeout"])
    assert set(Judgement.objects.filter(run=run).values_list("error_kind", flat=True)) == {"refused"}


def test_a_run_that_is_running_cannot_be_resumed(run: Run) -> None:
    with pytest.raises(Conflict, match="already running"):
        lifecycle.resume_run(run, by=None, enqueue=WakeUps())


def test_cancelling_keeps_verdicts_and_resuming_goes_on_from_there(run: Run, settings) -> None:
    settings.GRADING_CHUNK_ITEMS = 1
    judge = InProcessJudge(by_the_book)
    assert session(run, judge, shutting_down=lambda: len(judge.asked) >= 3) == [run.pk]
    lifecycle.cancel_run(run, by=None, now=timezone.now())
    assert run.state == RunState.CANCELLED
    assert session(run, judge) == []
    assert Judgement.objects.filter(run=run).count() == 3
    assert lifecycle.resume_run(run, by=None, enqueue=WakeUps()) == 2
    grade(run, judge)
    assert run.state == RunState.FINISHED
    assert len(judge.asked) == 9


def test_an_unreachable_judge_ends_the_run_and_says_so(people: Cast) -> None:
    items = [{"id": f"item {n}", "submission": f"Text {n}."} for n in range(40)]
    dataset = factories.dataset(people.team, people.ed, items=items)
    version = factories.version(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    kinds = cycle(["connection", "timeout"])
    judge = InProcessJudge(lambda requirement, response: JudgeError(next(kinds), "nobody there"))
    grade(run, judge)
    assert run.state == RunState.FAILED
    assert "nobody there" in run.stop_reason
    assert len(judge.asked) < 120
    lifecycle.resume_run(run, by=None, enqueue=WakeUps())
    grade(run, InProcessJudge(by_the_book))
    assert run.state == RunState.FINISHED
    assert Judgement.objects.filter(run=run, verdict__isnull=False).count() == 120


def test_a_fault_of_ours_ends_the_run_instead_of_paying_for_it_again(run: Run) -> None:
    def broken(requirement: str, response: str) -> str:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError):
        session(run, InProcessJudge(broken))
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (
        RunState.FAILED,
        "An internal error stopped the run: RuntimeError: a bug",
    )
    assert not RunItem.objects.filter(run=run, leased_until__isnull=False).exists()


def test_the_sweeper_rings_for_a_stalled_run_and_not_for_one_in_work(run: Run) -> None:
    wake_ups = WakeUps()
    now = timezone.now()
    assert reaper.reap(enqueue=wake_ups, now=now) == [run.pk]
    leases.claim(run, "elsewhere:1", now, 3)
    assert reaper.reap(enqueue=wake_ups, now=now) == []


def test_the_sweeper_frees_what_a_dead_process_of_this_machine_held(run: Run) -> None:
    now = timezone.now()
    gone = worker_name().rpartition(":")[0] + ":4194301"  # above any real pid
    leases.claim(run, gone, now, 3)
    assert reaper.reap(enqueue=WakeUps(), now=now) == [run.pk]


def test_bells_ring_once_the_run_is_committed(people: Cast, django_capture_on_commit_callbacks) -> None:
    wake_ups = WakeUps()
    with django_capture_on_commit_callbacks(execute=True):
        run = factories.run(
            people.team,
            people.ed,
            dataset=factories.dataset(people.team, people.ed),
            rubric_version=factories.version(people.team, people.ed),
            enqueue=wake_ups,
        )
        assert wake_ups.notified == []
    assert wake_ups.notified == [run.pk]


def test_an_items_own_rubric_wins_over_the_runs(people: Cast) -> None:
    own = [{"name": "only", "weight": 1, "requirement": "Names Paris."}]
    items = [*factories.ITEMS[:1], {"id": "own", "submission": "Paris.", "rubric": own}]
    dataset = factories.dataset(people.team, people.ed, items=items)
    run = factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=factories.version(people.team, people.ed)
    )
    judge = InProcessJudge(by_the_book)
    grade(run, judge)
    assert len(judge.asked) == 4
    assert RunItem.objects.get(run=run, item__key="own").score == 1.0


def test_items_without_any_rubric_are_refused(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed)
    with pytest.raises(Invalid, match="3 items of capital answers bring no rubric"):
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=None)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"autograder": "best"}, "'best' is not an autograder. Known: per_criterion, one_shot"),
        ({"judge_id": "endpoint-99"}, "There is no judge 'endpoint-99' here. Known: offline"),
        ({"reply_format": "poem"}, "reply_format"),
    ],
)
def test_unknown_names_are_refused_with_what_is_known(people: Cast, option, message) -> None:
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    with pytest.raises(Invalid, match=message):
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, **option)
    assert not Run.objects.exists()
