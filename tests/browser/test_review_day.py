"""A day of reviewing in a real browser: by keyboard, with and without a network, quoting and finding."""

import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.utils import timezone
from playwright.sync_api import Page, expect

from rubricweb.models import Judgement, QueueState, Review, ReviewQueue, ReviewState, User
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.browser.conftest import Open
from tests.browser.faults import serious_faults
from tests.factories import Cast
from tests.processes.conftest import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CRITERIA: list[dict[str, Any]] = [
    {"name": "capital", "weight": 10, "requirement": "Names Paris."},
    {"name": "polite", "weight": 5, "requirement": "Is polite."},
]
TEXT = "Voilà 🗼 **Paris** is the capital.\n\n- It lies on the *Seine*.\n- Paris has 2 million people."
ITEMS = [{"id": f"item {number}", "prompt": "Capital?", "submission": TEXT} for number in range(10)]


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    return factories.queue(
        people.team,
        people.alice,
        dataset=factories.dataset(people.team, people.alice, items=ITEMS),
        rubric_version=factories.version(people.team, people.alice, criteria=CRITERIA),
        raters=[people.ann, people.rae],
    )


@pytest.fixture
def review(people: Cast, queue: ReviewQueue) -> Review:
    return queues.start_review(queue, queue.dataset.items.get(key="item 0"), people.ann)


def path_of(review: Review) -> str:
    return f"/t/{review.queue.team.slug}/reviews/{review.pk}/"


def next_is_here(page: Page) -> None:
    """Waits until the next item is here."""
    expect(page.locator("html")).to_have_attribute("data-review-prefetch", "here")


def select(page: Page, words: str, region: str = "submission") -> None:
    """Selects the first of these words in a text of the item, as a mouse would."""
    page.evaluate(
        """([words, region]) => {
            const walker = document.createTreeWalker(
                document.querySelector(`[data-field="${region}"]`), NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const at = walker.currentNode.data.indexOf(words);
                if (at === -1) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + words.length);
                getSelection().removeAllRanges();
                getSelection().addRange(range);
                return;
            }
            throw new Error(`${words} is not there`);
        }""",
        [words, region],
    )


def stored_evidence(review: Review, name: str) -> Any:
    found = Judgement.objects.filter(review=review, criterion__name=name).first()
    return found.evidence if found else None


def test_ten_items_are_labelled_by_keyboard_with_the_network_gone_for_a_while(
    people: Cast, open_as: Open, queue: ReviewQueue, review: Review, violations: list[str]
) -> None:
    """Every verdict is on the server at the end: item 0 UNMET, MET, item 1 MET, MET and so on by turns."""
    page = open_as(people.ann, path_of(review))
    opened = page.locator(".criterion.is-active .criterion__name")
    title = page.locator(".panes__main .pane__title")
    submitted = Review.objects.filter(queue=queue, rater__user=people.ann, state=ReviewState.SUBMITTED)
    for number in range(10):
        expect(title).to_contain_text(f"{number + 1} ")
        if number < 9:
            next_is_here(page)
        expect(opened).to_have_text("capital")
        if number in (3, 7):
            page.context.set_offline(True)
        page.keyboard.press("m" if number % 2 else "u")
        expect(opened).to_have_text("polite")
        page.keyboard.press("m")
        page.keyboard.press("Control+Enter")
        if number in (3, 7):  # the next one is here all the same
            expect(title).to_contain_text(f"{number + 2} ")
            assert submitted.count() == number
            page.keyboard.press("u")  # to be corrected below
            page.context.set_offline(False)
            wait_for(lambda number=number: submitted.count() == number + 1)
            page.keyboard.press("z")
    page.wait_for_url(re.compile(r"/next/$"))
    assert submitted.count() == 10
    said = Judgement.objects.filter(review__in=submitted).values_list(
        "item__key", "criterion__name", "verdict"
    )
    assert {(item, name): verdict for item, name, verdict in said} == {
        (f"item {number}", name): "UNMET" if name == "capital" and number % 2 == 0 else "MET"
        for number in range(10)
        for name in ("capital", "polite")
    }
    assert violations == []


