"""Endpoints that refuse a parameter or a reply format of a batch: what is handed in again, and in which form,
what others are told about it, and that it ends.
"""

import json
import zlib
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.engine.judging.sampling import Sampling
from rubricweb.judges.client.reply_formats import RUNGS, EndpointCapabilities
from rubricweb.judges.offline import batches as offline
from rubricweb.judges.offline.script import Fail, Request
from rubricweb.judges.rate_limit.store import endpoint_key
from rubricweb.models import BatchJob, EndpointMemory, JudgeCall, Judgement, Run, RunEvent, RunState, RunTally
from rubricweb.selectors import deletions
from rubricweb.selectors.runs.progress import progress
from rubricweb.services.grading.batches import schedule
from rubricweb.services.runs import lifecycle, panels
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import pause
from tests.services.grading.batches.scripted import Clock, Judge, started, until_over
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

NO_TEMPERATURE = Fail(400, "Unsupported value: 'temperature' does not support 0 with this model.")
NO_SCHEMA = Fail(400, "response_format json_schema is not supported")
NO_FORMAT = Fail(400, "response_format: structured output is not enabled for your account")


def without_temperature(request: Request) -> Fail | None:
    return NO_TEMPERATURE if "temperature" in request.body else None


def without_schema(request: Request) -> Fail | None:
    return NO_SCHEMA if request.rung == "json_schema" else None


def remembered() -> dict[str, Any]:
    """What all workers are told about the endpoint; nothing is no row."""
    habits = EndpointMemory.objects.values_list("habits", flat=True).first() or {}
    return {key: value for key, value in habits.items() if key != "since" and value}


def known(run: Run, since: Any, **habits: Any) -> None:
    """Workers found this out about the run's endpoint, and then."""
    config = next(iter(panels.judges_of(run).values()))
    dumped = EndpointCapabilities.load(habits).dump() | {"since": since.isoformat()}
    EndpointMemory.objects.create(key=endpoint_key(config), habits=dumped)


def stored_requests(run: Run) -> list[Any]:
    calls = JudgeCall.objects.filter(run=run)
    return [json.loads(zlib.decompress(bytes(call.request or b""))) for call in calls]


def until_first_is_read(run: Run, clock: Clock) -> None:
    """Sweeps until the answers of the run's first batch are stored, and no further."""

    def is_read() -> bool:
        clock.later()
        for run_id in schedule.due(clock()):
            schedule.advance(run_id, now=clock, enqueue=WakeUps())
        return run.batches.order_by("pk")[0].stored_at is not None

    wait_for(is_read)
    run.refresh_from_db()


def test_a_batch_whose_parameter_is_refused_is_handed_in_without_it(
    people: Cast, endpoint, script: Judge, clock
) -> None:
    refusal = Fail(400, "Unsupported value: 'temperature' does not support 0 with this model.")
    script.refuses = lambda request: refusal if "temperature" in request.body else None
    run = started(people, endpoint)
    until_over(run, clock)
    assert run.state == RunState.FINISHED
    assert set(Judgement.objects.filter(run=run).values_list("verdict", "error_kind")) == {("MET", None)}
    assert [job.requests for job in run.batches.order_by("pk")] == [9, 9]
    [told] = RunEvent.objects.filter(run=run, message__contains="refuses")
    assert told.message.endswith(
        "; 0 of its answers were stored. "
        "The endpoint refuses temperature: what is open is handed in without it."
    )
    # All at the price of a batch: half of 1,000 tokens at $2 and 100 at $10 a million, nine times.
    assert sum(RunTally.objects.filter(run=run).values_list("cost_usd", flat=True)) == pytest.approx(0.0135)
    # The next one begins so.
    again = {"dataset": run.dataset, "rubric_version": run.rubric_version, "mode": "batch"}
    later = factories.run(people.team, people.alice, judge_id=f"endpoint-{endpoint.pk}", **again)
    until_over(later, clock)
    assert [job.requests for job in later.batches.all()] == [9]


