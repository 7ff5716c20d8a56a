"""The dashboard in a real browser: its chart by mouse and keyboard, and the bar above every page."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from rubricweb.models import Run
from tests import factories
from tests.browser.conftest import Open
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.attempts import labelled_by_two, stricter_run

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180), pytest.mark.django_db(transaction=True)]


@pytest.fixture
def runs(people: Cast) -> list[Run]:
    """Three runs over one dataset, oldest first."""
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    made = [
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name=name)
        for name in ("Monday", "Tuesday", "Wednesday")
    ]
    return [grade(run, InProcessJudge(lambda requirement, response: "MET")) for run in made]


def told(page: Page):
    return page.locator(".chart__readout")


def test_hovering_names_the_run_and_a_click_opens_it(
    people: Cast, open_as: Open, runs: list[Run], violations: list[str]
) -> None:
    page = open_as(people.bob, f"/t/{people.team.slug}/")
    over = page.locator(".chart__plot .u-over")
    box = over.bounding_box()
    assert box is not None
    for share, run in ((0.02, runs[0]), (0.98, runs[2])):
        over.hover(position={"x": box["width"] * share, "y": box["height"] / 2})
        expect(told(page)).to_contain_text(str(run))
    # Another filter draws the chart anew.
    with page.expect_response(re.compile(r"\?dataset=")):
        page.get_by_label("Dataset").select_option(str(runs[0].dataset_id))
    expect(over).to_have_count(1)
    over.click(position={"x": box["width"] * 0.02, "y": box["height"] / 2})
    page.wait_for_url(re.compile(rf"/runs/{runs[0].pk}/$"))
    assert violations == []


def test_the_keyboard_walks_from_run_to_run_and_opens_one(
    people: Cast, open_as: Open, runs: list[Run], violations: list[str]
) -> None:
    page = open_as(people.bob, f"/t/{people.team.slug}/")
    chart = page.locator("[data-chart-time]")
    expect(chart.locator(".u-over")).to_be_visible()
    # By keyboard, so that the focus is to be seen.
    page.keyboard.press("Tab")
    chart.focus()
    expect(told(page)).to_contain_text("Wednesday")
    page.keyboard.press("ArrowLeft")
    expect(told(page)).to_contain_text("Tuesday")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")  # there is none before
    expect(told(page)).to_contain_text("Monday")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"/runs/{runs[1].pk}/$"))
    assert violations == []


def test_on_a_narrow_screen_the_open_room_is_in_view(people: Cast, open_as: Open, page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    open_as(people.ed, f"/t/{people.team.slug}/exports/")
    rooms = page.get_by_role("navigation", name="Main")
    expect(rooms.get_by_role("link", name="Export")).to_be_in_viewport(ratio=1)
    expect(rooms.get_by_role("link", name="Dashboard")).not_to_be_in_viewport()


def test_words_beside_a_mean_make_no_page_wider_than_a_phone(
    people: Cast, open_as: Open, violations: list[str]
) -> None:
    """The longest there are: of the stricter judge's run 100% do not pass."""
    run, _ = labelled_by_two(people)
    after = stricter_run(people, run)
    slug = people.team.slug
    for address in (
        reverse("dashboard", args=[slug]),
        reverse("runs", args=[slug]),
        reverse("run", args=[slug, after.pk]),
        reverse("run_diff", args=[slug, after.pk, run.pk]),
        f"{reverse('compare', args=[slug])}?run={after.pk}",
    ):
        page = open_as(people.bob, address)
        page.set_viewport_size({"width": 360, "height": 740})
        expect(page.get_by_text("100% do not pass").or_(page.get_by_text("42% →")).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
        # Nor does a table of these pages scroll sideways.
        wide = (
            "[...document.querySelectorAll('.table-wrap')].filter((one) => one.scrollWidth > one.clientWidth)"
        )
        assert page.evaluate(f"{wide}.map((one) => one.ariaLabel)") == [], address
    assert violations == []