def test_selected_words_become_evidence_at_their_place_in_the_source(
    people: Cast, open_as: Open, review: Review, violations: list[str]
) -> None:
    """Voilà, a blank, the tower (one character), a blank and two stars are 10: Paris is at 10 to 15."""
    page = open_as(people.ann, path_of(review))
    page.keyboard.press("m")
    page.keyboard.press("k")
    select(page, "Paris")
    page.keyboard.press("h")
    expect(page.locator(".quoted__words")).to_have_text("Paris")
    expect(page.locator(".save-state")).to_have_text("Saved")
    first = {"field": "submission", "start": 10, "end": 15, "text": "Paris"}
    assert TEXT[10:15] == "Paris"
    assert stored_evidence(review, "capital") == [first]
    select(page, "Seine")
    page.keyboard.press("h")
    expect(page.locator(".quoted__words")).to_have_count(2)
    expect(page.locator(".save-state")).to_have_text("Saved")
    assert [span["text"] for span in stored_evidence(review, "capital")] == ["Paris", "Seine"]
    assert page.evaluate("CSS.highlights.get('evidence-1').size") == 2
    page.keyboard.press("z")
    expect(page.locator(".quoted__words")).to_have_count(1)
    page.get_by_role("button", name="Remove “Paris”").click()
    expect(page.locator(".quoted__words")).to_have_count(0)
    expect(page.locator(".save-state")).to_have_text("Saved")
    assert stored_evidence(review, "capital") is None
    assert violations == []


def test_words_are_found_and_the_hit_is_attached_without_a_mouse(
    people: Cast, open_as: Open, review: Review
) -> None:
    page = open_as(people.ann, path_of(review))
    page.keyboard.press("m")
    page.keyboard.press("k")
    page.keyboard.press("/")
    page.keyboard.type("paris")
    expect(page.locator("[data-find-count]")).to_have_text("1 of 2")
    page.keyboard.press("Enter")
    expect(page.locator("[data-find-count]")).to_have_text("2 of 2")
    page.keyboard.press("Escape")
    expect(page.locator("[data-find]")).to_be_hidden()
    page.keyboard.press("h")
    expect(page.locator(".save-state")).to_have_text("Saved")
    at = TEXT.rindex("Paris")
    assert stored_evidence(review, "capital") == [
        {"field": "submission", "start": at, "end": at + 5, "text": "Paris"}
    ]


