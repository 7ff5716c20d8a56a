"""What batches cost: nothing is handed in twice, stopped runs hand nothing in, caps know what is away."""

import json
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.models import BatchJob, JudgeEndpoint, Judgement, Run, RunItem, RunState, RunTally
from rubricweb.selectors.runs.progress import progress
from rubricweb.selectors.spending.spending import month_spending, run_spending
from rubricweb.services.endpoints import endpoints, prices
from rubricweb.services.grading.batches import schedule
from rubricweb.services.runs import budgets, lifecycle
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import pause
from tests.services.grading.batches.providers import BATCH, Answer, answers, desk, provider

pytestmark = pytest.mark.django_db(transaction=True)

OPENED = "POST /v1/batches"


def endpoint_at(people: Cast, url: str, **judge: Any) -> JudgeEndpoint:
    return endpoints.add_endpoint(
        people.team,
        by=people.alice,
        name="desk",
        base_url=url,
        model="m",
        batches=True,
        input_usd_per_million=2.0,
        output_usd_per_million=10.0,
        **judge,
    )


def handed_over(
    people: Cast, url: str, *, judge: Mapping[str, Any] = MappingProxyType({}), **options: Any
) -> Run:
    """A batch run of three items by three criteria."""
    return factories.run(
        people.team,
        people.alice,
        dataset=factories.dataset(people.team, people.alice),
        rubric_version=factories.version(people.team, people.alice),
        judge_id=f"endpoint-{endpoint_at(people, url, **judge).pk}",
        mode="batch",
        **options,
    )


def sweep(run: Run, *, minutes: float = 0) -> list[int]:
    """What a sweep does so many minutes from now; the runs that were due."""
    at = timezone.now() + timedelta(minutes=minutes)
    due = schedule.due(at)
    for run_id in due:
        schedule.advance(run_id, now=partial(lambda moment: moment, at), enqueue=WakeUps())
    run.refresh_from_db()
    return due


@pytest.mark.parametrize("status", [500, 503, 408, 409])
def test_a_batch_whose_opening_was_not_confirmed_is_found_and_not_opened_again(
    people: Cast, status: int
) -> None:
    opened: list[str] = []
    run: Run | None = None

    def answer(method: str, path: str) -> Answer:
        if (method, path) == ("POST", "/v1/batches"):
            opened.append(path)
            return status, b'{"error": {"message": "busy"}}'  # though it was taken
        if method == "GET" and "/batches?" in path:
            job = BatchJob.objects.get()
            mark = f"{job.run_id}-{job.pk}-{int(job.created_at.timestamp())}"
            mine = BATCH | {"metadata": {"rubricweb": mark}, "created_at": int(job.created_at.timestamp())}
            return "application/json", json.dumps({"data": [mine] if opened else []}).encode()
        if path.endswith("/content"):
            assert run is not None
            return "application/jsonl", answers(run)
        return provider()(method, path)

    with desk(answer) as (url, asked):
        run = handed_over(people, url)
        for minutes in (0, 1, 2, 3):
            sweep(run, minutes=minutes)
    assert asked.count(OPENED) == 1
    assert (run.state, Judgement.objects.filter(run=run, verdict="MET").count()) == (RunState.FINISHED, 9)


def test_an_answer_stands_against_a_failure_with_the_same_id_and_nobody_asks_for_unknown_ones(
    people: Cast,
) -> None:
    run: Run | None = None

    def answer(method: str, path: str) -> Answer:
        if not path.endswith("/content"):
            return provider(output_file_id="f2", error_file_id="f3")(method, path)
        assert run is not None
        lines = [json.loads(line) for line in answers(run).splitlines()]
        no = {"response": None, "error": {"code": "batch_expired", "message": "too late"}}
        bad = {"response": {"status_code": 500, "body": {"error": {"message": "oops"}}}}
        said = [line | no for line in lines] + [line | bad for line in lines[:4]]
        if path == "/v1/files/f2/content":
            said = [lines[0] | {"custom_id": "7777777.0.0"}, *lines[:5], lines[0], *lines[5:]]
        return "application/jsonl", b"".join(json.dumps(one).encode() + b"\n" for one in said)

    with desk(answer) as (url, asked):
        run = handed_over(people, url)
        for minutes in (0, 1, 2):
            sweep(run, minutes=minutes)
    assert run.state == RunState.FINISHED
    assert Judgement.objects.filter(run=run, verdict="MET").count() == 9
    assert RunTally.objects.get(run=run).calls == 9
    assert "POST /v1/chat/completions" not in asked


