"""Runs by the provider's batch interface, against a server that has one: what is asked, paid, stored, and
what a kill at any point costs.
"""

import pytest

from rubricweb.errors import Invalid
from rubricweb.judges.offline.script import Fail, Lexical, Say
from rubricweb.models import (
    BatchJob,
    JudgeCall,
    JudgeEndpoint,
    Judgement,
    Run,
    RunEvent,
    RunItem,
    RunMode,
    RunState,
    RunTally,
)
from rubricweb.selectors.runs.planning.forecasts import Range
from rubricweb.selectors.runs.progress import progress
from rubricweb.selectors.spending.spending import run_spending
from rubricweb.services.endpoints import prices
from rubricweb.services.grading import session
from rubricweb.services.grading.batches import schedule
from rubricweb.services.runs import lifecycle
from rubricweb.services.runs.planning import plan_run
from rubricweb.services.runs.starting import RunOptions
from tests import factories
from tests.factories import Cast, WakeUps
from tests.services.grading.batches.scripted import MET, Judge, started, until_over
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_batch_is_handed_in_fetched_and_paid_half(people: Cast, endpoint, script: Judge, clock) -> None:
    run = started(people, endpoint)
    assert session.grade(run.pk, now=clock) == [], "nobody asks live what waits for a batch"
    until_over(run, clock)
    assert run.state == RunState.FINISHED
    assert list(Judgement.objects.filter(run=run).values_list("verdict", flat=True)) == ["MET"] * 9
    (tally,) = RunTally.objects.filter(run=run)
    assert (tally.calls, tally.attempts, tally.prompt_tokens) == (9, 9, 9000)
    # 9 × (1,000 × 2 + 100 × 10) / 1,000,000 = 0.027 live, half of it by batch.
    assert tally.cost_usd == pytest.approx(0.0135)
    assert tally.reserved_usd == 0
    assert progress(run, viewer=people.alice, now=clock()).workers == (), "a batch is no worker"
    assert {request.body["model"] for request in script.requests} == {"m"}
    (job,) = run.batches.all()
    assert (job.requests, job.state) == (9, "completed")
    assert not RunItem.objects.filter(run=run).exclude(leased_by="").exists()
    assert RunEvent.objects.filter(run=run, kind="batch").count() == 2


def test_what_a_batch_leaves_open_is_asked_live_and_what_it_refused_for_good_is_an_error(
    people: Cast, endpoint, script: Judge, clock
) -> None:
    script.instead = {
        ("Paris is the capital", "Names Paris"): [Fail(429)],
        ("Belgium", "two sentences"): [Say(None, refusal="no")],
    }
    run = started(people, endpoint)
    assert until_over(run, clock) == [run.pk]
    assert run.state == RunState.RUNNING
    assert Judgement.objects.filter(run=run).count() == 8
    session.grade(run.pk, now=clock)
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    verdicts = Judgement.objects.filter(run=run).values_list("verdict", "error_kind")
    assert sorted(verdicts, key=str) == [("MET", None)] * 8 + [(None, "refused")]
    assert script.count == 10


PARIS = ("Paris is the capital", "Names Paris")
FILTERED = Say("", finish_reason="content_filter", prompt_tokens=1000, completion_tokens=0)
IN_WORDS = "I'm sorry, I cannot help with that."


@pytest.mark.parametrize(
    "failure",
    [
        FILTERED,
        Say("{", finish_reason="length", prompt_tokens=1000, completion_tokens=0),
        Fail(413, "too long"),
    ],
    ids=["refused", "truncated", "bad_request"],
)
def test_what_the_model_failed_at_for_good_in_a_batch_is_asked_of_the_fallback_model(
    people: Cast, endpoint: JudgeEndpoint, script: Judge, clock, failure: Say | Fail
) -> None:
    endpoint.fallback_model = "m2"
    endpoint.save()
    prices.set_price(
        people.team, by=people.alice, model="m2", input_usd_per_million=4.0, output_usd_per_million=20.0
    )
    # Once in the batch, once live; then comes the fallback model.
    script.instead = {PARIS: [failure, failure]}
    run = started(people, endpoint)
    assert until_over(run, clock) == [run.pk]
    assert Judgement.objects.filter(run=run).count() == 8
    session.grade(run.pk, now=clock)
    assert list(Judgement.objects.filter(run=run).values_list("verdict", flat=True)) == ["MET"] * 9
    assert [request.body["model"] for request in script.requests] == ["m"] * 10 + ["m2"]
    assert list(JudgeCall.objects.filter(run=run, fallback=True).values_list("attempts", flat=True)) == [2]
    # Per million 2 in and 10 out live, half of it by batch, 4 and 20 by the fallback model: 8 answers of
    # 1,000 and 100 by batch, 0.012, and one by the fallback model, 0.006. The model that failed had read
    # 1,000 tokens, by batch and once more live: 0.001 + 0.002. A 413 names no tokens.
    paid = 0.018 + (0.003 if isinstance(failure, Say) else 0)
    assert run_spending(run, now=clock()).spent_usd == pytest.approx(paid)