def test_a_reason_is_asked_for_where_the_queue_wants_one(
    people: Cast, open_as: Open, queue: ReviewQueue, review: Review
) -> None:
    ReviewQueue.objects.filter(pk=queue.pk).update(rationale="unmet")
    page = open_as(people.ann, path_of(review))
    page.keyboard.press("u")
    expect(page.locator(".criterion.is-active textarea")).to_be_focused()
    expect(page.locator(".criterion.is-active [data-reason-rule]")).to_have_text("required")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("m")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#review-problem")).to_contain_text("One criterion still needs a reason.")
    page.keyboard.press("e")
    page.keyboard.type("Nowhere.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".panes__main .pane__title")).to_contain_text("2 ")
    wait_for(lambda: Review.objects.get(pk=review.pk).state == ReviewState.SUBMITTED)


def test_an_answer_given_in_another_tab_is_shown_beside_mine(
    people: Cast, open_as: Open, review: Review
) -> None:
    page = open_as(people.ann, path_of(review))
    capital = reviews.criteria_of(review).get(name="capital")
    reviews.save_verdict(review, capital.pk, verdict="UNMET", reason="From elsewhere.")
    page.keyboard.press("m")
    expect(page.locator("#review-problem")).to_contain_text("Here: MET. Stored: UNMET (From elsewhere.)")
    assert Judgement.objects.get(review=review).verdict == "UNMET"
    page.get_by_role("button", name="Keep mine").click()
    expect(page.locator(".save-state")).to_have_text("Saved")
    assert Judgement.objects.get(review=review).verdict == "MET"


@pytest.fixture
def two_tabs(people: Cast, open_as: Open, review: Review) -> tuple[Page, Page]:
    """A review open twice, MET on both criteria; the first tab has the next item as well."""
    page = open_as(people.ann, path_of(review))
    page.keyboard.press("m")
    page.keyboard.press("m")
    expect(page.locator(".save-state")).to_have_text("Saved")
    wait_for(lambda: Judgement.objects.filter(review=review, verdict="MET").count() == 2)
    next_is_here(page)
    return page, open_as(people.ann, path_of(review), on=page.context.new_page())


def change_capital(page: Page, reason: str = "It names Lyon.") -> None:
    page.keyboard.press("u")
    page.keyboard.press("e")
    page.keyboard.type(reason)
    page.keyboard.press("Escape")


def of_capital(review: Review) -> tuple[str, str]:
    found = Judgement.objects.get(review=review, criterion__name="capital")
    return found.verdict, found.reason


@pytest.mark.parametrize(
    ("chosen", "submitted"),
    [("Keep mine", ("MET", "")), ("Take what is stored", ("UNMET", "It names Lyon."))],
)
def test_a_submit_from_an_older_tab_asks_which_answer_is_meant(
    two_tabs: tuple[Page, Page], review: Review, chosen: str, submitted: tuple[str, str]
) -> None:
    page, newer = two_tabs
    change_capital(newer)
    wait_for(lambda: of_capital(review) == ("UNMET", "It names Lyon."))
    expect(newer.locator(".save-state")).to_have_text("Saved")  # till then it sends what waits in any tab
    page.evaluate(
        "document.querySelector('[data-review-submit]').value = 'compare'"
    )  # it stays until it is sent
    page.keyboard.press("Control+Enter")
    expect(page.locator("#review-problem")).to_contain_text("Here: MET. Stored: UNMET (It names Lyon.).")
    assert of_capital(review) == ("UNMET", "It names Lyon.")
    page.get_by_role("button", name=chosen).click()
    expect(page.locator(".save-state")).to_have_text("Saved")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".panes__main .pane__title")).to_contain_text("2 ")
    assert of_capital(review) == submitted
    assert Review.objects.get(pk=review.pk).state == ReviewState.SUBMITTED


def test_what_waits_from_another_tab_is_not_dropped_by_a_submit(
    two_tabs: tuple[Page, Page], review: Review
) -> None:
    page, newer = two_tabs
    page.context.set_offline(True)
    change_capital(newer)
    expect(newer.locator(".save-state")).to_contain_text("Offline")
    newer.close()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".panes__main .pane__title")).to_contain_text("2 ")
    page.context.set_offline(False)
    returned = page.locator("[data-review-elsewhere]")
    expect(returned).to_contain_text("was not submitted: capital was answered elsewhere meanwhile: UNMET.")
    assert of_capital(review) == ("UNMET", "It names Lyon.")
    returned.get_by_role("link").click()
    page.wait_for_url(re.compile(path_of(review)))
    expect(page.locator("#review-problem")).to_contain_text("Here: MET. Stored: UNMET (It names Lyon.).")
    page.reload()  # what was answered here is not lost before somebody has chosen
    expect(page.locator("#review-problem")).to_contain_text("Here: MET. Stored: UNMET (It names Lyon.).")
    page.get_by_role("button", name="Take what is stored").click()
    page.keyboard.press("Control+Enter")
    wait_for(lambda: Review.objects.get(pk=review.pk).state == ReviewState.SUBMITTED)
    assert of_capital(review) == ("UNMET", "It names Lyon.")


def test_each_of_two_tabs_calls_its_own_answer_the_one_here(
    two_tabs: tuple[Page, Page], review: Review
) -> None:
    page, newer = two_tabs
    lyon, rome = "UNMET (It names Lyon.)", "UNMET (It names Rome.)"
    page.context.set_offline(True)
    page.keyboard.press("k")
    change_capital(page)
    expect(page.locator(".save-state")).to_contain_text("Offline")
    change_capital(newer, "It names Rome.")
    expect(newer.locator("#review-problem")).to_contain_text(f"Here: {rome}. In the other tab: {lyon}.")
    page.bring_to_front()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#review-problem")).to_contain_text(f"Here: {lyon}. In the other tab: {rome}.")
    page.get_by_role("button", name="Keep mine").click()
    page.context.set_offline(False)
    wait_for(lambda: of_capital(review) == ("UNMET", "It names Lyon."))


