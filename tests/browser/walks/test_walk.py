"""The whole way a newcomer goes, in a real browser, against real processes."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from tests.processes.conftest import Serve

pytestmark = [pytest.mark.browser, pytest.mark.processes]

JUDGE_SAYS = "— offline judge (not an LLM)"  # how every reason of the offline judge ends
QUESTION = "What is the capital of France?"
ITEMS = [
    {"id": "good", "prompt": QUESTION, "submission": "Paris is the capital of France."},
    {"id": "short", "prompt": QUESTION, "submission": "I would rather not say."},
]


@pytest.fixture
def violations(page: Page) -> list[str]:
    """What the console says of scripts and styles the policy forbids; must stay empty."""
    found: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            found.append(message.text)

    page.on("console", listen)
    return found


def test_from_sign_in_to_export(
    page: Page, serve: Callable[..., Serve], violations: list[str], tmp_path: Path
) -> None:
    server = serve("--owner", "olga")
    page.set_default_timeout(90_000)
    expect.set_options(timeout=90_000)
    stylesheets: list[str] = []
    page.on("request", lambda asked: stylesheets.append(asked.url) if ".css" in asked.url else None)

    # Sign in with the one-time link.
    page.goto(server.link)
    [stylesheet] = stylesheets
    assert re.search(r"/app\.[0-9a-f]{12}\.css$", stylesheet)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    team = page.url
    main = page.get_by_role("main")
    expect(main).to_contain_text("Five steps to scores you can trust")

    # Write a rubric and publish it.
    page.goto(f"{team}rubrics/")
    main.get_by_role("link", name="New rubric").first.click()
    page.get_by_label("Title").fill("Capitals")
    page.get_by_role("button", name="Start writing").click()
    write_criterion(page, 0, weight="10", requirement="Names Paris as the capital of France.")
    page.get_by_role("button", name="Add criterion").click()
    write_criterion(page, 1, weight="-5", requirement="Says Paris lies in Belgium.")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Publish version 1")
    main.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("heading", level=1)).not_to_contain_text("Publish")
    expect(main).to_contain_text("v1")

    # Bring submissions.
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(json.dumps(item) for item in ITEMS))
    page.goto(f"{team}datasets/")
    main.get_by_role("link", name="Import").first.click()
    page.locator("input[type=file]").set_input_files(str(file))
    page.get_by_role("button", name="Continue").click()
    main.get_by_role("button", name="Import").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("answers")

    # Grade: the live page ends by itself and shows the result.
    page.goto(f"{team}runs/new/")
    choose(page, dataset="answers (2 items)", rubric_version="Capitals v1")
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    run = page.url
    # What a judge has not said yet is not revealed: the review below waits for all of it.
    expect(page.locator("#run-state")).to_contain_text("finished")
    expect(main).to_contain_text("Mean score")
    expect(main).to_contain_text("offline judge (not an LLM)")

    # Review by keyboard: the judge is hidden until this review is submitted.
    page.goto(f"{team}review/new/")
    page.get_by_label("Name", exact=True).fill("My look")
    choose(page, dataset="answers", rubric_version="Capitals v1")
    page.get_by_role("checkbox", name="olga").check()
    page.get_by_role("button", name="Open queue").click()
    main.get_by_role("button", name="Start").first.click()
    page.wait_for_url(re.compile(r"/reviews/\d+/$"))
    assert JUDGE_SAYS not in page.content()
    item = page.locator("[aria-current=true]").first.inner_text().strip()
    reports = page.request.get(run).text()
    assert JUDGE_SAYS not in reports
    for verdict in ("m", "u"):
        page.locator(".criterion.is-active").first.wait_for()
        page.keyboard.press(verdict)
    expect(page.locator("[data-review-answered]").last).to_have_text("2")
    expect(page.locator(".save-state")).to_have_text("Saved")
    page.keyboard.press("Control+Shift+Enter")

    # Reveal: the judge's reasons beside mine.
    page.wait_for_url(re.compile(r"/reveal/$"))
    expect(main).to_contain_text(JUDGE_SAYS)
    assert item in main.inner_text()
    main.get_by_role("button", name=re.compile("Next")).or_(
        main.get_by_role("link", name=re.compile("Next"))
    ).first.click()
    page.wait_for_url(re.compile(r"/reviews/\d+/$"))
    for verdict in ("u", "u"):
        page.locator(".criterion.is-active").first.wait_for()
        page.keyboard.press(verdict)
    expect(page.locator("[data-review-answered]").last).to_have_text("2")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/next/$"))  # the last one: the page says that nothing is left

    # Compare: four units, labelled by one person.
    page.goto(f"{team}compare/")
    expect(main).to_contain_text("Cohen κ")
    expect(main).to_contain_text("n, of 4 with a ground truth")

    # Dashboard.
    page.goto(team)
    expect(main).to_contain_text("Score run by run")
    expect(page.locator("[data-chart] a").first).to_be_visible()

    # Export the ground truth.
    page.goto(f"{team}exports/")
    page.locator("input[name=format][value=csv]").check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    assert [(row["item_id"], row["verdict"]) for row in rows] == [
        ("good", "MET"),
        ("good", "UNMET"),
        ("short", "UNMET"),
        ("short", "UNMET"),
    ]
    assert violations == []
    assert set(stylesheets) == {stylesheet}  # every page of the walk, and nothing else


def write_criterion(page: Page, index: int, *, weight: str, requirement: str) -> None:
    page.locator(f"[name=criteria-{index}-weight]").fill(weight)
    page.locator(f"[name=criteria-{index}-requirement]").fill(requirement)


def choose(page: Page, **options: str) -> None:
    """Picks options of selects by their labels."""
    for name, label in options.items():
        page.locator(f"select[name={name}]").select_option(label=label)
