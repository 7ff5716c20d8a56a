"""A new team's way in a real browser: from the empty dashboard to the form of its first run."""

import pytest
from playwright.sync_api import Page, expect

from rubricweb.models import Rubric
from tests.browser.conftest import Open
from tests.browser.faults import faults
from tests.factories import Cast

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180), pytest.mark.django_db(transaction=True)]

SIZES = ({"width": 1280, "height": 800}, {"width": 360, "height": 740})


def looked_at(page: Page) -> None:
    """Nothing for axe in either theme, and nothing beside a phone's edge."""
    for size in SIZES:
        page.set_viewport_size(size)
        assert list(faults(page)) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    page.set_viewport_size(SIZES[0])


def test_an_empty_team_comes_to_its_first_run_by_what_the_pages_offer(
    people: Cast, open_as: Open, page: Page, violations: list[str]
) -> None:
    page.emulate_media(reduced_motion="reduce")
    open_as(people.alice, f"/t/{people.team.slug}/")
    looked_at(page)
    page.get_by_role("button", name="Load sample data").click()
    expect(page.get_by_text("1 of 5")).to_be_visible()
    page.get_by_role("button", name="Support reply").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title")).to_have_value("Support reply")
    open_as(people.alice, f"/t/{people.team.slug}/")
    looked_at(page)
    page.get_by_role("link", name="Publish").click()
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("Published as version 1.")).to_be_visible()
    assert Rubric.objects.get().versions.count() == 1
    open_as(people.alice, f"/t/{people.team.slug}/")
    expect(page.get_by_text("2 of 5")).to_be_visible()
    looked_at(page)
    page.locator(".path").get_by_role("link", name="New run").click()
    expect(page.get_by_role("heading", name="New run")).to_be_visible()
    expect(page.get_by_text("Sample: support replies").first).to_be_attached()
    open_as(people.alice, f"/t/{people.team.slug}/rubrics/new/")
    looked_at(page)
    assert violations == []
