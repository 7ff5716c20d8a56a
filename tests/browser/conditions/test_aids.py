"""Pages by finger, by keyboard, in colours of the system, read aloud, and without scripts."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from rubricweb.models import Dataset
from tests import factories
from tests.browser.conftest import Open
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180), pytest.mark.django_db(transaction=True)]

TOWNS = (
    "Lyon",
    "Lille",
    "Nice",
    "Nantes",
    "Rennes",
    "Reims",
    "Metz",
    "Tours",
    "Brest",
    "Dijon",
    "Pau",
    "Caen",
)

# A box or a radio button is as large as its label.
PRESSED = "button, input, select, textarea, summary, .button, nav a"
TOO_SMALL = f"""() => [...document.querySelectorAll("{PRESSED}")]
    .map((element) => element.closest("label") ?? element)
    .filter((element) => element.checkVisibility() && !element.closest(".breadcrumbs, .visually-hidden"))
    .filter((element) => element.getBoundingClientRect().height < 44)
    .map((element) => element.outerHTML.slice(0, 200))"""
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

# Whether what has the focus is seen where it is.
IS_SEEN = """() => {
    const focused = document.activeElement;
    const { left, top, width, height } = focused.getBoundingClientRect();
    const there = document.elementFromPoint(left + width / 2, top + height / 2);
    return focused === document.body || focused.contains(there) || there?.contains(focused);
}"""


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    """A person and the judge differ on every item; Ed reviews them too, and is shown nothing of that."""
    version = factories.version(
        people.team, people.ed, criteria=[{"name": "capital", "weight": 1, "requirement": "Is one."}]
    )
    items = [{"id": town, "submission": f"It is {town}."} for town in TOWNS]
    dataset = factories.dataset(people.team, people.ed, name="Towns", items=items)
    said = "\n".join(["item_id,criterion,rater,verdict", *(f"{town},capital,zoe,UNMET" for town in TOWNS)])
    factories.import_labels(dataset, version, by=people.ed, data=said.encode(), filename="labels.csv")
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ed], name="Look"
    )
    return dataset


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    yield context.new_page()
    context.close()


def here(dataset: Dataset) -> dict[str, str]:
    """The pages of everyday work."""
    item, slug = dataset.items.all()[0], dataset.team.slug
    queue = dataset.queues.get(name="Look")
    assert queue.rubric_version is not None
    decision = f"adjudication/items/{item.pk}/criteria/{queue.rubric_version.criteria.get().pk}/"
    paths = {
        "dashboard": "",
        "inbox": "adjudication/",
        "decision": decision,
        "members": "settings/members/",
        "queue": f"review/{queue.pk}/",
        "dataset": f"datasets/{dataset.pk}/",
        "export": "exports/",
        "new queue": "review/new/",
    }
    return {name: f"/t/{slug}/{path}" for name, path in paths.items()}


def test_a_finger_hits_every_button_field_and_box(
    people: Cast, open_as: Open, dataset: Dataset, phone: Page
) -> None:
    for name, path in here(dataset).items():
        open_as(people.alice, path, phone)
        assert (name, phone.evaluate(TOO_SMALL)) == (name, [])
        assert (name, phone.evaluate(SIDEWAYS)) == (name, 0)
    open_as(people.ed, here(dataset)["queue"], phone)
    phone.get_by_role("button", name="Start reviewing").tap()
    phone.locator(".panes__switch label", has_text="Criteria").tap()
    expect(phone.get_by_role("radio", name="Cannot assess")).to_be_visible()
    assert phone.evaluate(TOO_SMALL) == []


def test_a_row_is_selected_beside_its_box_and_hides_nothing_that_has_the_focus(
    people: Cast, open_as: Open, dataset: Dataset, phone: Page
) -> None:
    open_as(people.alice, here(dataset)["inbox"], phone)
    cell = phone.locator("tbody .table__select").first
    cell.tap(position={"x": 3, "y": 3})
    expect(phone.get_by_role("checkbox", name="Select 1 It is Lyon., capital")).to_be_checked()
    expect(phone.locator("[data-selection-count]")).to_have_text("1 selected")
    for _ in TOWNS[:8]:
        phone.keyboard.press("Tab")
        assert phone.evaluate(IS_SEEN)


def test_the_status_says_how_many_rows_a_search_left(people: Cast, open_as: Open, dataset: Dataset) -> None:
    page = open_as(people.bob, here(dataset)["dataset"])
    status = page.locator("#shown")
    expect(status).to_be_empty()
    status.evaluate("status => status.isTheSame = true")
    page.get_by_label("Search ids, descriptions and submissions").fill("Lille")
    expect(status).to_have_text("1 item shown")
    assert status.evaluate("status => status.isTheSame")  # of another nothing would be read out
    assert page.locator("#items").evaluate("list => list.closest('[aria-live], [role=status]')") is None


def test_in_colours_of_the_system_one_tab_looks_open_and_progress_is_seen(
    people: Cast, open_as: Open, dataset: Dataset, page: Page
) -> None:
    page.emulate_media(forced_colors="active")
    open_as(people.ed, here(dataset)["inbox"])
    for tab in (".topbar__link", ".tabs__tab"):
        lines = page.locator(tab).evaluate_all(
            "tabs => tabs.map((tab) => [tab.ariaCurrent ?? '', getComputedStyle(tab).borderBottomColor])"
        )
        open_ones = {line for current, line in lines if current}
        assert len(open_ones) == 1
        assert open_ones.isdisjoint(line for current, line in lines if not current)
    open_as(people.ed, here(dataset)["queue"])
    bar = page.locator("progress").first
    assert bar.evaluate("bar => getComputedStyle(bar).outlineStyle") == "solid"
    assert bar.evaluate("bar => getComputedStyle(bar).forcedColorAdjust") == "none"


def test_without_scripts_nothing_is_shown_that_only_a_script_could_do(
    people: Cast, browser: Browser, open_as: Open, dataset: Dataset
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for path in here(dataset).values():
        open_as(people.alice, path, page)
        expect(page.locator("button[type=button], kbd, .chart__plot").locator("visible=true")).to_have_count(
            0
        )
    open_as(people.ed, here(dataset)["queue"], page)
    page.get_by_role("button", name="Start reviewing").click()
    expect(page.get_by_role("button", name="Submit and next")).to_have_text(
        "Submit and next", use_inner_text=True
    )
    expect(page.locator("button[type=button], kbd").locator("visible=true")).to_have_count(0)
    context.close()
