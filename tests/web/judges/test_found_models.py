"""Models that are found stand on the page of models; one click adds one."""

import re
from typing import Any

import pytest
from django.urls import reverse

from rubricweb.judges.discovery.providers import PROVIDERS, Provider
from rubricweb.models import JudgeEndpoint
from rubricweb.services.endpoints import discovery, endpoints
from tests.factories import Cast
from tests.judges.client.model_server import LITELLM_WITHOUT, models, server

KEY = "sk-of-the-environment"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    for provider in PROVIDERS:
        monkeypatch.delenv(provider.environment, raising=False)


def url(name: str, people: Cast) -> str:
    return reverse(name, args=[people.team.slug])


def test_a_model_on_this_machine_is_offered_and_added_by_one_click(
    people: Cast, sign_in, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = sign_in(people.alice)
    assert url("settings_judges_found", people) in alice.get(url("settings_judges", people)).content.decode()
    with server(models("qwen2.5:0.5b", "<b>odd</b>")) as (port, _):
        monkeypatch.setattr(discovery, "LOCAL_PORTS", {port: "Ollama"})
        address = f"http://127.0.0.1:{port}/v1"
        part = alice.get(
            url("settings_judges_found", people), headers={"HX-Request": "true"}
        ).content.decode()
        page = alice.get(url("settings_judges_found", people)).content.decode()
        for shown in (part, page):
            assert "qwen2.5:0.5b" in shown
            assert address in shown
            assert "<b>odd</b>" not in shown
        for name in ("qwen2.5:0.5b", "qwen2.5:0.5b (2)"):
            sent = {"base_url": address, "model": "qwen2.5:0.5b"}
            answer = alice.post(url("settings_judge_add_found", people), sent, follow=True)
            added = JudgeEndpoint.objects.get(name=name)
            assert (added.base_url, added.model, added.sealed_key) == (address, "qwen2.5:0.5b", "")
            shown = answer.content.decode()
            assert f"{name} can be asked now" in shown
            assert f'{url("run_new", people)}?judge={added.judge_id}"' in shown
        # What is added is found no more.
        left = alice.get(url("settings_judges_found", people)).context["servers"]
        assert [server.models for server in left] == [("<b>odd</b>",)]


def test_a_provider_s_key_comes_from_the_environment_and_is_shown_to_nobody(
    people: Cast, sign_in, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "LOCAL_PORTS", {})
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    alice = sign_in(people.alice)
    page = alice.get(url("settings_judges_found", people)).content.decode()
    assert "OPENROUTER_API_KEY" in page
    assert KEY not in page
    sent = {"base_url": "https://openrouter.ai/api/v1", "model": "any/model"}
    answer = alice.post(url("settings_judge_add_found", people), sent, follow=True)
    assert KEY not in answer.content.decode()
    added = JudgeEndpoint.objects.get()
    assert endpoints.judge_to_ask(people.team, added.judge_id).api_key == KEY
    assert added.cache_marks


def test_no_other_address_gets_in_by_that_door(people: Cast, sign_in, settings: Any) -> None:
    alice = sign_in(people.alice)
    for address in ("http://127.0.0.1:22/v1", "https://openrouter.ai/api/v1", ""):
        answer = alice.post(url("settings_judge_add_found", people), {"base_url": address, "model": "m"})
        assert answer.status_code == 422
        assert "an address that a model was found at" in answer.content.decode()
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = False
    page = alice.get(url("settings_judges", people)).content.decode()
    assert url("settings_judges_found", people) not in page
    sent = {"base_url": "http://127.0.0.1:11434/v1", "model": "m"}
    assert alice.post(url("settings_judge_add_found", people), sent).status_code == 422
    assert not JudgeEndpoint.objects.exists()


def test_nothing_found_is_said(people: Cast, sign_in, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "LOCAL_PORTS", {9: "nobody"})
    page = sign_in(people.alice).get(url("settings_judges_found", people)).content.decode()
    assert "No model answers on this machine" in page


def test_a_provider_fills_in_its_address(people: Cast, sign_in) -> None:
    alice = sign_in(people.alice)
    page = alice.get(url("settings_judge_new", people), {"provider": "mistral"})
    assert page.context["form"]["base_url"].value() == "https://api.mistral.ai/v1"
    assert alice.get(url("settings_judge_new", people), {"provider": "nobody"}).status_code == 200


def test_a_proxy_that_wants_a_key_leads_to_a_form_that_lists_its_models(
    people: Cast, sign_in, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = sign_in(people.alice)
    listed = models("mock-judge", "text-embedding-3", owner="openai")
    with server(listed, key=KEY, refusal=LITELLM_WITHOUT) as (port, asked):
        monkeypatch.setattr(discovery, "LOCAL_PORTS", {port: "LiteLLM"})
        page = alice.get(url("settings_judges_found", people)).content.decode()
        [filled_in] = re.findall(rf'"({url("settings_judge_new", people)}\?provider=http[^"]+)"', page)
        assert alice.get(filled_in).context["form"]["base_url"].value() == f"http://127.0.0.1:{port}/v1"
        form = alice.get(url("settings_judge_new", people), {"provider": "litellm"}).context["form"]
        address = f"http://127.0.0.1:{port}/v1"
        assert form["base_url"].value() == address
        assert form["input_usd_per_million"].value() is None  # it may hand questions on to anybody

        def options(**typed: str) -> str:
            return alice.post(url("settings_judge_models", people), typed).content.decode()

        assert "the API key is missing or wrong" in options(base_url=address)
        right = options(base_url=address, api_key=KEY)
        assert '<option value="mock-judge">' in right
        assert "text-embedding-3" not in right
        assert KEY not in right
        asked.clear()
        assert "No models" not in options(base_url=" ")
        assert asked == []


def test_a_server_on_this_machine_is_filled_in_as_free(
    people: Cast, sign_in, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "LOCAL_PORTS", {11434: "Ollama"})
    alice = sign_in(people.alice)
    form = alice.get(url("settings_judge_new", people), {"provider": "ollama"}).context["form"]
    assert (form["base_url"].value(), form["output_usd_per_million"].value()) == (
        "http://127.0.0.1:11434/v1",
        0,
    )
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = False
    page = alice.get(url("settings_judge_new", people), {"provider": "ollama"})
    assert page.context["form"]["base_url"].value() is None
    assert "Ollama" not in page.content.decode()


def test_a_stored_key_lists_the_models_of_its_own_address_alone(people: Cast, sign_in) -> None:
    alice = sign_in(people.alice)
    with server(models("one"), key=KEY) as (port, _), server(models("two"), key=KEY) as (other, _):
        stored = endpoints.add_endpoint(
            people.team,
            by=people.alice,
            name="Ours",
            base_url=f"http://127.0.0.1:{port}/v1",
            model="one",
            api_key=KEY,
        )
        where = f"{url('settings_judge_models', people)}?endpoint={stored.pk}"
        assert '<option value="one">' in alice.post(where, {"base_url": stored.base_url}).content.decode()
        moved = alice.post(where, {"base_url": f"http://127.0.0.1:{other}/v1"}).content.decode()
        assert "the API key is missing or wrong" in moved
        assert sign_in(people.ed).post(where, {"base_url": stored.base_url}).status_code == 403
        assert alice.get(where).status_code == 405


def test_editors_go_on_to_grade_with_a_model_and_viewers_do_not(people: Cast, sign_in) -> None:
    endpoints.add_endpoint(
        people.team, by=people.alice, name="Ours", base_url="http://127.0.0.1:9/v1", model="m"
    )
    page = sign_in(people.ed).get(url("settings_judges", people)).content.decode()
    assert "Grade with Ours" in page
    assert "Remove Ours" not in page
    assert "Grade with Ours" not in sign_in(people.bob).get(url("settings_judges", people)).content.decode()


def test_a_provider_s_models_are_listed_with_the_key_of_the_environment(
    people: Cast, sign_in, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = sign_in(people.alice)
    where = f"{url('settings_judge_models', people)}?provider=ours"
    with server(models("one", "whisper-2"), key=KEY) as (port, asked):
        ours = Provider("ours", "Ours", f"http://127.0.0.1:{port}/v1", "OUR_KEY_OF_A_TEST")
        monkeypatch.setattr(discovery, "PROVIDERS", (ours,))
        assert alice.post(where).status_code == 200
        assert asked == []  # its key is not there
        monkeypatch.setenv(ours.environment, KEY)
        listed = alice.post(where).content.decode()
        assert '<datalist id="listed-models-ours"><option value="one">' in listed
        assert "whisper-2" not in listed
        assert KEY not in listed
