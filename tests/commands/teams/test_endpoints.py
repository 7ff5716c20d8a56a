"""`rubricweb endpoints` as an owner and others see it."""

import io
import json

import pytest
from django.test import override_settings

from rubricweb.api.endpoints.schemas import Trial
from rubricweb.judges.discovery.providers import PROVIDERS
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import JudgeEndpoint
from rubricweb.services.endpoints import discovery, endpoints
from rubricweb.services.endpoints.options import OPTIONS
from tests.commands.shapes import misfits
from tests.factories import Cast
from tests.judges.client import model_server

KEY = "sk-very-secret-0123456789"
SECRET_HEADER = "gw-very-secret-987"
ADD = ("endpoints", "add", "Ours", "--base-url", "http://127.0.0.1:9/v1", "--model", "m-1")


@pytest.fixture(autouse=True)
def secrets_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEY", KEY)
    monkeypatch.setenv("GATEWAY", SECRET_HEADER)
    monkeypatch.setenv("NOTHING", "")


def asked_with(people: Cast) -> tuple[str | None, dict[str, str]]:
    """The key and the headers that requests of the only endpoint carry."""
    config = endpoints.judge_to_ask(people.team, f"endpoint-{JudgeEndpoint.objects.get().pk}")
    return config.api_key, dict(config.extra_headers)