def test_several_answers_of_an_older_tab_are_asked_about_one_after_the_other(
    two_tabs: tuple[Page, Page], review: Review
) -> None:
    page, _ = two_tabs
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict="UNMET")
    page.evaluate(
        "document.querySelector('[data-review-submit]').value = 'compare'"
    )  # it stays until it is sent
    page.keyboard.press("Control+Enter")
    for _ in range(2):
        page.get_by_role("button", name="Keep mine").click()
    expect(page.locator(".save-state")).to_have_text("Saved")
    assert set(Judgement.objects.filter(review=review).values_list("verdict", flat=True)) == {"MET"}


@pytest.fixture
def answered() -> Iterator[list[str]]:
    """The paths the server has answered; what a page sends as it is left, Playwright does not tell."""
    paths: list[str] = []
    asked: dict[int, str] = {}

    def started(environ: dict[str, Any], **kwargs: Any) -> None:
        asked[threading.get_ident()] = environ["PATH_INFO"]

    def finished(**kwargs: Any) -> None:
        paths.append(asked[threading.get_ident()])

    request_started.connect(started)
    request_finished.connect(finished)
    yield paths
    request_started.disconnect(started)
    request_finished.disconnect(finished)


@pytest.mark.parametrize("is_prefetched", [False, True])
def test_leaving_one_tab_takes_nothing_from_what_is_open_in_another(
    people: Cast,
    open_as: Open,
    two_tabs: tuple[Page, Page],
    queue: ReviewQueue,
    answered: list[str],
    is_prefetched: bool,
) -> None:
    """The first tab took item 1 ahead; the other goes on to it and writes before it has a verdict."""
    page, other = two_tabs
    following = Review.objects.get(queue=queue, item__key="item 1")
    if is_prefetched:
        next_is_here(other)
        other.keyboard.press("Control+Enter")
    else:
        open_as(people.ann, path_of(following), on=other)
    expect(other.locator(".panes__main .pane__title")).to_contain_text("2 ")
    other.keyboard.press("e")
    other.keyboard.type("Names Paris.")
    page.get_by_role("link", name="rubricweb").click()
    wait_for(lambda: f"{path_of(following)}give-back/" in answered)
    other.keyboard.press("Escape")
    other.keyboard.press("m")
    expect(other.locator(".save-state")).to_have_text("Saved")
    assert of_capital(following) == ("MET", "Names Paris.")


def test_an_item_that_another_tab_gave_back_is_taken_anew(
    two_tabs: tuple[Page, Page], queue: ReviewQueue
) -> None:
    """Both tabs have item 1 ahead, the first took it."""
    page, other = two_tabs
    next_is_here(other)
    following = Review.objects.filter(queue=queue, item__key="item 1")
    given_back = following.get()
    page.get_by_role("link", name="rubricweb").click()
    wait_for(lambda: not following.exists())
    other.keyboard.press("Control+Enter")
    other.wait_for_url(re.compile(r"/next/$"))
    other.get_by_role("button", name="Continue").click()
    expect(other.locator(".panes__main .pane__title")).to_contain_text("2 ")
    other.keyboard.press("m")
    expect(other.locator(".save-state")).to_have_text("Saved")
    assert Judgement.objects.get(review=following.get()).verdict == "MET"
    assert following.get().pk != given_back.pk


def test_a_paused_queue_keeps_the_draft_here_until_it_goes_on(
    people: Cast, open_as: Open, queue: ReviewQueue, review: Review
) -> None:
    page = open_as(people.ann, path_of(review))
    ReviewQueue.objects.filter(pk=queue.pk).update(state=QueueState.PAUSED)
    page.keyboard.press("m")
    expect(page.locator("#review-problem")).to_contain_text("The queue is paused")
    page.reload()  # read only now; what was typed stays on the device
    ReviewQueue.objects.filter(pk=queue.pk).update(state=QueueState.OPEN)
    page.reload()
    expect(page.locator(".save-state")).to_have_text("Saved")
    assert Judgement.objects.get(review=review).verdict == "MET"


