"""Queues about some criteria, versions or selected items in a real browser: opened, labelled, compared."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, expect

from rubricweb.models import Dataset, Judgement, Review, ReviewQueue, ReviewState, RubricVersion, User
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.browser.conftest import Open
from tests.factories import Cast
from tests.processes.conftest import wait_for
from tests.worlds import systems, versions

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CRITERIA = [
    {"name": name, "weight": 1.0, "requirement": f"Is {name}.", "group": group}
    for name, group in (
        ("capital", "Facts"),
        ("river", "Facts"),
        ("concise", "Style"),
        ("polite", "Style"),
        ("clear", "Style"),
    )
]


def test_two_of_five_criteria_are_chosen_labelled_and_compared(
    people: Cast, open_as: Open, violations: list[str]
) -> None:
    factories.dataset(people.team, people.ed)
    factories.version(people.team, people.ed, criteria=CRITERIA)
    page = open_as(people.ed, f"/t/{people.team.slug}/review/new/")
    boxes = page.locator("[data-chosen-criteria] input[type=checkbox]")
    page.get_by_label("Name").fill("Two of five")
    # Both are chosen already: the only dataset, and the rubric that was published last.
    expect(page.get_by_label("Dataset").locator("option:checked")).to_have_text("capital answers")
    expect(boxes).to_have_count(5)
    expect(page.locator("[data-criteria-count]")).to_have_text("5 of 5 chosen")
    # None, then two of them, without a mouse.
    page.get_by_role("button", name="None", exact=True).press("Enter")
    expect(page.locator("[data-criteria-count]")).to_have_text("0 of 5 chosen")
    for name in ("river", "polite"):
        page.get_by_role("checkbox", name=re.compile(f"^{name}")).press("Space")
    expect(page.locator("[data-criteria-count]")).to_have_text("2 of 5 chosen")
    # Who labels mostly is ticked. For nobody it is refused: what is wrong has the focus, above the form, and
    # leads to its field. Sent again from there, it is said above the form again.
    for name in ("Ann", "Rae"):
        page.get_by_role("checkbox", name=name).uncheck()
    problems = page.get_by_role("alert")
    for _ in range(2):
        page.get_by_role("button", name="Open queue").press("Enter")
        expect(problems).to_have_text("People: Choose at least one person to review.")
        expect(problems).to_be_focused()
        expect(problems).to_be_in_viewport()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_role("checkbox", name="Alice")).to_be_focused()
        expect(page.get_by_role("checkbox", name="Alice")).to_be_in_viewport()
    expect(page.locator("[data-criteria-count]")).to_have_text("2 of 5 chosen")
    page.get_by_role("checkbox", name="The whole team").press("Space")
    page.get_by_label("People per item").fill("2")
    page.get_by_role("button", name="Open queue").press("Enter")
    expect(page.locator(".facts")).to_contain_text("river, polite")
    queue = ReviewQueue.objects.get()

    # rae says MET of both; ann, by keyboard, MET and UNMET.
    item = queue.dataset.items.get(key="good")
    other = queues.start_review(queue, item, people.rae)
    for criterion in reviews.criteria_of(other):
        reviews.save_verdict(other, criterion.pk, verdict="MET")
    reviews.submit(other, now=timezone.now())
    review = queues.start_review(queue, item, people.ann)
    sheet = open_as(people.ann, f"/t/{people.team.slug}/reviews/{review.pk}/")
    expect(sheet.locator(".criterion__name")).to_have_text(["river", "polite"])
    opened = sheet.locator(".criterion.is-active .criterion__name")
    expect(opened).to_have_text("river")
    sheet.keyboard.press("m")
    expect(opened).to_have_text("polite")
    sheet.keyboard.press("u")
    expect(sheet.locator(".save-state")).to_have_text("Saved")
    sheet.keyboard.press("Control+Shift+Enter")
    sheet.wait_for_url(re.compile(r"/reveal/"))
    wait_for(Review.objects.filter(pk=review.pk, state=ReviewState.SUBMITTED).exists)
    assert dict(Judgement.objects.filter(review=review).values_list("criterion__name", "verdict")) == {
        "river": "MET",
        "polite": "UNMET",
    }
    expect(sheet.locator(".review__agreement")).to_contain_text("Agrees on 1 of 2")

    queues.close_queue(queue, by=people.ed)
    board = open_as(people.ed, f"/t/{people.team.slug}/review/{queue.pk}/agreement/")
    for name in ("river", "polite"):
        expect(board.locator("main").get_by_text(name, exact=True).first).to_be_visible()
    for name in ("capital", "concise", "clear"):
        expect(board.locator("main").get_by_text(name, exact=True)).to_have_count(0)
    assert violations == []


def test_a_range_of_items_is_selected_by_mouse_and_by_keyboard_and_opens_a_queue(
    people: Cast, open_as: Open, violations: list[str]
) -> None:
    items = [{"id": f"answer-{number}", "submission": f"Paris, {number}."} for number in range(5)]
    dataset = factories.dataset(people.team, people.ed, items=items)
    factories.version(people.team, people.ed)
    page = open_as(people.ed, f"/t/{people.team.slug}/datasets/{dataset.pk}/")
    boxes = page.get_by_role("checkbox", name=re.compile(r"^Select \d"))
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
    page.get_by_role("textbox", name="Name").fill("First and last")
    page.get_by_role("combobox", name="Rubric").select_option(label="Capitals v1")
    page.get_by_role("checkbox", name="The whole team").check()
    page.get_by_role("button", name="Open queue").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("First and last")
    queue = ReviewQueue.objects.get()
    assert set(queue.queue_items.values_list("item__key", flat=True)) == {"answer-0", "answer-4"}
    assert violations == []


WORDS = {
    "capital": "Names Paris as the capital of France.",
    "concise": "Is at most two short sentences.",
    "wrong_country": "Places Paris in another country than France.",
    "tone": "How warm is it?",
}


def labelled_by_members(people: Cast, version: RubricVersion) -> Dataset:
    """Three items, MET and plain from ann and rae, who are members."""
    dataset = factories.dataset(people.team, people.ed)
    lines = ["item_id,criterion,rater,verdict"]
    lines += [
        f"{item.key},{criterion.name},{rater},{'plain' if criterion.kind == 'choice' else 'MET'}"
        for item in dataset.items.all()
        for criterion in version.criteria.all()
        for rater in ("ann", "rae")
    ]
    data = "\n".join(lines).encode()
    factories.import_labels(dataset, version, by=people.ed, data=data, filename="labels.csv")
    return dataset


def is_accessible(page: Page) -> None:
    """Axe finds nothing serious in a light window and in a narrow dark one, where nothing sticks out."""
    for width, scheme in ((1280, "light"), (360, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]  # one of two
        found = Axe().run(page, options={"preload": False}).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_four_decisions_are_published_labelled_by_keyboard_and_return_to_compare(
    people: Cast, page: Page, open_as: Open, violations: list[str]
) -> None:
    first = factories.version(people.team, people.ed, criteria=versions.CRITERIA)
    dataset = labelled_by_members(people, first)
    slug, rubric = people.team.slug, first.rubric_id
    # Reword all four and publish, each with another decision.
    open_as(people.ed, f"/t/{slug}/rubrics/{rubric}/edit/")
    page.get_by_role("button", name="Open all").click()
    for place, words in enumerate(WORDS.values()):
        page.locator(f"[name=criteria-{place}-requirement]").fill(words)
    page.keyboard.press("Control+s")
    expect(page.locator("[data-save-words]")).to_have_attribute("data-state", "saved")
    page.get_by_role("button", name="Publish").press("Enter")
    for place, kind in enumerate(("carry", "label_again", "probe")):
        page.locator(f"#labels-{place} input[value={kind}]").press("Space")
    at_once = page.get_by_role("checkbox", name="Open its review queue at once")
    expect(at_once).to_have_count(2)  # of those that need one
    for one in at_once.all():
        one.press("Space")
    page.get_by_role("spinbutton", name="Items of the probe").fill("3")
    is_accessible(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("main").get_by_role("button", name="Publish").press("Enter")
    expect(page.get_by_role("heading", name="Decisions about labels")).to_be_visible()
    expect(page.get_by_role("link", name="Label again: concise (v2)").first).to_be_visible()
    is_accessible(page)
    second = RubricVersion.objects.get(rubric=rubric, number=2)
    run = versions.graded(people, dataset, second)
    assert violations == []  # asked before axe, which writes styles of its own

    def compared() -> str:
        open_as(people.ed, f"/t/{slug}/compare/?run={run.pk}")
        return page.locator(".stat", has_text="Labels compared").locator(".stat__value").text_content() or ""

    # Three units of the criterion that was carried; the others wait.
    assert compared().split()[-1] == "3"
    again, probe = (ReviewQueue.objects.get(label_decision__kind=kind) for kind in ("label_again", "probe"))
    by_service(again, people.rae)
    # Hers by keyboard alone, on a page of its own. What she is still to answer blind for the probe is not
    # revealed.
    sheet = page.context.new_page()
    sheet.set_default_timeout(90_000)
    open_as(people.ann, f"/t/{slug}/review/{again.pk}/", on=sheet)
    sheet.get_by_role("button", name="Start reviewing").press("Enter")
    for _ in dataset.items.all():
        expect(sheet.get_by_role("button", name="Submit and next")).to_be_visible()
        expect(sheet.locator(".criterion__name")).to_have_text(["concise"])
        here = sheet.url
        sheet.keyboard.press("m")
        expect(sheet.locator("[data-review-answered]").last).to_have_text("1")
        expect(sheet.locator(".save-state")).to_have_text("Saved")
        sheet.keyboard.press("Control+Enter")
        sheet.wait_for_url(lambda url, here=here: url != here)
    hers = Review.objects.filter(queue=again, rater__user=people.ann, state=ReviewState.SUBMITTED)
    wait_for(lambda: hers.count() == 3)
    sheet.close()
    assert compared().split()[-1] == "6"
    for user in (people.ann, people.rae):
        by_service(probe, user)
    open_as(people.ed, f"/t/{slug}/rubrics/{rubric}/v2/")
    found = page.locator(".label-change", has_text="wrong_country")
    expect(found).to_contain_text("3 of 3 answered")
    expect(found.get_by_role("row", name="Before and now")).to_contain_text("1.00")
    is_accessible(page)
    found.get_by_role("button", name="Carry the labels").press("Enter")
    expect(found.locator(".badge")).to_have_text("carry")
    assert compared().split()[-1] == "9"


def by_service(queue: ReviewQueue, user: User) -> None:
    """MET of everything the queue has for this person."""
    while (review := queues.next_review(queue, user, now=timezone.now())) is not None:
        for criterion in reviews.criteria_of(review):
            reviews.save_verdict(review, criterion.pk, verdict="MET")
        reviews.submit(review, now=timezone.now())


def test_the_versions_follow_the_chosen_dataset(people: Cast, open_as: Open, violations: list[str]) -> None:
    world = systems.versions(people)
    plain = factories.dataset(people.team, people.ed)
    page = open_as(people.ed, f"/t/{people.team.slug}/review/new/")
    boxes = page.locator("#systems input[type=checkbox]")
    page.get_by_role("textbox", name="Name").fill("New answers")
    page.get_by_label("Dataset").select_option(label=plain.name)
    page.get_by_label("Dataset").select_option(label=world.dataset.name)
    expect(boxes).to_have_count(2)
    old, new = (page.get_by_role("checkbox", name=f"assistant@{label} (5 answers)") for label in ("v3", "v4"))
    expect(old).not_to_be_checked()
    expect(new).to_be_checked()
    old.press("Space")
    new.press("Space")
    page.get_by_role("combobox", name="Rubric").select_option(index=1)
    page.get_by_role("checkbox", name="Ann").press("Space")
    page.get_by_role("button", name="Open queue").press("Enter")
    expect(page.locator("dl.facts")).to_contain_text("assistant@v3")
    expect(page.locator("dl.facts")).not_to_contain_text("assistant@v4")
    assert violations == []  # asked before axe, which writes styles of its own
    open_as(people.ed, f"/t/{people.team.slug}/review/new/?dataset={world.dataset.pk}")
    expect(boxes).to_have_count(2)
    is_accessible(page)