def test_an_endpoint_is_added_with_all_its_options_and_nobody_sees_its_secrets(
    people: Cast, at_terminal
) -> None:
    alice = at_terminal(people.alice)
    said = [
        *(
            "--temperature",
            "0.5",
            "--top-p",
            "none",
            "--seed",
            "-1",
            "--max-output-tokens",
            "900",
            "--reasoning-effort",
            "low",
        ),
        *("--fallback-model", "m-0", "--logprobs", "--cache-marks", "--batches", "--max-concurrency", "7"),
        *("--requests-per-minute", "300", "--tokens-per-minute", "40000"),
        *("--input-usd", "2", "--cached-input-usd", "0.5", "--output-usd", "8"),
        *("--key-from", "OUR_KEY", "--header", "X-Gateway-Key=GATEWAY"),
    ]
    added = alice(*ADD, *said, "--json")
    row = json.loads(added.out)
    assert {name: row[name] for name in OPTIONS} == {
        "temperature": 0.5,
        "top_p": None,
        "seed": -1,
        "max_output_tokens": 900,
        "reasoning_effort": "low",
        "fallback_model": "m-0",
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
    assert (row["has_key"], row["header_names"]) == (True, ["X-Gateway-Key"])
    assert asked_with(people) == (KEY, {"X-Gateway-Key": SECRET_HEADER})
    bob = at_terminal(people.bob)
    looks = [
        bob("endpoints", "list"),
        bob("endpoints", "list", "--json"),
        bob("endpoints", "show", "Ours"),
        bob("endpoints", "show", row["judge"], "--json"),
        bob("audit-log"),
    ]
    assert [json.loads(looks[1].out), json.loads(looks[3].out)] == [row, row]
    assert "requests per minute 300" in " ".join(looks[2].out.split())
    for ended in (added, *looks):
        assert ended.code == 0
        assert KEY not in ended.out + ended.err
        assert SECRET_HEADER not in ended.out + ended.err


def test_what_is_not_named_stays(people: Cast, at_terminal) -> None:
    alice = at_terminal(people.alice)
    alice(*ADD, "--key-from", "OUR_KEY", "--header", "X-Gateway-Key=GATEWAY", "--temperature", "0.5")
    edit = ("endpoints", "edit", "Ours")
    changed = alice(*edit, "--name", "Theirs", "--logprobs", "--temperature", "none", "--json")
    row = json.loads(changed.out)
    assert (row["name"], row["logprobs"], row["temperature"], row["model"]) == ("Theirs", True, None, "m-1")
    assert asked_with(people) == (KEY, {"X-Gateway-Key": SECRET_HEADER})
    number = row["id"]
    assert alice("endpoints", "edit", number, "--header", "X-Team=OUR_KEY", "--no-logprobs").code == 0
    assert asked_with(people) == (KEY, {"X-Gateway-Key": SECRET_HEADER, "X-Team": KEY})
    assert alice("endpoints", "edit", number, "--forget-header", "x-gateway-key", "--forget-key").code == 0
    assert asked_with(people) == (None, {"X-Team": KEY})
    assert alice("endpoints", "edit", number, "--forget-headers").code == 0
    assert asked_with(people) == (None, {})
    unknown = alice("endpoints", "edit", number, "--forget-header", "X-Other")
    assert (unknown.code, "sends no header 'X-Other'" in unknown.err) == (1, True)
    nothing = alice("endpoints", "edit", number)
    assert (nothing.code, "Nothing to change" in nothing.err) == (1, True)


def test_a_key_stays_with_its_host(people: Cast, at_terminal) -> None:
    alice = at_terminal(people.alice)
    alice(*ADD, "--key-from", "OUR_KEY")
    moved = ("endpoints", "edit", "Ours", "--base-url", "http://127.0.0.2:9/v1")
    refused = alice(*moved)
    assert (refused.code, "the key again" in refused.err) == (1, True)
    assert alice(*moved, "--key-from", "OUR_KEY").code == 0


def test_secrets_of_a_pipe_are_lines_in_order(
    people: Cast, at_terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n{SECRET_HEADER}\n"))
    assert at_terminal(people.alice)(*ADD, "--key-from", "-", "--header", "X-Gateway-Key=-").code == 0
    assert asked_with(people) == (KEY, {"X-Gateway-Key": SECRET_HEADER})


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (["--key-from", KEY], "--key-from: there is no environment variable of that name"),
        (["--key-from", "NOTHING"], "the environment variable NOTHING is empty"),
        (["--key-from", "-"], "--key-from -: nothing came"),
        (["--header", f"X-Gateway-Key: {SECRET_HEADER}"], "--header takes NAME=VARIABLE"),
        (["--header", f"X-Gateway-Key={SECRET_HEADER}"], "--header X-Gateway-Key: there is no environment"),
        (["--header", "X-A=GATEWAY", "--header", "x-a=GATEWAY"], "names x-a twice"),
        (["--header", "Host=GATEWAY"], "extra_headers"),
    ],
)
def test_a_secret_written_on_the_command_line_is_refused_and_not_repeated(
    people: Cast, at_terminal, monkeypatch: pytest.MonkeyPatch, said: list[str], why: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    ended = at_terminal(people.alice)(*ADD, *said)
    assert (ended.code, ended.out) == (1, "")
    assert why in ended.err
    assert KEY not in ended.err
    assert SECRET_HEADER not in ended.err
    assert not JudgeEndpoint.objects.exists()


@pytest.mark.parametrize(
    ("said", "code", "why"),
    [
        (["--temperature", "3"], 1, "temperature: found 3; allowed: 0 to 2"),
        (["--temperature", "warm"], 2, "warm is no number, nor none"),
        (["--seed", "7.5"], 2, "7.5 is no whole number, nor none"),
        (
            ["--max-output-tokens", "0"],
            1,
            "max_output_tokens: found 0; allowed: a whole number of tokens from 1",
        ),
        (["--reasoning-effort", "very low"], 1, "reasoning_effort"),
        (["--max-concurrency", "0"], 2, "0 is not a whole number from 1"),
        (["--input-usd", "-1"], 2, "no amount of dollars"),
    ],
)
def test_what_cannot_be_is_refused_once(people: Cast, at_terminal, said, code: int, why: str) -> None:
    ended = at_terminal(people.alice)(*ADD, *said)
    assert ended.code == code
    assert ended.err.count(why) == 1
    assert not JudgeEndpoint.objects.exists()


@override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=False)
def test_a_private_address_is_refused_as_far_as_the_operator_says(people: Cast, at_terminal) -> None:
    ended = at_terminal(people.alice)(*ADD, "--key-from", "OUR_KEY")
    assert ended.code == 1
    assert "127.0.0.1" in ended.err
    assert KEY not in ended.err


