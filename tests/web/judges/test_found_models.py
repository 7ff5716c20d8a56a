"""Models that are found stand on the page of models; one click adds one."""

from typing import Any

import pytest
from django.urls import reverse

from rubricweb.judges.discovery.providers import PROVIDERS
from rubricweb.models import JudgeEndpoint
from rubricweb.services.endpoints import discovery, endpoints
from tests.factories import Cast
from tests.judges.client.model_server import models, server

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
            alice.post(url("settings_judge_add_found", people), sent)
            added = JudgeEndpoint.objects.get(name=name)
            assert (added.base_url, added.model, added.sealed_key) == (address, "qwen2.5:0.5b", "")


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
