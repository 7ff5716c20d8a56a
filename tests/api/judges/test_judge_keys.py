"""Requests that keep a version of a judge, sent again by a client whose answer got lost."""

from typing import Any

import pytest

from rubricweb.models import Judge, JudgeVersion
from rubricweb.services.endpoints import endpoints
from tests.api.client import ApiClient
from tests.factories import Cast

pytestmark = pytest.mark.django_db

HEADERS = {"Idempotency-Key": "5f1c0f0e-7d1c-4f4e-9a70-0a5f7d0c3f11"}
BODY: dict[str, Any] = {"name": "Support judge", "definition": {"members": [{"endpoint": "small"}]}}
NEXT = {"parent": 1, "changes": {"reply_format": "yes_no"}}


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    endpoints.add_endpoint(
        people.team, by=people.alice, name="small", base_url="http://127.0.0.1:9/v1", model="m"
    )
    return as_member(people.ed)


def sent(client: ApiClient, path: str, body: Any) -> Any:
    answer = client.call("POST", path, body, headers=HEADERS)
    assert answer.status_code == 201, answer.content
    return answer.json()


def refused_key(client: ApiClient, path: str, body: Any) -> None:
    [fault] = client.refused(422, "POST", path, body, headers=HEADERS)["faults"]
    assert fault["place"] == "header.Idempotency-Key"
    assert fault["found"] == "a key that came with another request in the last 24 hours"


def test_a_judge_is_made_once(ed: ApiClient) -> None:
    first = sent(ed, "/named-judges", BODY)
    assert sent(ed, "/named-judges", dict(reversed(BODY.items()))) == first
    assert Judge.objects.get().pk == first["id"]
    # Without the key its name is taken; with another body the key is.
    ed.refused(409, "POST", "/named-judges", BODY)
    refused_key(ed, "/named-judges", BODY | {"name": "Another"})
    refused_key(ed, f"/named-judges/{first['id']}/versions", NEXT)
    assert Judge.objects.count() == 1


def test_the_answer_is_the_judge_as_it_is_by_then(ed: ApiClient) -> None:
    first = sent(ed, "/named-judges", BODY)
    ed.send("PATCH", f"/named-judges/{first['id']}", {"name": "Strict", "slug": "strict"})
    again = sent(ed, "/named-judges", BODY)
    assert (again["id"], again["slug"], Judge.objects.count()) == (first["id"], "strict", 1)


def test_a_version_is_kept_once(ed: ApiClient) -> None:
    judge = ed.send("POST", "/named-judges", BODY)
    at = f"/named-judges/{judge['id']}/versions"
    first = sent(ed, at, NEXT)
    assert first["called"] == "support-judge@v2"
    assert sent(ed, at, NEXT) == first
    # Without the key somebody kept a version meanwhile: this very one.
    ed.refused(409, "POST", at, NEXT)
    refused_key(ed, at, NEXT | {"note": "Another."})
    assert JudgeVersion.objects.filter(judge=judge["id"]).count() == 2


def test_a_key_whose_request_was_refused_can_be_sent_again(ed: ApiClient) -> None:
    ed.refused(422, "POST", "/named-judges", BODY | {"definition": {}}, headers=HEADERS)
    assert sent(ed, "/named-judges", BODY)["slug"] == "support-judge"


def test_a_key_does_not_open_what_somebody_may_not_do(ed: ApiClient, people: Cast, as_member, token) -> None:
    sent(ed, "/named-judges", BODY)
    as_member(people.bob).refused(403, "POST", "/named-judges", BODY, headers=HEADERS)
    stranger = ApiClient(token(people.charlie, people.other_team))
    stranger.refused(422, "POST", "/named-judges", BODY, headers=HEADERS)  # "small" is no model of theirs
    assert Judge.objects.count() == 1
