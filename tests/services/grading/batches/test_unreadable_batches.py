"""Endpoints that take no batches, or answer as no provider does: the run says so and waits, and nobody is
asked again and again.
"""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.models import Judgement, Run, RunEvent, RunState, RunTally
from rubricweb.services.endpoints import endpoints
from rubricweb.services.grading import session
from rubricweb.services.grading.batches import schedule
from rubricweb.services.grading.batches.step import READ_TRIES
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast, WakeUps
from tests.services.grading.batches.providers import Answer, answers, desk, provider

pytestmark = pytest.mark.django_db(transaction=True)


def _the(moment: datetime) -> datetime:
    return moment


def graded_by(people: Cast, url: str, *, sweeps: int = 4, api_key: str = "") -> Any:
    """A batch run at this address after four sweeps, or more, twenty minutes apart."""
    run = handed_over(people, url, api_key)
    sweep(run, range(sweeps))
    return run


def handed_over(people: Cast, url: str, api_key: str = "", **options: Any) -> Run:
    team = people.team
    endpoint = endpoints.add_endpoint(
        team, by=people.alice, name="desk", base_url=url, model="m", api_key=api_key, batches=True
    )
    return factories.run(
        team,
        people.alice,
        dataset=options.pop("dataset", None) or factories.dataset(team, people.alice),
        rubric_version=factories.version(team, people.alice),
        judge_id=f"endpoint-{endpoint.pk}",
        mode="batch",
        **options,
    )


def sweep(run: Run, steps: Iterable[int]) -> None:
    """Sweeps that many times twenty minutes from now; the run as it is then."""
    for at in [timezone.now() + timedelta(minutes=20 * step) for step in steps]:
        for run_id in schedule.due(at):
            schedule.advance(run_id, now=partial(_the, at), enqueue=WakeUps())
    run.refresh_from_db()


