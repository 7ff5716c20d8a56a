"""Two builds of a system in a real browser, against real processes: added, graded, compared, corrected."""

import json
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.installation import Installation
from tests.processes.conftest import Serve

pytestmark = [pytest.mark.browser, pytest.mark.processes]

PLANTED = "No. We cannot help you with that."
BROKEN, CORRECTED, RETIRED = "refund-window", "battery-range", "care-plan"


def v5_answers() -> str:
    """Those of v4, word for word, but for one that promises nothing and refuses all."""
    lines = resources.files("rubricweb.demo").joinpath("support_replies.jsonl").read_text().splitlines()
    of_v4 = [item for item in map(json.loads, lines) if item["system"] == "assistant@v4"]
    return "\n".join(
        json.dumps(
            {
                "case_id": item["case_id"],
                "submission": PLANTED if item["case_id"] == BROKEN else item["submission"],
            }
        )
        for item in of_v4
    )


def page_of(browser: Browser, installation: Installation, server: Serve, user: str) -> Page:
    """The dashboard of the demo team, as one of its people."""
    path = re.search(r"/sign-in/\S+", installation.run("sign-in-link", user).stdout)
    assert path is not None
    page = browser.new_context().new_page()
    page.set_default_timeout(90_000)
    page.goto(f"{server.address}{path[0]}")
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"/t/[^/]+/$"))
    return page


def test_the_answers_of_a_new_version_are_added_graded_and_compared_with_the_last(
    browser: Browser, serve: Callable[..., Serve], installation: Installation, tmp_path: Path
) -> None:
    expect.set_options(timeout=90_000)
    server = serve("--demo")
    page = page_of(browser, installation, server, "ed")
    team, main = page.url, page.get_by_role("main")
    heading = page.get_by_role("heading", level=1)

    # The answers of v5 join the cases of the dataset.
    file = tmp_path / "v5.jsonl"
    file.write_text(v5_answers())
    page.goto(f"{team}datasets/")
    main.get_by_role("link", name="Support replies").click()
    dataset = page.url
    main.get_by_label("More", exact=True).first.click()
    main.get_by_role("link", name="Add items").click()
    page.locator("input[type=file]").set_input_files(str(file))
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("System version").fill("assistant@v5")
    main.get_by_role("button", name=re.compile("^Add")).first.click()
    page.goto(dataset)
    expect(main.locator(".facts")).to_contain_text("assistant@v5")
    expect(main.locator(".facts")).to_contain_text("40")

    # A run over them, graded as v4 was.
    page.goto(f"{team}runs/")
    expect(page.locator(".badge", has_text="running")).to_have_count(0)
    page.goto(f"{team}runs/new/?dataset={dataset.rstrip('/').split('/')[-1]}")
    page.locator("#id_rubric_version").select_option(label="Support reply v1")
    expect(page.get_by_role("checkbox", name="assistant@v5")).to_be_checked()
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    expect(main).to_contain_text("Mean score")
    run = page.url

    # Against v4: eight cases, one of them worse, with both texts.
    page.goto(dataset)
    page.get_by_label("Compare the version").select_option("assistant@v5")
    page.get_by_label("with").select_option("assistant@v4")
    main.get_by_role("button", name="Compare").click()
    expect(heading).to_contain_text("against Support replies · assistant@v4")
    against = page.url
    expect(main.get_by_role("link", name=re.compile("Regressions"))).to_contain_text("1")
    expect(main.get_by_role("link", name=re.compile("Fixes"))).to_contain_text("0")
    main.get_by_role("link", name=re.compile("Regressions")).click()
    main.locator("#items table tbody a").first.click()
    expect(main).to_contain_text(PLANTED)
    expect(main).to_contain_text("wrenfield.example")  # what v4 said

    # A case is corrected, an answer retired: figures of runs stay, new runs go without the retired one.
    page.goto(f"{dataset}?q={CORRECTED}")
    main.locator("#items table tbody a").first.click()
    main.get_by_role("link", name="Correct the case").click()
    page.locator("textarea[name=prompt]").fill("How far does a Commuter go in winter?")
    main.get_by_role("button", name="Correct").click()
    page.goto(f"{dataset}?q={CORRECTED}")
    main.locator("#items table tbody a").first.click()
    expect(main).to_contain_text("Answers earlier words of its case")
    page.goto(f"{dataset}?q={RETIRED}")
    main.locator("#items table tbody tr", has_text="assistant@v5").get_by_role("link").first.click()
    main.get_by_role("link", name="Retire").click()
    main.get_by_role("button", name="Retire 1 item").click()
    page.goto(dataset)
    expect(main.locator(".facts")).to_contain_text("39")
    page.goto(against)
    expect(main.get_by_role("link", name=re.compile("Regressions"))).to_contain_text("1")
    page.goto(f"{team}runs/new/?dataset={dataset.rstrip('/').split('/')[-1]}")
    page.locator("#id_rubric_version").select_option(label="Support reply v1")
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    expect(main).to_contain_text("7 of 7")

    # A viewer sees the comparison and changes nothing; a stranger sees nothing.
    viewer = page_of(browser, installation, server, "bob")
    viewer.goto(against)
    expect(viewer.get_by_role("main")).to_contain_text("Regressions")
    viewer.goto(dataset)
    expect(viewer.get_by_role("link", name="Add items")).to_have_count(0)
    # Ann is still to review replies of v4 blind: they, and those of v5 that say the same, are left out.
    ann = page_of(browser, installation, server, "ann")
    ann.goto(against)
    expect(ann.get_by_role("main")).to_contain_text("while you review blind")
    # Who is not signed in is asked to.
    stranger = browser.new_context().new_page()
    for address in (against, run, dataset):
        stranger.goto(address)
        expect(stranger).to_have_url(re.compile(r"/accounts/login/"))