def test_a_batch_whose_reply_format_is_refused_is_handed_in_with_another(
    people: Cast, endpoint, script: Judge, clock
) -> None:
    asked: list[str] = []

    def refuses(request: Request) -> Fail | None:
        form = request.body["response_format"]["type"]
        asked.append(form)
        return Fail(400, "response_format json_schema is not supported") if form == "json_schema" else None

    script.refuses = refuses
    run = started(people, endpoint)
    until_over(run, clock)
    assert run.state == RunState.FINISHED
    assert asked == ["json_schema"] * 9 + ["json_object"] * 9
    assert set(Judgement.objects.filter(run=run).values_list("verdict", "error_kind")) == {("MET", None)}


@pytest.mark.parametrize("refuses", [without_temperature, without_schema])
def test_all_batches_of_a_run_are_handed_in_again_and_nothing_is_asked_live(
    people: Cast, endpoint, script: Judge, clock, monkeypatch, refuses
) -> None:
    monkeypatch.setattr(schedule, "MOST_QUESTIONS", 3)  # an item each
    script.refuses = refuses
    run = started(people, endpoint)
    until_over(run, clock)
    assert [job.requests for job in run.batches.order_by("pk")] == [3] * 6
    assert (run.state, script.count) == (RunState.FINISHED, 18)
    assert {request.rung for request in script.requests} <= {"json_schema", "json_object_schema"}
    assert set(Judgement.objects.filter(run=run).values_list("verdict", "error_kind")) == {("MET", None)}
    # All at the price of a batch: half of 1,000 tokens at $2 and 100 at $10 a million, nine times.
    assert sum(RunTally.objects.filter(run=run).values_list("cost_usd", flat=True)) == pytest.approx(0.0135)


@pytest.mark.parametrize("repeats_the_form", [True, False])
def test_an_endpoint_that_refuses_every_form_is_asked_in_each_once_and_others_are_told_of_none(
    people: Cast, endpoint, script: Judge, clock, monkeypatch, repeats_the_form
) -> None:
    if not repeats_the_form:
        shown = offline._Batch.shown
        monkeypatch.setattr(offline._Batch, "shown", lambda batch: shown(batch) | {"metadata": None})
    script.refuses = lambda request: NO_FORMAT
    run = started(people, endpoint)
    until_over(run, clock)
    assert [request.rung for request in script.requests] == [rung for rung in RUNGS for _ in range(9)]
    assert run.state == RunState.FINISHED
    verdicts = set(Judgement.objects.filter(run=run).values_list("verdict", "error_kind"))
    assert verdicts == {(None, "bad_request")}
    assert remembered() == {}


def test_batches_of_before_their_form_was_written_down_are_handed_in_again_whoever_is_read_first(
    people: Cast, endpoint, script: Judge, clock, monkeypatch
) -> None:
    monkeypatch.setattr(schedule, "MOST_QUESTIONS", 3)  # an item each
    shown = offline._Batch.shown
    monkeypatch.setattr(offline._Batch, "shown", lambda batch: shown(batch) | {"metadata": None})
    script.refuses = without_schema
    items = [{"id": f"{n}", "submission": f"Paris, I say for the {n}th time."} for n in range(5)]
    run = started(people, endpoint, dataset=factories.dataset(people.team, people.ed, items=items))
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    BatchJob.objects.filter(run=run).update(form=None)
    until_over(run, clock)
    # Each of the five was refused for its schema, and is asked without once more; there are only four forms.
    assert [job.requests for job in run.batches.order_by("pk")] == [3] * 10
    assert [request.rung for request in script.requests] == ["json_schema"] * 15 + ["json_object_schema"] * 15
    assert run.state == RunState.FINISHED
    assert set(Judgement.objects.filter(run=run).values_list("verdict", "error_kind")) == {("MET", None)}


def test_a_lower_reply_format_is_learned_once_it_was_answered_in(
    people: Cast, endpoint, script: Judge, clock
) -> None:
    script.refuses = without_schema
    run = started(people, endpoint)
    until_first_is_read(run, clock)
    assert (script.count, remembered()) == (9, {})
    until_over(run, clock)
    assert remembered() == {"floor": "json_object_schema", "proven": ["json_object_schema"]}


