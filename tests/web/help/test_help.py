"""The docs as pages of the app: all of them open, links and pictures work, and every page leads to one."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.models import User
from rubricweb.web.help.pages import INDEX, _names, page_called, url_of
from rubricweb.web.help.topics import TOPICS, topic_of
from rubricweb.web.urls import team_urls
from tests.factories import Cast

SignIn = Callable[[User], Client]


@pytest.mark.parametrize("name", sorted(_names()))
def test_every_link_and_picture_of_a_page_leads_somewhere_in_the_app(name: str) -> None:
    body = str(page_called(name).body)
    ids = re.findall(r' id="([^"]+)"', body)
    assert len(ids) == len(set(ids))
    for link in re.findall(r'<a href="([^"]+)"', body):
        if not link.startswith(("https://", "http://", "mailto:")):
            address, _, anchor = link.partition("#")
            assert address.startswith("/help/"), link
            page = page_called(address.removeprefix("/help/").strip("/") or INDEX)
            assert not anchor or anchor in {heading.url.partition("#")[2] for heading in page.headings}, link
    for picture in re.findall(r'<img src="([^"]+)"', body):
        assert re.fullmatch(r"/help/images/\w+\.png", picture)
    assert not re.search(r"<(script|style|iframe)|<[^>]+\s(on\w+|style)=", body)


def test_the_pages_that_explain_pages_are_there_with_their_headings() -> None:
    for start, page, anchor in TOPICS:
        assert any(str(route.pattern).startswith(start) for route in team_urls), start
        assert url_of(page, anchor) in {heading.url for heading in page_called(page).headings} | {
            url_of(page)
        }


@pytest.mark.parametrize(
    ("route", "page"),
    [
        ("compare", "guides/read-compare"),
        ("judges", "guides/which-judge"),
        ("review", "guides/for-annotators"),
        ("queue_new", "guides/how-many-labels"),
        ("dashboard", INDEX),
    ],
)
def test_guides_come_first(route: str, page: str) -> None:
    [found] = [str(one.pattern) for one in team_urls if one.name == route]
    assert topic_of(found)[0] == page


def test_who_is_signed_in_reads_searches_and_sees_pictures(people: Cast, sign_in: SignIn) -> None:
    bob = sign_in(people.bob)
    compare = bob.get(reverse("compare", args=[people.team.slug])).content.decode()
    assert f'href="{url_of("guides/read-compare")}"' in compare
    page = bob.get(url_of("reviewing"))
    assert b'<h2 id="keys">Keys</h2>' in page.content
    picture = bob.get(reverse("help_picture", args=["review.png"]))
    assert picture["Content-Type"] == "image/png"
    assert b"".join(picture.streaming_content).startswith(b"\x89PNG")  # type: ignore[attr-defined]  # a file
    results = bob.get(url_of(INDEX), {"q": "two-factor SIGN-IN"}).content.decode()
    assert f'<a href="{url_of("team", "two-factor-sign-in")}">' in results
    assert "No heading has these words" in bob.get(url_of(INDEX), {"q": "<b>"}).content.decode()
    assert bob.get(url_of(INDEX), {"q": "x" * 201}).status_code == 400


@pytest.mark.parametrize("name", ["none", "../README", "guides/../../pyproject", "images/run.png"])
def test_nothing_but_the_docs_is_served(people: Cast, sign_in: SignIn, name: str) -> None:
    assert sign_in(people.bob).get(f"/help/{name}/").status_code == 404
    assert sign_in(people.bob).get("/help/images/..%2f..%2fREADME.md", follow=True).status_code == 404


def test_a_stranger_signs_in_first() -> None:
    assert Client().get(url_of(INDEX)).status_code == 302
    assert "Help on this page" not in Client().get("/accounts/login/").content.decode()