UNREADABLE = {
    "a web page": lambda method, path: ("text/html", b"<html>Welcome</html>"),
    "no JSON": lambda method, path: ("application/json", b"{oops"),
    "null": lambda method, path: ("application/json", b"null"),
    "a list": lambda method, path: ("application/json", b"[1]"),
    "nothing in it": lambda method, path: ("application/json", b"{}"),
    "brackets without end": lambda method, path: ("application/json", b'{"id": ' + b"[" * 100_000 + b"}"),
    "brackets and their ends": provider(id=json.loads("[" * 500 + "]" * 500)),
    "no list of batches": lambda method, path: ("application/json", b'{"object": "list", "data": 5}'),
    "a charset of Python's alone": lambda method, path: ("application/json; charset=hex", b"{}"),
    "a web page in punycode": lambda method, path: ("text/html; charset=punycode", b"a-" + b"b" * 2**20),
    "no id": provider(id=None),
    "a number for an id": provider(id=7),
    "an id no database stores": provider(id="a\0b"),
    "no status": provider(status=None),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_read_pauses_the_run_and_opens_one_batch_at_most(people: Cast, case: str) -> None:
    with desk(UNREADABLE[case]) as (url, asked):
        run = graded_by(people, url)
    assert run.state == RunState.PAUSED
    assert "cannot be read" in run.stop_reason
    assert asked.count("POST /v1/batches") <= 1
    assert RunEvent.objects.filter(run=run, kind="batch").exists()


@pytest.mark.parametrize("errors", [["a"], "broken", {"data": [{"code": "x\0", "message": "y\0z"}]}])
def test_a_batch_that_failed_is_told_in_words_every_database_stores(people: Cast, errors: Any) -> None:
    with desk(provider(status="failed", errors=errors)) as (url, _):
        run = graded_by(people, url)
    assert run.state == RunState.PAUSED
    assert run.stop_reason.startswith("The provider refused the batch")
    assert "\0" not in run.stop_reason


def test_a_batch_that_failed_does_not_tell_the_key_its_provider_repeats(people: Cast) -> None:
    errors = {"data": [{"code": "invalid_api_key", "message": "Incorrect API key provided: sk-secret-1."}]}
    with desk(provider(status="failed", errors=errors)) as (url, _):
        run = graded_by(people, url, api_key="sk-secret-1")
    assert run.stop_reason.startswith("The provider refused the batch: (its message repeats the API key")
    told = RunEvent.objects.filter(run=run).values_list("message", flat=True)
    assert not [line for line in told if "sk-secret-1" in line]


# Sweeps twenty minutes apart: one that hands in, and all tries at the answers within.
ALL_TRIES = 13
NOTHING_READABLE = {
    "a number too large": b'{"custom_id": "1", "response": {"status_code": Infinity, "body": {}}}\n',
    "a status nobody answers with": (
        b'{"custom_id": "1", "response": {"status_code": ' + b"9" * 4000 + b', "body": {}}}\n'
    ),
    "brackets without end": b"[" * 100_000 + b"\n",
    "a line of nine megabytes": b'{"custom_id": "1", "response": null, "x": "' + b" " * (9 * 2**20) + b'"}\n',
    "noise": bytes(range(256)),
    "a web page": b"<html>\n<p>Come back later</p>\n</html>",
    "no line at all": b"",
    "no id": b'{"response": {"status_code": 200, "body": {}}}\n',
}


@pytest.mark.parametrize("case", NOTHING_READABLE)
def test_answers_that_cannot_be_read_are_fetched_again_and_then_errors_that_nobody_pays_twice(
    people: Cast, case: str
) -> None:
    with desk(provider(NOTHING_READABLE[case])) as (url, asked):
        run = graded_by(people, url)
        assert run.state == RunState.RUNNING, "it waits for answers that can be read"
        assert not Judgement.objects.filter(run=run).exists()
        sweep(run, range(4, ALL_TRIES))
        # Three items of three criteria, none of them asked for live.
        assert run.state == RunState.FINISHED
        assert (
            list(Judgement.objects.filter(run=run).values_list("error_kind", flat=True))
            == ["unreadable_batch"] * 9
        )
        assert not run.run_items.exclude(leased_by="").exists()
        assert asked.count("GET /v1/files/f2/content") == READ_TRIES
        assert "POST /v1/chat/completions" not in asked
        last = RunEvent.objects.filter(run=run, kind="batch").latest("pk")
        assert "9 could not be read" in last.message


def test_of_equal_questions_whose_answer_is_lost_one_was_paid_for(people: Cast) -> None:
    same = [{"id": f"i{n}", "submission": "Paris is the capital."} for n in range(10)]
    dataset = factories.dataset(people.team, people.alice, items=same)
    with desk(provider(NOTHING_READABLE["noise"])) as (url, _):
        run = handed_over(people, url, dataset=dataset, use_cache=True)
        sweep(run, range(ALL_TRIES))
    failed = Judgement.objects.filter(run=run).values_list("error_kind", flat=True)
    assert list(failed) == ["unreadable_batch"] * 30
    # Three criteria of ten answers that are alike, by a judge without a price.
    assert RunTally.objects.get(run=run).unpriced == 3


def test_whoever_means_it_has_unreadable_answers_asked_one_by_one(people: Cast) -> None:
    with desk(provider(NOTHING_READABLE["noise"])) as (url, asked):
        run = graded_by(people, url)
        sweep(run, range(4, ALL_TRIES))
        assert "POST /v1/chat/completions" not in asked
        assert (
            lifecycle.resume_run(run, by=people.alice, enqueue=WakeUps(), error_kinds=["unreadable_batch"])
            == 3
        )
        session.grade(run.pk, now=timezone.now)
        assert "POST /v1/chat/completions" in asked


def test_a_file_that_can_be_read_after_all_is_stored(people: Cast) -> None:
    run: Run | None = None
    fetched = 0

    def answer(method: str, path: str) -> Answer:
        nonlocal fetched
        if not path.endswith("/content"):
            return provider()(method, path)
        fetched += 1
        assert run is not None
        # Half a file at first, as a download that broke off.
        return "application/jsonl", answers(run)[: 700 if fetched < 3 else None]

    with desk(answer) as (url, asked):
        run = handed_over(people, url)
        sweep(run, range(6))
    assert (run.state, fetched) == (RunState.FINISHED, 3)
    assert list(Judgement.objects.filter(run=run).values_list("verdict", flat=True)) == ["MET"] * 9
    assert "POST /v1/chat/completions" not in asked


def test_what_can_be_read_of_a_broken_file_is_stored_and_the_rest_are_errors(people: Cast) -> None:
    run: Run | None = None

    def answer(method: str, path: str) -> Answer:
        if not path.endswith("/content"):
            return provider()(method, path)
        assert run is not None
        lines = answers(run).splitlines(keepends=True)
        refused = json.loads(lines[7]) | {"response": None, "error": {"code": "batch_expired"}}
        return "application/jsonl", b"".join(lines[:7]) + json.dumps(refused).encode() + b"\n" + lines[8][:40]

    with desk(answer) as (url, _):
        run = handed_over(people, url)
        sweep(run, range(ALL_TRIES))
    # Seven answers; one the provider says there is none to, which is asked live; one that broke off.
    found = Judgement.objects.filter(run=run).values_list("verdict", "error_kind")
    assert sorted(found, key=str) == [("MET", None)] * 7 + [(None, "unreadable_batch")]
    assert run.state == RunState.RUNNING


def test_an_answer_that_is_all_brackets_costs_its_own_question_and_the_others_are_stored(
    people: Cast,
) -> None:
    run: Run | None = None

    def answer(method: str, path: str) -> Answer:
        if not path.endswith("/content"):
            return provider()(method, path)
        assert run is not None
        lines = answers(run).splitlines(keepends=True)
        name = json.loads(lines[4])["custom_id"]
        deep = '{"a":' * 500 + "1" + "}" * 500
        lines[4] = f'{{"custom_id": "{name}", "response": {{"status_code": 200, "body": {deep}}}}}\n'.encode()
        return "application/jsonl", b"".join(lines)

    with desk(answer) as (url, _):
        run = handed_over(people, url)
        sweep(run, range(2))
    # It may be answered when it is asked again, live: there is nothing stored of it.
    assert list(Judgement.objects.filter(run=run).values_list("verdict", flat=True)) == ["MET"] * 8
    assert (
        "8 of its answers were stored" in RunEvent.objects.filter(run=run, kind="batch").latest("pk").message
    )


@pytest.mark.parametrize("metadata", [None, {}, 5, {"rubricweb_form": "{oops"}, {"rubricweb_form": [1]}])
def test_answers_are_stored_whatever_the_provider_repeats_of_what_it_was_told(
    people: Cast, metadata: Any
) -> None:
    run: Run | None = None

    def answer(method: str, path: str) -> Answer:
        if not path.endswith("/content"):
            return provider(metadata=metadata)(method, path)
        assert run is not None
        return "application/jsonl", answers(run)

    with desk(answer) as (url, _):
        run = handed_over(people, url)
        sweep(run, range(2))
    assert list(Judgement.objects.filter(run=run).values_list("verdict", flat=True)) == ["MET"] * 9


def test_a_key_that_was_taken_back_pauses_the_run(people: Cast) -> None:
    def answer(method: str, path: str) -> Answer:
        if path.endswith("/content"):
            return 403, b'{"error": {"message": "not yours"}}'
        return provider()(method, path)

    with desk(answer) as (url, _):
        run = graded_by(people, url, sweeps=2)
    assert (run.state, run.stop_reason) == (RunState.PAUSED, "The batch: HTTP 403: not yours")
