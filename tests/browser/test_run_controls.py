"""The menus of a run's page in a real browser, while the page redraws itself."""

import re

import pytest
from django.test import Client
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from rubricweb.judges.base import JudgeError
from rubricweb.models import Run
from rubricweb.services.judges import versions as judges
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.systems import versions

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def run(people: Cast) -> Run:
    """A run that nobody works on."""
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
    )


@pytest.fixture
def open_page(page: Page, live_server: LiveServer, client: Client, people: Cast, run: Run) -> Page:
    """The run's page, as its editor sees it."""
    client.force_login(people.ed, backend="django.contrib.auth.backends.ModelBackend")
    session = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page.set_default_timeout(90_000)
    expect.set_options(timeout=90_000)
    page.goto(f"{live_server.url}/t/{people.team.slug}/runs/{run.pk}/")
    return page


def test_an_open_menu_and_what_is_typed_in_it_outlast_a_redraw(
    open_page: Page, people: Cast, run: Run
) -> None:
    open_page.locator("summary", has_text="Budget").click()
    amount = open_page.get_by_label("Budget of this run, US dollars")
    amount.fill("12.5")

    # The cap pauses the run, or somebody else does: the page shows it, and offers what may be done now.
    lifecycle.pause_run(run, by=people.alice)
    expect(open_page.locator("#run-state")).to_contain_text("paused")
    expect(open_page.locator("summary", has_text="Pause")).to_have_count(0)
    expect(open_page.get_by_role("button", name="Set and resume")).to_be_visible()
    expect(amount).to_have_value("12.5")
    expect(amount).to_be_focused()

    open_page.get_by_role("button", name="Set and resume").click()
    expect(open_page.get_by_role("main")).to_contain_text("a budget of $12.50")
    run.refresh_from_db()
    assert (run.state, run.budget_usd) == ("running", 12.5)


def test_a_menu_of_what_can_no_longer_be_done_is_gone_and_none_opens_in_its_place(
    open_page: Page, people: Cast, run: Run
) -> None:
    open_page.locator("summary", has_text="Pause").click()
    expect(open_page.locator("details[data-menu][open]")).to_have_count(1)
    lifecycle.pause_run(run, by=people.alice)
    expect(open_page.locator("#run-state")).to_contain_text("paused")
    expect(open_page.locator("details[data-menu][open]")).to_have_count(0)


def test_by_keyboard_each_action_is_one_stop_away_from_what_the_last_one_did(open_page: Page) -> None:
    def press_to(*keys: str) -> None:
        for key in keys:
            open_page.keyboard.press(key)

    said, focused = open_page.locator("#messages"), open_page.locator(":focus-visible")
    open_page.locator("summary", has_text="Pause").focus()
    press_to("Enter", "Tab")
    expect(focused).to_contain_text("Pause, let calls in flight finish")
    press_to("Enter")
    expect(said).to_contain_text("is paused")
    expect(said).to_be_focused()
    press_to("Tab")
    expect(focused).to_have_text("Resume: 3 items left")
    press_to("Enter")
    expect(said).to_contain_text("Working on 3 items.")
    expect(said).to_be_focused()
    press_to("Tab")
    expect(focused).to_have_text("Pause")


def test_what_an_action_said_goes_when_the_run_has_moved_on_but_an_error_stays(
    open_page: Page, people: Cast, run: Run
) -> None:
    said, state = open_page.locator("#messages"), open_page.locator("#run-state")
    open_page.locator("summary", has_text="Pause").click()
    open_page.get_by_role("button", name="Pause, let calls in flight finish").click()
    expect(said).to_contain_text("is paused")
    lifecycle.resume_run(run, by=people.alice, enqueue=factories.WakeUps())
    expect(state).to_contain_text("running")
    expect(said).to_have_count(0)
    # Who went on from there by keyboard still does.
    open_page.keyboard.press("Tab")
    expect(open_page.locator(":focus-visible")).to_have_text("Pause")

    open_page.locator("summary", has_text="Budget").click()
    amount = open_page.get_by_label("Budget of this run, US dollars")
    amount.evaluate("field => field.type = 'text'")
    amount.fill("much")
    open_page.get_by_role("button", name="Set", exact=True).click()
    expect(said).to_contain_text("US dollars from 0")
    lifecycle.pause_run(run, by=people.alice)
    expect(state).to_contain_text("paused")
    expect(said).to_contain_text("US dollars from 0")


def test_what_is_selected_and_opened_in_the_results_outlasts_their_redraw(open_page: Page, run: Run) -> None:
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    open_page.reload()
    open_page.locator("#all-results > summary").click()
    open_page.locator("#scores-table > summary").click()
    box = open_page.get_by_label("Select 1", exact=False).first
    redraw = "() => htmx.ajax('GET', location.href, {target: '#run-results', swap: 'morph:outerHTML'})"
    mean = open_page.locator("#run-results .stat__value").first
    mean.evaluate("element => element.textContent = 'older'")
    box.check()
    open_page.evaluate(redraw)
    expect(box).to_be_checked()
    expect(mean).to_have_text("older")
    box.uncheck()
    expect(mean).not_to_have_text("older")
    expect(open_page.locator("#scores-table")).to_have_attribute("open", "")
    # The fold it lies in stays open too, on this page and the next time.
    open_page.reload()
    expect(open_page.locator("#all-results")).to_have_attribute("open", "")


