"""Every option of a sampling is known at every door, and reaches the request and the key.

`tests/sampling.py` makes up a value for each, so that an option that is added is walked here by itself.
"""

import json
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pydantic import TypeAdapter

from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.judging import sampling
from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS, Sampling, SamplingOption
from rubricweb.environment import Environment
from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.client.reply_formats import EndpointCapabilities
from rubricweb.judges.client.request_body import request_body
from rubricweb.judges.content import content_key
from rubricweb.models import JournalEntry, JudgeEndpoint, JudgeSnapshot
from rubricweb.selectors.runs.judge_settings import judge_settings
from rubricweb.services.endpoints import endpoints
from rubricweb.services.teams import teams
from tests.api.client import ApiClient
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.sampling import AS_SAID, SAID

ADDRESS = {"name": "Ours", "base_url": "https://judge.example/v1", "model": "m"}
PROMPT = Prompt("Judge.", "Paris.", None, (0,))
each_option = pytest.mark.parametrize("option", SAMPLING_OPTIONS, ids=lambda option: option.name)


def judge(**options: Any) -> JudgeConfig:
    return judge_of(Sampling(**options))


def judge_of(said: Sampling) -> JudgeConfig:
    return JudgeConfig(**ADDRESS, sampling=said)


def request(config: JudgeConfig) -> dict[str, Any]:
    return request_body(config, PROMPT, EndpointCapabilities(), 0, spell_out_schema=False)


# ── What is asked ────────────────────────────────────────────────────────────────────────────────


@each_option
def test_an_option_is_sent_where_it_is_set_and_left_out_otherwise(option: SamplingOption) -> None:
    assert request(judge(**{option.name: SAID[option.name]}))[option.sent_as] == SAID[option.name]
    assert option.sent_as not in request(judge(**{option.name: option.unset}))


@each_option
def test_an_option_decides_whether_a_stored_answer_answers(option: SamplingOption) -> None:
    said = judge(**{option.name: SAID[option.name]})
    assert content_key(said, PROMPT, 0) != content_key(judge(), PROMPT, 0)
    assert judge_settings(JudgeSnapshot.of("j", said)) != judge_settings(JudgeSnapshot.of("j", judge()))


