"""Endpoints: what may be entered, what a run keeps of them, and where their secrets go."""

import json
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone

from rubricweb.engine.judging.sampling import Sampling
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import JournalEntry, JudgeEndpoint, JudgeSnapshot, Run
from rubricweb.services.endpoints import endpoints
from rubricweb.services.runs import panels
from tests import factories
from tests.factories import Cast

KEY = "sk-very-secret-0123456789"
HEADERS = {"X-Gateway-Key": "gw-very-secret-987", "X-Team": "blue"}
OPTIONS: dict[str, Any] = {
    "fallback_model": "m-0",
    "temperature": None,
    "top_p": 0.9,
    "seed": 7,
    "max_output_tokens": 500,
    "reasoning_effort": "low",
    "logprobs": True,
    "cache_marks": True,
    "batches": True,
    "max_concurrency": 7,
    "requests_per_minute": 300,
    "tokens_per_minute": 40_000,
    "input_usd_per_million": 2.0,
    "cached_input_usd_per_million": 0.5,
    "output_usd_per_million": 8.0,
}


INPUT, CACHED, OUTPUT = (f"{kind}_usd_per_million" for kind in ("input", "cached_input", "output"))


@pytest.fixture
def endpoint(people: Cast) -> JudgeEndpoint:
    return endpoints.add_endpoint(
        people.team,
        by=people.alice,
        name="Ours",
        base_url="https://judge.example/v1/",
        model="m-1",
        api_key=KEY,
        extra_headers=HEADERS,
        **OPTIONS,
    )


def started(people: Cast, endpoint: JudgeEndpoint) -> Run:
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
        judge_id=f"endpoint-{endpoint.pk}",
    )


def again(run: Run) -> Run:
    return Run.objects.select_related("endpoint").get(pk=run.pk)


def places(refusal: Any) -> list[str]:
    return [fault.place for fault in refusal.value.faults]


# ── What a judge carries ─────────────────────────────────────────────────────────────────────────


def test_everything_entered_reaches_the_judge_that_is_asked(people: Cast, endpoint: JudgeEndpoint) -> None:
    config = endpoints.loaded(again(started(people, endpoint)))
    assert (config.base_url, config.model, config.api_key) == ("https://judge.example/v1", "m-1", KEY)
    assert dict(config.extra_headers) == HEADERS
    assert (config.sampling.temperature, config.sampling.top_p) == (None, 0.9)
    assert config.sampling.max_output_tokens == 500
    assert (config.sampling.reasoning_effort, config.fallback_model, config.sampling.logprobs) == (
        "low",
        "m-0",
        True,
    )
    assert (config.concurrency, config.requests_per_minute, config.tokens_per_minute) == (7, 300, 40_000)
    assert config.cache_marks
    # 1,000 in, 400 of them cached, and 100 out: 600 × 2 + 400 × 0.5 + 100 × 8 dollars per million.
    assert config.cost_usd(1000, 100, 400) == pytest.approx(0.0022)


def test_no_secret_is_frozen_stored_in_clear_or_written_to_the_audit_log(
    people: Cast, endpoint: JudgeEndpoint
) -> None:
    run = started(people, endpoint)
    endpoints.edit_endpoint(endpoint, by=people.alice, api_key=KEY + "-2", extra_headers=HEADERS)
    endpoint.refresh_from_db()
    stored = json.dumps([run.judge.as_json(), list(JournalEntry.objects.values_list("detail", flat=True))])
    stored += endpoint.sealed_key + endpoint.sealed_headers
    stored += repr(endpoints.judges_of(people.team)) + repr(endpoints.loaded(again(run)))
    for secret in (KEY, *HEADERS.values()):
        assert secret not in stored
    assert "extra_headers" not in run.judge.as_json()
    assert endpoints.header_names(endpoint) == tuple(HEADERS)


@override_settings(
    OPENAI_API_KEY=KEY,
    OPENAI_SAMPLING=Sampling(reasoning_effort="high"),
    OPENAI_EXTRA_HEADERS={"X-Team": "red"},
)
def test_the_judge_of_the_environment_takes_its_settings(people: Cast) -> None:
    config = endpoints.judge_to_ask(people.team, "environment")
    assert (config.api_key, config.sampling.reasoning_effort) == (KEY, "high")
    assert config.extra_headers == (("X-Team", "red"),)
    assert endpoints.judges_of(people.team)["environment"].extra_headers == ()


