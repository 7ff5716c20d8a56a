"""Result pages on paper."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page

from rubricweb.models import Case, Run, User
from rubricweb.services import demo
from tests.browser.conftest import Open
from tests.factories import WakeUps
from tests.judging import InProcessJudge, grade

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300), pytest.mark.django_db(transaction=True)]


def even_lengths(requirement: str, response: str) -> str:
    return "UNMET" if (len(requirement) + len(response)) % 3 == 0 else "MET"


@pytest.fixture
def runs() -> list[Run]:
    """Those of the demo team, all graded, the oldest first."""
    demo.load_demo(enqueue=WakeUps(), now=timezone.now())
    return [grade(run, InProcessJudge(even_lengths)) for run in Run.objects.order_by("pk")]


@pytest.fixture
def alice(runs: list[Run]) -> User:
    return User.objects.get(username="alice")


def sheets(page: Page) -> int:
    """How many sheets of paper the page fills: a PDF has one object for each."""
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))


def address(name: str, runs: list[Run]) -> str:
    team, run = runs[-1].team, runs[-1]
    queue = team.queues.order_by("pk")[0]
    ids = {
        "run": [run.pk],
        "run_diff": [run.pk, runs[-2].pk],
        "queue_agreement": [queue.pk],
        "case": [Case.objects.filter(items__run_items__run=run).order_by("pk")[0].pk],
        "judge": [run.judge_version.judge_id if run.judge_version else 0],
    }
    return reverse(name, args=[team.slug, *ids.get(name, [])])


PRINTED = ("dashboard", "compare", "run", "run_diff", "queue_agreement", "case", "judge")


def test_result_pages_fill_two_sheets_at_most_without_what_is_pressed_and_light(
    runs: list[Run], alice: User, open_as: Open, page: Page
) -> None:
    page.emulate_media(color_scheme="dark")
    for name in PRINTED:
        open_as(alice, address(name, runs))
        assert 1 <= sheets(page) <= 2, name
        page.emulate_media(media="print", color_scheme="dark")
        pressed = page.locator("main .button:visible, .topbar:visible, main textarea:visible")
        assert pressed.all_inner_texts() == [], name
        ink = page.evaluate("getComputedStyle(document.querySelector('h1, h2')).color")
        assert ink == "rgb(20, 23, 31)", (name, ink)  # --ink of the light theme
        page.emulate_media(media="null", color_scheme="dark")
