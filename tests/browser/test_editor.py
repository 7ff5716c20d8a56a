"""The rubric editor in a real browser: by keyboard, without scripts, and what it keeps of what is typed."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from rubricweb.models import Rubric
from rubricweb.services.rubrics import rubrics
from tests.browser.conftest import Open, session
from tests.factories import Cast
from tests.processes.conftest import Serve, wait_for

pytestmark = pytest.mark.browser


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


@pytest.mark.processes
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


@pytest.mark.processes
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


@pytest.mark.processes
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


# ── What is typed is kept ────────────────────────────────────────────────────────────────────────


@pytest.fixture
def rubric(people: Cast) -> Rubric:
    draft = {
        "guidelines": "Be fair.",
        "criteria": [{"name": "city", "weight": 1, "requirement": "Names it."}],
    }
    return rubrics.create_rubric(people.team, by=people.ed, title="Kept", draft=draft)


@pytest.fixture
def editor(people: Cast, rubric: Rubric, open_as: Open) -> Page:
    return open_as(people.ed, f"/t/{people.team.slug}/rubrics/{rubric.pk}/edit/")


def state(page: Page) -> Locator:
    return page.locator("[data-save-words]")


def is_saved(page: Page) -> None:
    """Waits until it says so."""
    expect(state(page)).to_have_attribute("data-state", "saved")
    expect(state(page)).to_contain_text("Draft saved")


def requirement(page: Page) -> Locator:
    return page.locator("[name=criteria-0-requirement]")


def type_on(page: Page, words: str) -> None:
    """Types behind what stands there, as a person does: the field is not left."""
    requirement(page).press("End")
    requirement(page).press_sequentially(words)


def stored(rubric: Rubric) -> str:
    """The requirement of the draft on the server."""
    rubric.refresh_from_db()
    return str(rubric.draft["criteria"][0]["requirement"])


@pytest.mark.django_db(transaction=True)
def test_a_killed_tab_keeps_what_was_typed_and_typing_is_not_disturbed(
    editor: Page, rubric: Rubric, violations: list[str]
) -> None:
    editor.set_viewport_size({"width": 1280, "height": 400})
    field = requirement(editor)
    field.evaluate(
        """field => {
          field.isTheSame = true;
          window.heard = [];
          const region = document.querySelector("[data-save-announced]");
          new MutationObserver(() => window.heard.push(region.textContent))
            .observe(region, {childList: true, subtree: true});
        }"""
    )
    field.press("Home")
    for word in ("Really ", "and ", "truly "):
        # In the middle of a line: it goes on where it was.
        field.press_sequentially(word)
        before = editor.evaluate("scrollY")
        wait_for(lambda: word in stored(rubric))  # noqa: B023  called at once
        is_saved(editor)
        expect(field).to_be_focused()
        assert field.evaluate("field => field.isTheSame")
        assert editor.evaluate("scrollY") == before
    editor.locator("[name=criteria-0-weight]").fill("heavy")
    editor.locator("[name=criteria-0-weight]").press("Tab")  # which saves at once
    wait_for(lambda: stored(rubric) and rubric.draft["criteria"][0]["weight"] == "heavy")
    is_saved(editor)
    # A screen reader hears it once, until somebody asks for it.
    assert editor.evaluate("heard") == ["Draft saved just now"]
    editor.keyboard.press("Control+s")
    wait_for(lambda: editor.evaluate("heard.length") == 2)
    editor.close()
    assert stored(rubric) == "Really and truly Names it."
    assert violations == []


@pytest.mark.django_db(transaction=True)
def test_who_is_signed_out_is_told_and_saves_after_signing_in_in_another_tab(
    editor: Page, people: Cast, rubric: Rubric, live_server: LiveServer
) -> None:
    editor.context.clear_cookies(name="sessionid")
    type_on(editor, " More.")
    expect(state(editor)).to_have_text("You are signed out. Sign in in another tab, then save.")
    with editor.expect_popup() as opened:
        state(editor).get_by_role("link", name="Sign in in another tab").click()
    other = opened.value
    expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    assert stored(rubric) == "Names it."
    expect(requirement(editor)).to_have_value("Names it. More.")
    other.context.add_cookies([session(people.ed, live_server)])
    other.close()
    editor.get_by_role("button", name="Save draft").last.click()
    is_saved(editor)
    assert stored(rubric) == "Names it. More."


@pytest.mark.django_db(transaction=True)
def test_without_a_connection_it_says_so_asks_before_leaving_and_saves_once_it_is_back(
    editor: Page, rubric: Rubric
) -> None:
    editor.on("dialog", lambda dialog: dialog.dismiss())
    editor.context.set_offline(True)
    type_on(editor, " Offline.")
    expect(state(editor)).to_have_text("Not saved: no connection. Trying again.")
    expect(editor.locator("#toasts")).to_be_empty()  # nothing that tells to reload
    with editor.expect_event("dialog") as asked:
        editor.get_by_role("link", name="Close").click()
    assert asked.value.type == "beforeunload"
    expect(requirement(editor)).to_have_value("Names it. Offline.")
    editor.context.set_offline(False)
    is_saved(editor)
    assert stored(rubric) == "Names it. Offline."


@pytest.mark.django_db(transaction=True)
def test_a_save_whose_answer_was_lost_is_not_taken_for_somebody_elses(editor: Page, rubric: Rubric) -> None:
    answer = "lost"

    def lose(route: Route) -> None:
        if answer == "lost":
            route.fetch()
            route.abort()
        elif answer == "broken":
            route.fulfill(status=500, body="Something broke")
        else:
            route.continue_()

    editor.route("**/edit/", lose)
    type_on(editor, " First.")
    expect(state(editor)).to_contain_text("no connection")
    assert stored(rubric) == "Names it. First."
    type_on(editor, " Second.")
    answer = "broken"
    expect(state(editor)).to_have_text("Not saved: the server does not answer as it should. Trying again.")
    answer = "kept"
    is_saved(editor)
    assert stored(rubric) == "Names it. First. Second."
    assert rubric.draft_revision == 2  # the first, once, and the second


@pytest.mark.django_db(transaction=True)
def test_somebody_elses_change_is_told_while_typing_and_can_be_replaced(editor: Page, rubric: Rubric) -> None:
    rubrics.save_draft(rubric, draft={"title": "Theirs", "criteria": []}, revision=0)
    type_on(editor, " Mine.")
    notice = editor.get_by_role("alert")
    expect(notice).to_contain_text("Not saved: somebody else changed this draft")
    expect(notice).to_be_in_viewport()
    expect(requirement(editor)).to_be_focused()
    type_on(editor, " More.")
    editor.get_by_role("button", name="Save draft").last.click()
    expect(notice).to_be_focused()
    rubric.refresh_from_db()
    assert rubric.title == "Theirs"
    editor.get_by_role("button", name="Replace theirs with mine").click()
    is_saved(editor)
    expect(notice).to_have_count(0)
    assert stored(rubric) == "Names it. Mine. More."
    type_on(editor, " And on.")
    wait_for(lambda: stored(rubric) == "Names it. Mine. More. And on.")


@pytest.mark.django_db(transaction=True)
def test_buttons_and_links_wait_for_the_save_that_is_on_its_way(
    editor: Page, people: Cast, rubric: Rubric
) -> None:
    asked: list[str] = []
    editor.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    held: list[Route] = []
    editor.route("**/edit/", lambda route: held.append(route) if not held else route.continue_())
    type_on(editor, " One.")
    publish = editor.get_by_role("button", name="Publish")
    publish.focus()
    wait_for(lambda: editor.title() and held)
    type_on(editor, " Two.")
    publish.click()
    editor.locator("[name=criteria-0-name]").focus()  # elsewhere already when it goes on
    held[0].continue_()
    expect(editor.get_by_role("heading", level=1)).to_contain_text("Publish version 1")
    assert stored(rubric) == "Names it. One. Two."
    # Back in the history stands what is stored, not what the browser remembers of the form.
    theirs = {"title": "Kept", "criteria": [{"weight": 1, "requirement": "Theirs."}]}
    rubrics.save_draft(rubric, draft=theirs, revision=rubric.draft_revision)
    editor.go_back()
    expect(requirement(editor)).to_have_value("Theirs.")
    type_on(editor, " Three.")
    editor.get_by_role("link", name="Close").click()
    editor.wait_for_url(f"**/rubrics/{rubric.pk}/")
    assert stored(rubric) == "Theirs. Three."
    assert asked == []


@pytest.mark.django_db(transaction=True)
def test_the_last_words_arrive_though_the_page_is_left_before_the_pause(editor: Page, rubric: Rubric) -> None:
    editor.on("dialog", lambda dialog: dialog.accept())
    editor.clock.install()
    editor.clock.pause_at("2100-01-01")  # the pause never ends
    type_on(editor, " Last.")
    editor.goto("about:blank")
    wait_for(lambda: stored(rubric) == "Names it. Last.")


@pytest.mark.django_db(transaction=True)
def test_what_no_draft_can_be_is_named_while_typing_and_shown_at_its_field_when_asked(
    editor: Page, people: Cast, rubric: Rubric, open_as: Open
) -> None:
    title = editor.locator("[name=title]")
    title.fill("")
    type_on(editor, " More.")
    expect(state(editor)).to_have_text("Not saved: A rubric needs a title.")
    expect(requirement(editor)).to_be_focused()
    editor.keyboard.press("Control+s")
    expect(editor.get_by_role("alert")).to_be_focused()
    expect(requirement(editor)).to_have_value("Names it. More.")
    title.fill("Named")
    is_saved(editor)
    assert (stored(rubric), rubric.title) == ("Names it. More.", "Named")

    # Its source: kept as soon as it can be read, without the page being loaded anew.
    page = open_as(people.ed, f"/t/{people.team.slug}/rubrics/{rubric.pk}/source/")
    source = page.locator("#source")
    text = source.input_value()
    source.fill(text + "length_penalty: [")
    expect(state(page)).to_have_text("Not saved: The text cannot be read.")
    source.fill(text.replace("Names it.", "Says it."))
    is_saved(page)
    expect(source).to_be_focused()
    assert stored(rubric) == "Says it. More."
    rubrics.save_draft(rubric, draft={"title": "Theirs"}, revision=rubric.draft_revision)
    source.fill(text)
    expect(page.get_by_role("alert")).to_contain_text("somebody else changed this draft")
    page.get_by_role("button", name="Replace theirs with mine").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert stored(rubric) == "Names it. More."
