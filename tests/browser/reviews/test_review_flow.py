"""What passes by while people label: notes, numbers, a phone, the table, work that comes back."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, expect

from rubricweb.models import Review, ReviewQueue, ReviewState, Revision
from rubricweb.services.reviews import queue_changes, queues, reviews
from rubricweb.services.reviews.leads import returns
from tests import factories
from tests.browser.conftest import Open
from tests.browser.faults import serious_faults
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CRITERIA = [
    {"name": "capital", "weight": 10, "requirement": "Names Paris."},
    {"name": "abroad", "weight": -15, "requirement": "Places Paris outside France."},
]
ITEMS = [{"id": f"item {n}", "prompt": "Capital?", "submission": f"Paris, {n}."} for n in range(1, 5)]


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    """Four items for ann; the judge it reveals says MET to both criteria of each."""
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    return factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann], run=run
    )


def first(people: Cast, queue: ReviewQueue) -> Review:
    review = queues.next_review(queue, people.ann, now=timezone.now())
    assert review is not None
    return review


def at(queue: ReviewQueue, path: str) -> str:
    return f"/t/{queue.team.slug}/{path}"


def test_what_differed_passes_as_a_note_and_its_key_leads_there(
    people: Cast, open_as: Open, queue: ReviewQueue, violations: list[str]
) -> None:
    review = first(people, queue)
    page = open_as(people.ann, at(queue, f"reviews/{review.pk}/"))
    expect(page.locator("html")).to_have_attribute("data-review-prefetch", "here")
    page.keyboard.press("u")
    page.keyboard.press("m")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".panes__main .pane__title")).to_have_text("2 Paris, 2.")
    note = page.locator("#toasts .toast")
    expect(note).to_contain_text("1 of 2 differs from the judge")
    page.keyboard.press("d")
    page.wait_for_url(re.compile(rf"/reviews/{review.pk}/reveal/$"))
    expect(page.locator("[data-revealed].is-active .criterion__name")).to_have_text("capital")
    page.keyboard.press("y")
    expect(page.locator("#revealed .revise__all")).to_have_count(0)
    # And back by the browser, to the item that was open.
    page.go_back()
    expect(page.locator(".panes__main .pane__title")).to_have_text("2 Paris, 2.")
    assert violations == []


def test_a_number_skips_and_the_last_one_leads_to_the_field(
    people: Cast, open_as: Open, queue: ReviewQueue
) -> None:
    review = first(people, queue)
    page = open_as(people.ann, at(queue, f"reviews/{review.pk}/"))
    page.keyboard.press("s")
    page.keyboard.press("6")
    expect(page.locator("#skip-reason")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.keyboard.press("3")
    expect(page.locator(".panes__main .pane__title")).to_have_text("2 Paris, 2.")
    review.refresh_from_db()
    assert (review.state, review.skip_reason) == (ReviewState.SKIPPED, "Not a real answer")


def test_a_phone_shows_the_item_and_the_verdicts_together(
    people: Cast, open_as: Open, browser: Browser, queue: ReviewQueue
) -> None:
    review = first(people, queue)
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True)
    page = open_as(people.ann, at(queue, f"reviews/{review.pk}/"), context.new_page())
    submission = page.locator(".review__submission")
    expect(submission).to_be_in_viewport()
    met = page.locator(".review__criterion.is-active .verdicts__option").first
    expect(met).to_be_in_viewport()
    box = met.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    met.tap()
    expect(page.locator(".review__criterion.is-active .criterion__name")).to_have_text("abroad")
    expect(submission).to_be_in_viewport()
    page.locator(".review__criterion.is-active .verdicts__option").nth(1).tap()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Submit and next").tap()
    expect(page.locator(".panes__main .pane__title")).to_have_text("2 Paris, 2.")
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_table_is_answered_by_keyboard(
    people: Cast, open_as: Open, queue: ReviewQueue, violations: list[str], theme: str
) -> None:
    queue_changes.edit_queue(queue, by=people.ed, grid=True)
    page = open_as(people.ann, at(queue, f"review/{queue.pk}/grid/"))
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.get_by_role("button", name="Take up to 10 items").click()
    expect(page.locator("tr[data-row]")).to_have_count(4)
    page.get_by_role("combobox", name="capital, 2 Paris, 2.").focus()
    expect(page.locator("#grid-panel")).to_contain_text("Paris, 2.")
    page.keyboard.press("m")
    expect(page.get_by_role("combobox", name="abroad, 2 Paris, 2.")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("combobox", name="abroad, 1 Paris, 1.")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("u")
    page.keyboard.press("Control+Enter")
    expect(page.locator("tr[data-row]")).to_have_count(3)
    expect(page.locator("#toasts .toast")).to_contain_text("1 of 2 differs from the judge")
    done = Review.objects.get(state=ReviewState.SUBMITTED)
    assert set(done.judgements.values_list("criterion__name", "verdict")) == {
        ("capital", "MET"),
        ("abroad", "UNMET"),
    }
    assert list(serious_faults(page)) == []
    page.set_viewport_size({"width": 360, "height": 740})
    expect(page.get_by_role("heading", name="One by one")).to_be_visible()
    expect(page.locator("table[data-grid]")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations == []


def test_a_cell_waits_on_the_device_while_there_is_no_network(
    people: Cast, open_as: Open, queue: ReviewQueue
) -> None:
    queue_changes.edit_queue(queue, by=people.ed, grid=True)
    queues.fill_grid(queue, people.ann, now=timezone.now())
    page = open_as(people.ann, at(queue, f"review/{queue.pk}/grid/"))
    page.get_by_role("combobox", name="capital, 1 Paris, 1.").focus()
    page.context.set_offline(True)
    page.keyboard.press("m")
    expect(page.locator("[data-row-state]").first).to_contain_text("waits here")
    page.context.set_offline(False)
    expect(page.locator("[data-row-state]").first).to_have_text("Saved")
    assert Review.objects.get(item__key="item 1").judgements.get().verdict == "MET"


def test_a_review_that_was_sent_back_is_changed_and_sent_again(
    people: Cast, open_as: Open, queue: ReviewQueue, violations: list[str]
) -> None:
    review = first(people, queue)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict="MET")
    reviews.submit(review, now=timezone.now())
    returns.send_back(review, by=people.alice, note="Is Paris placed abroad?", now=timezone.now())
    page = open_as(people.ann, at(queue, f"review/{queue.pk}/"))
    page.locator("#sent-back").get_by_role("link").click()
    expect(page.locator("#sent-back")).to_contain_text("Is Paris placed abroad?")
    abroad = page.locator("[data-revealed]").filter(has=page.get_by_text("abroad", exact=True))
    abroad.get_by_text("Change mine").click()
    abroad.get_by_text("Error absent").click()
    abroad.get_by_label("Reason").fill("In France.")
    page.keyboard.press("Control+Enter")
    expect(abroad).to_contain_text("changed")
    page.get_by_role("button", name="Submit again").click()
    expect(page.locator(".messages")).to_contain_text("is submitted again")
    expect(page.locator("#sent-back")).to_have_count(0)
    revision = Revision.objects.get(choice="change")
    assert (revision.judgement.verdict, revision.verdict) == ("MET", "UNMET")
    assert violations == []