def test_a_run_of_before_these_options_is_still_asked(people: Cast, endpoint: JudgeEndpoint) -> None:
    run = started(people, endpoint)
    later = {"top_p", "reasoning_effort", "fallback_model", "logprobs", "requests_per_minute"}
    before = {name: value for name, value in run.judge.as_json().items() if name not in later}
    Run.objects.filter(pk=run.pk).update(judge=before)
    config = endpoints.loaded(again(run))
    assert (config.sampling.top_p, config.sampling.reasoning_effort) == (None, "")
    assert config.fallback_model == ""


# ── Changing ─────────────────────────────────────────────────────────────────────────────────────


def test_a_run_goes_on_asking_what_it_froze_at_the_pace_of_today(
    people: Cast, endpoint: JudgeEndpoint
) -> None:
    run = started(people, endpoint)
    endpoints.edit_endpoint(
        endpoint,
        by=people.alice,
        model="m-2",
        temperature=1.0,
        output_usd_per_million=99.0,
        requests_per_minute=60,
        max_concurrency=None,
        api_key=KEY + "-2",
    )
    config = endpoints.loaded(again(run))
    assert (config.model, config.sampling.temperature, config.output_usd_per_million) == ("m-1", None, 8.0)
    assert (config.requests_per_minute, config.concurrency, config.api_key) == (60, 16, KEY + "-2")
    assert endpoints.judges_of(people.team)[f"endpoint-{endpoint.pk}"].model == "m-2"


def test_what_is_not_named_stays(people: Cast, endpoint: JudgeEndpoint) -> None:
    before = JudgeEndpoint.objects.values().get(pk=endpoint.pk)
    endpoints.edit_endpoint(endpoint, by=people.alice, temperature=0.5)
    after = JudgeEndpoint.objects.values().get(pk=endpoint.pk)
    assert {name for name in before if before[name] != after[name]} == {"sampling"}
    assert after["sampling"] == before["sampling"].changed(temperature=0.5)
    endpoints.edit_endpoint(endpoint, by=people.alice, temperature=0.5)
    [line] = JournalEntry.objects.filter(verb="edited")
    assert line.detail == {"fields": "temperature"}


def test_headers_are_replaced_kept_by_name_and_forgotten(people: Cast, endpoint: JudgeEndpoint) -> None:
    def headers_after(asked: dict[str, str | None]) -> dict[str, str]:
        endpoints.edit_endpoint(endpoint, by=people.alice, extra_headers=asked)
        return dict(endpoints.judge_to_ask(people.team, f"endpoint-{endpoint.pk}").extra_headers)

    assert headers_after({"x-team": None, "X-New": "1"}) == {"x-team": "blue", "X-New": "1"}
    with pytest.raises(Invalid) as refusal:
        headers_after({"X-Gateway-Key": None})
    assert places(refusal) == ["extra_headers"]
    assert headers_after({}) == {}


def test_secrets_do_not_move_to_another_host_with_the_address(people: Cast, endpoint: JudgeEndpoint) -> None:
    with pytest.raises(Invalid) as refusal:
        endpoints.edit_endpoint(endpoint, by=people.alice, base_url="https://evil.example/v1")
    assert places(refusal) == ["api_key", "extra_headers"]
    with pytest.raises(Invalid) as refusal:
        endpoints.edit_endpoint(
            endpoint,
            by=people.alice,
            base_url="https://judge.example:8443/v1",
            api_key="new",
            extra_headers={"X-Team": None},
        )
    assert places(refusal) == ["extra_headers"]
    endpoint.refresh_from_db()
    assert endpoint.base_url == "https://judge.example/v1"
    endpoints.edit_endpoint(endpoint, by=people.alice, base_url="https://judge.example/v2")
    assert endpoints.judge_to_ask(people.team, f"endpoint-{endpoint.pk}").api_key == KEY
    endpoints.edit_endpoint(
        endpoint, by=people.alice, base_url="https://new.example/v1", api_key="", extra_headers={}
    )
    moved = endpoints.judge_to_ask(people.team, f"endpoint-{endpoint.pk}")
    assert (moved.base_url, moved.api_key, moved.extra_headers) == ("https://new.example/v1", None, ())


def test_a_run_frozen_on_the_old_host_does_not_get_the_new_key(people: Cast, endpoint: JudgeEndpoint) -> None:
    run = started(people, endpoint)
    endpoints.edit_endpoint(
        endpoint, by=people.alice, base_url="https://new.example/v1", api_key="new", extra_headers={}
    )
    with pytest.raises(Conflict, match=r"moved from https://judge\.example/v1 to https://new\.example/v1"):
        endpoints.loaded(again(run))


