"""Nobody ends at a white page: after a sign-in, and at an address that only a button leads to."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from tests import factories
from tests.factories import Cast

ELSEWHERE = (
    "https://elsewhere.example/t/x/",
    "http://testserver.elsewhere.example/t/x/",
    "http://testserver@elsewhere.example/",
    "http://testserver//elsewhere.example/",
    "http://testserver/\\\\elsewhere.example/",
    "http://testserver:81/t/x/",
    "//elsewhere.example/",
    "javascript:alert(1)",
    "http://[",
    "",
)


def next_of(answer) -> str:
    assert answer.status_code == 302
    address = urlsplit(answer["Location"])
    assert (address.netloc, address.path) == ("", "/accounts/login/")
    [there] = parse_qs(address.query)["next"]
    return there


@pytest.fixture
def pause(people: Cast) -> str:
    """Where the button of a queue's page sends its form."""
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
        raters=[people.ann],
    )
    return reverse("queue_pause", args=[people.team.slug, queue.pk])


def test_after_the_session_ended_the_sign_in_leads_back_to_the_page_of_the_form(
    people: Cast, pause: str
) -> None:
    page = pause.removesuffix("pause/")
    answer = Client().post(pause, headers={"Referer": f"http://testserver{page}?sort=name#top"})
    assert next_of(answer) == f"{page}?sort=name"
    # A page that is asked for is where the sign-in leads to, whatever page was before.
    asked = Client().get(page, headers={"Referer": "http://testserver/t/x/"})
    assert next_of(asked) == page


@pytest.mark.parametrize("said", ELSEWHERE)
def test_a_page_that_is_not_ours_is_led_to_by_no_sign_in_and_no_error_page(
    people: Cast, sign_in, pause: str, said: str
) -> None:
    team = reverse("dashboard", args=[people.team.slug])
    assert next_of(Client().post(pause, headers={"Referer": said})) == team
    answer = sign_in(people.ed).get(pause, headers={"Referer": said})
    assert answer.status_code == 405
    assert "elsewhere" not in answer.content.decode()
    assert answer.context["back_url"] == ""


def test_a_form_of_no_team_leads_to_the_start_page(people: Cast) -> None:
    assert next_of(Client().post(reverse("single_keys"))) == reverse("home")


def test_an_address_that_only_a_button_leads_to_says_so_and_leads_back(
    people: Cast, sign_in, pause: str
) -> None:
    client, page = sign_in(people.ed), pause.removesuffix("pause/")
    answer = client.get(pause, headers={"Referer": f"http://testserver{page}"})
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    text = answer.content.decode()
    assert "Nothing to open here" in text
    assert f'href="{page}">Back<' in text
    assert f'href="{reverse("dashboard", args=[people.team.slug])}">To the dashboard<' in text
    # The sign-in page, and this address itself, are no way back.
    for before in ("/accounts/login/?next=/", pause):
        answer = client.get(pause, headers={"Referer": f"http://testserver{before}"})
        assert answer.context["back_url"] == ""


def test_programs_and_scripts_get_the_empty_answer(people: Cast, sign_in, pause: str) -> None:
    client = sign_in(people.ed)
    for asked in ({"HX-Request": "true"}, {"Accept": "application/json"}):
        answer = client.get(pause, headers=asked)
        assert (answer.status_code, answer.content) == (405, b"")
