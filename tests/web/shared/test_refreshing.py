"""How often a page on the wall renews itself, as its address asks."""

import pytest
from django.urls import reverse

from tests.factories import Cast
from tests.worlds.attempts import labelled_by_two


@pytest.mark.parametrize("name", ["dashboard", "compare"])
def test_a_page_says_when_it_was_made_and_how_often_it_is_renewed(people: Cast, sign_in, name: str) -> None:
    labelled_by_two(people)
    client, url = sign_in(people.bob), reverse(name, args=[people.team.slug])
    page = client.get(f"{url}?refresh=300").content.decode()
    assert 'data-refresh="300"' in page
    assert "every 5 minutes" in " ".join(page.split())
    assert '<noscript><meta http-equiv="refresh" content="300"></noscript>' in page
    assert "data-refresh=" not in client.get(url).content.decode()


@pytest.mark.parametrize("asked", ["1", "0", "61", "-60", "sixty"])
def test_a_page_that_would_be_asked_for_too_often_is_refused(people: Cast, sign_in, asked: str) -> None:
    labelled_by_two(people)
    answer = sign_in(people.bob).get(reverse("dashboard", args=[people.team.slug]), {"refresh": asked})
    assert answer.status_code == 400
    assert "60, 300, 900" in answer.content.decode()
