"""Comments in a real browser: by keyboard, with names completed, and without scripts."""

from typing import Any

import pytest
from django.middleware.csrf import CSRF_SECRET_LENGTH
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Browser, ConsoleMessage, Page, expect
from pytest_django.live_server_helper import LiveServer

from rubricweb.models import Comment, Notice, Review, User
from rubricweb.services import comments
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def review(people: Cast) -> Review:
    """ann has submitted; the queue goes on with other items."""
    queue = factories.queue(
        people.team,
        people.alice,
        dataset=factories.dataset(people.team, people.alice),
        rubric_version=factories.version(people.team, people.alice),
        raters=[people.ann],
    )
    review = queues.start_review(queue, queue.dataset.items.get(key="good"), people.ann)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict="MET", reason="mine")
    reviews.submit(review, now=timezone.now())
    return review


def session(user: User, server: LiveServer) -> Any:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": server.url}


def open_as(user: User, server: LiveServer, page: Page, path: str) -> Page:
    page.context.add_cookies([session(user, server)])
    page.goto(server.url + path)
    return page


def test_a_comment_is_written_with_the_keyboard_and_the_page_stays(
    people: Cast, live_server: LiveServer, page: Page, review: Review
) -> None:
    violations: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            violations.append(message.text)

    page.on("console", listen)
    path = f"/t/capitals/reviews/{review.pk}/reveal/"
    open_as(people.ann, live_server, page, path)
    text = page.get_by_label("Write a comment")
    text.focus()
    page.keyboard.type("Ask @r")
    expect(page.get_by_role("option", name="Rae @rae")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(text).to_have_value("Ask @rae ")
    page.keyboard.type('or @"Ra')  # the name others see, begun in quotes: the user name stands in its place
    expect(page.get_by_role("option", name="Rae @rae")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(text).to_have_value("Ask @rae or @rae ")
    page.keyboard.type("and @e")  # ed, and everybody with an e: the arrow goes on to the next
    first = page.locator("#comment-people [aria-selected=true]").get_attribute("data-username")
    page.keyboard.press("ArrowDown")
    second = page.locator("#comment-people [aria-selected=true]").get_attribute("data-username")
    assert first != second
    page.keyboard.press("Escape")
    expect(page.locator("#comment-people")).to_be_hidden()
    # On this page the same keys go to the next item, but not out of a comment.
    page.keyboard.press("Control+Enter")
    written = page.locator(".comments__comment")
    expect(written).to_contain_text("Ask @rae or @rae and @e")
    assert page.url.endswith(path)
    expect(text).to_have_value("")
    assert [notice.user for notice in Notice.objects.filter(kind="mention")] == [people.rae]
    written.get_by_text("Edit").click()
    written.get_by_label("Other words").fill("Ask nobody")
    written.get_by_label("Other words").press("Control+Enter")
    expect(written).to_contain_text("Ask nobody")
    written.get_by_role("button", name="Remove").click()
    page.locator("[data-confirm-yes]").click()
    expect(written).to_contain_text("Ann removed this comment")
    assert violations == []


def test_what_is_being_written_stays_while_another_comment_is_resolved(
    people: Cast, live_server: LiveServer, page: Page, review: Review
) -> None:
    earlier, own = (comments.write(review.item, by=by, text="Seen?") for by in (people.rae, people.ann))
    open_as(people.ann, live_server, page, f"/t/capitals/items/{review.item_id}/")
    text = page.get_by_label("Write a comment")
    text.fill("Half a")
    page.get_by_label("What it is about").select_option(label="concise")
    mine = page.locator(f"#comment-{own.pk}")
    mine.get_by_text("Edit").click()
    mine.get_by_label("Other words").fill("Seen by whom?")
    page.locator(f"#comment-{earlier.pk}").get_by_role("button", name="Resolve").click()
    expect(page.locator(f"#comment-{earlier.pk}")).to_contain_text("resolved")
    expect(text).to_have_value("Half a")
    expect(page.get_by_label("What it is about").locator("option:checked")).to_have_text("concise")
    expect(mine.get_by_label("Other words")).to_be_visible()
    expect(mine.get_by_label("Other words")).to_have_value("Seen by whom?")
    # Signed out meanwhile, as in another tab, nothing is sent and nothing lost.
    send = page.get_by_role("button", name="Comment", exact=True)
    page.context.clear_cookies(name="sessionid")
    send.click()
    expect(page.locator("#toasts")).to_contain_text("You are signed out")
    expect(text).to_have_value("Half a")
    # Nor is it sent in the name of somebody else who signed in there.
    token: Any = {"name": "csrftoken", "value": "a" * CSRF_SECRET_LENGTH, "url": live_server.url}
    page.context.add_cookies([session(people.ed, live_server), token])
    send.click()
    expect(page.locator("#toasts")).to_contain_text("Somebody else signed in")
    expect(text).to_have_value("Half a")
    # Signed in again there, with the new token that comes with it, this page goes on. What is sent is gone
    # from its own form, and stays in the other.
    page.context.add_cookies([session(people.ann, live_server)])
    send.click()
    expect(page.locator(".comments__comment")).to_have_count(3)
    expect(text).to_have_value("")
    expect(mine.get_by_label("Other words")).to_have_value("Seen by whom?")


def test_what_is_being_written_waits_for_its_writer_on_its_item(
    people: Cast, live_server: LiveServer, page: Page, review: Review
) -> None:
    path = f"/t/capitals/items/{review.item_id}/"
    other = review.queue.dataset.items.exclude(pk=review.item_id)[0]
    text = page.get_by_label("Write a comment")
    open_as(people.ann, live_server, page, path)
    text.fill("Half a")
    open_as(people.ann, live_server, page, f"/t/capitals/items/{other.pk}/")
    expect(text).to_have_value("")
    # On another page that shows the item's comments it waits as well.
    open_as(people.ann, live_server, page, f"/t/capitals/reviews/{review.pk}/reveal/")
    expect(text).to_have_value("Half a")
    open_as(people.rae, live_server, page, path)
    expect(text).to_have_value("")
    open_as(people.ann, live_server, page, path)
    expect(text).to_have_value("Half a")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".comments__comment")).to_contain_text("Half a")
    page.reload()
    expect(page.locator(".comments__comment")).to_contain_text("Half a")
    expect(text).to_have_value("")