def test_answers_in_vain_were_paid_for(people: Cast) -> None:
    run: Run | None = None

    def answer(method: str, path: str) -> Answer:
        if not path.endswith("/content"):
            return provider()(method, path)
        assert run is not None
        lines = [json.loads(line) for line in answers(run).splitlines()]
        for line in lines:
            body = line["response"]["body"]
            body["usage"] = {"prompt_tokens": 1000, "completion_tokens": 100}
            body["choices"][0]["message"]["content"] = "I would rather talk about the weather."
        return "application/jsonl", b"".join(json.dumps(one).encode() + b"\n" for one in lines)

    with desk(answer) as (url, _):
        run = handed_over(people, url)
        for minutes in (0, 1, 2):
            sweep(run, minutes=minutes)
    assert not Judgement.objects.filter(run=run).exists(), "they are asked again"
    # 9 × (1,000 × 2 + 100 × 10) / 1,000,000 = 0.027 live, half of it by batch.
    assert run_spending(run, now=timezone.now()).spent_usd == pytest.approx(0.0135)


def test_what_is_set_aside_for_a_batch_holds_the_month_until_its_answers_are_there(people: Cast) -> None:
    with desk(provider(status="in_progress")) as (url, asked):
        run = handed_over(people, url)
        budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=0.03)
        sweep(run)
        assert asked.count(OPENED) == 1
        later = timezone.now() + timedelta(hours=20)
        held = month_spending(people.team, now=later).held_usd
        # Nine replies of about 400 tokens at 5 per million, and their prompts.
        assert 9 * 0.002 < held <= 0.03
        seen = progress(run, viewer=None, now=later)
        assert (seen.held_usd, seen.cost_usd) == (held, 0.0)
        second = factories.run(
            people.team,
            people.alice,
            dataset=run.dataset,
            rubric_version=run.rubric_version,
            judge_id=run.judge.id,
            mode="batch",
        )
        sweep(second, minutes=20 * 60)
        assert asked.count(OPENED) == 1, "there is no money for another until the first is back"
        assert (second.state, "the team's budget" in second.stop_reason) == (RunState.PAUSED, True)
        lifecycle.cancel_run(run, by=people.alice, now=timezone.now())
    with desk(provider(status="cancelled", output_file_id=None)) as (url, _):
        JudgeEndpoint.objects.update(base_url=url)
        Run.objects.filter(pk=run.pk).update(judge=run.judge.as_json() | {"base_url": url})
        sweep(run, minutes=21 * 60)
    assert month_spending(people.team, now=later).held_usd == 0
    assert progress(run, viewer=None, now=later).held_usd == 0


@pytest.mark.parametrize("stop", [pause, lifecycle.cancel_run])
def test_a_run_stopped_before_its_batch_is_handed_in_is_handed_in_once_resumed(
    people: Cast, stop: Any
) -> None:
    with desk(provider(status="in_progress")) as (url, asked):
        run = handed_over(people, url, budget_usd=5.0)
        stop(run, by=people.alice, now=timezone.now())
        sweep(run)
        assert asked == []
        assert RunItem.objects.filter(run=run, leased_until__gt=timezone.now()).count() == 0
        lifecycle.resume_run(run, by=people.alice, enqueue=WakeUps())
        sweep(run)
        assert asked.count(OPENED) == 1
        assert "POST /v1/chat/completions" not in asked


