"""A rubric of many criteria in the editor: a line each, which open; what has the focus is always seen."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect
from pytest_django.live_server_helper import LiveServer

from rubricweb.models import Rubric
from rubricweb.services.rubrics import rubrics
from tests.browser.conftest import Open, session
from tests.browser.faults import faults
from tests.factories import Cast

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180), pytest.mark.django_db(transaction=True)]

TONE = {
    "name": "tone",
    "weight": 2.0,
    "requirement": "How does it sound?",
    "scale_type": "ordinal",
    "options": [{"label": "curt", "value": 0}, {"label": "warm", "value": 1}],
}
PARIS = {"weight": 1.0, "check": "contains_keywords", "params": {"keywords": ["Paris"]}}


def plain(number: int) -> dict[str, Any]:
    return {"weight": 1.0, "requirement": f"Says the word {number}."}


def written(people: Cast, *criteria: dict[str, Any]) -> Rubric:
    draft = {"criteria": list(criteria)}
    return rubrics.create_rubric(people.team, by=people.ed, title="Long", draft=draft)


@pytest.fixture
def rubric(people: Cast) -> Rubric:
    """Eight criteria of a weight of 9."""
    return written(people, TONE, PARIS, *map(plain, range(3, 9)))


def path(rubric: Rubric) -> str:
    return f"/t/{rubric.team.slug}/rubrics/{rubric.pk}/edit/"


def row(page: Page, index: int) -> Locator:
    return page.locator(f"#criterion-{index}")


def line(page: Page, index: int) -> Locator:
    return row(page, index).locator("summary").first


def opened(page: Page) -> list[str]:
    """The rows that are open, in order."""
    rows = page.locator("[data-criterion-row]:has([data-fold][open])")
    return [str(one).removeprefix("criterion-") for one in rows.evaluate_all("all => all.map(one => one.id)")]


def test_a_long_rubric_begins_as_lines_that_open_and_stay_open(
    people: Cast, rubric: Rubric, open_as: Open, violations: list[str]
) -> None:
    page = open_as(people.ed, path(rubric))
    saves: list[Request] = []
    page.on("request", lambda one: saves.append(one) if one.url.endswith("/edit/") else None)
    for words in ("1", "tone", "How does it sound?", "Options", "2", "+22"):
        expect(line(page, 0)).to_contain_text(words)
    expect(line(page, 1)).to_contain_text("Contains keywords")
    expect(line(page, 7)).to_contain_text("Says the word 8.")
    assert opened(page) == []
    box = row(page, 4).bounding_box()
    assert box is not None
    assert box["height"] <= 42

    # From line to line; the row moves as a line too; Enter opens it, with its fields next.
    line(page, 0).focus()
    page.keyboard.press("Tab")  # the box of the next one
    page.keyboard.press("Tab")
    expect(line(page, 1)).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("[name=criteria-0-name]")).to_be_focused()
    page.get_by_role("button", name="Open all").click()
    page.get_by_role("button", name="Fold all").click()
    assert opened(page) == []
    page.get_by_role("button", name="Publish").focus()
    # None of it is typing: there was nothing to save.
    assert saves == []

    line(page, 0).focus()
    page.keyboard.press("Alt+ArrowDown")
    expect(line(page, 0)).to_be_focused()
    expect(line(page, 0)).to_contain_text(re.compile(r"2\s+tone"))
    page.keyboard.press("Enter")
    group = page.get_by_role("group", name="Criterion 2")
    group.get_by_role("button", name="Move criterion 2 up").click()
    expect(line(page, 0)).to_contain_text(re.compile(r"1\s+tone"))

    # The line says what the fields say; a row that is added or changes its kind folds nothing.
    page.locator("[name=criteria-0-name]").fill("manner")
    page.locator("[name=criteria-0-weight]").fill("11")
    expect(line(page, 0)).to_contain_text(re.compile(r"manner.*Options\s+11\s+\+61", re.DOTALL))
    row(page, 0).locator(".kind--binary").check()
    page.keyboard.press("Alt+Enter")
    expect(page.locator("[name=criteria-8-requirement]")).to_be_focused()
    assert opened(page) == ["8"]
    expect(page.locator("[data-save-words]")).to_have_attribute("data-state", "saved")

    # A publication that is refused brings the form back: what was open is open, and what is faulty too.
    line(page, 4).click()
    assert opened(page) == ["4"]
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("alert")).to_be_focused()
    assert opened(page) == ["4", "8"]
    line(page, 8).click()
    page.get_by_role("alert").get_by_role("link", name="Criterion 9").first.click()
    expect(page.locator("[name=criteria-8-requirement]")).to_be_in_viewport()
    assert opened(page) == ["8"]

    # All that is folded is kept.
    rubric.refresh_from_db()
    assert [one.get("name") for one in rubric.draft["criteria"]] == ["manner", *[None] * 8]
    assert rubric.draft["criteria"][1]["params"]["keywords"] == ["Paris"]
    assert violations == []


def test_what_leads_into_a_row_opens_it(people: Cast, rubric: Rubric, open_as: Open) -> None:
    page = open_as(people.ed, f"{path(rubric)}#criterion-6")
    expect(row(page, 6).locator("[data-fold]")).to_have_attribute("open", "")
    page.evaluate("location.hash = 'id_criteria-3-weight'")
    expect(page.locator("[name=criteria-3-weight]")).to_be_in_viewport()
    assert opened(page) == ["3"]
    # Lines and fields side by side, in both themes.
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    assert list(faults(page)) == []


def test_one_criterion_stands_open_and_a_new_one_closes_it(people: Cast, open_as: Open) -> None:
    page = open_as(people.ed, path(written(people, plain(0))))
    expect(page.get_by_role("button", name="all", exact=False)).to_have_count(0)
    assert opened(page) == ["0"]
    page.get_by_role("button", name="Add criterion").click()
    assert opened(page) == ["1"]
    page.get_by_role("button", name="Open all").click()
    assert opened(page) == ["0", "1"]
    page.get_by_role("button", name="Fold all").click()
    expect(page.locator("[name=criteria-0-requirement]")).to_be_hidden()


def test_without_scripts_rows_fold_too_and_all_of_them_are_sent(
    people: Cast, rubric: Rubric, browser: Browser, live_server: LiveServer
) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies([session(people.ed, live_server)])
    page = context.new_page()
    page.goto(f"{live_server.url}{path(rubric)}")
    expect(page.get_by_role("button", name="Open all")).to_be_hidden()
    line(page, 0).click()
    row(page, 0).get_by_role("button", name="Option", exact=True).click()
    expect(page.locator("[name=criteria-0-options-2-label]")).to_be_focused()
    expect(page.locator("[name=criteria-1-weight]")).to_be_hidden()
    page.keyboard.type("fair")
    page.get_by_role("button", name="Save draft").last.click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    rubric.refresh_from_db()
    assert [one["label"] for one in rubric.draft["criteria"][0]["options"]] == ["curt", "warm", "fair"]
    assert [one["weight"] for one in rubric.draft["criteria"]] == [2, 1, 1, 1, 1, 1, 1, 1]
    context.close()


# ── What has the focus is seen ───────────────────────────────────────────────────────────────────

# Once the page stands still: how far the focus reaches behind the bar; null at the end of the page.
REACHES = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
  const [focus, bar] = [document.activeElement, document.querySelector("[data-save-bar]")];
  if (focus === document.body) return done(null);
  const [mine, its] = [focus.getBoundingClientRect(), bar.getBoundingClientRect()];
  const isBeside = mine.left >= its.right || mine.right <= its.left || mine.top >= its.bottom;
  done(bar.contains(focus) || isBeside ? 0 : Math.max(0, mine.bottom - its.top));
})))"""


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (640, 400), (360, 740)])
def test_nothing_that_has_the_focus_is_behind_the_bar(
    people: Cast, open_as: Open, width: int, height: int
) -> None:
    page = open_as(people.ed, path(written(people, TONE, PARIS, plain(3), plain(4))))
    page.set_viewport_size({"width": width, "height": height})
    page.get_by_role("button", name="Open all").click()
    stops = []
    while (reaches := press_tab(page)) is not None:
        stops.append(reaches)
        assert len(stops) < 200
    assert len(stops) > 40
    assert max(stops) == 0


def press_tab(page: Page) -> float | None:
    page.keyboard.press("Tab")
    found = page.evaluate(REACHES)
    return None if found is None else float(found)
