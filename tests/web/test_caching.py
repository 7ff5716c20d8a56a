"""What browsers and proxies may keep: nothing of a team, and static files for ever."""

import pytest
from django.conf import settings
from django.urls import reverse

from rubricweb.models import Run
from tests.factories import Cast
from tests.worlds.failing import failing_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(people: Cast) -> Run:
    return failing_run(people)


def test_no_page_of_a_team_stays_in_a_cache(people: Cast, sign_in, run: Run) -> None:
    client = sign_in(people.bob)
    slug = people.team.slug
    item = run.dataset.items.get(key="one")
    pages = [
        reverse("dashboard", args=[slug]),
        reverse("dashboard", args=[slug]) + "?format=csv",
        reverse("run", args=[slug, run.pk]),
        reverse("run_item", args=[slug, run.pk, item.pk]),
        reverse("run", args=[slug, 999_999]),  # also what is not there
        reverse("dashboard", args=["another"]),
    ]
    kept = {page: client.get(page).headers["Cache-Control"] for page in pages}
    assert {page for page, said in kept.items() if "no-store" not in said} == set()
    fragment = client.get(reverse("run", args=[slug, run.pk]), headers={"HX-Request": "true"})
    assert fragment.headers["Cache-Control"] == "no-store"


def test_a_page_that_sends_to_the_sign_in_is_not_kept_either(client, people: Cast) -> None:
    answer = client.get(reverse("dashboard", args=[people.team.slug]))
    assert answer.status_code == 302
    assert answer.headers["Cache-Control"] == "no-store"


def test_static_files_are_answered_before_pages_are_told_apart() -> None:
    order = list(settings.MIDDLEWARE)
    static = order.index("whitenoise.middleware.WhiteNoiseMiddleware")
    assert static < order.index("rubricweb.web.http.NothingStaysInCaches")
