"""Many criteria in the editor: pasted, selected, duplicated, undone; and two people in one draft."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from rubricweb.models import Rubric
from rubricweb.services.rubrics import rubrics
from tests.browser.conftest import Open, session
from tests.factories import Cast
from tests.processes.conftest import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180), pytest.mark.django_db(transaction=True)]

CITY = {"id": "uid-a", "name": "city", "weight": 1.0, "requirement": "Names the city."}
SHORT = {"id": "uid-b", "weight": 2.0, "requirement": "Is short.", "group": "Style"}
KIND = {"id": "uid-c", "weight": 4.0, "requirement": "Is kind."}


def written(people: Cast, *criteria: dict[str, Any]) -> Rubric:
    return rubrics.create_rubric(people.team, by=people.ed, title="Many", draft={"criteria": list(criteria)})


@pytest.fixture
def rubric(people: Cast) -> Rubric:
    return written(people, CITY, SHORT, KIND)


def path(rubric: Rubric) -> str:
    return f"/t/{rubric.team.slug}/rubrics/{rubric.pk}/edit/"


def lines(page: Page) -> list[str]:
    """What each line says of its name and of what it asks."""
    rows = page.locator("[data-criterion-row] > details > summary")
    read = """all => all.map(one => ['name', 'words'].map(
      part => one.querySelector(`[data-fold-${part}]`).textContent))"""
    return [": ".join(filter(None, parts)) for parts in rows.evaluate_all(read)]


def weights(rubric: Rubric) -> list[Any]:
    rubric.refresh_from_db()
    return [entry["weight"] for entry in rubric.draft["criteria"]]


def paste(page: Page, place: str, text: str) -> None:
    page.locator(place).evaluate(
        """(element, text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          const how = {clipboardData, bubbles: true, cancelable: true};
          element.dispatchEvent(new ClipboardEvent("paste", how));
        }""",
        text,
    )


def test_pasted_lines_become_criteria_and_are_taken_back(
    people: Cast, rubric: Rubric, open_as: Open, violations: list[str]
) -> None:
    page = open_as(people.ed, path(rubric))
    page.locator("#criterion-0 summary").first.click()
    paste(page, "[name=criteria-0-requirement]", "Is polite.\nIs clear.\nIs right.")
    pasted = ["city: Names the city.", "Is polite.", "Is clear.", "Is right.", "Is short.", "Is kind."]
    assert lines(page) == pasted
    expect(page.locator("#toasts")).to_contain_text("Pasted 3 criteria.")
    page.keyboard.press("Control+z")
    assert lines(page) == ["city: Names the city.", "Is short.", "Is kind."]
    page.keyboard.press("Control+Shift+z")
    assert lines(page) == pasted
    # Cells of a spreadsheet, with a header.
    table = "Name\tRequirement\tWeight\tOptions\nwarm\tHow warm?\t-2,5\tcold=0; warm=1\n"
    paste(page, "#criterion-1 [data-fold] > summary", table)
    assert lines(page)[5] == "warm: How warm?"
    wait_for(lambda: weights(rubric) == [1, 1, 1, 1, 2, -2.5, 4])
    assert [one["label"] for one in rubric.draft["criteria"][5]["options"]] == ["cold", "warm"]
    # A single line is text.
    paste(page, "[name=criteria-0-requirement]", "Only this.")
    assert len(lines(page)) == 7
    assert violations == []


def test_selected_criteria_are_changed_together_and_all_of_it_is_undone(
    people: Cast, rubric: Rubric, open_as: Open, violations: list[str]
) -> None:
    page = open_as(people.ed, path(rubric))
    page.locator("#criterion-0 summary").first.focus()
    page.keyboard.press("x")
    page.locator("#criterion-2 [data-row-select]").click(modifiers=["Shift"])
    bar = page.get_by_role("group", name="Selected criteria")
    expect(bar).to_contain_text("3 selected")
    page.locator("#criterion-2 [data-row-select]").uncheck()
    bar.get_by_label("Group").fill("Facts")
    bar.get_by_role("button", name="Set group").click()
    bar.get_by_label("Weight or factor").fill("3")
    bar.get_by_role("button", name="Multiply").click()
    wait_for(lambda: weights(rubric) == [3, 6, 4])
    assert [entry.get("group") for entry in rubric.draft["criteria"]] == ["Facts", "Facts", None]
    bar.get_by_role("button", name="Duplicate").click()
    assert lines(page) == [
        "city: Names the city.",
        "Is short.",
        "city: Names the city.",
        "Is short.",
        "Is kind.",
    ]
    wait_for(lambda: len(weights(rubric)) == 5)
    assert len({entry["id"] for entry in rubric.draft["criteria"]}) == 5
    bar.get_by_role("button", name="Remove").click()
    wait_for(lambda: weights(rubric) == [3, 6, 4])
    expect(bar).to_be_hidden()
    undo = page.get_by_role("button", name="Undo", exact=True)
    for _ in range(4):
        undo.click()
    expect(undo).to_be_disabled()
    wait_for(lambda: weights(rubric) == [1, 2, 4])
    assert [entry.get("group") for entry in rubric.draft["criteria"]] == [None, "Style", None]
    assert violations == []


def test_edits_moves_and_removals_are_undone_after_they_were_saved(
    people: Cast, rubric: Rubric, open_as: Open
) -> None:
    page = open_as(people.ed, path(rubric))
    page.locator("#criterion-0 summary").first.click()
    page.locator("[name=criteria-0-weight]").fill("9")
    page.locator("[name=criteria-0-requirement]").fill("Names it.")
    page.get_by_role("button", name="Remove criterion 1").click()
    page.locator("#criterion-2 summary").first.focus()
    page.keyboard.press("Alt+ArrowUp")
    wait_for(lambda: weights(rubric) == [4, 2])
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    assert lines(page) == ["city: Names the city.", "Is short.", "Is kind."]
    wait_for(lambda: weights(rubric) == [9, 2, 4])
    page.keyboard.press("Control+y")
    assert lines(page)[0] == "city: Names it."


def test_a_criterion_is_duplicated_by_its_button_and_its_key_and_without_scripts(
    people: Cast, rubric: Rubric, open_as: Open, browser: Browser, live_server: LiveServer
) -> None:
    page = open_as(people.ed, path(rubric))
    page.locator("#criterion-1 summary").first.click()
    page.get_by_role("button", name="Duplicate criterion 2").click()
    expect(page.locator("[name=criteria-3-requirement]")).to_be_focused()
    page.keyboard.press("Alt+Shift+Enter")
    wait_for(lambda: weights(rubric) == [1, 2, 2, 2, 4])
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies([session(people.ed, live_server)])
    plain = context.new_page()
    plain.goto(f"{live_server.url}{path(rubric)}")
    plain.locator("#criterion-0 summary").first.click()
    plain.locator("#criterion-0").get_by_role("button", name="Duplicate").click()
    expect(plain.locator("[name=criteria-5-requirement]")).to_have_value("Names the city.")
    context.close()


def test_what_somebody_else_changed_comes_in_while_one_writes(
    people: Cast, rubric: Rubric, open_as: Open, violations: list[str]
) -> None:
    page = open_as(people.ed, path(rubric))
    page.locator("#criterion-0 summary").first.click()
    field = page.locator("[name=criteria-0-requirement]")
    theirs = {
        "title": "Many",
        "criteria": [{**CITY, "weight": 7}, {**SHORT, "requirement": "Is brief."}, KIND],
    }
    rubrics.save_draft(rubric, by=people.alice, draft=theirs, revision=0)
    field.press("End")
    field.press_sequentially(" In full.")
    expect(page.locator("#toasts")).to_contain_text("Alice changed “city”: weight; “Is short.”: requirement")
    expect(page.locator("[name=criteria-0-weight]")).to_have_value("7")
    expect(field).to_be_focused()
    page.keyboard.type(" Really.")
    wait_for(lambda: weights(rubric) == [7, 2, 4])
    wait_for(lambda: rubric.refresh_from_db() or "Really." in rubric.draft["criteria"][0]["requirement"])
    asks = [entry["requirement"] for entry in rubric.draft["criteria"]]
    assert asks == ["Names the city. In full. Really.", "Is brief.", "Is kind."]
    assert violations == []


@pytest.mark.parametrize("scripts", [True, False])
def test_a_field_both_changed_is_chosen_with_and_without_scripts(
    people: Cast, rubric: Rubric, browser: Browser, live_server: LiveServer, scripts: bool
) -> None:
    context = browser.new_context(java_script_enabled=scripts)
    context.add_cookies([session(people.ed, live_server)])
    page = context.new_page()
    page.goto(f"{live_server.url}{path(rubric)}")
    page.locator("#criterion-0 summary").first.click()
    theirs = {"title": "Many", "criteria": [{**CITY, "weight": 7, "requirement": "Says where."}, SHORT, KIND]}
    rubrics.save_draft(rubric, by=people.alice, draft=theirs, revision=0)
    page.locator("[name=criteria-0-weight]").fill("5")
    if not scripts:
        page.get_by_role("button", name="Save draft").last.click()
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("Alice changed this draft meanwhile")
    expect(notice).to_contain_text("“city” weight: both of you changed it")
    theirs_side = notice.get_by_role("group", name="weight").get_by_label("Theirs")
    expect(theirs_side).not_to_be_checked()
    notice.get_by_role("button", name="Save both changes").click()
    wait_for(lambda: weights(rubric) == [5, 2, 4])
    assert rubric.draft["criteria"][0]["requirement"] == "Says where."
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator("[name=criteria-0-requirement]")).to_have_value("Says where.")
    context.close()


def test_a_rubric_of_two_hundred_criteria_is_a_small_page_whose_rows_open(
    people: Cast, open_as: Open, violations: list[str]
) -> None:
    criteria = [
        {
            "id": f"uid-{n:04}",
            "name": f"fact {n}",
            "weight": n % 5 + 1,
            "requirement": f"States fact number {n}.",
        }
        for n in range(200)
    ]
    rubric = written(people, *criteria)
    page = open_as(people.ed, path(rubric))
    assert len(page.request.get(page.url).body()) < 300_000
    page.locator("#criterion-150 summary").first.click()
    page.locator("[name=criteria-150-requirement]").fill("States it.")
    expect(page.locator("[data-criterion-row]:has(details[open])")).to_have_count(1)
    page.locator("#criterion-3 summary").first.focus()
    page.keyboard.press("x")
    page.get_by_label("Weight or factor").fill("50")
    page.get_by_role("button", name="Set weight").click()
    wait_for(lambda: weights(rubric)[3] == 50)
    wait_for(lambda: rubric.refresh_from_db() or rubric.draft["criteria"][150]["requirement"] == "States it.")
    assert [entry["id"] for entry in rubric.draft["criteria"]] == [entry["id"] for entry in criteria]
    assert violations == []