@pytest.mark.parametrize("panel", [False, True])
def test_a_removed_judge_is_not_asked_any_more(people: Cast, endpoint: JudgeEndpoint, panel: bool) -> None:
    run = started(people, endpoint)
    if panel:
        asked = panels.Panel([panels.PanelMember(f"endpoint-{endpoint.pk}")], repeats=2)
        dataset, version = run.dataset, run.rubric_version
        run = factories.run(
            people.team, people.ed, dataset=dataset, rubric_version=version, judge_id="", panel=asked
        )
    endpoints.remove_endpoint(endpoint, by=people.alice, now=timezone.now())
    endpoint.refresh_from_db()
    assert (endpoint.sealed_key, endpoint.sealed_headers) == ("", "")
    with pytest.raises(Conflict, match="was removed"):
        panels.judges_of(again(run))
    with pytest.raises(Conflict, match="was removed"):
        endpoints.edit_endpoint(endpoint, by=people.alice, api_key="back")


@override_settings(OPENAI_API_KEY="sk-of-the-operator")
def test_the_operators_key_never_goes_to_an_endpoint_whose_row_is_gone(
    people: Cast, endpoint: JudgeEndpoint
) -> None:
    run = started(people, endpoint)
    with pytest.raises(Conflict, match="was removed"):
        endpoints.ready(run.judge, None)


@override_settings(OPENAI_API_KEY="sk-1", OPENAI_BASE_URL="https://one.example/v1")
def test_a_new_key_of_the_operators_is_not_sent_to_the_old_address(people: Cast) -> None:
    stored = JudgeSnapshot.of("environment", endpoints.choose_judge(people.team, "environment"))
    assert endpoints.ready(stored, None).api_key == "sk-1"
    with (
        override_settings(OPENAI_BASE_URL="https://two.example/v1", OPENAI_API_KEY="sk-2"),
        pytest.raises(Conflict, match="Set OPENAI_BASE_URL back"),
    ):
        endpoints.ready(stored, None)


@override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=True)
def test_private_addresses_closed_since_the_start_stay_closed(people: Cast) -> None:
    row = endpoints.add_endpoint(
        people.team, by=people.alice, name="in", base_url="http://10.0.0.5/v1", model="m"
    )
    run = again(started(people, row))
    assert endpoints.loaded(run).allow_private_hosts
    with override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=False):
        assert not endpoints.loaded(run).allow_private_hosts


def test_secrets_under_a_lost_key_ask_to_be_entered_again(people: Cast, endpoint: JudgeEndpoint) -> None:
    with override_settings(SECRET_KEY="x" * 40):
        assert endpoints.header_names(endpoint) is None
        with pytest.raises(Invalid, match="another SECRET_KEY"):
            endpoints.judge_to_ask(people.team, f"endpoint-{endpoint.pk}")
        endpoints.edit_endpoint(endpoint, by=people.alice, api_key="new", extra_headers={"X-Team": "red"})
        assert endpoints.judge_to_ask(people.team, f"endpoint-{endpoint.pk}").api_key == "new"


# ── Refusals ─────────────────────────────────────────────────────────────────────────────────────

NAN = float("nan")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("name", ""),
        ("name", "n" * 81),
        ("name", "two\nlines"),
        ("model", " "),
        ("model", "m" * 201),
        ("base_url", ""),
        ("base_url", "ftp://judge.example"),
        ("base_url", "https://user:password@judge.example/v1"),
        ("base_url", "https://judge.example/" + "v" * 500),
        ("base_url", "https://judge..example/v1"),
        ("base_url", f"https://{'j' * 64}.example/v1"),
        ("base_url", "https://\u2603.example/v1"),
        ("base_url", "https://[::1/v1"),
        ("base_url", "https://judge.example:99999/v1"),
        ("fallback_model", "m" * 201),
        ("temperature", -0.1),
        ("temperature", 2.1),
        ("temperature", NAN),
        ("top_p", 0.0),
        ("seed", 2**63),
        ("seed", True),
        ("top_p", 1.1),
        ("max_output_tokens", 0),
        ("max_output_tokens", 2**31),
        ("reasoning_effort", "very low"),
        ("reasoning_effort", "x" * 21),
        ("max_concurrency", 0),
        ("max_concurrency", 1001),
        ("requests_per_minute", 0),
        ("tokens_per_minute", -1),
        ("input_usd_per_million", -1.0),
        ("input_usd_per_million", 1e6),
        ("cached_input_usd_per_million", NAN),
        ("output_usd_per_million", float("inf")),
        ("extra_headers", {"Host": "evil.example"}),
        ("api_key", "sk-…"),
        ("api_key", "sk-1\r\nX-Other: red"),
        ("extra_headers", {"Authorization": "Bearer x"}),
        ("extra_headers", {"X Team": "blue"}),
        ("extra_headers", {"X-Team": "blue\r\nX-Other: red"}),
        ("extra_headers", {"X-Team": ""}),
        ("extra_headers", {f"X-{i}": "1" for i in range(21)}),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(
    people: Cast, endpoint: JudgeEndpoint, place: str, value: Any
) -> None:
    said = {"name": "B", "base_url": "https://judge.example/v1", "model": "m", place: value}
    with pytest.raises(Invalid) as refusal:
        endpoints.add_endpoint(people.team, by=people.alice, **said)
    assert places(refusal) == [place]
    with pytest.raises(Invalid) as refusal:
        endpoints.edit_endpoint(endpoint, by=people.alice, **{place: value})
    assert places(refusal) == [place]
    assert JudgeEndpoint.objects.count() == 1


