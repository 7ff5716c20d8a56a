"""Reviewing and deciding options in a real browser: by keyboard, without a network, without scripts."""

import re
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from rubricweb.models import Adjudication, Judgement, Review, ReviewQueue, ReviewState, Run
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.browser.conftest import Open
from tests.factories import Cast
from tests.judging import LabelJudge, grade
from tests.processes.conftest import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CRITERIA: list[dict[str, Any]] = [
    {"name": "capital", "weight": 10, "requirement": "Names Paris."},
    {"name": "short", "weight": 1, "check": "length_between", "params": {"max": 31}},
    {
        "name": "depth",
        "weight": 5,
        "requirement": "How deep is it?",
        "options": [
            {"label": 'Thin & "flat"', "value": 0},
            {"label": "Fair", "value": 0.5},
            {"label": "Deep", "value": 1},
            {"label": "Nothing to rate", "na": True},
        ],
    },
    {
        "name": "tone",
        "weight": 2,
        "requirement": "Which tone?",
        "scale_type": "nominal",
        "options": [{"label": f"tone {number}", "value": number / 12} for number in range(1, 13)],
    },
]


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    return factories.queue(
        people.team,
        people.alice,
        dataset=factories.dataset(people.team, people.alice),
        rubric_version=factories.version(people.team, people.alice, criteria=CRITERIA),
        raters=[people.ann, people.rae],
        raters_per_item=2,
    )


@pytest.fixture
def review(people: Cast, queue: ReviewQueue) -> Review:
    return queues.start_review(queue, queue.dataset.items.get(key="good"), people.ann)


def path_of(review: Review) -> str:
    return f"/t/{review.queue.team.slug}/reviews/{review.pk}/"


def stored(review: Review) -> dict[str, str | None]:
    return dict(Judgement.objects.filter(review=review).values_list("criterion__name", "verdict"))


def test_a_mixed_rubric_is_answered_by_keyboard_alone(
    people: Cast, open_as: Open, review: Review, violations: list[str]
) -> None:
    page = open_as(people.ann, path_of(review))
    opened = page.locator(".criterion.is-active .criterion__name")
    expect(opened).to_have_text("capital")
    page.keyboard.press("3")  # no option here: nothing happens
    page.keyboard.press("m")
    expect(opened).to_have_text("depth")  # the check in between asks nothing
    page.keyboard.press("u")  # no verdict here either
    page.keyboard.press("1")
    expect(opened).to_have_text("tone")
    expect(page.locator("[data-criterion-state]").nth(1)).to_contain_text('Thin & "flat"')
    page.keyboard.press("k")
    expect(opened).to_have_text("depth")
    page.keyboard.press("c")  # abstains, as c does everywhere
    expect(page.locator("[data-criterion-state]").nth(1)).to_contain_text("Nothing to rate")
    expect(opened).to_have_text("tone")
    page.keyboard.press("z")  # back to the option before
    expect(page.locator("[data-criterion-state]").nth(1)).to_contain_text('Thin & "flat"')
    page.keyboard.press("j")
    page.keyboard.press("9")
    expect(page.locator(".save-state")).to_have_text("Saved")
    assert stored(review) == {"capital": "MET", "depth": 'Thin & "flat"', "tone": "tone 9"}
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(rf"/reviews/(?!{review.pk}/)\d+/|/reveal/"))
    submitted = Review.objects.filter(pk=review.pk, state=ReviewState.SUBMITTED)
    wait_for(submitted.exists)  # it goes on its way while the next comes up
    assert violations == []


def test_a_missing_option_is_named_before_anything_is_sent(
    people: Cast, open_as: Open, review: Review
) -> None:
    page = open_as(people.ann, path_of(review))
    page.keyboard.press("m")
    page.keyboard.press("2")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#review-problem")).to_contain_text("One criterion still needs a verdict.")
    expect(page.locator("#review-problem")).to_contain_text("tone")
    expect(page.locator("#review-problem")).not_to_contain_text("short")


def test_options_chosen_offline_wait_and_are_sent_later(people: Cast, open_as: Open, review: Review) -> None:
    page = open_as(people.ann, path_of(review))
    page.keyboard.press("m")
    expect(page.locator(".save-state")).to_have_text("Saved")
    page.context.set_offline(True)
    page.keyboard.press("1")
    expect(page.locator(".save-state")).to_contain_text("Offline")
    assert "depth" not in stored(review)
    page.context.set_offline(False)
    expect(page.locator(".save-state")).to_have_text("Saved")
    assert stored(review)["depth"] == 'Thin & "flat"'


def test_what_waited_in_a_closed_tab_is_restored_with_its_option(
    people: Cast, open_as: Open, review: Review
) -> None:
    page = open_as(people.ann, path_of(review))
    depth = reviews.criteria_of(review).get(name="depth")
    page.route("**/criteria/**", lambda route: route.abort())
    page.locator(f"#criterion-{depth.pk}").click()
    page.keyboard.press("3")
    expect(page.locator(".save-state")).to_contain_text("Offline")
    page.reload()
    expect(page.locator(f"#criterion-{depth.pk} [data-criterion-state]")).to_contain_text("Deep")
    expect(page.locator(f"#criterion-{depth.pk} input:checked")).to_have_value("Deep")