def test_a_comment_that_was_on_its_way_waits_only_until_it_has_arrived(
    people: Cast, live_server: LiveServer, page: Page, review: Review
) -> None:
    path = f"/t/capitals/items/{review.item_id}/"
    other = review.queue.dataset.items.exclude(pk=review.item_id)[0]
    text, send = page.get_by_label("Write a comment"), page.get_by_role("button", name="Comment", exact=True)
    open_as(people.ann, live_server, page, path)
    text.fill("Half a\nword")
    page.get_by_label("What it is about").select_option(label="concise")
    # The request is lost, with nobody left on the page to be told so.
    page.route("**/comments/", lambda _: None)
    send.click()
    expect(page.locator("form.comments__new.htmx-request")).to_be_visible()
    page.goto(f"{live_server.url}/t/capitals/items/{other.pk}/")
    page.goto(live_server.url + path)
    expect(text).to_have_value("Half a\nword")
    expect(page.get_by_label("What it is about").locator("option:checked")).to_have_text("concise")
    # It arrives, and only the answer is still on its way.
    page.unroute("**/comments/")
    page.route("**/comments/", lambda route: route.fetch(max_redirects=0))
    send.click()
    while not Comment.objects.exists():
        page.wait_for_timeout(20)
    page.goto(f"{live_server.url}/t/capitals/items/{other.pk}/")
    page.goto(live_server.url + path)
    expect(page.locator(".comments__comment")).to_contain_text("Half a")
    expect(text).to_have_value("")
    expect(page.get_by_label("What it is about")).to_have_value("")


def test_what_a_waiting_comment_is_about_may_not_be_offered_on_another_page(
    people: Cast, live_server: LiveServer, page: Page, review: Review
) -> None:
    about = page.get_by_label("What it is about")
    open_as(people.ann, live_server, page, f"/t/capitals/reviews/{review.pk}/reveal/")
    page.get_by_label("Write a comment").fill("Half a")
    about.select_option(value=f"verdict-{review.judgements.get(criterion__name='concise').pk}")
    # The page of the item alone offers no verdicts.
    page.goto(f"{live_server.url}/t/capitals/items/{review.item_id}/")
    expect(page.get_by_label("Write a comment")).to_have_value("Half a")
    expect(about.locator("option:checked")).to_have_text("About the whole item")


