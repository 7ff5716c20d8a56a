"""No page shows a key that was made from the content, whatever stands on it."""

from typing import Any

import pytest

from tests.factories import Cast
from tests.web.test_access import address, routes
from tests.worlds.furnished import MADE, Furnished, make_keys

DATA = {"export_download"}
"""What answers with a file, in which the key is the item's name for programs."""


@pytest.fixture
def people(furnished: Furnished) -> Cast:
    return furnished.people


def test_no_page_shows_a_made_key(furnished: Furnished, people: Cast, sign_in: Any) -> None:
    make_keys(people.team)
    alice, opened = sign_in(people.alice), 0
    for route in routes():
        [pattern] = route.values
        answer = alice.get(address(pattern, people.team.slug, furnished.ours), follow=True)
        content = b"".join(answer) if answer.streaming else answer.content
        if pattern.name not in DATA:
            assert not MADE.search(content.decode(errors="replace")), pattern.name
        opened += answer.status_code == 200
    assert opened > 50  # those that only take a form answer 405
