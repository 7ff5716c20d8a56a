"""Runs against an endpoint that answers some questions as nobody should: the others are graded."""

import json
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Action, Fail, Garbage, Request, Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import JudgeCall, JudgeEndpoint, Judgement, Run, RunState
from rubricweb.services.endpoints import endpoints
from rubricweb.services.grading import session
from tests import factories
from tests.factories import Cast
from tests.judges.completion import completion

pytestmark = pytest.mark.django_db(transaction=True)

MET = '{"explanation": "e", "criterion_status": "MET"}'
DEEP = '{"a":' * 500 + "1" + "}" * 500
MOST = {"prompt_tokens": 2**31 - 1, "completion_tokens": 2**31 - 1}
"""More than any call uses; what several attempts say together is more than a column holds."""


@pytest.fixture(autouse=True)
def private_hosts() -> Iterator[None]:
    with override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=True, JUDGE_MAX_ATTEMPTS=2, GRADING_SESSION_SECONDS=60):
        yield
        close_clients()


def graded(people: Cast, script: Script, **options: object) -> Run:
    """A run over six items of three criteria, and what it came to in one session."""
    team = people.team
    with running_server(script) as url:
        endpoint = endpoints.add_endpoint(
            team, by=people.alice, name="odd", base_url=url, model="m", api_key="sk-key-0123456789"
        )
        run = planned(people, f"endpoint-{endpoint.pk}", **options)
        session.grade(run.pk, now=timezone.now)
        close_clients()
    run.refresh_from_db()
    return run


def planned(people: Cast, judge_id: str, **options: object) -> Run:
    items = [{"id": f"item {n}", "submission": f"Paris {n}."} for n in range(6)]
    dataset = factories.dataset(people.team, people.ed, items=items)
    version = factories.version(people.team, people.ed)
    return factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=version, judge_id=judge_id, **options
    )


ODD: dict[str, tuple[Action, str | None]] = {
    "blanks": (Say("\n" * 2**20 + "x"), "unreadable_reply"),
    "nothing but blanks": (Garbage(" " * 2**20), "unreadable_reply"),
    "depth": (Garbage(DEEP), "unreadable_reply"),
    "depth in the reply": (Say(DEEP), "unreadable_reply"),
    "depth in an error": (Fail(400, body=f'{{"error": {DEEP}}}'), "bad_request"),
    "depth in a 500": (Fail(500, body=DEEP), "server_error"),
    "a charset": (Fail(404, body="a-b", headers={"Content-Type": "text/plain; charset=idna"}), "not_found"),
    "a date": (
        Fail(503, headers={"Retry-After": "Fri, 20 Nov 99999999999999999999 10:00:30 GMT"}),
        "server_error",
    ),
    "half characters and NUL": (
        Say('{"explanation": "\\ud83d \\u0000 \\udfff", "criterion_status": "MET"}'),
        None,
    ),
    "half characters in an error": (
        Fail(400, body='{"error": {"message": "\\ud83d\\u0000"}}'),
        "bad_request",
    ),
    "more tokens than a column holds": (completion("nonsense", usage=MOST), "unreadable_reply"),
    "negative usage": (completion(MET, usage={"prompt_tokens": -5, "completion_tokens": 1e300}), None),
    "a reply of megabytes": (Say("x" * 2**22), "unreadable_reply"),
    "reasoning of megabytes": (completion(MET, reasoning="é" * 2**20), None),
    "a name of a model of kilobytes": (completion(MET, model="\ud83d" * 2**12), None),
}


@pytest.mark.parametrize("case", ODD)
def test_one_odd_answer_costs_its_own_criterion_and_nothing_else(people: Cast, case: str) -> None:
    action, kind = ODD[case]

    def answer(request: Request) -> Action:
        odd = "Paris 3." in request.submission and "two sentences" in request.requirement
        return action if odd else Say(MET)

    run = graded(people, Script(answer))
    assert run.state == RunState.FINISHED
    stored = Judgement.objects.filter(run=run)
    assert stored.count() == 18
    # Of 6 × 3 questions one was answered oddly.
    failed = list(stored.filter(verdict=None).values_list("item__key", "error_kind"))
    assert failed == ([("item 3", kind)] if kind else [])
    assert run.summary.errors == len(failed)


@pytest.mark.parametrize("case", ["blanks", "depth", "depth in an error", "more tokens than a column holds"])
def test_nothing_but_odd_answers_ends_as_errors_all_of_one_kind(people: Cast, case: str) -> None:
    action, kind = ODD[case]
    run = graded(people, Script(action))
    assert run.state == RunState.FINISHED
    assert list(Judgement.objects.filter(run=run).values_list("error_kind", flat=True)) == [kind] * 18


def test_a_score_of_hundreds_of_digits_costs_its_own_item_and_ends_no_run(people: Cast) -> None:
    def answer(request: Request) -> Action:
        score = "1" * 310 if "Paris 3." in request.submission else "50"
        return Say(f'{{"explanation": "e", "overall_score": {score}}}')

    run = graded(people, Script(answer), autograder="rubric_as_judge")
    assert run.state == RunState.FINISHED, run.stop_reason
    errors = run.run_items.order_by("item__key").values_list("error_kind", flat=True)
    assert list(errors) == [None, None, None, "unreadable_reply", None, None]


def test_a_run_on_an_address_that_cannot_be_spelled_ends_and_says_why(people: Cast) -> None:
    """It was entered before such addresses were refused."""
    endpoint = endpoints.add_endpoint(
        people.team, by=people.alice, name="old", base_url="https://judge.example/v1", model="m"
    )
    JudgeEndpoint.objects.filter(pk=endpoint.pk).update(base_url="https://judge..example/v1")
    run = planned(people, f"endpoint-{endpoint.pk}")
    session.grade(run.pk, now=timezone.now)
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert "blocked_address: the URL's host has an empty label" in run.stop_reason


@pytest.mark.parametrize("url", ["https://judge..example/v1", "http://[::1/v1", "http://127.0.0.1:99999/v1"])
def test_an_address_of_the_environment_that_cannot_be_called_ends_the_run_and_says_why(
    people: Cast, url: str
) -> None:
    with override_settings(OPENAI_API_KEY="sk-1", OPENAI_BASE_URL=url):
        run = planned(people, endpoints.ENVIRONMENT)
        session.grade(run.pk, now=timezone.now)
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert "blocked_address: the URL" in run.stop_reason


def test_no_key_reaches_a_row_whatever_the_endpoint_repeats(people: Cast) -> None:
    def answer(request: Request) -> Action:
        said = json.dumps(dict(request.headers))
        if "two sentences" in request.requirement:
            return Fail(400, said)
        return Garbage(json.dumps({"error": {"message": said}}))

    run = graded(people, Script(answer))
    assert Judgement.objects.filter(run=run, verdict=None).count() == 18
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            assert "sk-key-0123456789" not in repr(cursor.fetchall()), table
    assert JudgeCall.objects.filter(run=run).count() == 18
