"""A result page on a screen in the room, which renews itself."""

import pytest
from playwright.sync_api import Page, expect

from rubricweb.models import Run
from tests import factories
from tests.browser.conftest import Open
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180), pytest.mark.django_db(transaction=True)]


def test_a_dashboard_on_the_wall_renews_itself_in_its_place_and_rests_while_hidden(
    people: Cast, open_as: Open, page: Page, violations: list[str]
) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name="Monday")
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    asked: list[str] = []
    page.add_init_script(
        "const real = Date.now; window.ahead = 0; Date.now = () => real() + window.ahead * 1000;"
    )
    open_as(people.bob, f"/t/{people.team.slug}/?refresh=60")
    expect(page.locator("#refreshed")).to_contain_text("every 1 minute")
    page.locator("#all-scores > summary").click()
    page.evaluate("scrollTo(0, 300)")
    page.on("request", lambda request: asked.append(request.url))

    def renamed(name: str) -> None:
        Run.objects.filter(pk=run.pk).update(name=name)

    renamed("Renamed once")
    page.evaluate("ahead += 70")
    expect(page.locator("#all-scores")).to_contain_text("Renamed once")
    assert len(asked) == 1
    assert page.locator("#all-scores[open]").count() == 1
    assert page.evaluate("scrollY") == 300

    hide = "(hidden) => Object.defineProperty(document, 'hidden', {value: hidden, configurable: true})"
    renamed("Renamed twice")
    page.evaluate(hide, True)
    page.evaluate("ahead += 600")
    assert len(asked) == 1
    page.evaluate(hide, False)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#all-scores")).to_contain_text("Renamed twice")
    assert len(asked) == 2  # once for the ten minutes

    page.context.clear_cookies()
    page.evaluate("ahead += 70")
    expect(page.get_by_text("cannot be renewed now")).to_be_visible()
    expect(page.locator("#all-scores")).to_contain_text("Renamed twice")
    assert violations == []