def test_on_a_phone_no_table_of_a_run_is_wider_than_the_screen(
    open_page: Page, people: Cast, run: Run
) -> None:
    def answer(requirement: str, response: str) -> str | JudgeError:
        failed = "Belgium" in response and "Names Paris" in requirement
        return JudgeError("refused", "No.") if failed else "MET"

    grade(run, InProcessJudge(answer))
    wider = """() => [...document.querySelectorAll(".table-wrap")]
        .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"""
    open_page.set_viewport_size({"width": 360, "height": 740})
    open_page.reload()
    open_page.locator("#all-results > summary").click()
    for table in ("Errors by kind", "Criteria, table", "Items, table"):
        expect(open_page.locator(f'.table-wrap[aria-label="{table}"]')).to_be_visible()
    assert open_page.evaluate(wider) == []
    # What was as it should be is left out, what was not is said with its column's name. An item with an error
    # has no place in the ranking by score.
    open_page.locator("#items").get_by_role("link", name="Errors", exact=True).click()
    names = ("Paris is the capital", "Paris lies in Belgium")
    good, bad = (open_page.locator("#items tr", has_text=name) for name in names)
    expect(bad.locator("[data-label=Errors]")).to_be_visible()
    expect(good.locator("[data-label=Errors]")).to_be_hidden()

    other = factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version)
    grade(other, InProcessJudge(lambda requirement, response: "UNMET"))
    item = run.dataset.items.get(key="bad")
    room = open_page.url.partition("/runs/")[0] + "/runs/"
    for address in ("", f"{run.pk}/items/{item.pk}/", f"{other.pk}/against/{run.pk}/"):
        open_page.goto(room + address)
        expect(open_page.locator(".table--stacked").first).to_be_visible()
        assert open_page.evaluate(wider) == [], address


def test_what_a_run_will_cost_and_the_button_that_starts_it_stay_in_sight(
    open_page: Page, people: Cast
) -> None:
    world = versions(people)
    open_page.goto(open_page.url.rpartition("/runs/")[0] + "/runs/new/")
    # Choosing a dataset asks whose answers, where it has those of several versions.
    open_page.get_by_label("Dataset").select_option(str(world.dataset.pk))
    expect(open_page.get_by_role("checkbox", name="assistant@v4")).to_be_checked()
    expect(open_page.get_by_role("checkbox", name="assistant@v3")).to_be_visible()
    expect(open_page.locator("[id=id_rubric_version_helptext]")).to_have_count(1)
    start = open_page.get_by_role("button", name="Start run")
    for summary in open_page.locator("#run-form summary").all():
        summary.click()
    open_page.locator("#run-form select").last.scroll_into_view_if_needed()
    assert open_page.evaluate("scrollY") > 500
    expect(start).to_be_in_viewport()
    # On a phone they come after the fields, not before what they will cost.
    open_page.set_viewport_size({"width": 360, "height": 740})
    plan = open_page.locator("#plan").bounding_box()
    button = start.bounding_box()
    assert plan is not None
    assert button is not None
    assert button["y"] >= plan["y"] + plan["height"]


def test_the_form_says_how_the_chosen_judge_asks_and_opens_what_was_refused(
    open_page: Page, people: Cast, run: Run
) -> None:
    assert run.judge_version is not None
    judges.create_judge(people.team, run.judge_version.definition, by=people.ed, name="Support judge")
    open_page.goto(open_page.url.rpartition("/runs/")[0] + "/runs/new/")
    way = open_page.get_by_label("How the judge is asked")
    budget = open_page.get_by_label("Budget in US dollars")
    # Four answers are there already, those of the last run; what few runs need is folded away.
    expect(open_page.get_by_label("Dataset")).to_have_value(str(run.dataset_id))
    expect(open_page.get_by_label("Judge", exact=True)).to_have_value("offline")
    expect(budget).to_be_hidden()
    way.select_option("one_shot")
    expect(open_page.locator("#id_autograder_helptext")).to_contain_text("One call")
    expect(open_page.locator("#plan")).to_contain_text(re.compile(r"Calls\s*3\s*3 criteria"))
    # A version of a judge asks in its own way.
    open_page.get_by_label("Judge", exact=True).select_option("support-judge@v1")
    expect(way).to_be_hidden()
    expect(open_page.locator("#id_judge_helptext")).to_contain_text("criterion by criterion")
    # What is refused in the fold is in sight, and the link above the form leads there.
    open_page.locator("#run-form summary").click()
    budget.fill("-1")
    open_page.locator("#run-form").evaluate("form => form.noValidate = true")
    open_page.get_by_role("button", name="Start run").click()
    expect(budget).to_be_visible()
    open_page.get_by_role("alert").get_by_role("link", name="Budget in US dollars").click()
    expect(budget).to_be_focused()
