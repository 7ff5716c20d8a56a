"""What follows labelling, in a real browser: reveal, adjudication, refusals; and how those pages look."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from rubricweb.models import (
    Adjudication,
    Dataset,
    Item,
    JournalEntry,
    Judgement,
    QueueState,
    Review,
    ReviewQueue,
    ReviewState,
    Revision,
    Role,
    Rubric,
    RubricVersion,
    Run,
    User,
)
from rubricweb.services import comments
from rubricweb.services.reviews import calibration, queue_changes, queues, reviews
from rubricweb.services.teams import teams
from tests import factories
from tests.browser.conftest import Open, session
from tests.browser.faults import serious_faults
from tests.factories import Cast
from tests.judging import LabelJudge, grade
from tests.processes.conftest import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CRITERIA: list[dict[str, Any]] = [
    {"name": "capital", "weight": 10, "requirement": "Names Paris.", "guidance": "By its *name*."},
    {"name": "brief", "weight": 1, "check": "length_between", "params": {"max": 31}},
    {
        "name": "depth",
        "weight": 5,
        "requirement": "How deep is it?",
        "options": [
            {"label": "Thin", "value": 0},
            {"label": "Fair", "value": 0.5},
            {"label": "Deep", "value": 1},
        ],
    },
    {"name": "abroad", "weight": -15, "requirement": "Places Paris outside France."},
]
ITEMS = [
    {"id": f"item {number}", "prompt": "Capital?", "submission": f"Paris, {number}.", "reference": "Paris."}
    for number in range(1, 6)
]
JUDGED = {"Names Paris.": "MET", "How deep is it?": "Fair", "Places Paris outside France.": "UNMET"}
LIKE_THE_JUDGE = {"capital": "MET", "depth": "Fair", "abroad": "UNMET"}


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    """Five items for ann and rae, blind; the judge of its run says MET, Fair and UNMET to all."""
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, LabelJudge(lambda name, requirement, response: JUDGED[requirement]))
    return factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann, people.rae],
        raters_per_item=2,
        run=run,
        instructions="Read *all* of it.",
    )


Submit = Callable[..., Review]


@pytest.fixture
def submit(queue: ReviewQueue) -> Submit:
    """`submit(user, 1, capital="UNMET")` is a review of item 1: like the judge but for what is said."""

    def submitted(user: User, number: int, **said: str) -> Review:
        review = queues.start_review(queue, item(queue, number), user)
        for criterion in reviews.criteria_of(review).exclude(kind="check"):
            label = (LIKE_THE_JUDGE | said)[str(criterion.name)]
            reviews.save_verdict(review, criterion.pk, verdict=label, reason=f"{user} read it so.")
        reviews.submit(review, now=timezone.now())
        return review

    return submitted


def item(queue: ReviewQueue, number: int) -> Item:
    return queue.dataset.items.get(key=f"item {number}")


def at(queue: ReviewQueue, path: str) -> str:
    return f"/t/{queue.team.slug}/{path}"


def unit(queue: ReviewQueue, number: int, name: str) -> str:
    assert queue.rubric_version is not None
    criterion = queue.rubric_version.criteria.get(name=name)
    return at(queue, f"adjudication/items/{item(queue, number).pk}/criteria/{criterion.pk}/")


def revised(review: Review) -> dict[str, tuple[str, str, str]]:
    """Criterion → choice, final label and reason of what was said after the reveal."""
    rows = Revision.objects.filter(judgement__review=review)
    return {
        str(row.judgement.criterion.name): (row.choice, row.verdict, row.reason)
        for row in rows.select_related("judgement__criterion")
    }


def decided() -> dict[tuple[str, str], tuple[str, str, str]]:
    """Item and criterion → verdict, cause and reason of every adjudication."""
    rows = Adjudication.objects.select_related("item", "criterion")
    return {(row.item.key, str(row.criterion.name)): (row.verdict, row.cause, row.reason) for row in rows}


def focused(page: Page) -> Any:
    return page.locator(":focus")


def top(element: Locator) -> float:
    box = element.bounding_box()
    assert box is not None
    return box["y"]


# ── The reveal ───────────────────────────────────────────────────────────────────────────────────


def test_after_the_reveal_keep_change_and_unclear_are_said_by_keyboard(
    people: Cast, open_as: Open, queue: ReviewQueue, submit: Submit, violations: list[str]
) -> None:
    review = submit(people.ann, 1, capital="UNMET", depth="Deep", abroad="MET")
    page = open_as(people.ann, at(queue, f"reviews/{review.pk}/reveal/"))
    opened = page.locator("[data-revealed].is-active")
    expect(page.locator("[data-review-submit]")).to_be_focused()
    expect(opened.locator(".criterion__name")).to_have_text("capital")
    page.keyboard.press("y")
    expect(page.locator("#revealed")).to_contain_text("2 disagreements")
    assert revised(review) == {"capital": ("keep", "UNMET", "")}

    expect(opened.locator(".criterion__name")).to_have_text("depth")
    expect(opened).to_be_focused()
    page.keyboard.press("x")
    page.keyboard.press("2")
    expect(opened.get_by_role("radio", name="Fair")).to_be_checked()
    expect(opened.locator("textarea")).to_be_focused()
    page.keyboard.press("Control+Enter")  # without a reason
    expect(page.locator("#revealed .field__errors")).to_have_text("Say why you change your verdict.")
    expect(opened.get_by_role("radio", name="Fair")).to_be_checked()
    expect(opened.locator("textarea")).to_be_focused()
    assert "depth" not in revised(review)
    page.keyboard.type("It is half deep.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#revealed")).to_contain_text("1 disagreement")
    assert revised(review)["depth"] == ("change", "Fair", "It is half deep.")

    expect(opened.locator(".criterion__name")).to_have_text("abroad")
    expect(opened).to_be_focused()
    page.keyboard.press("k")
    expect(focused(page).locator(".criterion__name")).to_have_text("depth")
    page.keyboard.press("j")
    page.keyboard.press("b")
    expect(page.locator("#revealed .revise__all")).to_have_count(0)
    assert revised(review)["abroad"] == ("unclear", "MET", "")
    expect(page.locator("[data-review-submit]")).to_be_focused()
    # What was said first stays as it was.
    first = Judgement.objects.filter(review=review).values_list("criterion__name", "verdict")
    assert dict(first) == {"capital": "UNMET", "depth": "Deep", "abroad": "MET"}
    assert violations == []


def test_one_key_keeps_all_and_the_next_item_is_there_at_once(
    people: Cast, open_as: Open, queue: ReviewQueue, submit: Submit, violations: list[str]
) -> None:
    review = submit(people.ann, 1, capital="UNMET", abroad="MET")
    page = open_as(people.ann, at(queue, f"reviews/{review.pk}/reveal/"))
    expect(page.locator("html")).to_have_attribute("data-review-prefetch", "here")
    page.keyboard.press("a")
    expect(page.locator("#revealed .revise__all")).to_have_count(0)
    assert revised(review) == {"capital": ("keep", "UNMET", ""), "abroad": ("keep", "MET", "")}
    page.evaluate("window.staysHere = true")
    page.get_by_label("Write a comment").fill("Half a")
    page.context.set_offline(True)
    page.locator("a.skip-link").press("Enter")  # goes to a place on the page, which stays
    page.get_by_role("button", name="Next item").click()
    expect(page.locator(".panes__main .pane__title")).to_have_text("2 Paris, 2.")
    expect(page.locator(".criterion.is-active .criterion__name")).to_have_text("capital")
    assert page.evaluate("window.staysHere") is True
    page.context.set_offline(False)
    # Here too keys work and what they say arrives: the next item reveals once it is submitted.
    for key in ("m", "2", "u"):
        page.keyboard.press(key)
    expect(page.locator(".save-state")).to_have_text("Saved")
    page.keyboard.press("Control+Shift+Enter")
    page.wait_for_url(re.compile(r"/reveal/$"))
    expect(page.locator(".review__agreement")).to_contain_text("Agrees on 3 of 3")
    assert Review.objects.filter(rater__user=people.ann, state=ReviewState.SUBMITTED).count() == 2
    open_as(people.ann, at(queue, f"reviews/{review.pk}/reveal/"))
    expect(page.get_by_label("Write a comment")).to_have_value("Half a")
    assert violations == []


def test_a_change_that_is_being_written_stays_while_another_label_is_kept(
    people: Cast, open_as: Open, queue: ReviewQueue, submit: Submit
) -> None:
    review = submit(people.ann, 1, capital="UNMET", depth="Deep", abroad="MET")
    page = open_as(people.ann, at(queue, f"reviews/{review.pk}/reveal/"))
    capital, depth = (
        page.locator("[data-revealed]").filter(has=page.get_by_text(name, exact=True))
        for name in ("capital", "depth")
    )
    depth.get_by_text("Change mine").click()
    depth.get_by_role("radio", name="Fair").check()
    depth.get_by_label("Reason").fill("It is half")
    capital.get_by_role("button", name="Keep mine").click()
    expect(page.locator("#revealed")).to_contain_text("2 disagreements")
    expect(depth.get_by_label("Reason")).to_be_visible()
    expect(depth.get_by_label("Reason")).to_have_value("It is half")
    expect(depth.get_by_role("radio", name="Fair")).to_be_checked()


def test_without_scripts_the_reveal_takes_keep_change_and_unclear(
    people: Cast, browser: Browser, open_as: Open, queue: ReviewQueue, submit: Submit
) -> None:
    review = submit(people.ann, 1, capital="UNMET", depth="Deep", abroad="MET")
    context = browser.new_context(java_script_enabled=False)
    page = open_as(people.ann, at(queue, f"reviews/{review.pk}/reveal/"), context.new_page())
    capital, depth, abroad = (
        page.locator("[data-revealed]").filter(has=page.get_by_text(name, exact=True))
        for name in ("capital", "depth", "abroad")
    )
    capital.get_by_role("button", name="Keep mine").click()
    abroad.get_by_role("button", name="Rubric unclear").click()
    depth.get_by_text("Change mine").click()
    depth.get_by_text("Thin").click()
    depth.get_by_role("button", name="Change").click()
    expect(depth).to_contain_text("Say why you change your verdict.")
    expect(depth.get_by_role("radio", name="Thin")).to_be_checked()
    depth.get_by_role("textbox").fill("Too thin.")
    depth.get_by_role("button", name="Change").click()
    assert revised(review) == {
        "capital": ("keep", "UNMET", ""),
        "depth": ("change", "Thin", "Too thin."),
        "abroad": ("unclear", "MET", ""),
    }
    page.get_by_role("button", name="Next item").click()
    expect(page.locator(".panes__main .pane__title")).to_have_text("2 Paris, 2.")
    context.close()


# ── Adjudication ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def disputed(people: Cast, queue: ReviewQueue, submit: Submit) -> ReviewQueue:
    """To decide, in this order: capital of 1 (people differ), abroad and depth of 2 (the judge differs)."""
    submit(people.ann, 1, capital="UNMET")
    submit(people.rae, 1)
    for person in (people.ann, people.rae):
        submit(person, 2, depth="Deep", abroad="MET")
    return queue


def test_the_inbox_is_worked_off_by_keyboard(
    people: Cast, open_as: Open, disputed: ReviewQueue, violations: list[str]
) -> None:
    page = open_as(people.ed, at(disputed, f"adjudication/?queue={disputed.pk}"))
    expect(page.locator("tbody tr .table__sub")).to_have_text(
        [re.compile("capital"), re.compile("abroad"), re.compile("depth")]
    )
    page.get_by_role("link", name="Decide one by one").focus()
    page.keyboard.press("Enter")
    name = page.locator("#criterion-name")
    expect(name).to_have_text("capital")
    expect(page.locator(".criterion.is-active")).to_be_focused()

    # The instructions under which people labelled are a key away, as on the page of a review.
    instructions = page.locator("#guidelines").get_by_text("Read all of it.")
    expect(instructions).to_be_hidden()
    page.keyboard.press("g")
    expect(instructions).to_be_visible()
    page.keyboard.press("g")
    expect(instructions).to_be_hidden()

    # One key for the verdict, one for the cause: the tie of ann and rae needs no reason.
    page.keyboard.press("m")
    expect(page.locator("[data-label-key=m]")).to_be_focused()
    page.keyboard.press("2")
    expect(name).to_have_text("abroad")
    assert decided() == {("item 1", "capital"): ("MET", "human_wrong", "")}
    expect(page.locator("[role=status]").filter(has_text="decided")).to_contain_text("1 Paris, 1., capital")
    expect(page.locator(".criterion.is-active")).to_be_focused()

    # Against both people: the cause goes to the reason first, and the server refuses without one. In a
    # window in which the reason is where the bar is, it is moved above the bar.
    reason, bar = page.get_by_label("Reason"), page.locator(".panes__side > .pane__foot")
    page.set_viewport_size({"width": 1280, "height": 720 + round(top(reason) - top(bar)) + 10})
    assert top(bar) - top(reason) == pytest.approx(10, abs=2)
    page.keyboard.press("u")
    page.keyboard.press("2")
    expect(reason).to_be_focused()
    expect(reason).to_be_in_viewport()
    assert top(bar) - top(reason) > 40
    page.set_viewport_size({"width": 1280, "height": 720})
    page.keyboard.press("Control+Enter")
    expect(page.locator("[id$=-reason_error]")).to_contain_text("Most raters said MET")
    expect(reason).to_be_focused()
    expect(page.get_by_role("radio", name="Error absent")).to_be_checked()  # of a penalty
    expect(page.get_by_role("radio", name="Human wrong")).to_be_checked()
    assert len(decided()) == 1
    page.keyboard.type("Belgium is not named.")
    page.keyboard.press("Escape")
    expect(reason).not_to_be_focused()
    page.keyboard.press("e")
    expect(reason).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(name).to_have_text("depth")
    assert decided()["item 2", "abroad"] == ("UNMET", "human_wrong", "Belgium is not named.")

    # The last decision is taken back, and its unit is open again; next and previous walk the list.
    page.keyboard.press("z")
    expect(name).to_have_text("abroad")
    assert list(decided()) == [("item 1", "capital")]
    page.keyboard.press("n")
    expect(name).to_have_text("depth")
    page.keyboard.press("p")
    expect(name).to_have_text("abroad")
    page.keyboard.press("x")
    expect(page.locator(".versus")).not_to_contain_text("Rater A")  # what Ann wrote names her on both pages
    page.keyboard.press("x")
    expect(page.locator(".versus")).to_contain_text("Rater A")
    page.keyboard.press("r")
    expect(page.locator("#reference")).to_have_attribute("open", "")

    # A verdict chosen by mistake is chosen anew after Escape: 1 is then no cause.
    page.keyboard.press("n")
    expect(name).to_have_text("depth")
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    expect(page.get_by_role("radio", name="Deep")).to_be_checked()
    page.keyboard.press("1")
    expect(name).to_have_text("abroad")
    assert decided()["item 2", "depth"] == ("Deep", "judge_wrong", "")
    assert violations == []


def test_a_decision_is_sent_and_written_down_once_however_often_its_keys_are_pressed(
    people: Cast, open_as: Open, disputed: ReviewQueue
) -> None:
    page = open_as(people.ed, at(disputed, f"adjudication/?queue={disputed.pk}"))
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    page.get_by_role("link", name="Decide one by one").click()
    name = page.locator("#criterion-name")
    expect(name).to_have_text("capital")
    # The page says which key decides: the button names none.
    expect(page.get_by_role("group", name="Why they differed")).to_contain_text("its key decides")
    expect(page.get_by_role("button", name="Decide and next")).to_have_text("Decide and next")

    # In one breath, before the answer can be there; but when the scripts are, which hear the keys.
    page.wait_for_load_state()
    page.evaluate(
        """() => {
            for (const [key, ctrlKey] of [["m"], ["2"], ["Enter", true], ["2"], ["Enter", true]])
                document.activeElement.dispatchEvent(
                    new KeyboardEvent("keydown", { key, ctrlKey, bubbles: true, cancelable: true }));
        }"""
    )
    expect(name).to_have_text("abroad")
    # Neither does Ctrl+Enter decide on the page that follows.
    page.keyboard.press("Control+Enter")
    assert decided() == {("item 1", "capital"): ("MET", "human_wrong", "")}

    # Back where it was decided, the same once more is the same decision: sent, but not written down again.
    page.go_back()
    expect(name).to_have_text("capital")
    page.keyboard.press("m")
    page.keyboard.press("2")
    expect(name).to_have_text("abroad")
    assert len(posts) == 2
    assert JournalEntry.objects.filter(verb="adjudicated").count() == 1


def test_a_reason_outlives_a_lost_session_a_lost_line_and_a_faster_decision(
    people: Cast, open_as: Open, disputed: ReviewQueue, live_server: LiveServer
) -> None:
    """Rae decides meanwhile, as both raters said; Ed, who sees it, decides otherwise after all."""
    page = open_as(people.ed, unit(disputed, 2, "abroad"))
    reason, toasts = page.get_by_label("Reason"), page.locator("#toasts")
    reason.fill("It is cut off.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Choose the final verdict.")).to_be_visible()
    expect(page.get_by_role("radio", name="Error present")).to_be_focused()
    page.keyboard.press("u")
    page.get_by_text("Item broken").click()
    reason.focus()

    page.context.clear_cookies(name="sessionid")
    page.keyboard.press("Control+Enter")
    expect(toasts).to_contain_text("You are signed out. Nothing is lost")
    page.context.add_cookies([session(people.ed, live_server)])
    page.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    expect(toasts).to_contain_text("What you wrote is still here")
    page.context.set_offline(False)

    faster = Client()
    faster.force_login(people.rae)
    faster.post(unit(disputed, 2, "abroad"), {"verdict": "MET", "cause": "judge_wrong"})
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Decided meanwhile")
    assert decided() == {("item 2", "abroad"): ("MET", "judge_wrong", "")}
    expect(reason).to_have_value("It is cut off.")
    expect(page.get_by_role("radio", name="Error absent")).to_be_checked()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#criterion-name")).to_have_text("depth")  # the other one of its item
    assert decided() == {("item 2", "abroad"): ("UNMET", "item_broken", "It is cut off.")}


def test_where_all_agree_is_accepted_from_the_page_of_the_queue(
    people: Cast, open_as: Open, disputed: ReviewQueue
) -> None:
    """Alike are depth and abroad of item 1, and capital of item 2: 3 of the 6 units two people labelled."""
    page = open_as(people.rae, at(disputed, f"review/{disputed.pk}/"))
    page.get_by_role("link", name="Accept where all agree").focus()
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Accept 3 units")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("3 units of First look accepted.")
    assert decided() == {
        ("item 1", "depth"): ("Fair", "", ""),
        ("item 1", "abroad"): ("UNMET", "", ""),
        ("item 2", "capital"): ("MET", "", ""),
    }


def test_without_scripts_a_unit_is_decided_and_talked_about(
    people: Cast, browser: Browser, open_as: Open, disputed: ReviewQueue
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = open_as(people.ed, unit(disputed, 2, "abroad"), context.new_page())
    page.locator(".comments-fold > summary").click()
    page.get_by_label("Write a comment").fill("Belgium?")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".comments__comment")).to_contain_text("Belgium?")
    expect(page.locator("#criterion-name")).to_have_text("abroad")
    page.locator("label", has_text="Error absent").click()
    page.locator("label", has_text="Item broken").click()
    page.get_by_role("button", name="Decide and next").click()
    expect(page.locator("[id$=-reason_error]")).to_contain_text("Most raters said MET")
    expect(page.get_by_role("radio", name="Item broken")).to_be_checked()
    assert decided() == {}
    page.get_by_label("Reason").fill("It is cut off.")
    page.get_by_role("button", name="Decide and next").click()
    expect(page.locator("#criterion-name")).to_have_text("depth")
    assert decided() == {("item 2", "abroad"): ("UNMET", "item_broken", "It is cut off.")}
    context.close()


# ── What the server refuses ──────────────────────────────────────────────────────────────────────


def answer(page: Page, abroad: str = "u") -> None:
    """MET, Fair and, unless the key of another verdict is given, UNMET; all saved."""
    for key in ("m", "2", abroad):
        page.keyboard.press(key)
    expect(page.locator(".save-state")).to_have_text("Saved")


def test_a_review_of_more_than_64_kib_arrives(people: Cast, open_as: Open, queue: ReviewQueue) -> None:
    """Browsers send no more than that for a page that may be left meanwhile, and call it no network."""
    review = queues.start_review(queue, item(queue, 1), people.ann)
    for criterion in reviews.criteria_of(review).exclude(kind="check"):
        label = LIKE_THE_JUDGE[str(criterion.name)]
        reviews.save_verdict(review, criterion.pk, verdict=label, reason="字" * 9_999)
    page = open_as(people.ann, at(queue, f"reviews/{review.pk}/"))
    page.keyboard.press("Control+Shift+Enter")
    page.wait_for_url(re.compile(r"/reveal/$"))
    review.refresh_from_db()
    assert review.state == ReviewState.SUBMITTED


@pytest.fixture
def unrevealed(people: Cast, queue: ReviewQueue) -> ReviewQueue:
    """The same without a judge: nothing is revealed, and the next item comes at once."""
    ReviewQueue.objects.filter(pk=queue.pk).update(run=None, raters_per_item=1)
    queue.queue_items.update(room=1)
    queue.refresh_from_db()
    return queue


def closed(people: Cast, queue: ReviewQueue, review: Review) -> None:
    ReviewQueue.objects.filter(pk=queue.pk).update(state=QueueState.CLOSED)


def taken_out(people: Cast, queue: ReviewQueue, review: Review) -> None:
    queue_changes.reassign_queue(queue, by=people.ed, remove=[people.ann])


def demoted(people: Cast, queue: ReviewQueue, review: Review) -> None:
    teams.change_role(people.ann.memberships.get(team=people.team), Role.VIEWER, by=people.alice)


def place_taken(people: Cast, queue: ReviewQueue, review: Review) -> None:
    Review.objects.filter(pk=review.pk).update(holds_place=False)
    queue.queue_items.filter(item=review.item).update(room=0)


@pytest.mark.parametrize(
    ("happens", "why", "then"),
    [
        (closed, "The queue is closed", "The queue is closed"),
        (taken_out, "You are no longer a rater of this queue", "You are no longer a rater of this queue"),
        (demoted, "this needs an annotator", "You may only read in this team now"),
        (place_taken, "others reviewed this item", "others reviewed this item"),
    ],
)
def test_who_went_on_is_told_why_a_submit_came_back_and_loses_nothing(
    people: Cast, open_as: Open, unrevealed: ReviewQueue, happens: Any, why: str, then: str
) -> None:
    review = queues.start_review(unrevealed, item(unrevealed, 1), people.ann)
    page = open_as(people.ann, at(unrevealed, f"reviews/{review.pk}/"))
    expect(page.locator("html")).to_have_attribute("data-review-prefetch", "here")
    answer(page)
    page.context.set_offline(True)
    page.locator(".criterion__name", has_text="abroad").click()
    page.keyboard.press("e")
    page.keyboard.type("It is in France.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".panes__main .pane__title")).to_have_text("2 Paris, 2.")
    expect(page.locator("[data-rail-submitted]")).to_have_text("1")
    happens(people, unrevealed, review)
    page.context.set_offline(False)
    returned = page.locator("[data-review-elsewhere]")
    expect(returned).to_contain_text("1 Paris, 1. was not submitted")
    expect(returned).to_contain_text(why)
    expect(page.locator("[data-rail-submitted]")).to_have_text("0")
    expect(page.locator(".toast")).to_have_count(0)  # it is said where one looks, and once
    assert Review.objects.get(pk=review.pk).state == ReviewState.DRAFT

    returned.get_by_role("link", name="Go back to 1 Paris, 1.").click()
    # With its scripts: before them, nobody hears the keys.
    page.wait_for_url(re.compile(rf"/reviews/{review.pk}/"))
    expect(page.locator(".panes__main .pane__title")).to_have_text("1 Paris, 1.")
    expect(page.locator(".panes__side")).to_contain_text(then)
    radios = page.locator(".verdicts input:checked")
    expect(radios).to_have_count(3)
    page.locator(".criterion__name", has_text="abroad").click()
    expect(page.locator(".criterion.is-active textarea")).to_have_value("It is in France.")
    if happens is place_taken:
        return
    # Nobody can type where nothing can be kept.
    expect(page.locator(".criterion.is-active textarea")).not_to_be_editable()
    expect(page.locator(".save-state")).to_have_text("1 change only on this device")


def test_a_reason_that_is_asked_for_meanwhile_is_named_on_the_way_back(
    people: Cast, open_as: Open, unrevealed: ReviewQueue
) -> None:
    review = queues.start_review(unrevealed, item(unrevealed, 1), people.ann)
    page = open_as(people.ann, at(unrevealed, f"reviews/{review.pk}/"))
    expect(page.locator("html")).to_have_attribute("data-review-prefetch", "here")
    answer(page, abroad="m")  # the error is present: that takes a reason
    ReviewQueue.objects.filter(pk=unrevealed.pk).update(rationale="unmet")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".panes__main .pane__title")).to_have_text("2 Paris, 2.")
    returned = page.locator("[data-review-elsewhere]")
    expect(returned).to_contain_text("1 Paris, 1. was not submitted: One criterion still needs a reason.")
    returned.get_by_role("link", name="Go back to 1 Paris, 1.").click()
    # With its scripts: before them, nobody hears the keys.
    page.wait_for_url(re.compile(rf"/reviews/{review.pk}/"))
    expect(page.locator(".panes__main .pane__title")).to_have_text("1 Paris, 1.")
    expect(page.locator("#review-problem")).to_contain_text("One criterion still needs a reason.")
    expect(page.locator(".criterion.is-active .criterion__name")).to_have_text("abroad")
    page.keyboard.press("e")
    page.keyboard.type("It is in France.")
    page.keyboard.press("Control+Enter")
    wait_for(lambda: Review.objects.get(pk=review.pk).state == ReviewState.SUBMITTED)
    said = Judgement.objects.filter(review=review).values_list("criterion__name", "verdict", "reason")
    assert set(said) == {
        ("capital", "MET", ""),
        ("depth", "Fair", ""),
        ("abroad", "MET", "It is in France."),
    }


# ── How it looks ─────────────────────────────────────────────────────────────────────────────────


def pages(people: Cast, queue: ReviewQueue, submit: Submit) -> list[tuple[User, str]]:
    """Every page of team review with something on it, and who opens it there."""
    mine = submit(people.ann, 1, capital="UNMET", depth="Deep")
    submit(people.rae, 1)
    submit(people.rae, 2, abroad="MET")
    submit(people.ann, 2)
    for number in (3, 4):
        for person in (people.ann, people.rae):
            submit(person, number, depth="Thin")
    draft = queues.start_review(queue, item(queue, 5), people.ann)
    reviews.save_note(draft, note="Cut off?", flagged=True)
    skipped = queues.start_review(queue, item(queue, 5), people.rae)
    reviews.skip(skipped, reason="Not my field.")
    about = reviews.criteria_of(mine).get(name="depth")
    comments.write(mine.item, by=people.rae, text="@ann is it **deep**?", criterion=about)
    comments.write(mine.item, by=people.ann, text="> quoted\n\n@rae it is.")
    editor = Client()
    editor.force_login(people.ed, backend="django.contrib.auth.backends.ModelBackend")
    for name, label in LIKE_THE_JUDGE.items():
        sent = {"verdict": label, "cause": "human_wrong"}
        assert editor.post(unit(queue, 1, name), sent).status_code == 302
    calibration.mark_gold(queue, by=people.ed, item_ids=[mine.item_id])
    return [
        (people.ann, "review/"),
        (people.ed, "review/new/"),
        (people.ed, f"review/{queue.pk}/"),
        (people.ed, f"review/{queue.pk}/change/"),
        (people.ed, f"review/{queue.pk}/gold/"),
        (people.ann, f"review/{queue.pk}/calibration/"),
        (people.ann, f"reviews/{draft.pk}/"),
        (people.rae, f"reviews/{skipped.pk}/"),
        (people.ann, f"reviews/{mine.pk}/reveal/"),
        (people.ed, f"adjudication/?queue={queue.pk}&decided=1"),
        (people.ed, unit(queue, 2, "abroad").removeprefix(at(queue, ""))),
        (people.ed, f"adjudication/queues/{queue.pk}/accept/"),
        (people.ed, f"review/{queue.pk}/agreement/"),
        (people.rae, f"items/{mine.item_id}/comments/"),
        (people.ann, "notifications/"),
        (people.bob, "notifications/"),
    ]


def test_axe_finds_nothing_serious_and_nothing_sticks_out(
    people: Cast, open_as: Open, page: Page, queue: ReviewQueue, submit: Submit
) -> None:
    page.emulate_media(reduced_motion="reduce")  # no colour is between two themes when axe looks
    for user, path in pages(people, queue, submit):
        page.set_viewport_size({"width": 1280, "height": 800})
        open_as(user, at(queue, path))
        for details in page.locator("main details:not([open]) > summary").all():
            if details.is_visible():
                details.click()
        assert list(serious_faults(page)) == [], path
        page.set_viewport_size({"width": 360, "height": 740})
        assert sticks_out(page) == 0, path
    for user, path in pages_of_long_names(people, queue):
        open_as(user, at(queue, path))
        expect(page.locator("main")).to_contain_text(LONG)
        assert sticks_out(page) == 0, path


LONG = "B" * 100
"""A name without a place to break it at."""


def sticks_out(page: Page) -> int:
    """By how much a page is wider than its window."""
    wide: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wide


def pages_of_long_names(people: Cast, queue: ReviewQueue) -> list[tuple[User, str]]:
    """Gives dataset, run, rubric and criteria long names; the pages that show these, and who opens them."""
    version, run = queue.rubric_version, queue.run
    assert run is not None
    assert version is not None
    assert version.rubric is not None
    empty = factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=version)
    Dataset.objects.update(name=LONG)
    Run.objects.update(name=LONG)
    RubricVersion.objects.update(title=LONG)
    for criterion in version.criteria.all():
        version.criteria.filter(pk=criterion.pk).update(name=f"{LONG}{criterion.position}")
    rubric = version.rubric
    draft = [one | {"name": f"{LONG}{n}"} for n, one in enumerate(rubric.draft["criteria"])]
    Rubric.objects.filter(pk=rubric.pk).update(draft=rubric.draft | {"criteria": draft})
    mine = Review.objects.filter(rater__user=people.ann, state=ReviewState.SUBMITTED).earliest("pk")
    open_review = Review.objects.get(rater__user=people.ann, state=ReviewState.DRAFT)
    return [
        (people.ed, f"datasets/{run.dataset_id}/"),
        (people.ed, f"runs/{run.pk}/"),
        (people.ed, f"rubrics/{rubric.pk}/edit/"),
        (people.ed, f"compare/?run={run.pk}"),
        (people.ed, f"compare/?run={empty.pk}"),
        (people.ed, ""),
        (people.ann, f"reviews/{open_review.pk}/"),
        (people.ann, f"reviews/{mine.pk}/reveal/"),
    ]
