"""Whether a provider was found to cache beginnings of prompts, in the API, at the terminal, on its page."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.judges.client.reply_formats import CACHE_TRIALS, EndpointCapabilities
from rubricweb.models import JudgeEndpoint
from rubricweb.services.endpoints import endpoints, memory
from tests.commands.terminal import terminal_of
from tests.factories import Cast

pytestmark = pytest.mark.django_db

UNKNOWN = "Whether its provider caches beginnings that prompts share is not known yet: runs find out."


@pytest.fixture
def endpoint(people: Cast) -> JudgeEndpoint:
    return endpoints.add_endpoint(
        people.team,
        by=people.alice,
        name="small",
        base_url="http://127.0.0.1:9/v1",
        model="m",
        api_key="sk-one",
    )


def learned(people: Cast, endpoint: JudgeEndpoint, *cached: int, days_ago: int = 0) -> None:
    """What a worker stores after answers to prompts of 2,000 tokens, of which so many were cached."""
    found = EndpointCapabilities()
    for tokens in cached:
        found.learn_cached(2000, tokens)
    config = endpoints.judge_to_ask(people.team, endpoint.judge_id)
    memory.keep_of(config, found.dump(), now=timezone.now() - timedelta(days=days_ago))


@pytest.mark.parametrize(
    ("cached", "caches", "sentence"),
    [
        ((), None, UNKNOWN),
        ((0,) * (CACHE_TRIALS - 1), None, UNKNOWN),
        (
            (0, 1920),
            True,
            "Its provider was found to cache beginnings that prompts share, from about 1,024 tokens on.",
        ),
        (
            (0,) * CACHE_TRIALS,
            False,
            "Its provider was not found to cache beginnings that prompts share: only those of 4,000 tokens "
            "or more are still tried.",
        ),
    ],
)
def test_it_is_said_in_a_sentence(
    people: Cast,
    as_member,
    sign_in,
    capsys: pytest.CaptureFixture[str],
    endpoint: JudgeEndpoint,
    cached: tuple[int, ...],
    caches: bool | None,
    sentence: str,
) -> None:
    other = endpoints.add_endpoint(
        people.team, by=people.alice, name="other", base_url="http://127.0.0.1:9/v1", model="m"
    )
    if cached:
        learned(people, endpoint, *cached)
    shown = {one["name"]: one for one in as_member(people.bob).get("/endpoints")["items"]}
    assert (shown["small"]["caches_beginnings"], shown["small"]["caching"]) == (caches, sentence)
    # Another key is another customer of the provider: nothing is known of it.
    assert (shown["other"]["caches_beginnings"], shown["other"]["caching"]) == (None, UNKNOWN)
    terminal = terminal_of(people.team, people.bob, capsys)
    assert sentence in " ".join(terminal("endpoints", "show", endpoint.pk).out.split())
    assert UNKNOWN in " ".join(terminal("endpoints", "show", other.pk).out.split())
    page = sign_in(people.bob).get(reverse("settings_judge", args=[people.team.slug, endpoint.pk]))
    assert f'id="caching">{sentence}</p>' in page.content.decode()


def test_what_was_learned_long_ago_or_under_a_lost_key_is_not_known(
    people: Cast, as_member, endpoint: JudgeEndpoint
) -> None:
    learned(people, endpoint, 1920, days_ago=8)
    [shown] = as_member(people.bob).get("/endpoints")["items"]
    assert shown["caching"] == UNKNOWN
    learned(people, endpoint, 1920)
    [shown] = as_member(people.bob).get("/endpoints")["items"]
    assert shown["caches_beginnings"] is True
    JudgeEndpoint.objects.update(sealed_key="under another key")
    [shown] = as_member(people.bob).get("/endpoints")["items"]
    assert shown["caching"] == UNKNOWN
