"""Models are found: on this machine's usual ports, by keys in the environment, in an endpoint's own list."""

import asyncio
from typing import Any

import pytest

from rubricweb.judges.discovery.model_lists import ModelList
from rubricweb.judges.discovery.providers import PROVIDERS
from rubricweb.services.endpoints import discovery, endpoints
from tests.factories import Cast
from tests.judges.client.model_server import (
    LITELLM_WITH_DATABASE,
    LITELLM_WITHOUT,
    llama_cpp,
    models,
    server,
)

KEY = "sk-of-the-test"


def test_servers_on_the_usual_ports_are_found_with_the_models_that_may_judge(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    with (
        server(models("qwen2.5:0.5b", "nomic-embed-text")) as (ollama, _),
        server(models("tiny", owner="llamacpp")) as (other, _),
        server(b"<html>another program</html>") as (page, asked),
        server(models()) as (empty, _),
    ):
        ports = {ollama: "Ollama", other: "LM Studio", page: "vLLM", empty: "llama.cpp", 9: "nobody"}
        monkeypatch.setattr(discovery, "LOCAL_PORTS", ports)
        assert discovery.local_servers() == [
            discovery.LocalServer(
                "Ollama", f"http://127.0.0.1:{ollama}/v1", ("qwen2.5:0.5b",), runs_here=True
            ),
            # Who answers says who it is, whichever port it took.
            discovery.LocalServer("llama.cpp", f"http://127.0.0.1:{other}/v1", ("tiny",), runs_here=True),
        ]
        assert asked == ["/v1/models"]


@pytest.mark.parametrize("refusal", [LITELLM_WITH_DATABASE, LITELLM_WITHOUT])
def test_a_proxy_that_lists_its_models_for_a_key_is_found(
    settings: Any, monkeypatch: pytest.MonkeyPatch, refusal: tuple[int, Any]
) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    listed = models("mock-judge", owner="openai")
    with server(listed, key=KEY, refusal=refusal) as (port, _), server(b"", key=KEY) as (other, _):
        monkeypatch.setattr(discovery, "LOCAL_PORTS", {port: "LiteLLM", other: "vLLM"})
        url = f"http://127.0.0.1:{port}/v1"
        # Another program that wants a password is none.
        assert discovery.local_servers() == [discovery.LocalServer("LiteLLM", url, (), wants_key=True)]
        refused = discovery.models_at(url, api_key="sk-wrong-one")
        assert (refused.wants_key, "the API key is missing or wrong" in refused.error) == (True, True)
        assert discovery.models_at(url, api_key=KEY).models == ("mock-judge",)


def test_a_proxy_without_a_key_is_found_and_its_models_may_cost_something(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    with server(models("mock-judge", owner="openai")) as (port, _):
        monkeypatch.setattr(discovery, "LOCAL_PORTS", {port: "LiteLLM"})
        [found] = discovery.local_servers()
    assert (found.name, found.models, found.runs_here) == ("LiteLLM", ("mock-judge",), False)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("listed", "model", "name", "price"),
    [
        (llama_cpp("tiny.gguf"), "tiny.gguf", "tiny", 0),
        (llama_cpp("/home/ana/models/Qwen2.5-7B.Q4.gguf"), None, "Qwen2.5-7B.Q4", 0),
        (llama_cpp("C:\\models\\tiny.GGUF"), None, "tiny", 0),
        (models("qwen2.5:0.5b"), None, "qwen2.5:0.5b", 0),
        (models("gpt-oss:120b-cloud"), None, "gpt-oss:120b-cloud", None),  # Ollama hands it on
        (models("mock-judge", owner="openai"), None, "mock-judge", None),
    ],
)
def test_a_model_that_runs_on_this_machine_is_added_as_free_under_a_short_name(
    people: Cast,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    listed: Any,
    model: str | None,
    name: str,
    price: float | None,
) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    model = model or listed["data"][0]["id"]
    with server(listed) as (port, _):
        monkeypatch.setattr(discovery, "LOCAL_PORTS", {port: "LiteLLM"})
        url = f"http://127.0.0.1:{port}/v1"
        added = discovery.add_found(people.team, by=people.alice, base_url=url, model=model)
    assert (added.name, added.model) == (name, model)
    assert (added.input_usd_per_million, added.output_usd_per_million) == (price, price)


def test_nothing_is_asked_where_private_addresses_may_not_be_called(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = False
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    with server(models("m")) as (port, asked):
        monkeypatch.setattr(discovery, "LOCAL_PORTS", {port: "Ollama"})
        assert discovery.local_servers() == []
        assert asked == []
        assert "127.0.0.1" in discovery.models_at(f"http://127.0.0.1:{port}/v1").error
        assert asked == []
    assert discovery.providers_with_keys() == []


def test_keys_in_the_environment_offer_their_providers(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    for provider in PROVIDERS:
        monkeypatch.delenv(provider.environment, raising=False)
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    monkeypatch.setenv("GROQ_API_KEY", " ")
    assert [one.slug for one in discovery.providers_with_keys()] == ["mistral"]


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (b"not json", 200, "its answer is no list of models"),
        ({"data": {"id": "m"}}, 200, "its answer is no list of models"),
        ({"data": []}, 200, "it has no model loaded"),
        ({"data": [{"id": 3}, {"id": "a\nb"}, "m"]}, 200, "it has no model loaded"),
        (b"", 404, "it answered 404: it has no list"),
        (b"", 500, "it answered 500: no list"),
    ],
)
def test_what_is_no_list_is_said_in_words(settings: Any, answer: Any, status: int, words: str) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    with server(answer, status=status) as (port, _):
        found = discovery.models_at(f"http://127.0.0.1:{port}/v1/")
    assert (found.models, found.error) == ((), words)


def test_a_key_is_sent_and_never_repeated(settings: Any) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    with server(models("b", "A", "whisper-1", owner="x"), key=KEY) as (port, _):
        url = f"http://127.0.0.1:{port}/v1"
        refused = discovery.models_at(url, api_key="sk-wrong-one")
        assert refused.error == "it answered 401: the API key is missing or wrong"
        assert "sk-wrong-one" not in repr(refused)
        assert discovery.offered(discovery.models_at(url, api_key=KEY)) == ["A", "b"]


@pytest.mark.django_db
def test_a_stored_endpoint_lists_its_models_with_its_own_key(people: Cast, settings: Any) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    with server(models("one", "two"), key=KEY) as (port, _):
        endpoint = endpoints.add_endpoint(
            people.team,
            by=people.alice,
            name="ours",
            base_url=f"http://127.0.0.1:{port}/v1",
            model="one",
            api_key=KEY,
        )
        assert discovery.models_of(people.team, endpoint).models == ("one", "two")


def test_a_list_is_asked_for_where_an_event_loop_is_running(settings: Any) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True

    async def asked(port: int) -> ModelList:
        return discovery.models_at(f"http://127.0.0.1:{port}/v1")

    with server(models("one")) as (port, _):
        assert asyncio.run(asked(port)).models == ("one",)


def test_nobody_there_is_no_list(settings: Any) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    found = discovery.models_at("http://127.0.0.1:9/v1")
    assert not found.reached
    assert found.error
    assert discovery.models_at("").error.startswith("the URL")
