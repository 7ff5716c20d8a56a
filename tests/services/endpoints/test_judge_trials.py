"""The test button against real servers: one that answers, one that fails in every way, none at all."""

import socket
from collections.abc import Iterator

import pytest
from django.test import override_settings
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import ERROR_KINDS
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Action, Drop, Fail, Garbage, Hang, Lexical, Say, Script, truncated
from rubricweb.judges.offline.server import running_server
from rubricweb.models import JournalEntry, JudgeCall
from rubricweb.services.endpoints import endpoints, trials
from rubricweb.services.endpoints.trials import Trial, try_judge
from tests.factories import Cast

MET = '{"explanation": "It says so.", "criterion_status": "MET"}'


@pytest.fixture(autouse=True)
def private_hosts() -> Iterator[None]:
    with override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=True):
        yield
        close_clients()


def tried(people: Cast, script: Script, *, seconds: float = trials.SECONDS, **options) -> Trial:
    with running_server(script) as url:
        endpoint = endpoints.add_endpoint(
            people.team, by=people.alice, name="local", base_url=url, model="m-1", api_key="sk-x", **options
        )
        trial = try_judge(
            people.team, f"endpoint-{endpoint.pk}", by=people.alice, now=timezone.now(), seconds=seconds
        )
        close_clients()
    return trial


def test_a_judge_that_answers_is_reported_with_all_it_gave(people: Cast) -> None:
    script = Script(Say(MET, prompt_tokens=200, completion_tokens=50))
    trial = tried(people, script, input_usd_per_million=2.0, output_usd_per_million=10.0)
    assert (trial.works, trial.as_expected, trial.reached) == (True, True, True)
    assert (trial.verdict, trial.reason, trial.rung, trial.attempts) == (
        "MET",
        "It says so.",
        "json_schema",
        1,
    )
    assert (trial.prompt_tokens, trial.completion_tokens) == (200, 50)
    # 200 × 2 + 50 × 10 dollars per million
    assert trial.cost_usd == pytest.approx(0.0009)
    assert trial.error is None
    assert script.count == 1
    assert script.requests[0].headers["Authorization"] == "Bearer sk-x"
    assert not JudgeCall.objects.exists()


def test_a_server_that_takes_no_schema_is_asked_in_another_form(people: Cast) -> None:
    trial = tried(people, Script(Say(MET), refused_rungs={"json_schema": 400, "json_object_schema": 400}))
    assert (trial.works, trial.rung) == (True, "json_object")


def test_a_wrong_answer_works_and_is_said_to_be_wrong(people: Cast) -> None:
    trial = tried(people, Script(Say(MET.replace("MET", "UNMET"))))
    assert (trial.works, trial.as_expected, trial.verdict) == (True, False, "UNMET")


@pytest.mark.parametrize(
    ("action", "kind", "reached"),
    [
        (Fail(401, "Incorrect API key provided"), "unauthorized", True),
        # LiteLLM's proxy without a database, of a key that is not its own
        (
            Fail(400, body='{"error": {"message": "No connected db.", "type": "no_db_connection"}}'),
            "unauthorized",
            True,
        ),
        (Fail(403), "forbidden", True),
        (Fail(404, "no such model"), "not_found", True),
        (Fail(400, "bad"), "bad_request", True),
        (Fail(429, headers={"Retry-After": "0"}), "rate_limited", True),
        (Fail(503), "server_error", True),
        (Say(None, refusal="No."), "refused", True),
        (truncated(), "truncated", True),
        (Say("Perhaps."), "unreadable_reply", True),
        (Garbage(), "unreadable_reply", True),
        (Drop(), "connection", False),
    ],
)
def test_every_failure_is_named_with_what_to_do(
    people: Cast, action: Action, kind: str, reached: bool
) -> None:
    trial = tried(people, Script(action))
    assert trial.error is not None
    assert (trial.works, trial.error.kind, trial.reached) == (False, kind, reached)
    assert trial.advice == trials.ADVICE[kind]


def test_there_is_advice_for_every_kind_of_error() -> None:
    assert set(trials.ADVICE) == set(ERROR_KINDS)


def test_nobody_at_the_address_is_not_reached(people: Cast) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    endpoint = endpoints.add_endpoint(
        people.team, by=people.alice, name="gone", base_url=f"http://127.0.0.1:{port}/v1", model="m"
    )
    trial = try_judge(people.team, f"endpoint-{endpoint.pk}", by=people.alice, now=timezone.now())
    assert (trial.reached, trial.error and trial.error.kind) == (False, "connection")


def test_a_judge_that_never_answers_ends_in_time(people: Cast) -> None:
    trial = tried(people, Script(Hang()), seconds=5.0)
    assert (trial.works, trial.reached) == (False, None)
    assert trial.error is not None
    assert trial.error.kind in ("timeout", "stopped")


@pytest.mark.parametrize(
    "answer",
    [
        Say('{"explanation": "half \\ud83d", "criterion_status": "MET"}'),
        Fail(400, body='{"error": {"message": "half \\ud83d"}}'),
        Garbage('{"error": {"message": "half \\ud83d"}}'),
        Garbage(
            '{"model": "half \\ud83d", "choices": [{"message": {"content": "x", "reasoning": "\\ud83d"}}]}'
        ),
        Garbage('{"a":' * 500 + "1" + "}" * 500),
        Fail(400, body='{"error": ' + '{"a":' * 500 + "1" + "}" * 501),
        Say("\n" * 2**20 + "x"),
    ],
)
def test_of_no_answer_more_is_told_than_a_page_can_show(people: Cast, answer: Action) -> None:
    trial = tried(people, Script(answer))
    told = [
        trial.reason,
        trial.model,
        trial.reasoning,
        *trial.log,
        trial.error.message if trial.error else "",
    ]
    assert len("".join(told).encode()) < 2000
    assert trial.works == (trial.error is None)


def test_the_sixth_trial_within_a_minute_waits(people: Cast) -> None:
    with running_server(Script(Lexical())) as url, override_settings(OFFLINE_JUDGE_URL=url):
        for _ in range(trials.PER_MINUTE):
            assert try_judge(people.team, "offline", by=people.alice, now=timezone.now()).works
        # However much else is written down meanwhile.
        JournalEntry.objects.bulk_create(
            JournalEntry(team=people.team, verb="commented on") for _ in range(1000)
        )
        with pytest.raises(Conflict, match=r"tested 5 times within a minute. Try again in \d+ s"):
            try_judge(people.team, "offline", by=people.alice, now=timezone.now())
        close_clients()
    assert JournalEntry.objects.filter(team=people.team, verb="tested", actor=people.alice).count() == 5


def test_another_teams_judge_is_not_there(people: Cast) -> None:
    theirs = endpoints.add_endpoint(
        people.other_team, by=people.charlie, name="theirs", base_url="http://127.0.0.1:9/v1", model="m"
    )
    with pytest.raises(Invalid, match="There is no judge"):
        try_judge(people.team, f"endpoint-{theirs.pk}", by=people.alice, now=timezone.now())
    assert not JournalEntry.objects.filter(verb="tested").exists()


@override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=True)
def test_an_address_that_became_private_ground_is_not_called(people: Cast) -> None:
    script = Script(Say(MET))
    with running_server(script) as url:
        endpoint = endpoints.add_endpoint(people.team, by=people.alice, name="in", base_url=url, model="m")
        with override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=False):
            trial = try_judge(people.team, f"endpoint-{endpoint.pk}", by=people.alice, now=timezone.now())
        close_clients()
    assert (trial.reached, trial.error and trial.error.kind, script.count) == (False, "blocked_address", 0)