def test_drafts_of_several_reviews_are_sent_in_order_after_a_reload(
    people: Cast, open_as: Open, queue: ReviewQueue, review: Review
) -> None:
    other = queues.start_review(queue, queue.dataset.items.get(key="item 5"), people.ann)
    page = open_as(people.ann, path_of(review))
    page.route("**/criteria/**", lambda route: route.abort())
    page.keyboard.press("m")
    expect(page.locator(".save-state")).to_contain_text("Offline")
    page.goto(page.url.replace(f"/{review.pk}/", f"/{other.pk}/"))
    page.keyboard.press("u")
    expect(page.locator(".save-state")).to_contain_text("2 changes wait")
    # What waits may be tried again by itself before the page is loaded anew.
    page.unroute("**/criteria/**")
    page.reload()
    expect(page.locator(".save-state")).to_have_text("Saved")
    wait_for(lambda: Judgement.objects.count() == 2)
    verdicts = Judgement.objects.order_by("created_at").values_list("review_id", "verdict")
    assert list(verdicts) == [(review.pk, "MET"), (other.pk, "UNMET")]


def test_what_was_taken_ahead_is_given_back_when_one_leaves(
    people: Cast, open_as: Open, queue: ReviewQueue, review: Review
) -> None:
    page = open_as(people.ann, path_of(review))
    next_is_here(page)
    assert Review.objects.filter(queue=queue, rater__user=people.ann).count() == 2
    page.get_by_role("link", name="rubricweb").click()
    wait_for(lambda: Review.objects.filter(queue=queue, rater__user=people.ann).count() == 1)
    assert queue.queue_items.get(item__key="item 1").room == 1


def test_who_lost_their_place_is_told(
    people: Cast, open_as: Open, queue: ReviewQueue, review: Review
) -> None:
    page = open_as(people.ann, path_of(review))
    Review.objects.filter(pk=review.pk).update(holds_place=False)
    queue.queue_items.filter(item=review.item).update(room=0)  # somebody else has it
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # what also comes every 30 s
    expect(page.locator("[data-review-place]")).to_contain_text("offered to others again")
    queue.queue_items.filter(item=review.item).update(room=1)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("[data-review-place]")).to_be_hidden()


def test_json_is_quoted_as_it_is_stored_however_it_is_shown(people: Cast, open_as: Open) -> None:
    # In ASCII, as json.dumps writes it, in one line; the tower is a pair of escapes.
    stored = r'{"city": "\u5317\u4eac \ud83d\uddfc", "n": [1e5, 2.50], "path": "a\/b\nc", "said": "\"oui\""}'
    queue = factories.queue(
        people.team,
        people.alice,
        dataset=factories.dataset(
            people.team, people.alice, name="json", items=[{"id": "one", "submission": stored}]
        ),
        rubric_version=factories.version(people.team, people.alice, criteria=CRITERIA, title="JSON"),
        raters=[people.ann],
    )
    review = queues.start_review(queue, queue.dataset.items.get(key="one"), people.ann)
    page = open_as(people.ann, path_of(review))
    page.keyboard.press("m")
    page.keyboard.press("k")
    shown = page.locator('[data-field="submission"] pre').inner_text()
    assert '  "city": "北京 🗼"' in shown.splitlines()[1]
    quoted = {
        "京": r"\u4eac",
        "北京 🗼": r"\u5317\u4eac \ud83d\uddfc",
        "100000.0": "1e5",
        "2.5": "2.50",
        "a/b": r"a\/b",
        "oui": "oui",
    }
    for words in quoted:
        select(page, words)
        page.keyboard.press("h")
    expect(page.locator(".quoted__words")).to_have_count(len(quoted))
    wait_for(lambda: len(stored_evidence(review, "capital") or []) == len(quoted))
    spans = stored_evidence(review, "capital")
    assert [span["text"] for span in spans] == list(quoted.values())
    assert [stored[span["start"] : span["end"]] for span in spans] == list(quoted.values())
    page.reload()
    assert page.evaluate("CSS.highlights.get('evidence-1').size") == len(quoted)
    marked = page.evaluate("[...CSS.highlights.get('evidence-1')].map(String)")
    assert marked == list(quoted)