def test_a_refusal_in_words_in_a_batch_is_asked_again_live(people: Cast, endpoint, script, clock) -> None:
    script.instead = {PARIS: [Say(IN_WORDS, prompt_tokens=1000, completion_tokens=100)]}
    run = started(people, endpoint)
    until_over(run, clock)
    session.grade(run.pk, now=clock)
    run.refresh_from_db()
    assert (run.state, script.count) == (RunState.FINISHED, 10)
    assert list(Judgement.objects.filter(run=run).values_list("verdict", flat=True)) == ["MET"] * 9
    # Nine answers of 1,000 tokens in and 100 out by batch, 0.0135, and one live, 0.003.
    assert run_spending(run, now=clock()).spent_usd == pytest.approx(0.0165)


def test_a_filter_that_declines_in_words_is_not_asked_again(people: Cast, endpoint, script, clock) -> None:
    script.instead = {PARIS: [Say(IN_WORDS, finish_reason="content_filter")]}
    run = started(people, endpoint)
    until_over(run, clock)
    assert (run.state, script.count) == (RunState.FINISHED, 9)
    errors = Judgement.objects.filter(run=run).exclude(error_kind=None)
    assert list(errors.values_list("error_kind", flat=True)) == ["refused"]


def test_a_batch_does_not_tell_how_long_a_live_call_takes(people: Cast, endpoint, clock) -> None:
    run = started(people, endpoint)
    until_over(run, clock)
    assert set(JudgeCall.objects.filter(run=run).values_list("latency_seconds", flat=True)) == {None}

    def seconds() -> tuple[Range | None, str]:
        live = RunOptions(judge_id=endpoint.judge_id, use_cache=False)
        found = plan_run(
            people.team,
            dataset=run.dataset,
            rubric_version=run.rubric_version,
            viewer=people.ed,
            now=clock(),
            options=live,
        ).forecast
        return found.seconds, " ".join(found.basis)

    # All nine at once, 1 to 10 s each.
    assumed, basis = seconds()
    assert assumed == Range(1, 10)
    assert "tokens are those of 9 earlier calls" in basis
    assert "1 to 10 s a call are assumed" in basis
    # As an earlier release had stored it.
    JudgeCall.objects.filter(run=run).update(latency_seconds=0.0)
    assert seconds() == (assumed, basis)
    JudgeCall.objects.filter(run=run).update(latency_seconds=2.0)
    measured, basis = seconds()
    assert measured == Range(2, 2)
    assert "tokens and time are those of 9 earlier calls" in basis


@pytest.mark.parametrize("planned_before", [False, True])
def test_a_run_of_checks_alone_has_nobody_to_hand_a_batch_to_and_is_graded(
    people: Cast, clock, planned_before: bool
) -> None:
    check = {"name": "long", "weight": 1.0, "check": "length_between", "params": {"min": 1}}
    run = factories.run(
        people.team,
        people.alice,
        dataset=factories.dataset(people.team, people.alice),
        rubric_version=factories.version(people.team, people.alice, criteria=[check]),
        judge_id="",
        mode="batch",
    )
    if planned_before:  # as an earlier release had stored it
        Run.objects.filter(pk=run.pk).update(mode=RunMode.BATCH)
        assert until_over(run, clock) == [run.pk]
    else:
        assert schedule.due(clock()) == []
    session.grade(run.pk, now=clock)
    run.refresh_from_db()
    assert (run.state, run.summary.fully_judged, run.summary.score_mean) == (RunState.FINISHED, 3, 1.0)


def test_a_kill_between_opening_a_batch_and_writing_it_down_opens_no_second_one(
    people: Cast, endpoint, script: Judge, clock
) -> None:
    run = started(people, endpoint)
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    BatchJob.objects.filter(run=run).update(provider_id="", state="")  # as a kill would leave it
    clock.later(3600)
    until_over(run, clock)
    assert script.count == 9
    assert run.state == RunState.FINISHED


def test_a_kill_while_answers_are_stored_stores_the_rest(people: Cast, endpoint, script, clock) -> None:
    run = started(people, endpoint)
    until_over(run, clock)
    # As a kill would leave it: the batch not yet stored, one item without its answers.
    item = RunItem.objects.filter(run=run).first()
    assert item is not None
    Judgement.objects.filter(run=run, item=item.item).delete()
    JudgeCall.objects.filter(run=run, item=item.item).delete()
    job = run.batches.get()
    RunItem.objects.filter(pk=item.pk).update(graded_at=None, leased_by=f"batch:{job.pk}")
    Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING, finished_at=None)
    BatchJob.objects.update(stored_at=None)
    clock.later()
    until_over(run, clock)
    assert run.state == RunState.FINISHED
    assert Judgement.objects.filter(run=run).count() == 9
    assert script.count == 9, "nothing was asked again"


