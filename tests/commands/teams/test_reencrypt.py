"""`rubricweb endpoints reencrypt`: a new SECRET_KEY takes over from an old one."""

import json
from typing import Any

import pytest
from django.test import override_settings

from rubricweb.errors import Invalid
from rubricweb.management import console
from rubricweb.models import JournalEntry, JudgeEndpoint, Team
from rubricweb.services.endpoints import endpoints
from rubricweb.services.endpoints.reencryption import reencrypt_endpoints
from tests.commands.terminal import Ended
from tests.factories import Cast

KEY, HEADER = "sk-very-secret-0123456789", "gateway-very-secret-987"
OLD, NEW = "old-" + "o" * 40, "new-" + "n" * 40
ROTATING = {"SECRET_KEY": NEW, "SECRET_KEY_FALLBACKS": [OLD]}


def added(people: Cast, name: str, team: Team | None = None, **secrets: Any) -> JudgeEndpoint:
    said: dict[str, Any] = {"base_url": "http://127.0.0.1:9/v1", "model": "m-1", **secrets}
    return endpoints.add_endpoint(team or people.team, by=people.alice, name=name, **said)


@pytest.fixture
def stored(people: Cast) -> list[JudgeEndpoint]:
    """Endpoints of two teams under the old key: key and headers, key alone, headers alone, nothing."""
    with override_settings(SECRET_KEY=OLD):
        return [
            added(people, "both", api_key=KEY, extra_headers={"X-Gateway": HEADER}),
            added(people, "key", people.other_team, api_key=KEY),
            added(people, "headers", extra_headers={"X-Gateway": HEADER}),
            added(people, "open"),
        ]


def reencrypt(capsys: pytest.CaptureFixture[str], *options: str) -> Ended:
    """For the whole installation: no team and no person is named."""
    code = console.main(["endpoints", "reencrypt", *options])
    shown = capsys.readouterr()
    return Ended(code, shown.out, shown.err)


def secrets_of(endpoint: JudgeEndpoint) -> tuple[str | None, dict[str, str]]:
    config = endpoints.judge_to_ask(endpoint.team, f"endpoint-{endpoint.pk}")
    return config.api_key, dict(config.extra_headers)


def test_the_old_key_can_go_once_every_secret_of_every_team_is_under_the_new_one(
    people: Cast, stored: list[JudgeEndpoint], capsys: pytest.CaptureFixture[str]
) -> None:
    with override_settings(**ROTATING):
        ended = reencrypt(capsys)
    assert ended.code == 0
    assert ended.out.strip() == "3 endpoints encrypted under today's SECRET_KEY; 0 already were."
    for secret in (KEY, HEADER):
        assert secret not in ended.out + ended.err
    with override_settings(SECRET_KEY=NEW, SECRET_KEY_FALLBACKS=[]):
        assert [secrets_of(endpoint) for endpoint in stored] == [
            (KEY, {"X-Gateway": HEADER}),
            (KEY, {}),
            (None, {"X-Gateway": HEADER}),
            (None, {}),
        ]
    lines = JournalEntry.objects.filter(verb="re-encrypted the secrets of").order_by("pk")
    assert [(line.team, line.actor, line.target_id) for line in lines] == [
        (endpoint.team, None, endpoint.pk) for endpoint in stored[:3]
    ]
    assert all(KEY not in str(line.detail) and HEADER not in str(line.detail) for line in lines)


def test_run_again_after_a_kill_it_goes_on_with_what_is_left(
    people: Cast, stored: list[JudgeEndpoint], capsys: pytest.CaptureFixture[str]
) -> None:
    """The row a kill came after is under the new key, the others are under the old one."""
    with override_settings(**ROTATING):
        endpoints.edit_endpoint(stored[0], by=people.alice, api_key=KEY, extra_headers={"X-Gateway": HEADER})
        again = reencrypt(capsys, "--json")
        assert json.loads(again.out) == {"reencrypted": 2, "current": 1, "unreadable": []}
        before = list(JudgeEndpoint.objects.order_by("pk").values_list("sealed_key", "sealed_headers"))
        assert reencrypt_endpoints().reencrypted == 0
        assert (
            list(JudgeEndpoint.objects.order_by("pk").values_list("sealed_key", "sealed_headers")) == before
        )


def test_what_is_under_no_known_key_is_named_and_left_and_the_rest_is_done(
    people: Cast, stored: list[JudgeEndpoint], capsys: pytest.CaptureFixture[str]
) -> None:
    with override_settings(SECRET_KEY="lost-" + "l" * 40):
        lost = added(people, "lost", api_key=KEY)
    with override_settings(**ROTATING):
        ended = reencrypt(capsys)
        assert ended.code == 1
        assert f"Endpoint {lost.pk}, lost, of team {people.team.slug} is under no known key" in ended.out
        assert secrets_of(stored[0])[0] == KEY
        with pytest.raises(Invalid, match="another SECRET_KEY"):
            secrets_of(lost)
    unchanged = JudgeEndpoint.objects.get(pk=lost.pk)
    assert unchanged.sealed_key == lost.sealed_key