def test_an_endpoint_is_tested_and_removed(people: Cast, at_terminal) -> None:
    alice = at_terminal(people.alice)
    script = Script(Say('{"explanation": "It says so.", "criterion_status": "MET"}'))
    with running_server(script) as url:
        alice("endpoints", "add", "Ours", "--base-url", url, "--model", "m-1", "--key-from", "OUR_KEY")
        tested = alice("endpoints", "test", "Ours", "--json")
        close_clients()
    assert (tested.code, json.loads(tested.out)["verdict"]) == (0, "MET")
    assert misfits(Trial, tested.out) == []
    assert script.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert "its key is forgotten" in alice("endpoints", "remove", "Ours").out
    assert JudgeEndpoint.objects.get().sealed_key == ""
    gone = alice("endpoints", "show", "Ours")
    assert (gone.code, "Known: none yet" in gone.err) == (1, True)
    empty = alice("endpoints", "list")
    assert (empty.code, empty.out) == (0, "")
    assert "rubricweb endpoints add" in empty.err


def test_models_are_found_and_listed(
    people: Cast, at_terminal, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    for provider in PROVIDERS:
        monkeypatch.delenv(provider.environment, raising=False)
    alice = at_terminal(people.alice)
    with model_server.server(model_server.models("tiny", owner="vllm"), key=KEY) as (port, _):
        address = f"http://127.0.0.1:{port}/v1"
        monkeypatch.setattr(discovery, "LOCAL_PORTS", {port: "vLLM"})
        nobody = alice("endpoints", "find")  # it wants a key
        assert (nobody.code, nobody.out) == (0, "")
        assert "Nothing answers on the usual ports" in nobody.err
        alice("endpoints", "add", "Ours", "--base-url", address, "--model", "tiny", "--key-from", "OUR_KEY")
        listed = alice("endpoints", "models", "Ours")
        assert (listed.code, listed.out) == (0, "tiny\n")
        assert json.loads(alice("endpoints", "models", "Ours", "--json").out)["owner"] == "vllm"
    monkeypatch.setattr(discovery, "LOCAL_PORTS", {})
    refusal = model_server.LITELLM_WITHOUT
    with model_server.server(model_server.models("m"), key=KEY, refusal=refusal) as (port, _):
        monkeypatch.setattr(discovery, "LOCAL_PORTS", {port: "LiteLLM"})
        proxy = alice("endpoints", "find")
        assert proxy.out == f"LiteLLM at http://127.0.0.1:{port}/v1: lists its models for a key\n"
        assert f"--base-url http://127.0.0.1:{port}/v1 --model MODEL --key-from -" in " ".join(
            proxy.err.split()
        )
    gone = alice("endpoints", "models", "Ours")
    assert gone.code == 1
    assert "Ours lists no models" in gone.err
    with model_server.server(model_server.models("qwen2.5:0.5b")) as (port, _):
        monkeypatch.setattr(discovery, "LOCAL_PORTS", {port: "Ollama"})
        monkeypatch.setenv("GROQ_API_KEY", KEY)
        found = alice("endpoints", "find")
        assert found.out.splitlines() == [
            f"Ollama at http://127.0.0.1:{port}/v1: qwen2.5:0.5b",
            "Groq at https://api.groq.com/openai/v1, key in GROQ_API_KEY",
        ]
        assert (
            f"--base-url http://127.0.0.1:{port}/v1 --model qwen2.5:0.5b --input-usd 0 --output-usd 0"
            in found.err
        )
        assert KEY not in found.out + found.err
