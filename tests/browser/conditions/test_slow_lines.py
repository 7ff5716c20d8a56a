"""On a slow line: what is clicked twice is done once, and what was stopped can be sent again."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from rubricweb.models import ApiToken
from tests.browser.conftest import Open
from tests.factories import Cast

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180), pytest.mark.django_db(transaction=True)]

ADDRESS = "**/settings/tokens/"
Click = Callable[[], None]


@pytest.fixture
def held(page: Page) -> list[Route]:
    """The forms that were sent: the server gets them when the test lets them go on."""
    routes: list[Route] = []
    page.route(
        ADDRESS,
        lambda route: routes.append(route) if route.request.method == "POST" else route.continue_(),
    )
    return routes


@pytest.fixture
def click(people: Cast, open_as: Open, page: Page) -> Click:
    """Clicks on the button of a form that is filled in, and does not wait for the page it leads to."""
    open_as(people.alice, f"/t/{people.team.slug}/settings/tokens/")
    page.get_by_label("Name").fill("Laptop")
    box = page.get_by_role("button", name="Create token").bounding_box()
    assert box is not None
    return lambda: page.mouse.click(box["x"] + 5, box["y"] + 5)


def sent(page: Page, held: list[Route]) -> Route:
    while not held:
        page.wait_for_timeout(20)
    return held[0]


def tokens() -> list[str]:
    return [token.name for token in ApiToken.objects.all()]


def test_a_form_that_is_clicked_twice_is_sent_once(page: Page, held: list[Route], click: Click) -> None:
    click()
    first = sent(page, held)
    click()
    first.continue_()
    expect(page.locator("#token-secret")).to_be_visible()
    assert len(held) == 1
    assert tokens() == ["Laptop"]


def test_a_form_whose_way_was_stopped_is_sent_again(page: Page, held: list[Route], click: Click) -> None:
    click()
    sent(page, held)
    page.context.new_cdp_session(page).send("Page.stopLoading")  # as Escape does
    page.get_by_label("Name").fill("Desktop")
    page.unroute(ADDRESS)
    click()
    expect(page.locator("#token-secret")).to_be_visible()
    assert tokens() == ["Desktop"]