@pytest.mark.parametrize(
    ("given", "lacking"),
    [({INPUT: 1.0}, [OUTPUT]), ({OUTPUT: 1.0}, [INPUT]), ({CACHED: 1.0}, [INPUT, OUTPUT])],
)
def test_half_a_price_is_refused_for_it_would_count_as_none(
    people: Cast, endpoint: JudgeEndpoint, given: dict[str, float], lacking: list[str]
) -> None:
    said = {"name": "B", "base_url": "https://judge.example/v1", "model": "m"}
    with pytest.raises(Invalid, match="both prices, of input and of output, or none") as refusal:
        endpoints.add_endpoint(people.team, by=people.alice, **said, **given)
    assert places(refusal) == lacking
    without: dict[str, Any] = dict.fromkeys(lacking) | given
    with pytest.raises(Invalid) as refusal:
        endpoints.edit_endpoint(endpoint, by=people.alice, **without)
    assert places(refusal) == lacking


def test_an_endpoint_that_has_half_a_price_already_can_be_changed_and_its_price_completed(
    people: Cast, endpoint: JudgeEndpoint
) -> None:
    JudgeEndpoint.objects.filter(pk=endpoint.pk).update(output_usd_per_million=None)
    as_shown: dict[str, Any] = OPTIONS | {OUTPUT: None, "top_p": 0.5}
    assert endpoints.edit_endpoint(endpoint, by=people.alice, **as_shown).sampling.top_p == 0.5
    with pytest.raises(Invalid) as refusal:
        endpoints.edit_endpoint(endpoint, by=people.alice, input_usd_per_million=3.0)
    assert places(refusal) == [OUTPUT]
    assert endpoints.edit_endpoint(endpoint, by=people.alice, output_usd_per_million=9.0).pk == endpoint.pk
    none = dict.fromkeys((INPUT, CACHED, OUTPUT))
    assert endpoints.edit_endpoint(endpoint, by=people.alice, **none).input_usd_per_million is None


def test_all_faults_come_at_once_and_no_header_is_quoted(people: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        endpoints.add_endpoint(
            people.team,
            by=people.alice,
            name="",
            base_url="nowhere",
            model="m",
            extra_headers={"my secret": "gw-secret"},
            temperature=9.0,
        )
    assert places(refusal) == ["name", "temperature", "extra_headers", "base_url"]
    assert "secret" not in str(refusal.value)


def test_a_name_is_taken_once_in_a_team_and_free_again_after_removal(
    people: Cast, endpoint: JudgeEndpoint
) -> None:
    other = {"by": people.alice, "base_url": "https://b.example/v1", "model": "m"}
    with pytest.raises(Conflict, match="already has an endpoint called 'Ours'"):
        endpoints.add_endpoint(people.team, name=" Ours ", **other)
    second = endpoints.add_endpoint(people.team, name="Other", **other)
    with pytest.raises(Conflict, match="already has"):
        endpoints.edit_endpoint(second, by=people.alice, name="Ours")
    endpoints.remove_endpoint(endpoint, by=people.alice, now=timezone.now())
    assert endpoints.edit_endpoint(second, by=people.alice, name="Ours").name == "Ours"


def test_a_key_of_the_environment_that_cannot_be_sent_is_said_before_it_is_used(
    people: Cast, settings: Any
) -> None:
    settings.OPENAI_API_KEY = "sk-secret\u2026"
    with pytest.raises(Conflict, match="OPENAI_API_KEY holds characters") as refusal:
        endpoints.judge_to_ask(people.team, endpoints.ENVIRONMENT)
    assert "sk-secret" not in str(refusal.value)
