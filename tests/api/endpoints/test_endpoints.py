"""Endpoints and calls by the API: secrets go in and never come out."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone

from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import JudgeCall, JudgeEndpoint, Run
from rubricweb.services.endpoints import discovery, endpoints
from rubricweb.services.endpoints.options import MAX_KEY
from rubricweb.services.grading import session
from tests import factories
from tests.api.client import ApiClient, text_of
from tests.factories import Cast
from tests.judges.client import model_server

KEY = "sk-very-secret-0123456789"
SECRET_HEADER = "gw-very-secret-987"
NEW: dict[str, Any] = {
    "name": "Ours",
    "base_url": "https://judge.example/v1",
    "model": "m-1",
    "api_key": KEY,
    "extra_headers": {"X-Gateway-Key": SECRET_HEADER},
    "reasoning_effort": "low",
}


@pytest.fixture
def alice(people: Cast, as_member) -> ApiClient:
    return as_member(people.alice)


def test_an_endpoint_is_added_listed_changed_and_removed(people: Cast, alice: ApiClient, as_member) -> None:
    made = alice.send("POST", "/endpoints", NEW)
    assert (made["judge"], made["has_key"]) == (f"endpoint-{made['id']}", True)
    assert made["header_names"] == ["X-Gateway-Key"]
    assert (made["temperature"], made["reasoning_effort"]) == (0.0, "low")
    changed = alice.send("PATCH", f"/endpoints/{made['id']}", {"temperature": None, "cache_marks": True})
    assert (changed["temperature"], changed["cache_marks"], changed["model"]) == (None, True, "m-1")
    assert endpoints.judge_to_ask(people.team, made["judge"]).api_key == KEY
    for person in (people.alice, people.bob):
        listed = as_member(person).call("GET", "/endpoints")
        assert [row["name"] for row in listed.json()["items"]] == ["Ours"]
        assert KEY not in text_of(listed)
        assert SECRET_HEADER not in text_of(listed)
    assert alice.call("DELETE", f"/endpoints/{made['id']}").status_code == 204
    assert alice.get("/endpoints")["items"] == []
    alice.refused(404, "PATCH", f"/endpoints/{made['id']}", {"temperature": 0.5})


def test_a_key_is_kept_replaced_and_forgotten(people: Cast, alice: ApiClient) -> None:
    made = alice.send("POST", "/endpoints", NEW)
    path = f"/endpoints/{made['id']}"

    def key() -> str | None:
        return endpoints.judge_to_ask(people.team, made["judge"]).api_key

    alice.send("PATCH", path, {})
    assert key() == KEY
    for other in ("k" * MAX_KEY, "sk-2"):
        alice.send("PATCH", path, {"api_key": other})
        assert key() == other
    assert alice.send("PATCH", path, {"api_key": ""})["has_key"] is False
    assert key() is None
    changed = alice.send("PATCH", path, {"extra_headers": {"x-gateway-key": None, "X-B": "b"}})
    assert changed["header_names"] == ["x-gateway-key", "X-B"]


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"base_url": "ftp://x"}, "base_url"),
        ({"base_url": "https://169.254.169.254/latest"}, "base_url"),
        ({"base_url": "https://judge..example/v1"}, "base_url"),
        ({"base_url": "https://" + "j" * 64 + ".example/v1"}, "base_url"),
        ({"temperature": 5}, "temperature"),
        ({"extra_headers": {"Host": SECRET_HEADER}}, "extra_headers"),
        ({"requests_per_minute": -1}, "requests_per_minute"),
        ({"max_output_tokens": 10**12}, "max_output_tokens"),
        ({"max_output_tokens": 10**400}, "max_output_tokens"),
        ({"tokens_per_minute": 10**400}, "tokens_per_minute"),
        ({"model": ""}, "model"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(
    alice: ApiClient, changed: dict[str, Any], place: str
) -> None:
    problem = alice.refused(422, "POST", "/endpoints", NEW | changed)
    assert [fault["place"] for fault in problem["faults"]] == [place]
    assert KEY not in json.dumps(problem)
    assert SECRET_HEADER not in json.dumps(problem)
    assert not JudgeEndpoint.objects.exists()


def test_secrets_do_not_follow_to_another_host(alice: ApiClient) -> None:
    made = alice.send("POST", "/endpoints", NEW)
    problem = alice.refused(422, "PATCH", f"/endpoints/{made['id']}", {"base_url": "https://evil.example/v1"})
    assert [fault["place"] for fault in problem["faults"]] == ["api_key", "extra_headers"]


def test_a_taken_name_is_a_conflict(alice: ApiClient) -> None:
    alice.send("POST", "/endpoints", NEW)
    assert alice.refused(409, "POST", "/endpoints", NEW)["type"].endswith("conflict")


# ── With a judge that answers ────────────────────────────────────────────────────────────────────


@pytest.fixture
def judge(people: Cast) -> Iterator[JudgeEndpoint]:
    script = Script(Say('{"explanation": "It says so.", "criterion_status": "MET"}'))
    with override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=True), running_server(script) as url:
        options = NEW | {"base_url": url, "input_usd_per_million": 1.0, "output_usd_per_million": 1.0}
        yield endpoints.add_endpoint(people.team, by=people.alice, **options)
        close_clients()


def test_a_trial_tells_what_came_of_it(alice: ApiClient, judge: JudgeEndpoint) -> None:
    trial = alice.send("POST", f"/endpoints/{judge.pk}/test")
    assert (trial["works"], trial["reached"], trial["verdict"]) == (True, True, "MET")
    assert (trial["reply_format"], trial["attempts"], trial["error"]) == ("json_schema", 1, None)
    # 100 + 10 tokens at a dollar per million
    assert trial["cost_usd"] == pytest.approx(0.00011)
    for _ in range(4):
        alice.send("POST", f"/endpoints/{judge.pk}/test")
    assert "within a minute" in alice.refused(409, "POST", f"/endpoints/{judge.pk}/test")["detail"]


def test_only_owners_test(people: Cast, as_member, judge: JudgeEndpoint) -> None:
    as_member(people.ed).refused(403, "POST", f"/endpoints/{judge.pk}/test")


@pytest.fixture
def run(people: Cast, judge: JudgeEndpoint) -> Run:
    made = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
        judge_id=f"endpoint-{judge.pk}",
    )
    session.grade(made.pk, now=timezone.now, only_this_run=True)
    return made


def test_calls_are_listed_as_they_were_made(people: Cast, as_member, run: Run) -> None:
    bob = as_member(people.bob)
    path = f"/runs/{run.pk}/items/{run.dataset.items.get(key='good').pk}/calls"
    first = bob.get(path, limit=2)
    rest = bob.get(path, limit=2, cursor=first["next_cursor"])
    assert (len(first["items"]), len(rest["items"]), rest["next_cursor"]) == (2, 1, None)
    for call in first["items"] + rest["items"]:
        assert (call["judge"], call["model"], call["error"]) == ("Ours", "m-1", None)
        assert call["request"]["messages"][1]["content"] == call["messages"][1]["text"]
        assert call["request"]["reasoning_effort"] == "low"
        assert (call["prompt_tokens"], call["completion_tokens"]) == (100, 10)
        assert (call["cached_from"], call["pruned_at"], call["withheld"]) == (None, None, False)
        assert call["latency_seconds"] > 0
    assert KEY not in json.dumps(first)
    assert SECRET_HEADER not in json.dumps(first)


def test_how_long_a_call_took_is_not_known_where_an_earlier_release_stored_0(
    people: Cast, as_member, run: Run
) -> None:
    JudgeCall.objects.filter(run=run).update(latency_seconds=0.0)  # as of an answer of a batch
    path = f"/runs/{run.pk}/items/{run.dataset.items.get(key='good').pk}/calls"
    assert {call["latency_seconds"] for call in as_member(people.bob).get(path)["items"]} == {None}


def test_calls_about_an_item_to_be_reviewed_blind_are_withheld(people: Cast, as_member, run: Run) -> None:
    factories.queue(
        people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version, raters=[people.ann]
    )
    path = f"/runs/{run.pk}/items/{run.dataset.items.get(key='good').pk}/calls"
    assert as_member(people.ann).refused(403, "GET", path)["type"].endswith("withheld")


def test_models_are_found_without_typing_an_address(
    people: Cast, alice: ApiClient, as_member, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    with model_server.server(model_server.models("qwen2.5:0.5b"), key="") as (port, _):
        monkeypatch.setattr(discovery, "LOCAL_PORTS", {port: "Ollama"})
        found = alice.send("GET", "/endpoints/found")
        assert found["servers"] == [
            {
                "name": "Ollama",
                "base_url": f"http://127.0.0.1:{port}/v1",
                "models": ["qwen2.5:0.5b"],
                "wants_key": False,
                "runs_here": True,
            }
        ]
        assert "mistral" in [one["slug"] for one in found["with_key"]]
        assert KEY not in json.dumps(found)
        listed = alice.send("POST", "/endpoints/models", {"base_url": found["servers"][0]["base_url"]})
        assert (listed["models"], listed["error"]) == (["qwen2.5:0.5b"], "")
        made = alice.send("POST", "/endpoints", {**NEW, "base_url": listed["base_url"]})
        assert alice.send("GET", f"/endpoints/{made['id']}/models")["models"] == ["qwen2.5:0.5b"]
    assert alice.send("POST", "/endpoints/models", {"base_url": "ftp://x"})["error"].startswith(
        "the URL's scheme"
    )
    for path in ("/endpoints/found", f"/endpoints/{made['id']}/models"):
        assert as_member(people.ed).call("GET", path).status_code == 403