def test_a_lost_comment_waits_though_an_earlier_one_says_the_same(
    people: Cast, live_server: LiveServer, page: Page, review: Review
) -> None:
    path = f"/t/capitals/items/{review.item_id}/"
    other = review.queue.dataset.items.exclude(pk=review.item_id)[0]
    comments.write(review.item, by=people.ann, text="Agree")
    text, send = page.get_by_label("Write a comment"), page.get_by_role("button", name="Comment", exact=True)
    open_as(people.ann, live_server, page, path)
    text.fill("Agree")
    page.get_by_label("What it is about").select_option(label="concise")
    page.route("**/comments/", lambda _: None)
    send.click()
    expect(page.locator("form.comments__new.htmx-request")).to_be_visible()
    page.goto(f"{live_server.url}/t/capitals/items/{other.pk}/")
    page.goto(live_server.url + path)
    expect(text).to_have_value("Agree")
    expect(page.get_by_label("What it is about").locator("option:checked")).to_have_text("concise")
    # Once it is there beside the earlier one, it has arrived.
    page.unroute("**/comments/")
    page.route("**/comments/", lambda route: route.fetch(max_redirects=0))
    send.click()
    while Comment.objects.count() < 2:
        page.wait_for_timeout(20)
    page.goto(f"{live_server.url}/t/capitals/items/{other.pk}/")
    page.goto(live_server.url + path)
    expect(page.locator(".comments__comment")).to_have_count(2)
    expect(text).to_have_value("")


def test_what_a_waiting_comment_is_about_is_kept_on_a_page_that_does_not_offer_it(
    people: Cast, live_server: LiveServer, page: Page, review: Review
) -> None:
    text, about = page.get_by_label("Write a comment"), page.get_by_label("What it is about")
    reveal = f"{live_server.url}/t/capitals/reviews/{review.pk}/reveal/"
    verdict = f"verdict-{review.judgements.get(criterion__name='concise').pk}"
    open_as(people.ann, live_server, page, f"/t/capitals/reviews/{review.pk}/reveal/")
    text.fill("Half a")
    about.select_option(value=verdict)
    for _ in range(2):
        page.goto(f"{live_server.url}/t/capitals/items/{review.item_id}/")
        expect(text).to_have_value("Half a")
        expect(about).to_have_value("")
    page.goto(reveal)
    expect(text).to_have_value("Half a")
    expect(about).to_have_value(verdict)
    # With its words sent from the other page, the choice waits no longer.
    page.goto(f"{live_server.url}/t/capitals/items/{review.item_id}/")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".comments__comment")).to_contain_text("Half a")
    page.goto(reveal)
    expect(text).to_have_value("")
    expect(about).to_have_value("")


def test_without_scripts_everything_is_done_by_forms(
    people: Cast, live_server: LiveServer, browser: Browser, review: Review
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    open_as(people.ann, live_server, page, f"/t/capitals/items/{review.item_id}/")
    page.get_by_label("Write a comment").fill("Plain, @rae")
    page.get_by_label("What it is about").select_option(label="concise")
    page.get_by_role("button", name="Comment", exact=True).click()
    made = Comment.objects.get()
    assert page.url.endswith(f"/items/{review.item_id}/#comment-{made.pk}")
    assert made.criterion is not None
    assert made.criterion.name == "concise"
    page.get_by_role("button", name="Resolve").click()
    expect(page.locator(".comments__comment")).to_contain_text("resolved")
    context.clear_cookies()
    open_as(people.rae, live_server, page, "/t/capitals/")
    page.get_by_role("link", name="Notifications, 1 unread").click()
    page.get_by_role("link", name="Ann mentioned you on 1 Paris is the capital of France.").click()
    expect(page.locator(f"#comment-{made.pk}")).to_contain_text("Plain, @rae")
    expect(page.get_by_role("link", name="Notifications", exact=True)).to_be_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_on_a_narrow_screen(
    people: Cast, live_server: LiveServer, page: Page, review: Review, scheme: Any
) -> None:
    comments.write(review.item, by=people.rae, text="@ann see https://example.org/" + "long/" * 60)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 360, "height": 740})
    for path in (f"items/{review.item_id}/comments/", "notifications/", f"reviews/{review.pk}/reveal/"):
        open_as(people.ann, live_server, page, f"/t/capitals/{path}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, path