def test_a_conversation_and_a_long_text_are_quoted_at_their_places(people: Cast, open_as: Open) -> None:
    long = "\n\n".join(f"Paragraph {number} says & means **something** <odd>." for number in range(3500))
    assert len(long) > 170_000
    chat = [{"role": "user", "content": "Where does *Ann* live?"}]
    data = factories.dataset(
        people.team, people.alice, name="long", items=[{"id": "x", "prompt": chat, "submission": long}]
    )
    version = factories.version(people.team, people.alice, criteria=CRITERIA, title="Another")
    queue = factories.queue(
        people.team, people.alice, dataset=data, rubric_version=version, raters=[people.ann], name="Long"
    )
    review = queues.next_review(queue, people.ann, now=timezone.now())
    assert review is not None
    page = open_as(people.ann, path_of(review))
    page.keyboard.press("m")
    page.keyboard.press("k")
    select(page, "Ann", "prompt[0]")
    page.keyboard.press("h")
    select(page, "Paragraph 3400 says & means")
    page.keyboard.press("h")
    expect(page.locator(".quoted__words")).to_have_count(2)
    expect(page.locator(".quoted__where").first).to_have_text("Prompt, turn 1")
    expect(page.locator(".save-state")).to_have_text("Saved")
    at = long.index("Paragraph 3400")
    assert stored_evidence(review, "capital") == [
        {"field": "prompt[0]", "start": 12, "end": 15, "text": "Ann"},
        {"field": "submission", "start": at, "end": at + 27, "text": "Paragraph 3400 says & means"},
    ]


def test_single_keys_switched_off_stay_off_for_the_person(
    people: Cast, open_as: Open, review: Review
) -> None:
    page = open_as(people.ann, path_of(review))
    page.keyboard.press("?")
    with page.expect_response("**/preferences/keys/"):
        page.get_by_label("Single keys act at once").uncheck()
    page.evaluate("localStorage.clear()")  # as on another device
    page.reload()
    page.keyboard.press("m")
    expect(page.locator(".criterion.is-answered")).to_have_count(0)
    assert User.objects.get(pk=people.ann.pk).single_keys is False


def test_without_single_keys_an_answered_criterion_is_reached_and_changed_by_keyboard(
    people: Cast, open_as: Open, review: Review
) -> None:
    User.objects.filter(pk=people.ann.pk).update(single_keys=False)
    page = open_as(people.ann, path_of(review))
    opened = page.locator(".criterion.is-active")
    expect(opened.locator(".criterion__name")).to_have_text("capital")
    opened.locator('input[value="MET"]').focus()
    page.keyboard.press("Space")
    expect(opened.locator(".criterion__name")).to_have_text("polite")
    page.keyboard.press("Shift+Tab")
    expect(page.locator(":focus")).to_have_text("capital")
    expect(opened.locator(".criterion__name")).to_have_text("capital")
    page.keyboard.press("Enter")
    expect(page.locator(":focus .criterion__name")).to_have_text("capital")
    for _ in range(2):
        page.keyboard.press("Tab")
    expect(opened.locator('input[value="MET"]')).to_be_focused()
    page.keyboard.press("ArrowRight")
    capital = Judgement.objects.filter(review=review, criterion__name="capital")
    wait_for(lambda: capital.filter(verdict="UNMET").exists())


@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_serious(
    people: Cast, open_as: Open, page: Page, review: Review, width: int
) -> None:
    page.emulate_media(reduced_motion="reduce")  # no colour is between two themes when axe looks
    page.set_viewport_size({"width": width, "height": 800})
    open_as(people.ann, path_of(review))
    page.keyboard.press("m")
    page.keyboard.press("k")
    select(page, "Paris")
    page.keyboard.press("h")
    page.keyboard.press("/")
    assert list(serious_faults(page)) == []