def test_without_scripts_the_whole_form_is_answered_and_submitted(
    people: Cast, browser: Browser, open_as: Open, review: Review
) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = open_as(people.ann, path_of(review), context.new_page())
    plain.get_by_role("radio", name="Met", exact=True).check(force=True)
    plain.get_by_role("radio", name=re.compile("^Fair")).check(force=True)
    plain.get_by_role("radio", name=re.compile("^tone 12")).check(force=True)
    plain.get_by_role("button", name=re.compile("Submit")).click()
    plain.wait_for_load_state()
    assert stored(review) == {"capital": "MET", "depth": "Fair", "tone": "tone 12"}
    context.close()


def test_a_decision_between_options_is_made_by_keyboard(
    people: Cast, open_as: Open, queue: ReviewQueue
) -> None:
    for user, label in ((people.ann, "Fair"), (people.rae, "Deep")):
        one = queues.start_review(queue, queue.dataset.items.get(key="good"), user)
        for name, said in (("capital", "MET"), ("depth", label), ("tone", "tone 1")):
            reviews.save_verdict(one, reviews.criteria_of(one).get(name=name).pk, verdict=said)
        reviews.submit(one, now=timezone.now())
    item = queue.dataset.items.get(key="good")
    depth = queue.rubric_version.criteria.get(name="depth")
    page = open_as(people.rae, f"/t/capitals/compare/items/{item.pk}/?queue={queue.pk}")
    row = page.locator(f"#criterion-{depth.pk}")
    expect(row).to_contain_text("people are tied")
    row.get_by_role("link", name="Decide").click()
    page.wait_for_url("**/adjudication/**")  # with its scripts: before them, nobody hears the keys
    expect(page.locator(".criterion.is-active")).to_contain_text("people are tied")
    page.keyboard.press("3")
    page.keyboard.press("4")  # the fourth cause
    expect(page.get_by_role("main")).to_contain_text("depth: decided Deep")
    made = Adjudication.objects.get(item=item, criterion=depth)
    assert (made.verdict, made.cause) == ("Deep", "item_broken")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_on_a_narrow_screen(
    people: Cast, open_as: Open, page: Page, review: Review, scheme: Any
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 360, "height": 740})
    open_as(people.ann, path_of(review))
    page.locator(".panes__switch [value=side]").check(force=True)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide == 0
    page.keyboard.press("m")
    box = page.get_by_text("Nothing to rate").first.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 360


# Tables that are cut off, but for large matrices.
WIDER = """() => [...document.querySelectorAll(".table-wrap")]
    .filter((one) => one.scrollWidth > one.clientWidth && !one.querySelector(":scope > .confusion"))
    .map((one) => one.ariaLabel)"""


def compared(people: Cast, queue: ReviewQueue) -> Run:
    """A run over the queue's items, one of which two people labelled."""
    options = {"dataset": queue.dataset, "rubric_version": queue.rubric_version, "judge_id": "offline"}
    said = {"Names Paris.": "UNMET", "How deep is it?": "Fair", "Which tone?": "tone 2"}
    run = grade(
        factories.run(people.team, people.ed, **options), LabelJudge(lambda _judge, asked, _text: said[asked])
    )
    for user, label in ((people.ann, "Fair"), (people.rae, "Deep")):
        one = queues.start_review(queue, queue.dataset.items.get(key="good"), user)
        for name, verdict in (("capital", "MET"), ("depth", label), ("tone", "tone 1")):
            reviews.save_verdict(one, reviews.criteria_of(one).get(name=name).pk, verdict=verdict)
        reviews.submit(one, now=timezone.now())
    return run


def unfold(page: Page) -> None:
    """Opens what a page of results has folded."""
    for summary in page.locator("main details.disclosure:not([open]) > summary").all():
        summary.click()


def test_compare_fits_into_a_window_of_1280(
    people: Cast, open_as: Open, page: Page, queue: ReviewQueue
) -> None:
    run = compared(people, queue)
    page.set_viewport_size({"width": 1280, "height": 800})
    open_as(people.alice, f"/t/capitals/compare/?run={run.pk}&queue={queue.pk}")
    unfold(page)
    expect(page.get_by_role("region", name="depth: option by option")).to_contain_text("Recall")
    assert page.evaluate(WIDER) == []


def test_on_a_phone_tables_of_people_and_judge_read_as_rows(
    people: Cast, open_as: Open, page: Page, queue: ReviewQueue
) -> None:
    run = compared(people, queue)
    page.set_viewport_size({"width": 360, "height": 740})
    asked = f"?run={run.pk}&queue={queue.pk}"
    for path, table in (
        (f"compare/{asked}", "Agreement by criterion"),
        (f"compare/{asked}", "Agreement on options by criterion"),
        (f"adjudication/{asked}", "To decide"),
        (f"review/{queue.pk}/agreement/", "Reviewers, table"),
        ("", "Pass rate by criterion, people and judge"),
        ("rubrics/", "Rubrics"),
        (f"datasets/{queue.dataset.pk}/", "Items"),
        ("settings/members/", "Members, table"),
    ):
        open_as(people.alice, f"/t/capitals/{path}")
        unfold(page)
        expect(page.locator(f'.table-wrap[aria-label="{table}"]')).to_be_visible()
        assert set(page.evaluate(WIDER)) <= {"Agreement of each pair of reviewers"}, path
    # The small matrix in a cell of such a row is a table still, with its columns named.
    open_as(people.alice, f"/t/capitals/compare/{asked}")
    row = page.get_by_role("region", name="Agreement by criterion").locator("tr", has_text="Names Paris")
    expect(row.get_by_text("J unmet")).to_be_visible()
    expect(row.locator("[data-label=Errors]")).to_be_hidden()