@pytest.mark.parametrize("stop", [pause, lifecycle.cancel_run])
def test_a_run_stopped_while_its_batch_is_looked_for_hands_nothing_in(people: Cast, stop: Any) -> None:
    run: Run | None = None
    busy = True

    def answer(method: str, path: str) -> Answer:
        if method == "GET" and "/batches?" in path and run is not None:
            stop(Run.objects.get(pk=run.pk), by=people.alice, now=timezone.now())
        if path == "/v1/files" and busy:
            return 503, b'{"error": {"message": "busy"}}'
        return provider(status="in_progress")(method, path)

    with desk(answer) as (url, asked):
        run = handed_over(people, url, budget_usd=5.0)
        sweep(run)
        busy = False
        sweep(run, minutes=1)  # it looks whether the file was taken after all
        assert OPENED not in asked
        now = timezone.now()
        assert run_spending(run, now=now).held_usd == 0
        assert progress(run, viewer=None, now=now).working == 0
        assert sweep(run, minutes=2) == [], "nobody looks after what was never handed in"
        lifecycle.resume_run(run, by=people.alice, enqueue=WakeUps())
        sweep(run, minutes=3)
        assert asked.count(OPENED) == 1


def test_a_small_batch_sets_aside_what_it_will_probably_cost_and_no_more(people: Cast) -> None:
    with desk(provider(status="in_progress")) as (url, _):
        run = handed_over(people, url, budget_usd=5.0)
        sweep(run)
    # Nine replies of about 400 tokens at 5 per million, and as many prompts of less than 1,000 at 1.
    assert 9 * 0.002 < run_spending(run, now=timezone.now()).held_usd < 9 * 0.003


def test_a_provider_that_refuses_the_file_leaves_nothing_set_aside(people: Cast) -> None:
    def answer(method: str, path: str) -> Answer:
        return (400, b'{"error": {"message": "no"}}') if method == "POST" else provider()(method, path)

    with desk(answer) as (url, _):
        run = handed_over(people, url, budget_usd=5.0)
        sweep(run)
    assert run.state == RunState.PAUSED
    assert run_spending(run, now=timezone.now()).held_usd == 0


def test_a_batch_at_an_endpoint_that_was_removed_holds_no_items_and_is_lost_money(people: Cast) -> None:
    with desk(provider(status="in_progress")) as (url, asked):
        run = handed_over(people, url, budget_usd=5.0, judge={"max_output_tokens": 200})
        sweep(run)
        endpoint = JudgeEndpoint.objects.get()
        endpoints.remove_endpoint(endpoint, by=people.alice, now=timezone.now())
        before = len(asked)
        sweep(run, minutes=1)
        assert (run.state, "was removed" in run.stop_reason) == (RunState.FAILED, True)
        now = timezone.now()
        spending = run_spending(run, now=now)
        assert (spending.held_usd, spending.spent_usd, spending.lost_calls) == (0, 0, 9)
        # At half of 2 and 10 per million: nine answers of 200 tokens, and prompts of some thousand bytes.
        assert 9 * 0.001 < spending.lost_at_most_usd < 9 * 0.006
        assert progress(run, viewer=None, now=now).working == 0
        assert sweep(run, minutes=2) == []
        assert len(asked) == before
        assert run_spending(run, now=now) == spending, "it is booked once"


def test_an_endpoint_removed_before_a_batch_went_out_has_lost_nothing(people: Cast) -> None:
    with desk(provider()) as (url, asked):
        run = handed_over(people, url, budget_usd=5.0)
        endpoints.remove_endpoint(JudgeEndpoint.objects.get(), by=people.alice, now=timezone.now())
        sweep(run)
        sweep(run, minutes=1)
        assert asked == []
    spending = run_spending(run, now=timezone.now())
    assert (run.state, spending.lost_calls, spending.held_usd) == (RunState.FAILED, 0, 0)


