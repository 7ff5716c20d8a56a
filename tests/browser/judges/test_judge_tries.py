"""Trying a judge in a real browser: answers are put in as they come, by keyboard alone."""

from collections.abc import Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from rubricweb.judges.offline.script import Hang, Script, ScriptRule
from rubricweb.models import JudgeVersion
from tests.browser.conftest import Open
from tests.browser.faults import faults
from tests.browser.test_editor import tab_to
from tests.factories import Cast
from tests.processes.conftest import wait_for
from tests.trying import TryWorld, says, try_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(people: Cast) -> Iterator[TryWorld]:
    slow = ScriptRule([Hang()], requirement="outside France")
    with try_world(people, Script(says, rules=[slow])) as made:
        yield made


def test_answers_come_one_by_one_and_stop_ends_the_asking(world: TryWorld, open_as: Open, violations) -> None:
    path = reverse("judge", args=[world.people.team.slug, world.first.judge_id])
    page = open_as(world.people.ed, path)
    tab_to(page, page.locator("#try > summary"))
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Try", exact=True)
    tab_to(page, button)
    page.keyboard.press("Enter")
    # Two answers are there while the third is still waited for.
    expect(page.locator("#try-tried-0")).to_contain_text("It is MET.")
    expect(page.locator("#try-tried-1")).to_contain_text("It is UNMET.")
    expect(page.locator("#try-tried-2")).to_contain_text("waiting")
    wait_for(lambda: world.script.in_flight == 1)
    tab_to(page, page.get_by_role("button", name="Stop"))
    page.keyboard.press("Enter")
    expect(page.locator("#try-news")).to_have_text("Stopped.")
    wait_for(lambda: world.script.in_flight == 0)
    expect(page.locator("#try-tried-2")).to_contain_text("not waited for")
    assert list(faults(page)) == []
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.locator("html").evaluate("html => html.scrollWidth") <= 360
    assert violations == []


def test_what_is_typed_is_tried_beside_the_version_before_and_not_kept(
    people: Cast, open_as: Open, violations
) -> None:
    with try_world(people) as world:
        page = open_as(world.people.ed, reverse("judge_edit", args=[people.team.slug, world.first.judge_id]))
        words = page.get_by_role("textbox", name="Instructions without options")
        words.press("Control+End")
        words.press_sequentially("\nBe strict.")
        item = page.get_by_role("textbox", name="Item")
        page.get_by_label("On", exact=True).select_option("item")
        item.fill("bad")
        item.press("Enter")  # tries, and keeps nothing
        expect(page.locator("#try-sums")).to_contain_text("3 asked")
        expect(page.locator("#try-before-0")).to_contain_text("It is MET.")
        expect(page.locator("#try-tried-0")).to_contain_text("It is MET.")
        assert words.input_value().endswith("Be strict.")
        assert list(faults(page)) == []
        page.set_viewport_size({"width": 360, "height": 800})
        assert page.locator("html").evaluate("html => html.scrollWidth") <= 360
        assert JudgeVersion.objects.count() == 1
        assert violations == []
