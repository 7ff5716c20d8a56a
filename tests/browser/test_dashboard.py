"""The dashboard in a real browser: its chart by mouse and keyboard, and the bar above every page."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from rubricweb.engine.agreement import Figure
from rubricweb.models import Run
from rubricweb.templatetags.charts import line_chart
from rubricweb.web.shared.plots.line_chart import ChartColumn, ChartLine, ChartPoint, LineChart
from tests import factories
from tests.browser.conftest import Open, session
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.attempts import labelled_by_two, stricter_run

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180), pytest.mark.django_db(transaction=True)]


@pytest.fixture
def runs(people: Cast) -> list[Run]:
    """Three runs over one dataset, oldest first."""
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    made = [
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name=name)
        for name in ("Monday", "Tuesday", "Wednesday")
    ]
    return [grade(run, InProcessJudge(lambda requirement, response: "MET")) for run in made]


def told(page: Page) -> Locator:
    return page.locator("[data-readout]")


def test_hovering_names_the_run_at_once_and_a_click_opens_it(
    people: Cast, open_as: Open, runs: list[Run], violations: list[str]
) -> None:
    page = open_as(people.bob, f"/t/{people.team.slug}/")
    expect(told(page)).to_have_text("Each mark opens its run.")
    marks = page.locator("[data-chart] a")
    expect(marks).to_have_count(3)
    for at, run in ((0, runs[0]), (2, runs[2])):
        mark = marks.nth(at).locator(".plot__mark")
        mark.hover()
        expect(told(page)).to_have_text(f"{run}: 0.00, 0.00 to 0.56")
    # Beside a mark is near enough.
    box = mark.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] - 3, box["y"] + box["height"] / 2)
    page.wait_for_url(re.compile(rf"/runs/{runs[2].pk}/$"))
    assert violations == []


def test_the_keyboard_walks_from_run_to_run_and_opens_one(
    people: Cast, open_as: Open, runs: list[Run], violations: list[str]
) -> None:
    page = open_as(people.bob, f"/t/{people.team.slug}/")
    marks = page.locator("[data-chart] a")
    marks.first.focus()
    expect(told(page)).to_contain_text("Monday")
    page.keyboard.press("Tab")
    expect(told(page)).to_contain_text("Tuesday")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")  # there is none behind
    expect(told(page)).to_contain_text("Wednesday")
    expect(marks.last).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(told(page)).to_contain_text("Tuesday")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"/runs/{runs[1].pk}/$"))
    assert violations == []


def test_the_table_of_the_chart_opens_by_its_link_and_by_its_key(
    people: Cast, open_as: Open, runs: list[Run], violations: list[str]
) -> None:
    page = open_as(people.bob, f"/t/{people.team.slug}/")
    row = page.get_by_role("row", name="Tuesday")
    expect(row).not_to_be_visible()
    page.get_by_role("link", name="Table").click()
    expect(row).to_be_visible()
    # Opened by a link it is not remembered: nobody asked for it to be open every time.
    page.goto(page.url.partition("#")[0])
    expect(row).not_to_be_visible()
    page.keyboard.press("t")
    expect(row).to_be_visible()
    assert violations == []


def test_folds_stay_as_they_were_left_and_each_page_has_its_own(
    people: Cast, open_as: Open, runs: list[Run], violations: list[str]
) -> None:
    labels = "item_id,criterion,rater,verdict,reason\ngood,capital,x,MET,\nbad,capital,x,UNMET,\n"
    labelled = {"by": people.ed, "data": labels.encode(), "filename": "labels.csv"}
    factories.import_labels(runs[0].dataset, runs[0].rubric_version, **labelled)
    path = f"/t/{people.team.slug}/"
    page = open_as(people.bob, path)
    fold = page.locator("#all-scores")
    expect(fold).not_to_have_attribute("open", "")
    fold.locator("> summary").click()
    open_as(people.bob, f"{path}compare/?run={runs[0].pk}")
    figures = page.locator("#all-figures")
    expect(figures).not_to_have_attribute("open", "")
    figures.locator("> summary").focus()
    page.keyboard.press("Enter")
    expect(figures).to_have_attribute("open", "")
    # Remembered before the first paint: the page as it is when it has been read.
    open_as(people.bob, path)
    assert page.evaluate("document.querySelector('#all-scores').open")
    page.locator("#all-scores > summary").click()
    # Of another run it is the same page.
    open_as(people.bob, f"{path}compare/?run={runs[1].pk}")
    assert page.evaluate("document.querySelector('#all-figures').open")
    open_as(people.bob, path)
    assert not page.evaluate("document.querySelector('#all-scores').open")
    assert violations == []


def test_without_a_script_marks_open_their_runs_and_the_link_its_table(
    people: Cast, live_server: LiveServer, browser: Browser, runs: list[Run]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies([session(people.bob, live_server)])
    page = context.new_page()
    page.goto(f"{live_server.url}/t/{people.team.slug}/")
    page.get_by_role("link", name="Table").click()
    expect(page.get_by_role("row", name="Tuesday")).to_be_visible()
    page.get_by_role("link", name="Tuesday: 0.00, 0.00 to 0.56").click()
    page.wait_for_url(re.compile(rf"/runs/{runs[1].pk}/$"))
    context.close()


# Names that are shown, and whether one lies over another or outside the card.
NAMES = """() => {
  const card = document.querySelector("[data-chart]").closest(".card").getBoundingClientRect();
  const boxes = [...document.querySelectorAll("[data-chart] .plot__name text")]
    .map((text) => ({ name: text.textContent, box: text.getBoundingClientRect() }))
    .filter(({ box }) => box.width > 0);
  const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const isOut = ({ box }) => box.left < card.left || box.right > card.right;
  const name = ({ name }) => name;
  return {
    names: boxes.map(name),
    meeting: boxes.filter((one) => boxes.some((two) => one !== two && meets(one.box, two.box))).map(name),
    outside: boxes.filter(isOut).map(name),
  };
}"""


@pytest.mark.parametrize("count", [3, 12, 60])
@pytest.mark.parametrize("name", ["v{}", "WWWWWWWW release {}"])
def test_names_below_a_chart_lie_neither_over_each_other_nor_outside(
    people: Cast, open_as: Open, runs: list[Run], count: int, name: str
) -> None:
    columns = tuple(ChartColumn(name.format(at), "29 Nov") for at in range(count))
    points = tuple(ChartPoint(at, Figure(0.5, 0.4, 0.6, 40), name.format(at), "#") for at in range(count))
    drawn = line_chart(LineChart(columns, (ChartLine("Judge", "judge", points),)), "Scores")
    page = open_as(people.bob, f"/t/{people.team.slug}/")
    page.evaluate("(drawn) => { document.querySelector('[data-chart]').outerHTML = drawn }", str(drawn))
    for width in (1280, 900, 560, 559, 360):
        page.set_viewport_size({"width": width, "height": 800})
        found = page.evaluate(NAMES)
        assert (found["meeting"], found["outside"]) == ([], []), width
        assert found["names"][0] == columns[-1].short  # the newest is always named
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_narrow_screen_the_open_room_is_in_view(people: Cast, open_as: Open, page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    open_as(people.ed, f"/t/{people.team.slug}/exports/")
    rooms = page.get_by_role("navigation", name="Main")
    expect(rooms.get_by_role("link", name="Export")).to_be_in_viewport(ratio=1)
    expect(rooms.get_by_role("link", name="Dashboard")).not_to_be_in_viewport()


def test_words_beside_a_mean_make_no_page_wider_than_a_phone(
    people: Cast, open_as: Open, violations: list[str]
) -> None:
    """The longest there are: of the stricter judge's run 100% do not pass."""
    run, _ = labelled_by_two(people)
    after = stricter_run(people, run)
    slug = people.team.slug
    for address in (
        reverse("dashboard", args=[slug]),
        reverse("runs", args=[slug]),
        reverse("run", args=[slug, after.pk]),
        reverse("run_diff", args=[slug, after.pk, run.pk]),
        f"{reverse('compare', args=[slug])}?run={after.pk}",
    ):
        page = open_as(people.bob, address)
        page.set_viewport_size({"width": 360, "height": 740})
        for summary in page.locator("details[data-kept-open]:not([open]) > summary").all():
            summary.click()
        expect(page.get_by_text("100% do not pass").or_(page.get_by_text("42% →")).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
        # Nor does a table of these pages scroll sideways.
        wide = (
            "[...document.querySelectorAll('.table-wrap')].filter((one) => one.scrollWidth > one.clientWidth)"
        )
        assert page.evaluate(f"{wide}.map((one) => one.ariaLabel)") == [], address
    assert violations == []
