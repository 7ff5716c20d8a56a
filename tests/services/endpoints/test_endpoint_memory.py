"""What a worker learned about an endpoint is known to the next one."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from rubricweb.engine.autograders import PerCriterionGrader
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.submission import Submission
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Fail, Lexical, Request, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.judges.pool import ask_all
from rubricweb.models import EndpointMemory
from rubricweb.services.endpoints import memory

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
pytestmark = pytest.mark.django_db


@pytest.fixture
def script() -> Script:
    """An endpoint that knows no JSON schema and no temperature."""

    def answer(request: Request) -> Fail | Lexical:
        if request.rung == "json_schema":
            return Fail(400, "response_format json_schema is not supported")
        if "temperature" in request.body:
            return Fail(400, "temperature is not supported with this model", param="temperature")
        return Lexical()

    return Script(answer)


@pytest.fixture
def judge(script: Script) -> Iterator[JudgeConfig]:
    with running_server(script) as url:
        yield JudgeConfig(
            name="j", base_url=url, model="m", api_key="sk-secret", allow_private_hosts=True, concurrency=1
        )
        close_clients()


def ask(judge: JudgeConfig) -> Reply:
    rubric = Rubric([Criterion(weight=1, requirement="Mentions Paris")])
    grader = PerCriterionGrader()
    prompt = grader.prompts(Submission("Paris"), rubric)[0]
    (reply,) = ask_all(judge, [Question("q", prompt, lambda text: grader.read(prompt, text, rubric))])
    assert reply.error is None
    return reply


def as_another_process() -> None:
    close_clients()


def test_the_next_process_sends_nothing_that_is_known_to_be_refused(
    script: Script, judge: JudgeConfig
) -> None:
    memory.remind([judge], now=NOW)
    assert ask(judge).attempts == 3
    assert memory.keep(now=NOW) == 1

    as_another_process()
    memory.remind([judge], now=NOW + timedelta(days=1))
    reply = ask(judge)
    assert (reply.attempts, reply.rung) == (1, "json_object_schema")
    assert script.count == 4


def test_without_being_reminded_everything_is_found_out_again(judge: JudgeConfig) -> None:
    ask(judge)
    memory.keep(now=NOW)
    as_another_process()
    assert ask(judge).attempts == 3


def test_nothing_new_is_nothing_written_and_nothing_asked(judge: JudgeConfig) -> None:
    memory.remind([judge], now=NOW)
    ask(judge)
    memory.keep(now=NOW)
    ask(judge)
    with CaptureQueriesContext(connection) as queries:
        assert memory.keep(now=NOW) == 0
        memory.remind([judge], now=NOW)
    assert len(queries) == 0


def test_a_reminded_process_writes_only_what_it_adds(judge: JudgeConfig) -> None:
    ask(judge)
    memory.keep(now=NOW)
    as_another_process()
    memory.remind([judge], now=NOW)
    ask(judge)
    assert memory.keep(now=NOW) == 0


def test_what_two_processes_learned_is_put_together(judge: JudgeConfig) -> None:
    ask(judge)
    memory.keep(now=NOW)
    row = EndpointMemory.objects.get()
    row.habits |= {"without": ["seed"], "proven": ["text"], "cached_from": 4_096, "has_cached": True}
    row.save()  # as another worker may have left it meanwhile
    as_another_process()
    ask(judge)
    memory.keep(now=NOW + timedelta(days=1))
    row.refresh_from_db()
    assert row.habits == {
        "floor": "json_object_schema",
        "proven": ["json_object_schema", "text"],
        "without": ["seed", "temperature"],
        "completion_tokens_name": False,
        "cached_from": 4_096,
        "has_cached": True,
        "since": NOW.isoformat(),
    }


def test_memory_fades_so_that_what_a_provider_adds_is_found(judge: JudgeConfig) -> None:
    ask(judge)
    memory.keep(now=NOW)
    as_another_process()
    memory.remind([judge], now=NOW + memory.LASTS)
    assert ask(judge).attempts == 3
    memory.keep(now=NOW + memory.LASTS)
    assert EndpointMemory.objects.get().habits["since"] == (NOW + memory.LASTS).isoformat()


@pytest.mark.parametrize(
    "stored",
    [
        {},
        [],
        {"since": "yesterday", "floor": "text"},
        {"since": 3, "floor": "text"},
        {"since": NOW.isoformat(), "floor": "telepathy", "proven": "all", "without": [3, "model"]},
    ],
)
def test_memory_that_cannot_be_read_counts_as_none(judge: JudgeConfig, stored: object) -> None:
    ask(judge)
    memory.keep(now=NOW)
    EndpointMemory.objects.update(habits=stored)
    as_another_process()
    memory.remind([judge], now=NOW)
    assert ask(judge).attempts == 3
    assert memory.keep(now=NOW) == 1


def test_another_key_or_model_is_another_endpoint_and_no_key_is_stored(judge: JudgeConfig) -> None:
    for config in (judge, replace(judge, api_key="sk-other"), replace(judge, model="m2")):
        ask(config)
    assert memory.keep(now=NOW) == 3
    rows = list(EndpointMemory.objects.values())
    assert len({row["key"] for row in rows}) == 3
    assert "sk-" not in str(rows)
    assert judge.base_url not in str(rows)


def test_endpoints_long_unheard_of_are_forgotten(judge: JudgeConfig) -> None:
    old, recent = (EndpointMemory.objects.create(key=key) for key in ("old", "recent"))
    EndpointMemory.objects.filter(pk=old.pk).update(updated_at=NOW - timedelta(days=61))
    EndpointMemory.objects.filter(pk=recent.pk).update(updated_at=NOW - timedelta(days=59))
    ask(judge)
    memory.keep(now=NOW)
    assert set(EndpointMemory.objects.values_list("key", flat=True)) & {"old", "recent"} == {"recent"}


def test_the_pace_kept_in_the_same_row_is_left_alone(judge: JudgeConfig) -> None:
    ask(judge)
    memory.keep(now=NOW)
    EndpointMemory.objects.update(pace={"rate": 5})
    as_another_process()
    ask(judge)
    memory.keep(now=NOW)
    assert EndpointMemory.objects.get().pace == {"rate": 5}
