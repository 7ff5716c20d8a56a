"""Stored answers found again by what was asked."""

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from rubricweb.models import JudgeCall, Run
from rubricweb.services.grading import reply_cache
from rubricweb.services.grading.reply_cache import CachedReply
from tests.factories import Cast, dataset, run, version

pytestmark = pytest.mark.django_db

KEY, OTHER, ABSENT = (uuid.UUID(int=number) for number in (1, 2, 3))


@pytest.fixture
def asked(people: Cast) -> Run:
    return run(
        people.team,
        people.ed,
        dataset=dataset(people.team, people.ed),
        rubric_version=version(people.team, people.ed),
    )


def call(asked: Run, key: uuid.UUID, **fields: Any) -> JudgeCall:
    item_id = asked.run_items.values_list("item_id", flat=True)[0]
    given = {"model": "tiny", "rung": "json_schema", "reply": "{}", **fields}
    return JudgeCall.objects.create(run=asked, item_id=item_id, content_key=key, **given)


def test_a_stored_answer_comes_back_with_the_call_it_came_with(asked: Run) -> None:
    first = call(asked, KEY, reply="first", reasoning="because", fallback=True)
    assert reply_cache.known(asked.team_id, [KEY, ABSENT]) == {
        KEY: CachedReply(first.pk, "first", "tiny", "json_schema", "because", fallback=True)
    }


def test_of_several_answers_the_first_counts(asked: Run) -> None:
    first = call(asked, KEY, reply="first")
    call(asked, KEY, reply="second", cached_from=first)
    assert reply_cache.known(asked.team_id, [KEY])[KEY].text == "first"


@pytest.mark.parametrize("fields", [{"error_kind": "unreadable_reply"}, {"reply": ""}])
def test_errors_and_pruned_replies_answer_nothing(asked: Run, fields: dict[str, Any]) -> None:
    call(asked, KEY, **fields)
    assert reply_cache.known(asked.team_id, [KEY]) == {}


def test_a_pruned_reply_leaves_a_later_copy_to_answer(asked: Run) -> None:
    first = call(asked, KEY, reply="")
    call(asked, KEY, reply="copy", cached_from=first)
    assert reply_cache.known(asked.team_id, [KEY])[KEY].text == "copy"


def test_what_another_team_paid_for_stays_with_that_team(asked: Run, people: Cast) -> None:
    call(asked, KEY)
    assert reply_cache.known(people.other_team.pk, [KEY]) == {}


def test_five_hundred_different_keys_cost_two_queries(asked: Run) -> None:
    call(asked, KEY)
    call(asked, OTHER)
    keys = [uuid.UUID(int=number % 750) for number in range(1500)]
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert set(reply_cache.known(asked.team_id, keys)) == {KEY, OTHER}
    assert len(queries) == 4  # 750 different ones, in runs and in tries