def test_answers_from_earlier_are_not_put_into_the_file(people: Cast, endpoint, script, clock) -> None:
    first = started(people, endpoint, use_cache=True)
    until_over(first, clock)
    again = factories.run(
        people.team,
        people.alice,
        dataset=first.dataset,
        rubric_version=first.rubric_version,
        judge_id=f"endpoint-{endpoint.pk}",
        mode="batch",
        use_cache=True,
    )
    until_over(again, clock)
    session.grade(again.pk, now=clock)
    again.refresh_from_db()
    assert again.state == RunState.FINISHED
    assert script.count == 9
    assert Judgement.objects.filter(run=again, verdict="MET").count() == 9


@pytest.mark.parametrize(("use_cache", "asked"), [(True, 3), (False, 30)])
def test_of_equal_questions_in_a_file_one_is_asked_unless_each_is_to_be(
    people: Cast, endpoint, script: Judge, clock, use_cache: bool, asked: int
) -> None:
    same = [{"id": f"i{n}", "submission": "Paris is the capital."} for n in range(10)]
    dataset = factories.dataset(people.team, people.alice, items=same)
    run = started(people, endpoint, dataset=dataset, use_cache=use_cache)
    until_over(run, clock)
    # Three criteria about ten answers that are alike.
    assert (run.batches.get().requests, script.count) == (asked, asked)
    session.grade(run.pk, now=clock)
    run.refresh_from_db()
    assert (run.state, script.count) == (RunState.FINISHED, asked)
    assert Judgement.objects.filter(run=run, verdict="MET").count() == 30


def test_a_budget_that_does_not_reach_pauses_the_run_before_anything_is_handed_in(
    people: Cast, endpoint, script, clock
) -> None:
    run = started(people, endpoint, budget_usd=0.000001)
    for run_id in schedule.due(clock()):
        schedule.advance(run_id, now=clock, enqueue=WakeUps())
    run.refresh_from_db()
    assert run.state == RunState.PAUSED
    assert "would pass" in run.stop_reason
    assert script.count == 0
    assert not RunTally.objects.filter(run=run).exclude(reserved_usd=0).exists()
    Run.objects.filter(pk=run.pk).update(budget_usd=5.0)
    run.refresh_from_db()
    lifecycle.resume_run(run, by=people.alice, enqueue=WakeUps())
    clock.later(3600)
    until_over(run, clock)
    assert run.state == RunState.FINISHED


def test_a_cancelled_run_keeps_what_its_batch_had_answered(people: Cast, endpoint, script, clock) -> None:
    script.instead = {("rather not", "Names Paris"): [Say(MET, delay_seconds=5.0)]}
    run = started(people, endpoint)
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    lifecycle.cancel_run(run, by=people.alice, now=clock())

    def is_stored() -> bool:
        clock.later()
        schedule.advance(run.pk, now=clock, enqueue=WakeUps())
        return not run.batches.filter(stored_at=None).exists()

    wait_for(is_stored)
    answered = Judgement.objects.filter(run=run).count()
    assert 0 < answered == script.count < 9
    run.refresh_from_db()
    graded = run.run_items.exclude(graded_at=None).count()
    assert (run.state, run.summary.verdicts) == (RunState.CANCELLED, 3 * graded)
    lifecycle.resume_run(run, by=people.alice, enqueue=WakeUps())
    session.grade(run.pk, now=clock)
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    assert script.count == 9


def test_an_endpoint_that_has_no_batches_or_is_away_says_so(people: Cast, endpoint, clock) -> None:
    JudgeEndpoint.objects.update(batches=False)
    with pytest.raises(Invalid, match="take batches"):
        started(people, endpoint)
    JudgeEndpoint.objects.update(batches=True, base_url="http://127.0.0.1:9/v1")
    run = factories.run(
        people.team,
        people.alice,
        dataset=factories.dataset(people.team, people.alice, name="another"),
        rubric_version=factories.version(people.team, people.alice, title="Another"),
        judge_id=f"endpoint-{endpoint.pk}",
        mode="batch",
    )
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    run.refresh_from_db()
    assert run.state == RunState.RUNNING, "it may come back"
    assert "could not be reached" in run.batches.get().error_message


def test_a_provider_that_refuses_the_batch_pauses_the_run(people: Cast, endpoint, clock) -> None:
    run = started(people, endpoint)
    Run.objects.filter(pk=run.pk).update(
        judge=run.judge.as_json() | {"base_url": f"{endpoint.base_url}/nowhere"}
    )
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    run.refresh_from_db()
    assert run.state == RunState.PAUSED
    assert "404" in run.stop_reason


def test_a_judge_that_compares_words_takes_batches_too(people: Cast, endpoint, script, clock) -> None:
    script.usually = Lexical()
    run = started(people, endpoint, autograder="one_shot")
    until_over(run, clock)
    assert run.state == RunState.FINISHED
    assert script.count == 3