def test_an_option_that_is_added_leaves_every_key_of_before_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As of another release, in which the last option is new."""
    *others, last = SAMPLING_OPTIONS
    old = {option.name: option.default for option in others}
    new = replace(last, says=replace(last.says, in_every_key=False))
    monkeypatch.setattr(sampling, "SAMPLING_OPTIONS", (*others, new))
    assert Sampling().in_key() == old
    assert Sampling(**{last.name: SAID[last.name]}).in_key() == {**old, last.name: SAID[last.name]}


@each_option
def test_an_option_that_is_not_in_every_key_is_left_out_of_requests_unless_it_is_set(
    option: SamplingOption,
) -> None:
    assert option.says.in_every_key or option.default == option.unset


def test_a_run_keeps_every_option_beside_the_other_settings_of_its_judge() -> None:
    kept = JudgeSnapshot.of("j", judge(**SAID)).as_json()
    assert kept.items() >= SAID.items()
    assert "sampling" not in kept


# ── Doors ────────────────────────────────────────────────────────────────────────────────────────


def stored() -> Sampling:
    return JudgeEndpoint.objects.get().sampling


def test_all_options_can_be_said_by_the_api(people: Cast) -> None:
    membership = people.team.memberships.get(user=people.alice)
    _, secret = teams.create_token(membership, name="tests", may_write=True, days=1, now=timezone.now())
    made = ApiClient(secret).send("POST", "/endpoints", {**ADDRESS, **SAID})
    assert made.items() >= SAID.items()
    assert stored() == AS_SAID
    unset = {option.name: option.unset for option in SAMPLING_OPTIONS}
    changed = ApiClient(secret).send("PATCH", f"/endpoints/{made['id']}", unset)
    assert changed.items() >= unset.items()
    [line] = JournalEntry.objects.filter(verb="edited")
    assert line.detail == {"fields": ", ".join(SAID)}


def test_all_options_can_be_said_at_a_terminal(people: Cast, capsys: pytest.CaptureFixture[str]) -> None:
    alice = terminal_of(people.team, people.alice, capsys)
    said: list[str] = []
    for option in SAMPLING_OPTIONS:
        name = f"--{option.name.replace('_', '-')}"
        said += [name] if option.kind is bool else [name, str(SAID[option.name])]
    address = ("--base-url", ADDRESS["base_url"], "--model", ADDRESS["model"])
    assert alice("endpoints", "add", ADDRESS["name"], *address, *said).code == 0
    assert stored() == AS_SAID
    nothing: list[str] = []
    for option in SAMPLING_OPTIONS:
        name = option.name.replace("_", "-")
        nothing += [f"--no-{name}"] if option.kind is bool else [f"--{name}", "none"]
    assert alice("endpoints", "edit", ADDRESS["name"], *nothing).code == 0
    assert request(endpoints.judge_to_ask(people.team, JudgeEndpoint.objects.get().judge_id)).keys() == {
        "model",
        "messages",
    }


def test_all_options_can_be_said_on_the_page_under_their_titles(people: Cast, sign_in: Any) -> None:
    client: Client = sign_in(people.alice)
    new = reverse("settings_judge_new", args=[people.team.slug])
    page = client.get(new).content.decode()
    assert [option.name for option in SAMPLING_OPTIONS if option.says.title not in page] == []
    sent = {name: "on" if value is True else str(value) for name, value in SAID.items()}
    assert client.post(new, {**ADDRESS, **sent}).status_code == 302
    assert stored() == AS_SAID
    listed = client.get(reverse("settings_judges", args=[people.team.slug])).content.decode()
    assert AS_SAID.in_words in listed


def test_all_options_can_be_said_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SAID.items():
        monkeypatch.setenv(f"ASKED_{name.upper()}", str(int(value) if value is True else value))
    assert Environment().sampling(prefix="ASKED_") == AS_SAID
    for option in SAMPLING_OPTIONS:
        monkeypatch.delenv(f"ASKED_{option.name.upper()}")
    assert Environment().sampling(prefix="ASKED_") == Sampling()


@each_option
def test_what_no_option_takes_is_refused_at_its_place_in_its_own_words(
    people: Cast, option: SamplingOption
) -> None:
    wrong: Any = "no such value!" if option.kind in (str, bool) else (option.most or 0) + 1
    with pytest.raises(Invalid) as refusal:
        endpoints.add_endpoint(people.team, by=people.alice, **ADDRESS, **{option.name: wrong})
    [fault] = refusal.value.faults
    assert (fault.place, fault.allowed.startswith(option.says.allowed)) == (option.name, True)
    with pytest.raises(ValueError, match=f"JudgeConfig.{option.name} is .*allowed is {option.says.allowed}"):
        JudgeConfig(**ADDRESS, **{option.name: wrong})


def test_a_value_that_was_in_range_in_its_day_is_still_read_and_another_type_is_not(people: Cast) -> None:
    kept = {**JudgeSnapshot.of("j", judge()).as_json(), "temperature": 5}
    read = Sampling.stored({"temperature": 5})
    assert read.temperature == 5.0
    assert read.changed(seed=1) == Sampling.stored({"temperature": 5, "seed": 1})
    assert TypeAdapter(JudgeSnapshot).validate_json(json.dumps(kept)).config == judge_of(read)
    with pytest.raises(ValueError, match="temperature: found 'warm'; allowed: 0 to 2"):
        Sampling.stored({"temperature": "warm"})
    with pytest.raises(ValueError, match="heat: found 1; allowed: the options temperature"):
        Sampling.stored({"heat": 1})
