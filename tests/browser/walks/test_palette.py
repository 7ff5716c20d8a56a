"""The palette: opened, walked and left by the keyboard alone."""

import pytest
from playwright.sync_api import expect

from tests import factories
from tests.browser.conftest import Open
from tests.factories import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_dataset_is_found_and_opened_by_keys_alone(people: Cast, open_as: Open) -> None:
    dataset = factories.dataset(people.team, people.ed, name="Answers of May")
    page = open_as(people.ed, f"/t/{people.team.slug}/runs/")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Answers of May")
    page.keyboard.type("new")
    expect(page.get_by_role("option", selected=True)).to_contain_text("New rubric")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", selected=True)).to_contain_text("New run")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Search")).to_be_hidden()
    page.get_by_role("link", name="Search").click()
    page.get_by_role("combobox", name="Search everything").fill("of may")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/datasets/{dataset.pk}/")
