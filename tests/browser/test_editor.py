"""The rubric editor in a real browser: with the keyboard alone, and without scripts."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect

from tests.processes.conftest import Serve

pytestmark = [pytest.mark.browser, pytest.mark.processes]


@pytest.fixture
def violations(page: Page) -> list[str]:
    """What the console says of scripts and styles the policy forbids; must stay empty."""
    found: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            found.append(message.text)

    page.on("console", listen)
    return found


def sign_in(page: Page, server: Serve) -> str:
    """Signs in with the one-time link; gives the address of the team."""
    page.set_default_timeout(90_000)
    expect.set_options(timeout=90_000)
    page.goto(server.link)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    return page.url


def tab_to(page: Page, wanted: Locator, most: int = 60) -> None:
    """Presses Tab until the control has the focus."""
    for _ in range(most):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} is not within {most} presses of Tab")


def test_a_rubric_of_every_kind_is_written_with_the_keyboard_alone(
    page: Page, serve: Callable[..., Serve], violations: list[str]
) -> None:
    team = sign_in(page, serve("--owner", "olga"))
    page.goto(f"{team}rubrics/new/")
    page.keyboard.type("Keyboard")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/edit/$"))
    editor = page.url

    # A choice: its kind with the arrows, a preset, one more option with Enter, moved with Alt+↑.
    tab_to(page, page.locator("[name=criteria-0-kind]:checked"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.type("How friendly is the reply?")
    tab_to(page, page.locator("#criterion-0").get_by_role("button", name="Yes, partly, no"))
    page.keyboard.press("Enter")
    expect(page.locator("[name=criteria-0-options-0-label]")).to_be_focused()
    for _ in range(3):
        page.keyboard.press("Enter")
    expect(page.locator("[name=criteria-0-options-3-label]")).to_be_focused()
    page.keyboard.type("hardly")
    page.keyboard.press("Tab")
    page.keyboard.type("0.25")
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("[name=criteria-0-options-3-order]")).to_have_value("3")
    expect(page.locator("[name=criteria-0-order]")).to_have_value("1")

    # A check: its parameters come when it is chosen.
    page.keyboard.press("Alt+Enter")
    expect(page.locator("[name=criteria-1-requirement]")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    tab_to(page, page.locator("[name=criteria-1-check]"))
    page.keyboard.type("Contains")
    tab_to(page, page.locator("[name=criteria-1-params-keywords]"))
    page.keyboard.type("Paris")
    page.keyboard.press("Enter")
    page.keyboard.type("France")

    # A requirement of two: lint says so beside it, and the count says so to the whole page.
    page.keyboard.press("Alt+Enter")
    page.keyboard.type("Is accurate and concise.")
    expect(page.locator("#criterion-2-notes")).to_contain_text("two things at once")
    expect(page.locator("#lint-count")).to_contain_text("finding")

    # Its explanation stays open while typing goes on.
    why = page.locator("#criterion-2-notes summary", has_text="Why")
    tab_to(page, why)
    page.keyboard.press("Enter")
    page.locator("[name=criteria-2-guidance]").evaluate("element => element.closest('details').open = true")
    with page.expect_response("**/preview/"):
        page.locator("[name=criteria-2-guidance]").press_sequentially("Look twice.")
    expect(page.locator("#criterion-2-notes details")).to_have_attribute("open", "")

    # Try it: the check answers by itself, the offline judge the others.
    page.locator("input.side--preview").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    tab_to(page, page.locator("#try-submission"))
    page.keyboard.type("Paris is nice.")
    tab_to(page, page.get_by_role("button", name="Try", exact=True))
    page.keyboard.press("Enter")
    expect(page.locator("#trial")).to_contain_text("missing: France")
    expect(page.locator("#trial")).to_contain_text("offline judge (not an LLM)")

    # Save, look at the source, come back: nothing is lost.
    page.keyboard.press("Control+s")
    expect(page.locator("[data-save-words]")).to_have_attribute("data-state", "saved")
    page.get_by_role("button", name="YAML").press("Enter")
    page.wait_for_url(re.compile(r"/source/"))
    source = page.locator("#source").input_value()
    for piece in (
        "scale_type: ordinal",
        "label: hardly",
        "value: 0.25",
        "check: contains_keywords",
        "- France",
    ):
        assert piece in source
    # Each criterion has an id of its own from the start.
    assert len(set(re.findall(r"id: (uid-[0-9a-f]{16})\n", source + "\n"))) == 3
    page.get_by_role("button", name="Form").press("Enter")
    page.wait_for_url(editor)
    labels = page.locator("#criterion-0 [data-option-label]").evaluate_all("all => all.map(one => one.value)")
    assert labels == ["yes", "partly", "hardly", "no"]

    # Publish.
    page.get_by_role("button", name="Publish").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Publish version 1")
    page.get_by_role("main").get_by_role("button", name="Publish").press("Enter")
    expect(page.get_by_role("main")).to_contain_text("v1")
    assert violations == []


def test_options_come_back_after_removing_and_vote_rules_follow_the_kind(
    page: Page, serve: Callable[..., Serve]
) -> None:
    team = sign_in(page, serve("--owner", "olga"))
    page.goto(f"{team}rubrics/new/")
    page.get_by_label("Title").fill("Options")
    page.get_by_role("button", name="Start writing").click()
    row = page.locator("#criterion-0")
    row.locator(".kind--choice").check()
    row.get_by_role("button", name="0 to 4").click()
    options = row.locator("[data-option-list] > [data-sortable-row]")
    expect(options).to_have_count(5)
    options.nth(1).get_by_role("button", name="Remove option").click()
    expect(options).to_have_count(4)
    row.get_by_role("button", name="Undo").click()
    expect(options).to_have_count(5)
    expect(options.nth(1).locator("[data-option-label]")).to_be_focused()
    expect(row.locator("[data-option-presets]")).to_be_hidden()
    row.get_by_role("button", name="Not applicable").click()
    expect(options.nth(5).locator("[name$='-na']")).to_be_checked()

    row.locator("summary", has_text="Guidance").click()
    rule = row.locator("[data-vote-rule]")
    rule.select_option("median")
    row.locator("[data-scale-choice][value=nominal]").check()
    expect(rule).to_have_value("")
    expect(rule.locator("optgroup:not([disabled])")).to_have_attribute("label", "Different answers")

    # The first option is dragged below the second; the criterion itself stays where it is.
    options.nth(0).locator("[data-sortable-handle]").drag_to(options.nth(1).locator("[data-sortable-handle]"))
    expect(options.nth(1).locator("[data-option-label]")).to_have_value("0 · absent")
    expect(page.locator("[name=criteria-0-order]")).to_have_value("1")
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.locator("html").evaluate("html => html.scrollWidth") <= width


def test_the_editor_works_without_scripts_on_a_small_dark_screen(
    browser: Browser, serve: Callable[..., Serve]
) -> None:
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": 360, "height": 800}, color_scheme="dark"
    )
    page = context.new_page()
    team = sign_in(page, serve("--owner", "olga"))
    page.goto(f"{team}rubrics/new/")
    page.get_by_label("Title").fill("Plain")
    page.get_by_role("button", name="Start writing").click()
    row = page.locator("#criterion-0")
    row.locator(".kind--choice").check()
    page.locator("[name=criteria-0-requirement]").fill("How friendly is it?")
    row.get_by_role("button", name="Yes, partly, no").click()
    row.get_by_role("button", name="Option", exact=True).click()
    page.locator("[name=criteria-0-options-3-label]").fill("hardly")
    page.locator("[name=criteria-0-options-3-value]").fill("0.25")
    page.locator("[name=criteria-0-options-3-order]").fill("2")
    page.get_by_role("button", name="Add criterion").click()
    second = page.locator("#criterion-1")
    second.locator(".kind--check").check()
    page.locator("[name=criteria-1-check]").select_option("contains_keywords")
    second.get_by_role("button", name="Show its parameters").click()
    page.locator("[name=criteria-1-params-keywords]").fill("Paris")
    page.locator("input.side--try").check()
    page.locator("#try-submission").fill("Paris")
    page.get_by_role("button", name="Try", exact=True).click()
    expect(page.locator("#trial")).to_contain_text("found: Paris")
    assert page.locator("html").evaluate("html => html.scrollWidth") <= 360
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Publish version 1")
    expect(page.get_by_role("main")).to_contain_text("4 options")
    context.close()
