"""The pictures in docs/images, taken anew from the demo: `make pictures`.

It starts the app with the demo in a scratch folder, signs people in and takes each page at 1280 × 800, light.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs/images"
RUBRICWEB = Path(sys.executable).with_name("rubricweb")
BROWSERS = ("chromium-headless-shell", "chromium")
LABELLED, OPEN = "Support replies, three raters", "Release notes, second opinion"


@contextmanager
def demo() -> Iterator[Callable[[Browser, str], Page]]:
    """`sign_in(browser, user name)` → the dashboard of the demo team, as that person."""
    with tempfile.TemporaryDirectory(prefix="rubricweb-pictures-") as folder:
        data = Path(folder)
        server = subprocess.Popen(
            [RUBRICWEB, "serve", "--demo", "--data", data],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert server.stdout is not None
        try:
            address = next(
                found[1] for line in server.stdout if (found := re.search(r"is at (http://\S+)", line))
            )

            def sign_in(browser: Browser, user: str) -> Page:
                page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
                page.goto(_link(data, user, address))
                page.get_by_role("main").get_by_role("button", name="Sign in").click()
                page.wait_for_url(re.compile(r"/t/[^/]+/$"))
                return page

            yield sign_in
        finally:
            server.terminate()
            server.wait()


def _link(data: Path, user: str, address: str) -> str:
    told = subprocess.run(
        [RUBRICWEB, "sign-in-link", user, "--data", data], capture_output=True, text=True, check=True
    ).stdout
    path = re.search(r"/sign-in/\S+", told)
    assert path is not None, told
    return f"{address}{path[0]}"


# ── What each picture shows ──────────────────────────────────────────────────────────────────────


def dashboard(page: Page) -> None:
    page.reload()  # what is said at sign-in is said once
    expect(page.locator("main svg").first).to_be_visible()


def editor(page: Page) -> None:
    page.goto(f"{page.url}rubrics/")
    page.get_by_role("link", name="Support reply", exact=True).click()
    page.get_by_role("link", name="Edit").first.click()
    expect(page).to_have_url(re.compile(r"/rubrics/\d+/edit/$"))


def judge(page: Page) -> None:
    page.goto(f"{page.url}judges/")
    page.get_by_role("link", name="criterion by criterion").click()
    expect(page).to_have_url(re.compile(r"/judges/\d+/$"))


def compare(page: Page) -> None:
    page.goto(f"{page.url}compare/")


def adjudication(page: Page) -> None:
    page.goto(f"{page.url}adjudication/")


def queue(page: Page) -> None:
    page.goto(f"{page.url}review/")
    page.get_by_role("link", name=LABELLED).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(LABELLED)


def agreement(page: Page) -> None:
    queue(page)
    page.get_by_role("main").get_by_role("link", name="Agreement").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Agreement")


def review(page: Page) -> None:
    _start(page, OPEN)
    page.keyboard.press("m")
    expect(page.locator(".save-state")).to_have_text("Saved")


def reveal(page: Page) -> None:
    """Of a review that is submitted here, in the labelled queue: the first in which somebody differs.

    Others are shown once the answers of all versions to a case are submitted, so it may take several.
    """
    _start(page, LABELLED)
    differing = page.locator(".criterion", has_text="differs").first
    left = int(re.findall(r"(\d+) left", page.get_by_role("main").inner_text())[0])
    for _ in range(left):
        review_url = page.url
        _answer_everything(page)
        page.keyboard.press("Control+Enter")
        expect(page).not_to_have_url(review_url)
        next_url = page.url
        page.wait_for_load_state("networkidle")
        page.goto(f"{review_url}reveal/")
        if differing.count():
            break
        page.goto(next_url)
    differing.scroll_into_view_if_needed()


def _answer_everything(page: Page) -> None:
    total = int(page.locator("[data-review-progress]").get_attribute("max") or 0)
    for answered in range(total):
        page.locator(".criterion.is-active").first.wait_for()
        page.keyboard.press("u" if answered % 3 == 1 else "m")
    expect(page.locator("[data-review-answered]").last).to_have_text(str(total))
    expect(page.locator(".save-state")).to_have_text("Saved")


def run(page: Page) -> None:
    page.goto(f"{page.url}runs/new/")
    for field, text in (("dataset", "Support replies (32 items)"), ("rubric_version", "Support reply v1")):
        page.locator(f"#id_{field}").select_option(label=text)
    page.locator("#run-form summary").click()
    page.get_by_label("Use earlier answers").uncheck()
    page.get_by_label("Name").fill("October")
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    expect(page.locator(".badge", has_text="finished").first).to_be_visible(timeout=30_000)
    page.reload()  # an ended run answers first, its progress stands below
    expect(page.locator(".badge").first).to_have_text("finished")


def _wait_for_runs(page: Page) -> None:
    """The demo is there before its workers have graded all of it."""
    page.goto(f"{page.url}runs/")
    expect(page.locator(".badge", has_text="running")).to_have_count(0, timeout=300_000)


def _start(page: Page, name: str) -> None:
    page.goto(f"{page.url}review/")
    page.get_by_role("row", name=name).get_by_role("button", name=re.compile("Start|Go on|Continue")).click()
    page.wait_for_url(re.compile(r"/reviews/\d+/$"))


# Each with who looks; what changes the demo comes last.
PICTURES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "dashboard": ("alice", dashboard),
    "editor": ("alice", editor),
    "judge": ("alice", judge),
    "compare": ("alice", compare),
    "adjudication": ("alice", adjudication),
    "queue": ("ed", queue),
    "agreement": ("ed", agreement),
    "review": ("rae", review),
    "reveal": ("ann", reveal),
    "run": ("alice", run),
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*", choices=[[], *PICTURES], metavar="NAME", default=[])
    names = arguments.parse_args().names or list(PICTURES)
    with demo() as sign_in, sync_playwright() as playwright:
        found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        _wait_for_runs(sign_in(browser, "alice"))
        for name in names:
            user, show = PICTURES[name]
            page = sign_in(browser, user)
            show(page)
            page.wait_for_load_state("networkidle")
            page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")
            page.context.close()
            print(name)


if __name__ == "__main__":
    main()
