"""A panel made on a judge's page in a real browser: by keyboard, with scripts and without, in both themes."""

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from rubricweb.models import JudgeVersion
from rubricweb.services.endpoints import endpoints
from tests import factories
from tests.browser.conftest import Open, session
from tests.browser.faults import faults
from tests.factories import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def judge(people: Cast) -> JudgeVersion:
    """A judge of one model, in a team that has two."""
    asked, _ = (
        endpoints.add_endpoint(
            people.team, by=people.alice, name=name, base_url=f"http://127.0.0.1:9/{name}", model=f"m-{name}"
        )
        for name in ("mini", "large")
    )
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
        judge_id=asked.judge_id,
    )
    assert run.judge_version is not None
    return run.judge_version


def address(people: Cast, judge: JudgeVersion) -> str:
    return f"/t/{people.team.slug}/judges/{judge.judge_id}/edit/"


def add_by_keyboard(page: Page, panel: str) -> None:
    """Opens the part about several models and adds one: the focus is in the new row then."""
    summary = page.locator("summary", has_text=panel)
    summary.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add a model").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#id_member1-endpoint")).to_be_focused()


def test_a_panel_is_made_by_keyboard(
    people: Cast, judge: JudgeVersion, open_as: Open, violations: list[str]
) -> None:
    page = open_as(people.ed, address(people, judge))
    expect(page.get_by_label("Times each is asked")).to_be_hidden()
    page.locator("#id_note").fill("Two of them.")
    add_by_keyboard(page, "Ask several models")
    # Nothing typed is lost, and the page was not loaded anew: it stays where it was.
    expect(page.locator("#id_note")).to_have_value("Two of them.")
    expect(page.locator("#id_member1-model")).to_have_value("m-large")
    page.locator("#id_member1-temperature").evaluate("node => node.closest('details').open = true")
    page.locator("#id_member1-temperature").fill("0.5")
    page.get_by_role("button", name="Move down: mini").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Move up: mini")).to_be_focused()
    expect(page.locator("#id_member0-temperature")).to_have_value("0.5")
    page.get_by_role("button", name="Keep as v2").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("is kept, and is the current version")).to_be_visible()
    large, mini = JudgeVersion.objects.get(number=2).definition.members
    assert (large.endpoint, large.sampling.temperature, mini.endpoint) == ("large", 0.5, "mini")
    assert violations == []


def test_the_same_without_scripts(
    people: Cast, judge: JudgeVersion, browser: Browser, live_server: LiveServer
) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        context.add_cookies([session(people.ed, live_server)])
        page = context.new_page()
        page.goto(f"{live_server.url}{address(people, judge)}")
        add_by_keyboard(page, "Ask several models")
        page.get_by_role("button", name="Remove: mini").click()
        expect(page.get_by_role("button", name="Add a model")).to_be_focused()
        expect(page.locator("#id_member0-model")).to_have_value("m-large")
        page.get_by_role("button", name="Keep as v2").click()
        expect(page.get_by_text("is kept, and is the current version")).to_be_visible()
    assert [one.endpoint for one in JudgeVersion.objects.get(number=2).definition.members] == ["large"]


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_is_wrong_with_the_form_of_a_panel(
    people: Cast, judge: JudgeVersion, open_as: Open, page: Page, width: int
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    page = open_as(people.ed, address(people, judge))
    add_by_keyboard(page, "Ask several models")
    page.locator("summary", has_text="Examples").click()
    page.get_by_role("button", name="Add an example").click()
    expect(page.locator("#id_example0-criterion")).to_be_focused()
    for details in page.locator("#judge-form details").all():
        details.evaluate("node => node.open = true")
    assert list(faults(page)) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
