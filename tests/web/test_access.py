"""Every page of a team, asked by every role, by a stranger and by nobody, and with another team's ids."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, reverse

from rubricweb.models import Role
from rubricweb.web.urls import team_urls
from tests.factories import Cast
from tests.worlds.furnished import Furnished


def routes() -> Iterator[Any]:
    for pattern in team_urls:
        assert isinstance(pattern, URLPattern)
        yield pytest.param(pattern, id=str(pattern.name))


@pytest.fixture
def people(furnished: Furnished) -> Cast:
    return furnished.people


def address(pattern: URLPattern, slug: str, ids: dict[str, Any]) -> str:
    names = re.findall(r"<(?:\w+:)?(\w+)>", str(pattern.pattern))
    unknown = set(names) - set(ids)
    assert not unknown, f"tests/web/test_access.py must learn an id for {unknown}"
    return reverse(str(pattern.name), args=[slug, *(ids[name] for name in names)])


# Doors that open for one person only, whatever their role, and otherwise say "not found".
PERSONAL = {"review_id", "token_id", "notice_id", "view_id"}


@pytest.mark.parametrize("pattern", list(routes()))
def test_every_route_keeps_its_roles(
    pattern: URLPattern, furnished: Furnished, people: Cast, sign_in
) -> None:
    view = pattern.callback
    assert hasattr(view, "role"), f"{pattern.name} does not say who may open it: use @team_page"
    url = address(pattern, people.team.slug, furnished.ours)
    personal = any(name in str(pattern.pattern) for name in PERSONAL)
    for role, person in people.members.items():
        status = sign_in(person).get(url).status_code
        if role < view.role:
            assert status == 403, f"{role.label} reads {pattern.name}"
        else:
            allowed = {200, 302, 405} | ({400, 403, 404, 409} if personal else set())
            assert status in allowed, f"{role.label} is kept from {pattern.name}: {status}"
        if role < view.post_role:
            assert sign_in(person).post(url).status_code == 403, f"{role.label} changes {pattern.name}"


@pytest.mark.parametrize("pattern", list(routes()))
def test_strangers_are_told_nothing(pattern: URLPattern, furnished: Furnished, people: Cast, sign_in) -> None:
    url = address(pattern, people.team.slug, furnished.ours)
    for method in ("get", "post"):
        assert getattr(sign_in(people.charlie), method)(url).status_code == 404
        answer = getattr(Client(), method)(url)
        assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/accounts/login/")


@pytest.mark.parametrize("pattern", [route for route in routes() if "<" in str(route.values[0].pattern)])
def test_another_teams_ids_are_not_found(
    pattern: URLPattern, furnished: Furnished, people: Cast, sign_in
) -> None:
    url = address(pattern, people.team.slug, furnished.theirs)
    client = sign_in(people.alice)
    assert client.get(url).status_code in (404, 405), pattern.name
    assert client.post(url).status_code in (404, 405), pattern.name


def test_every_page_carries_the_strict_policy(people: Cast, sign_in) -> None:
    answer = sign_in(people.alice).get(reverse("dashboard", args=[people.team.slug]))
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer["X-Frame-Options"] == "DENY"


def test_nobody_signs_up() -> None:
    answer = Client().get("/accounts/signup/")
    assert b"password1" not in answer.content


def test_a_role_below_viewer_does_not_exist() -> None:
    assert min(Role) == Role.VIEWER
