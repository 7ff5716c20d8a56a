"""The tutorial as two people walk it: own files, a rubric, a run, two reviewers, a comparison, an export.

What is bold in the tutorial is what they press, in that order; the two files are those the tutorial prints.
"""

import csv
import io
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.installation import COMMAND, ROOT, Installation
from tests.processes.conftest import Serve

pytestmark = [pytest.mark.browser, pytest.mark.processes]

TUTORIAL = (ROOT / "docs/guides/tutorial.md").read_text()
MOST_CLICKS = 22
ITEMS, CRITERIA_OF_PEOPLE = 14, 3


class Walker:
    """A person at a page: presses what has a name, and counts; no answer may be a refusal."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.pressed: list[str] = []
        self.refused: list[str] = []
        page.set_default_timeout(90_000)
        page.on("response", lambda answer: answer.status >= 400 and self.refused.append(answer.url))
        page.on("pageerror", lambda error: self.refused.append(str(error)))

    def press(self, name: str) -> None:
        self.page.wait_for_load_state()
        shown = self.page.locator("a:not(.breadcrumbs a), button:not(.visually-hidden)").locator("visible=true")
        shown.filter(has_text=re.compile(rf"^\s*{re.escape(name)}\s*$")).first.click()
        self.pressed.append(name)

    def review(self, items: int) -> None:
        """Every item by four keys: three verdicts, and submit."""
        for item in range(items):
            self.page.wait_for_url(re.compile(r"/reviews/\d+/$"))
            for criterion in range(CRITERIA_OF_PEOPLE):
                self.page.locator(".criterion.is-active").first.wait_for()
                self.page.keyboard.press("u" if (item + criterion) % 5 == 0 else "m")
                expect(self.page.locator("[data-review-answered]").last).to_have_text(str(criterion + 1))
            review = self.page.url
            self.page.keyboard.press("Control+Enter")
            expect(self.page).not_to_have_url(review)


def test_two_people_come_from_their_own_table_to_labels_that_join_to_it(
    page: Page, browser: Browser, serve: Callable[..., Serve], installation: Installation, tmp_path: Path
) -> None:
    expect.set_options(timeout=90_000)
    server = serve("--owner", "olga")
    for name in ("museum.yaml", "replies.csv"):
        [text] = re.findall(rf"^`{re.escape(name)}`:\n+```\w+\n(.*?)^```", TUTORIAL, re.DOTALL | re.MULTILINE)
        (tmp_path / name).write_text(text)
    olga = Walker(page)
    page.goto(server.link)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"/t/[^/]+/$"))
    colleague = Walker(joined(server, installation, browser, "ben@example.org"))

    for name in ("Rubrics", "Import"):
        olga.press(name)
    page.locator("input[type=file]").set_input_files(str(tmp_path / "museum.yaml"))
    olga.press("Import")
    expect(page.get_by_text("Imported as version 1")).to_be_visible()

    for name in ("Datasets", "Import a file"):
        olga.press(name)
    page.locator("input[type=file]").set_input_files(str(tmp_path / "replies.csv"))
    for name in ("Continue", "Import"):
        olga.press(name)
    expect(page.get_by_role("main")).to_contain_text("Imported replies.csv.")

    for name in ("Runs", "New run", "Start run"):
        olga.press(name)
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    expect(page.get_by_role("main")).to_contain_text("Mean score")

    for name in ("Review", "New queue", "Open queue", "Start reviewing"):
        olga.press(name)
    olga.review(ITEMS)
    for name in ("Review", "Start"):
        colleague.press(name)
    colleague.review(ITEMS)

    for name in ("Compare", "Export"):
        olga.press(name)
    with page.expect_download() as download:
        olga.press("Download")
    labels = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    own = list(csv.DictReader(io.StringIO((tmp_path / "replies.csv").read_text())))
    assert {label["item_id"] for label in labels} == {row["ticket_id"] for row in own}
    assert olga.refused == colleague.refused == []
    assert len(olga.pressed + colleague.pressed) <= MOST_CLICKS
    bold = re.findall(r"\*\*([^*]+)\*\*", TUTORIAL.split("## 2.", 1)[1].split("**Next**", 1)[0])
    at_compare = olga.pressed.index("Compare")
    assert olga.pressed[:at_compare] + colleague.pressed + olga.pressed[at_compare:] == bold


def joined(server: Serve, installation: Installation, browser: Browser, email: str) -> Page:
    """Somebody the owner has invited, signed in in a browser of their own."""
    invited = subprocess.run(
        [*COMMAND, "members", "invite", email, "--role", "reviewer", "--hand-over"],
        env=installation.env,
        capture_output=True,
        text=True,
        check=True,
    )
    path = re.search(r"/invitation/\S+", invited.stdout)
    assert path, invited.stdout + invited.stderr
    page = browser.new_context().new_page()
    page.goto(f"{server.address}{path[0]}")
    page.locator("[name=username]").fill("ben")
    page.locator("[name=name]").fill("Ben")
    page.locator("[name=password]").fill("museum desk 14 labels")
    page.get_by_role("main").get_by_role("button").first.click()
    page.wait_for_url(re.compile(r"/t/[^/]+/"))
    return page