def test_a_number_of_tokens_that_is_refused_is_an_error_and_no_refused_form(
    people: Cast, endpoint, script: Judge, clock
) -> None:
    endpoint.sampling = Sampling(max_output_tokens=100_000)
    endpoint.save()
    run = started(people, endpoint)
    known(run, clock(), completion_tokens_name=True)
    script.refuses = lambda request: Fail(400, "max_completion_tokens is too large: 100000.")
    until_over(run, clock)
    assert "max_completion_tokens" in script.requests[0].body
    assert [job.requests for job in run.batches.all()] == [9]
    assert set(Judgement.objects.filter(run=run).values_list("error_kind", flat=True)) == {"bad_request"}


def test_the_request_that_is_stored_is_the_one_that_was_sent(
    people: Cast, endpoint, script: Judge, clock
) -> None:
    endpoint.sampling = Sampling(max_output_tokens=500)
    endpoint.save()
    run = started(people, endpoint)
    known(run, clock(), floor="json_object", without=["temperature"], completion_tokens_name=True)
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    EndpointMemory.objects.all().delete()  # it says something else by the time the answers come
    until_over(run, clock)
    sent = [json.dumps(request.body, sort_keys=True) for request in script.requests]
    assert sorted(sent) == sorted(json.dumps(one, sort_keys=True) for one in stored_requests(run))
    assert {call.rung for call in JudgeCall.objects.filter(run=run)} == {"json_object"}


@pytest.mark.parametrize("stop", [pause, lifecycle.cancel_run])
def test_of_a_stopped_run_nothing_is_away_and_what_is_open_is_handed_in_once_it_goes_on(
    people: Cast, endpoint, script: Judge, clock, stop
) -> None:
    script.refuses = without_temperature
    run = started(people, endpoint)
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    wait_for(lambda: script.count == 9)
    stop(run, by=people.alice, now=clock())
    until_first_is_read(run, clock)
    assert progress(run, viewer=None, now=clock()).working == 0
    assert schedule.due(clock()) == []
    if run.state == RunState.CANCELLED:
        assert deletions.refusal(run, now=clock()) == ""
    told = RunEvent.objects.filter(run=run, message__contains="refuses").get()
    assert told.message.endswith("what is open is handed in without it, once the run goes on.")
    lifecycle.resume_run(run, by=people.alice, enqueue=WakeUps())
    until_over(run, clock)
    assert [job.requests for job in run.batches.order_by("pk")] == [9, 9]
    assert (run.state, script.count) == (RunState.FINISHED, 18)


def test_a_run_that_is_cancelled_between_two_batches_can_be_deleted(
    people: Cast, endpoint, script: Judge, clock
) -> None:
    script.refuses = without_temperature
    run = started(people, endpoint)
    until_first_is_read(run, clock)
    lifecycle.cancel_run(run, by=people.alice, now=clock())
    assert deletions.refusal(run, now=clock()) == ""


def test_a_run_whose_budget_does_not_reach_for_its_batch_can_be_deleted(
    people: Cast, endpoint, clock
) -> None:
    run = started(people, endpoint, budget_usd=0.000001)
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    lifecycle.cancel_run(run, by=people.alice, now=clock())
    assert deletions.refusal(run, now=clock()) == ""


def test_what_is_known_for_longer_than_a_week_is_not_learned_anew_from_a_batch(
    people: Cast, endpoint, script: Judge, clock
) -> None:
    run = started(people, endpoint)
    known(run, clock() - timedelta(days=30), floor="text", proven=["text"], without=["top_p"])
    script.refuses = without_temperature
    until_over(run, clock)
    assert run.state == RunState.FINISHED
    learned = remembered()
    assert (learned["without"], learned["floor"]) == (["temperature"], "json_schema")
    since = datetime.fromisoformat(EndpointMemory.objects.get().habits["since"])
    assert since > timezone.now() - timedelta(days=1)