def test_a_batch_its_provider_knows_no_more_is_looked_for_two_hours_and_then_lost(people: Cast) -> None:
    with desk(provider(status="in_progress")) as (url, asked):
        run = handed_over(people, url, budget_usd=5.0)
        sweep(run)
    looked = 0

    def gone(method: str, path: str) -> Answer:
        nonlocal looked
        looked += path.startswith("/v1/batches/")
        return 404, b'{"error": {"message": "No batch found"}}'

    with desk(gone, at=url) as (_, asked):
        for minutes in range(1, 200):
            sweep(run, minutes=minutes)
    assert looked == 8
    # What the provider may have charged for is not asked, and paid for, again before somebody says so.
    assert "POST /v1/chat/completions" not in asked
    assert run.state == RunState.FINISHED
    errors = Judgement.objects.filter(run=run).values_list("error_kind", "error_message").distinct()
    assert list(errors) == [("unreadable_batch", "Batch b1 cannot be found: HTTP 404: No batch found.")]
    spending = run_spending(run, now=timezone.now())
    assert (spending.held_usd, spending.lost_calls) == (0, 9)
    # Three items of three questions each: what they may have cost at most counts against the cap.
    assert spending.lost_at_most_usd > 0
    assert spending.left_usd == pytest.approx(5.0 - spending.lost_at_most_usd)
    assert lifecycle.resume_run(run, by=people.alice, enqueue=WakeUps()) == 3


@pytest.mark.parametrize("fallback", ["", "m2"])
def test_a_lost_batch_is_booked_at_its_price_whatever_the_fallback_model_would_cost(
    people: Cast, fallback: str
) -> None:
    prices.set_price(
        people.team, by=people.alice, model="m2", input_usd_per_million=200.0, output_usd_per_million=1000.0
    )
    with desk(provider(status="in_progress")) as (url, _):
        run = handed_over(people, url, judge={"max_output_tokens": 200, "fallback_model": fallback})
        sweep(run)
    with desk(lambda method, path: (404, b'{"error": {"message": "No batch found"}}'), at=url):
        for minutes in range(1, 200):
            sweep(run, minutes=minutes)
    spending = run_spending(run, now=timezone.now())
    assert spending.lost_calls == 9
    # At half of 2 and 10 per million: nine answers of 200 tokens, and prompts of some thousand bytes.
    assert 9 * 0.001 < spending.lost_at_most_usd < 9 * 0.006


def test_a_stopped_run_whose_key_is_refused_does_not_ask_about_its_batch_all_the_time(people: Cast) -> None:
    with desk(provider(status="in_progress")) as (url, _):
        run = handed_over(people, url)
        sweep(run)
    with desk(lambda method, path: (401, b'{"error": {"message": "revoked"}}'), at=url) as (_, asked):
        for minutes in range(1, 61):
            sweep(run, minutes=minutes)
        assert (run.state, run.stop_reason) == (RunState.PAUSED, "The batch: HTTP 401: revoked")
        # Once to be paused, once as it is, then every quarter of an hour.
        assert len(asked) <= 2 + 4
        lifecycle.resume_run(run, by=people.alice, enqueue=WakeUps())
        assert sweep(run, minutes=61) == [run.pk], "it is looked at at once, for the key may be mended"


def test_one_worker_fetches_the_answers_however_long_that_takes(people: Cast) -> None:
    run: Run | None = None

    def advance(minutes: float) -> None:
        assert run is not None
        at = timezone.now() + timedelta(minutes=minutes)
        schedule.advance(run.pk, now=partial(lambda moment: moment, at), enqueue=WakeUps())

    def answer(method: str, path: str) -> Answer:
        if not path.endswith("/content"):
            return provider()(method, path)
        assert run is not None
        if asked.count(f"{method} {path}") == 1:
            advance(5)  # another worker, while the file is on its way
        return "application/jsonl", answers(run)

    with desk(answer) as (url, asked):
        run = handed_over(people, url)
        advance(0)
        advance(1)
    assert asked.count("GET /v1/files/f2/content") == 1
    assert RunTally.objects.get(run=run).calls == 9
