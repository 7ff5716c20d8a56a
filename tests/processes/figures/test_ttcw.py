"""Real recorded judges graded through Celery: page, API and command line show the known figures."""

import json
import os
import re
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from rubricweb.engine.rubric import Rubric
from rubricweb.judges.offline.script import Recording, Script
from rubricweb.judges.offline.server import running_server
from tests.installation import Installation
from tests.processes.conftest import Serve, wait_for
from tests.waiting import PATIENCE_SECONDS

DATA = os.environ.get("RUBRICWEB_REAL_DATA", "")
pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(
        not DATA, reason="RUBRICWEB_REAL_DATA is not set: point it at the folder of prepared/"
    ),
]


def prepared(name: str) -> Path:
    return Path(DATA) / "prepared" / name


def recordings(judge: str) -> list[Recording]:
    """What the judge really replied, by submission and requirement."""
    items = [json.loads(line) for line in prepared("ttcw_items.jsonl").read_text().splitlines()]
    submissions = {item["id"]: item["submission"] for item in items}
    rubric = Rubric.from_file(prepared("ttcw_rubric.json"))
    requirements = {criterion.name: criterion.requirement for criterion in rubric.criteria}
    replies = map(json.loads, prepared("ttcw_recorded_judges.jsonl").read_text().splitlines())
    return [
        Recording(submissions[row["item_id"]], requirements[row["criterion"]], row["reply"])
        for row in replies
        if row["judge"] == judge
    ]


class Browserless:
    """Signs in by the one-time link and keeps the cookies: enough of a browser to send forms."""

    def __init__(self, server: Serve) -> None:
        self.cookies = CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        self.address = server.address
        self.read(server.link)
        token = parse_qs(urlsplit(server.link).query)["token"][0]
        self.send("/sign-in/", token=token)

    def read(self, url: str) -> str:
        url = url if url.startswith("http") else self.address + url
        with self.opener.open(url, timeout=PATIENCE_SECONDS) as answer:
            return str(answer.read().decode())

    def send(self, path: str, **fields: str) -> str:
        """Posts a form and follows to the page it leads to."""
        [csrf] = [cookie.value or "" for cookie in self.cookies if cookie.name == "csrftoken"]
        data = urlencode({**fields, "csrfmiddlewaretoken": csrf}).encode()
        request = urllib.request.Request(self.address + path, data, {"Referer": self.address + path})
        with self.opener.open(request, timeout=PATIENCE_SECONDS) as answer:
            return str(answer.read().decode())


def plain(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


# The figures come from independent tools for the majority of the three experts; gemini-pro's 32
# unreadable replies leave 472 of 504 units, coverage 472 / 504 = 0.9365.
@pytest.mark.parametrize(
    ("judge", "n", "errors", "coverage", "accuracy", "kappa"),
    [
        pytest.param("gpt4", 504, 0, "1.0000", "0.3393", "0.0608", id="gpt4"),
        pytest.param("gemini-pro", 472, 32, "0.9365", None, None, id="gemini-pro", marks=pytest.mark.long),
    ],
)
def test_page_api_and_command_line_show_the_known_figures(
    serve: Callable[..., Serve],
    installation: Installation,
    judge: str,
    n: int,
    errors: int,
    coverage: str,
    accuracy: str | None,
    kappa: str | None,
) -> None:
    with running_server(Script(recordings=recordings(judge))) as judge_url:
        server = serve("--owner", "olga", JUDGE_MAX_ATTEMPTS="2", JUDGE_ALLOW_PRIVATE_HOSTS="1")
        for command in (
            ("import-rubric", prepared("ttcw_rubric.json")),
            ("import-dataset", prepared("ttcw_items.jsonl"), "--duplicates", "keep"),
            ("import-labels", prepared("ttcw_labels.csv"), "--dataset", "1", "--rubric", "id:1"),
        ):
            done = installation.run(*command)
            assert done.returncode == 0, done.stderr
        browser = Browserless(server)
        team = "/t/my-team"
        browser.send(f"{team}/settings/judges/new/", name=judge, base_url=judge_url, model=judge, api_key="")
        token = secret(browser.send(f"{team}/settings/tokens/", name="ci", may_write="write", days="1"))
        run = api(
            server,
            token,
            "runs",
            judge="endpoint-1",
            no_cap=True,  # The judge has no price to hold against one.
            reply_format="yes_no",
            dataset_id=1,
            rubric_version_id=1,
        )
        wait_for(lambda: api(server, token, f"runs/{run['id']}")["state"] != "running", server)

    assert installation.number("SELECT count(*) FROM rubricweb_item") == 36
    assert installation.number("SELECT count(*) FROM rubricweb_judgement WHERE run_id IS NULL") == 1512
    assert installation.number("SELECT count(*) FROM rubricweb_judgement WHERE run_id IS NOT NULL") == 504
    found = api(server, token, f"runs/{run['id']}/comparison?queue=1")
    printed = installation.run("compare", str(run["id"]), "--json")
    assert printed.returncode == 0, printed.stderr
    page = plain(browser.read(f"{team}/compare/?run={run['id']}&queue=1"))
    for shown in (json.dumps(found), printed.stdout):
        assert re.search(rf'"n": {n}\b', shown)
        assert f'"errors": {errors}' in shown
    assert str(n) in page
    assert f"{float(coverage):.0%}" in page
    assert "0.14" in page  # people's α; its interval allows no more digits
    assert round(found["human_alpha"]["value"], 4) == 0.1416
    assert round(found["coverage"], 4) == float(coverage)
    if accuracy is not None and kappa is not None:
        short = [f"{float(figure):.2f}" for figure in (accuracy, kappa)]
        assert all(figure in page for figure in short)
        assert round(found["overall"]["accuracy"]["value"], 4) == float(accuracy)
        assert round(found["overall"]["kappa"]["value"], 4) == float(kappa)
        table = installation.run("compare", str(run["id"])).stdout
        assert all(figure in table for figure in [*short, "0.14"])


def secret(page: str) -> str:
    found = re.search(r"rw_[\w-]{20,}", page)
    assert found, plain(page)[:2000]
    return found.group()


def api(server: Serve, token: str, path: str, **body: object) -> dict[str, object]:
    data = json.dumps(body).encode() if body else None
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.address}/api/v1/{path}", data, headers)
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        return dict(json.load(answer))
