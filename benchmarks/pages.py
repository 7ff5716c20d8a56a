"""How long pages take beside 100,000 items: `python -m benchmarks.pages`.

A real server over one dataset, a finished and a half graded run over it, and a queue of which 2,000 items are
reviewed. First the server alone:
milliseconds from asking until the last byte (median and slowest of several), how many times as long as the
same page of a team with nothing in it, and how many queries. Then a real Chromium with nothing cached: until
the first words are on the screen and until everything has loaded, as pages are and with the stylesheet as it
is written, one file per component, turn by turn so that other work on the machine meets both alike; and once
more with everything cached. On SQLite, or on PostgreSQL when DATABASE_URL says so.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.installation import ROOT, Installation, scratch_installation
from tests.processes.conftest import Serve

if TYPE_CHECKING:
    from rubricweb.models import Dataset, Rater, ReviewQueue, RubricVersion, Run, Team, User

ITEMS, LABELLED, CRITERIA, TIMES = 100_000, 2_000, 3, 7
PROMISED_SECONDS = 0.5
"""For any page but those that are statistics, by the server alone."""
STATISTICS = ("compare", "a run against one")

RATERS_PAGES = ("a review", "a run, blind")
COLD_PAGES = ("dashboard", "runs", "a run", "a review")
CALL_COLUMNS = (
    *("id", "run_id", "item_id", "model", "rung", "attempts", "prompt_tokens", "completion_tokens"),
    *("cost_usd", "latency_seconds", "fallback", "reply", "reasoning", "error_message", "created_at"),
)
JUDGEMENT_COLUMNS = (
    *("run_id", "item_id", "criterion_id", "judge", "repeat", "verdict", "reason", "error_kind"),
    *("error_message", "call_id", "created_at"),
)
LOADED = """(() => {
    const [page] = performance.getEntriesByType("navigation");
    const [words] = performance.getEntriesByName("first-contentful-paint");
    const files = performance.getEntriesByType("resource").map((one) => new URL(one.name).pathname);
    return {words: words.startTime, all: page.loadEventEnd, requests: files.length + 1,
            styles: files.filter((one) => one.endsWith(".css")).length,
            scripts: files.filter((one) => one.endsWith(".js")).length};
})()"""


@dataclass(frozen=True)
class Seeded:
    """Paths by the names they are printed under, of the big team and of the empty one; a session of somebody
    who may see everything, and one of the rater from whom the judge is hidden.
    """

    big: Mapping[str, str]
    empty: Mapping[str, str]
    queries: Mapping[str, int]
    session: str
    raters_session: str

    def session_for(self, name: str) -> str:
        return self.raters_session if name in RATERS_PAGES else self.session


@dataclass(frozen=True)
class Load:
    """One page in a browser: milliseconds to the first words and to the last file, and what it asked for."""

    words: float
    all: float
    requests: int
    styles: int
    scripts: int


def main() -> int:
    asked = argparse.ArgumentParser()
    asked.add_argument("--items", type=int, default=ITEMS)
    asked.add_argument("--times", type=int, default=TIMES)
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
            seeded = seed_elsewhere(installation, options.items)
            kind = installation.database_url.partition(":")[0] or "sqlite"
            print(f"{options.items:,} items in {time.perf_counter() - began:.0f} s; {kind}")
            if installation.database_url:
                installation.change("ANALYZE")  # as autovacuum does within a minute
            slowest = show_server(server, seeded, options.times)
            show_browser(server, seeded, options.times)
        finally:
            server.stop()
    holds = slowest < PROMISED_SECONDS
    promise = f"every page but statistics by the server in under {PROMISED_SECONDS} s"
    print(f"{promise}: {'holds' if holds else 'misses'}")
    return 0 if holds else 1


# ── The server alone ─────────────────────────────────────────────────────────────────────────────


def show_server(server: Serve, seeded: Seeded, times: int) -> float:
    """Prints a line per page; the seconds of the slowest that is promised, by its median."""
    print(f"{'page':<22}{'ms':>7}{'slowest':>9}{'× empty':>9}{'queries':>9}{'kB':>7}")
    medians = []
    for name, path in seeded.big.items():
        here, size = asked_for(server, path, seeded.session_for(name), times)
        empty = seeded.empty.get(name)
        ratio = ""
        if empty is not None:
            there, _ = asked_for(server, empty, seeded.session, times)
            ratio = f"{statistics.median(here) / statistics.median(there):.1f}"
        median = statistics.median(here)
        if name not in STATISTICS:
            medians.append(median)
        print(
            f"{name:<22}{1000 * median:>7.0f}{1000 * max(here):>9.0f}{ratio:>9}"
            f"{seeded.queries[name]:>9}{size / 1000:>7.0f}"
        )
    return max(medians)


def asked_for(server: Serve, path: str, session: str, times: int) -> tuple[list[float], int]:
    """Seconds of so many requests after a first one that does not count, and the bytes of the page."""
    taken, size = [], 0
    for _ in range(times + 1):
        headers = {"Cookie": f"sessionid={session}", **polled(path)}
        request = urllib.request.Request(server.address + path, headers=headers)
        began = time.perf_counter()
        with urllib.request.urlopen(request, timeout=60) as answer:
            size = len(answer.read())
        taken.append(time.perf_counter() - began)
    return taken[1:], size


def polled(path: str) -> dict[str, str]:
    """The headers with which a page asks for its own parts."""
    return {"HX-Request": "true"} if path.endswith("/live/") else {}


# ── In a browser ─────────────────────────────────────────────────────────────────────────────────


def show_browser(server: Serve, seeded: Seeded, times: int) -> None:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    source = (ROOT / "static/css/app.css").read_text()
    print(f"{'cold, in a browser':<22}{'words':>7}{'all':>7}{'requests':>10}{'styles':>8}{'scripts':>9}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in COLD_PAGES:
            url = server.address + seeded.big[name]
            one, many, warm = [], [], []
            for _ in range(times):
                with_one = visitor(browser, server, seeded.session_for(name))
                one.append(loaded(with_one, url))
                warm.append(loaded(with_one, url))
                with_one.close()
                with_many = visitor(browser, server, seeded.session_for(name))
                with_many.route(
                    re.compile(r"/css/app\.[^/]*css$"),
                    lambda route: route.fulfill(body=source, content_type="text/css"),
                )
                many.append(loaded(with_many, url))
                with_many.close()
            show_loads(name, one)
            show_loads("  by its sources", many)
            show_loads("  cached", warm)
            ratio = middle(load.words for load in many) / middle(load.words for load in one)
            print(f"  by its sources, words come {ratio:.1f} × as late")
        browser.close()


def visitor(browser: Browser, server: Serve, session: str) -> BrowserContext:
    context = browser.new_context()
    context.add_cookies([{"name": "sessionid", "value": session, "url": server.address}])
    return context


def loaded(context: BrowserContext, url: str) -> Load:
    page = context.new_page()
    page.goto(url, wait_until="load")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    load = Load(**page.evaluate(LOADED))
    page.close()
    return load


def show_loads(name: str, loads: list[Load]) -> None:
    last = loads[-1]
    print(
        f"{name:<22}{middle(one.words for one in loads):>7.0f}{middle(one.all for one in loads):>7.0f}"
        f"{last.requests:>10}{last.styles:>8}{last.scripts:>9}"
    )


def middle(values: Iterable[float]) -> float:
    return statistics.median(values)


# ── The data ─────────────────────────────────────────────────────────────────────────────────────


def seed_elsewhere(installation: Installation, items: int) -> Seeded:
    """Makes the data in a process of its own."""
    said = subprocess.run(
        [sys.executable, "-m", "benchmarks.pages", "--seed", "--items", str(items)],
        cwd=ROOT,
        env={
            **installation.env,
            "DJANGO_SETTINGS_MODULE": "rubricweb.settings",
            "RUBRICWEB_LOCAL": "1",
            "OFFLINE_JUDGE_URL": "http://127.0.0.1:9/v1",  # named by the runs, asked by nobody
        },
        capture_output=True,
        text=True,
        timeout=1200,
    )
    if said.returncode:
        raise SystemExit(said.stderr)
    return Seeded(**json.loads(said.stdout))


def seed(items: int) -> None:
    import django

    django.setup()
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.utils import timezone

    from rubricweb.models import Dataset, Rater, Role, RunState, User
    from rubricweb.services.reviews import queues
    from rubricweb.services.runs import lifecycle
    from rubricweb.services.shared import run_summaries
    from rubricweb.services.teams import teams
    from tests import factories

    olga = User.objects.get(username="olga")
    pat = teams.create_person("pat")
    team = teams.create_team("Big", owner=pat, slug="big")
    teams.add_member(team, olga, Role.EDITOR, by=pat)
    empty = teams.create_team("Empty", owner=pat, slug="empty")
    data = Dataset.objects.create(team=team, name="Many", created_by=olga)
    text = "Paris is the **capital** of France.\n\n- It lies on the Seine.\n" * 10
    factories.many_items(data, items, text)
    criteria = [
        {"name": f"c{number}", "weight": 1.0, "requirement": f"Says thing {number}."}
        for number in range(CRITERIA)
    ]
    version = factories.version(team, olga, criteria=criteria)
    finished = graded_run(team, olga, data, version, share=1.0)
    finished.state, finished.finished_at = RunState.FINISHED, timezone.now()
    finished.save()
    run_summaries.summarise(finished)
    paused = graded_run(team, olga, data, version, share=0.5)
    queue = queues.create_queue(
        team,
        queues.QueueRequest(name="All", dataset=data, rubric_version=version, raters=[olga], run=finished),
        by=olga,
    )
    label(queue, Rater.objects.get(user=olga, team=team), min(items // 2, LABELLED))
    review = queues.next_review(queue, olga, now=timezone.now())
    assert review is not None
    lifecycle.pause_run(paused, by=olga)
    item = data.items.order_by("position")[items // 2]
    root = f"/t/{team.slug}/"
    lists = {
        "dashboard": "",
        "rubrics": "rubrics/",
        "datasets": "datasets/",
        "runs": "runs/",
        "run, launch": "runs/new/",
        "queues": "review/",
        "adjudication": "adjudication/",
        "compare": "compare/",
        "exports": "exports/",
        "judges": "settings/judges/",
        "spending": "settings/spending/",
        "retention": "settings/retention/",
    }
    details = {
        "a dataset": f"datasets/{data.pk}/",
        "  searched": f"datasets/{data.pk}/?q=99",
        "an item": f"items/{item.pk}/",
        "a run": f"runs/{finished.pk}/",
        "  live, paused": f"runs/{paused.pk}/live/",
        "  paused": f"runs/{paused.pk}/",
        "  log": f"runs/{finished.pk}/log/",
        "  most errors first": f"runs/{finished.pk}/?sort=errors",
        "a run, blind": f"runs/{finished.pk}/",
        "an item of a run": f"runs/{finished.pk}/items/{item.pk}/",
        "a run against one": f"runs/{paused.pk}/against/{finished.pk}/",
        "a queue": f"review/{queue.pk}/",
        "a review": f"reviews/{review.pk}/",
    }
    big = {name: root + path for name, path in {**lists, **details}.items()}
    clients = {}
    for person in (pat, olga):
        clients[person] = Client()
        clients[person].force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    queries = {}
    for name, path in big.items():
        with CaptureQueriesContext(connection) as captured:
            clients[olga if name in RATERS_PAGES else pat].get(
                path, headers=polled(path), SERVER_NAME="localhost"
            )
        queries[name] = len(captured)
    print(
        json.dumps(
            {
                "big": big,
                "empty": {name: f"/t/{empty.slug}/{path}" for name, path in lists.items()},
                "queries": queries,
                "session": clients[pat].cookies["sessionid"].value,
                "raters_session": clients[olga].cookies["sessionid"].value,
            }
        )
    )


def graded_run(team: "Team", by: "User", data: "Dataset", version: "RubricVersion", *, share: float) -> "Run":
    """A run of which this share of the items is graded, with an error at every hundredth item."""
    from django.db import transaction
    from django.utils import timezone

    from rubricweb.models import JudgeCall, Judgement, RunItem
    from rubricweb.services.shared import bulk_rows
    from tests import factories

    run = factories.run(team, by, dataset=data, rubric_version=version)
    now = timezone.now()
    rows = list(run.run_items.order_by("id").values_list("id", "item_id"))
    rows = rows[: int(share * len(rows))]
    criteria = list(version.criteria.order_by("position").values_list("id", flat=True))
    with transaction.atomic():
        calls = bulk_rows.reserve_ids(JudgeCall, len(rows))
        bulk_rows.insert(
            JudgeCall,
            CALL_COLUMNS,
            [
                (call, run.pk, item, "offline", "json", 1, 900, 60, 0.001, 0.4, False, "{}", "", "", now)
                for call, (_, item) in zip(calls, rows, strict=True)
            ],
        )
        judgements: list[tuple[Any, ...]] = []
        scores: list[tuple[Any, ...]] = []
        for at, (call, (row, item)) in enumerate(zip(calls, rows, strict=True)):
            met = [(at >> number) % 3 > 0 for number in range(CRITERIA)]
            failed = at % 100 == 99
            for number, criterion in enumerate(criteria):
                wrong = failed and number == 0
                answer = None if wrong else "MET" if met[number] else "UNMET"
                error = ("rate_limit", "429: slow down") if wrong else (None, "")
                judgements.append(
                    (run.pk, item, criterion, "offline", 0, answer, "It says so.", *error, call, now)
                )
            counted = met[1:] if failed else met
            scores.append((now, sum(counted) / len(counted), len(counted) / CRITERIA, int(failed), row))
        bulk_rows.insert(
            Judgement,
            JUDGEMENT_COLUMNS,
            judgements,
        )
        bulk_rows.update(RunItem, ("graded_at", "score", "coverage", "errors"), scores)
    return run


def label(queue: "ReviewQueue", rater: "Rater", items: int) -> None:
    """The first items reviewed by one person, who finds everything met."""
    from django.utils import timezone

    from rubricweb.models import Criterion, Judgement, Review

    now = timezone.now()
    reviews = Review.objects.bulk_create(
        [
            Review(queue=queue, item=item, rater=rater, state="submitted", submitted_at=now)
            for item in queue.dataset.items.order_by("position")[:items]
        ],
        batch_size=1000,
    )
    queue.queue_items.filter(item__in=[review.item_id for review in reviews]).update(room=0)
    criteria = list(Criterion.objects.filter(version=queue.rubric_version_id))
    Judgement.objects.bulk_create(
        [
            Judgement(review=review, item_id=review.item_id, criterion=criterion, verdict="MET")
            for review in reviews
            for criterion in criteria
        ],
        batch_size=1000,
    )


if __name__ == "__main__":
    sys.exit(main())
