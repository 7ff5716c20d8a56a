"""How long one waits from *submit and next* to the next item: `python -m benchmarks.review`.

A real server and a real Chromium, a queue over 100,000 items, one person who answers by keyboard: first with
the next item fetched ahead, then cold, with the requests for that refused, so that every page is loaded when
it is wanted. Prints the median, the slowest tenth and the longest wait in milliseconds, and whether the
median keeps under the promised 150: measured in the page from Ctrl+Enter to the frame in which the next item
can be answered. A wait for a page that had to be loaded is measured from outside, most of it the browser's:
beside it stands how long the server took for the page. On SQLite, or on PostgreSQL when DATABASE_URL says so.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

from playwright.sync_api import Page, sync_playwright

from tests.installation import ROOT, Installation, scratch_installation
from tests.processes.conftest import Serve

ITEMS, REVIEWS, CRITERIA = 100_000, 40, 6
PROMISED_MILLISECONDS = 150
THINKING_SECONDS = 0.15
"""Between two keys: faster than anybody reads."""

WATCH = """
addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.ctrlKey) { window.left = performance.now(); window.waited = null; }
}, {capture: true});
document.addEventListener("review:ready", () => requestAnimationFrame(() => setTimeout(() => {
    if (window.left) window.waited = performance.now() - window.left;
})));
"""
SERVED = """(() => {
    const [page] = performance.getEntriesByType("navigation");
    return page.responseEnd - page.requestStart;
})()"""


@dataclass(frozen=True)
class Wait:
    """Milliseconds to the next item; `served` is the server's part, None when it was here already."""

    waited: float
    served: float | None


def main() -> int:
    asked = argparse.ArgumentParser()
    asked.add_argument("--items", type=int, default=ITEMS)
    asked.add_argument("--reviews", type=int, default=REVIEWS)
    asked.add_argument("--seed", action="store_true", help=argparse.SUPPRESS)
    options = asked.parse_args()
    if options.seed:
        seed(options.items)
        return 0
    with scratch_installation() as installation:
        server = Serve(installation, "--owner", "olga")
        try:
            server.wait_until_up()
            began = time.perf_counter()
            path, session = seeded(installation, options.items)
            print(f"{options.items:,} items in {time.perf_counter() - began:.0f} s; {database(installation)}")
            if installation.database_url:
                installation.change("ANALYZE")  # as autovacuum does within a minute
            ahead, cold = drive(server, path, session, options.reviews)
        finally:
            server.stop()
    print("fetched ahead, milliseconds until the next item is usable:")
    show([one.waited for one in ahead])
    middle = statistics.median(one.waited for one in ahead)
    print(f"  {sum(one.served is None for one in ahead)} of {len(ahead)} times it was here already")
    holds = middle < PROMISED_MILLISECONDS
    print(f"  median under {PROMISED_MILLISECONDS}: {'holds' if holds else 'misses'}")
    print("cold, milliseconds until the next page is usable:")
    show([one.waited for one in cold])
    print("of which the server took:")
    show([one.served for one in cold if one.served is not None])
    return 0 if holds else 1


def database(installation: Installation) -> str:
    return installation.database_url.partition(":")[0] or "sqlite"


def show(waits: list[float]) -> None:
    slowest = statistics.quantiles(waits, n=10)[-1]
    print(f"  median {statistics.median(waits):.0f}  slowest tenth {slowest:.0f}  longest {max(waits):.0f}")


# ── The data ─────────────────────────────────────────────────────────────────────────────────────


def seeded(installation: Installation, items: int) -> tuple[str, str]:
    """Makes the data in a process of its own; the path of the first review and the session's key."""
    said = subprocess.run(
        [sys.executable, "-m", "benchmarks.review", "--seed", "--items", str(items)],
        cwd=ROOT,
        env={**installation.env, "DJANGO_SETTINGS_MODULE": "rubricweb.settings", "RUBRICWEB_LOCAL": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    if said.returncode:
        raise SystemExit(said.stderr)
    path, session = said.stdout.split()
    return path, session


def seed(items: int) -> None:
    import django

    django.setup()
    from django.test import Client
    from django.utils import timezone

    from rubricweb.models import Dataset, Team, User
    from rubricweb.services.reviews import queues
    from tests import factories

    olga = User.objects.get(username="olga")
    team = Team.objects.get(memberships__user=olga)
    data = Dataset.objects.create(team=team, name="Many", created_by=olga)
    text = "Paris is the **capital** of France.\n\n- It lies on the Seine.\n" * 20
    factories.many_items(data, items, text)
    criteria = [
        {"name": f"c{number}", "weight": 1.0, "requirement": f"Says thing {number}."}
        for number in range(CRITERIA)
    ]
    version = factories.version(team, olga, criteria=criteria)
    queue = queues.create_queue(
        team,
        queues.QueueRequest(
            name="All", dataset=data, rubric_version=version, raters=[olga], raters_per_item=1
        ),
        by=olga,
    )
    review = queues.next_review(queue, olga, now=timezone.now())
    assert review is not None
    client = Client()
    client.force_login(olga, backend="django.contrib.auth.backends.ModelBackend")
    print(f"/t/{team.slug}/reviews/{review.pk}/", client.cookies["sessionid"].value)


# ── The person ───────────────────────────────────────────────────────────────────────────────────


def drive(server: Serve, path: str, session: str, reviews: int) -> tuple[list[Wait], list[Wait]]:
    """The waits after so many reviews, and after as many more for which nothing is fetched ahead."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context()
        context.add_cookies([{"name": "sessionid", "value": session, "url": server.address}])
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(f"{server.address}{path}")
        ahead = [one_review(page) for _ in range(reviews)]
        page.route("**/ahead/", lambda route: route.abort())
        page.reload()
        cold = [one_review(page) for _ in range(reviews)]
        browser.close()
    return ahead, cold


def one_review(page: Page) -> Wait:
    """Answers everything and goes on."""
    here = page.url
    for number in range(CRITERIA):
        time.sleep(THINKING_SECONDS)
        page.keyboard.press("m" if number % 2 else "u")
    time.sleep(THINKING_SECONDS)
    began = time.perf_counter()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != here and re.search(r"/reviews/\d+/$", url) is not None)
    page.locator(".criterion.is-active").first.wait_for()
    outside = 1000 * (time.perf_counter() - began)
    if page.evaluate("!window.left"):
        return Wait(outside, float(page.evaluate(SERVED)))
    while not (waited := page.evaluate("window.waited")):
        time.sleep(0.01)
    return Wait(float(waited), None)


if __name__ == "__main__":
    sys.exit(main())
