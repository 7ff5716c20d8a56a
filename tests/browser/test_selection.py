"""Rows selected in a list in a real browser: a range, the page, the bar that says how many, a new queue."""

import pytest
from playwright.sync_api import expect

from rubricweb.models import ReviewQueue
from tests import factories
from tests.browser.conftest import Open
from tests.factories import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_range_of_items_is_selected_by_mouse_and_by_keyboard_and_opens_a_queue(
    people: Cast, open_as: Open, violations: list[str]
) -> None:
    items = [{"id": f"answer-{number}", "submission": f"Paris, {number}."} for number in range(5)]
    dataset = factories.dataset(people.team, people.ed, items=items)
    factories.version(people.team, people.ed)
    page = open_as(people.ed, f"/t/{people.team.slug}/datasets/{dataset.pk}/")
    boxes = page.get_by_role("checkbox", name="Select answer-")
    count, whole_page = page.locator("[data-selection-count]"), page.get_by_label("Select all rows shown")
    expect(boxes).to_have_count(5)
    expect(count).not_to_be_visible()
    boxes.nth(1).click()
    boxes.nth(3).click(modifiers=["Shift"])
    expect(count).to_have_text("3 selected")
    expect(whole_page).not_to_be_checked()
    whole_page.press("Space")
    expect(count).to_have_text("5 selected")
    whole_page.press("Space")
    expect(count).not_to_be_visible()
    for at in (0, 4):
        boxes.nth(at).press("Space")
    page.get_by_role("button", name="Add to a review queue").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Add the 2 selected items to a review queue")
    page.get_by_role("link", name="New queue").first.press("Enter")
    expect(page.get_by_role("radio", name="The 2 selected items")).to_be_checked()
    page.get_by_label("Name").fill("First and last")
    page.get_by_role("combobox", name="Rubric").select_option(label="Capitals v1")
    page.get_by_role("checkbox", name="The whole team").check()
    page.get_by_role("button", name="Open queue").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("First and last")
    queue = ReviewQueue.objects.get()
    assert set(queue.queue_items.values_list("item__key", flat=True)) == {"answer-0", "answer-4"}
    assert violations == []
