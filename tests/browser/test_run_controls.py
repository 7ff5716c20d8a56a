"""The menus of a run's page in a real browser, while the page redraws itself."""

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from rubricweb.models import Run
from rubricweb.services import runs
from tests import factories
from tests.factories import Cast

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120), pytest.mark.django_db(transaction=True)]


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
    page.set_default_timeout(15_000)
    expect.set_options(timeout=15_000)
    page.goto(f"{live_server.url}/t/{people.team.slug}/runs/{run.pk}/")
    return page


def test_an_open_menu_and_what_is_typed_in_it_outlast_a_redraw(
    open_page: Page, people: Cast, run: Run
) -> None:
    open_page.locator("summary", has_text="Budget").click()
    amount = open_page.get_by_label("What this run may cost, US dollars")
    amount.fill("12.5")

    # The cap pauses the run, or somebody else does: the page shows it, and offers what may be done now.
    runs.pause_run(run, by=people.alice, now=timezone.now())
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
    runs.pause_run(run, by=people.alice, now=timezone.now())
    expect(open_page.locator("#run-state")).to_contain_text("paused")
    expect(open_page.locator("details[data-menu][open]")).to_have_count(0)
