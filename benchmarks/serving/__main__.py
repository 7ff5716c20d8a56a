"""Whether people wait beside a Redis that hangs and slow clients: `python -m benchmarks.serving`.

Eight people review, runs are started and graded, verdicts are exported, pages are opened, and somebody asks
for /health twice a second, all at one `rubricweb serve`; its broker takes every connection and never answers,
and 200 clients send requests they never finish. On a scratch SQLite database, or a new one of the server in
DATABASE_URL. Prints what was asked, how long until an answer began, and how often it was 5xx; says whether
what is promised holds: no 5xx, nobody waits over five seconds, /health answers within one. With `--load-only`
there are neither that Redis nor slow clients, to see what the load does alone.
"""

import argparse
import http.client
import json
import select
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.installation import ROOT, Installation, scratch_installation
from tests.processes.conftest import Serve
from tests.waiting import wait_for

REVIEWERS, SLOW, ITEMS = 8, 200, 5_000
PROMISED_SECONDS, PROMISED_HEALTH_SECONDS = 5.0, 1.0
THINKING_SECONDS = 0.5
RUN_EVERY_SECONDS = 30.0
BEGINNINGS = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ",
    b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\nlogin=",
    b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nlog",
)


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("--minutes", type=float, default=10.0)
    asked.add_argument("--slow", type=int, default=SLOW, help="clients that never finish (default 200)")
    asked.add_argument("--load-only", action="store_true", help="no Redis that hangs, no slow clients")
    asked.add_argument("--seed", action="store_true", help=argparse.SUPPRESS)
    options = asked.parse_args()
    if options.seed:
        seed()
        return 0
    with (
        socket.create_server(("127.0.0.1", 0), backlog=1000) as silent,
        scratch_installation() as installation,
    ):
        threading.Thread(target=take_and_keep, args=(silent,), daemon=True).start()
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        env = {} if options.load_only else {"CELERY_BROKER_URL": url, "REDIS_URL": url}
        judge, env["OFFLINE_JUDGE_URL"] = offline_judge(installation)
        server = Serve(installation, "--owner", "olga", API_REQUESTS_PER_MINUTE="0", **env)
        try:
            server.wait_until_up()
            seeded = json.loads(told(installation, env, "-m", "benchmarks.serving", "--seed"))
            load = Load(server.address, seeded, installation, env)
            answers = load.go_on(options.minutes * 60, 0 if options.load_only else options.slow)
        finally:
            server.stop()
            judge.terminate()
            judge.wait()
    return 0 if show(answers) else 1


def take_and_keep(server: socket.socket) -> None:
    """Takes every connection and never answers."""
    kept = []
    with suppress(OSError):
        while True:
            kept.append(server.accept()[0])


def offline_judge(installation: Installation) -> tuple["subprocess.Popen[bytes]", str]:
    """A judge that all processes reach, and its address."""
    file = installation.folder / "judge-port"
    command = [sys.executable, "-m", "rubricweb.judges.offline", "--port-file", str(file)]
    judge = subprocess.Popen(command, cwd=ROOT)
    wait_for(file.exists)
    return judge, f"http://127.0.0.1:{file.read_text().strip()}/v1"


def told(installation: Installation, env: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**installation.env, **env},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


@dataclass
class Answers:
    """Seconds until it began, and status, of every answer by what was asked; None is no answer at all."""

    seen: dict[str, list[tuple[float, int | None]]] = field(default_factory=lambda: defaultdict(list))
    faults: list[str] = field(default_factory=list)
    slow_at_once: list[int] = field(default_factory=list)


class Load:
    """Everybody who asks something, each in a thread, until the time is over."""

    def __init__(self, address: str, seeded: Any, installation: Installation, env: dict[str, str]) -> None:
        parts = urllib.parse.urlsplit(address)
        assert parts.hostname is not None
        assert parts.port is not None
        self._host, self._port = parts.hostname, parts.port
        self._seeded = seeded
        self._installation, self._env = installation, env
        self._over = threading.Event()
        self._answers = Answers()

    def go_on(self, seconds: float, slow: int) -> Answers:
        jobs: list[Callable[[], None]] = [self._health, self._runs, self._exports, self._pages]
        jobs += [partial(self._review, token) for token in self._seeded["tokens"]]
        if slow:
            jobs.append(lambda: self._be_slow(slow))
        threads = [threading.Thread(target=self._guarded, args=(job,)) for job in jobs]
        for thread in threads:
            thread.start()
        self._over.wait(seconds)
        self._over.set()
        for thread in threads:
            thread.join()
        return self._answers

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as fault:
            self._answers.faults.append(f"{type(fault).__name__}: {fault}")
            self._over.set()

    def ask(
        self, what: str, method: str, path: str, body: Any = None, *, token: str = "", cookie: str = ""
    ) -> Any:
        """The JSON of the answer, or its text; every one is on a connection of its own."""
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        headers |= {"Cookie": f"sessionid={cookie}"} if cookie else {}
        client = http.client.HTTPConnection(self._host, self._port, timeout=120)
        began = time.perf_counter()
        waited, status = None, None
        said = b""
        try:
            client.request(method, path, None if body is None else json.dumps(body), headers)
            answer = client.getresponse()
            # How long a download takes from here on is a matter of its size.
            waited = time.perf_counter() - began
            said = answer.read()
            status = answer.status
        except (OSError, http.client.HTTPException) as error:
            self._answers.faults.append(f"{what}: {type(error).__name__}: {error}")
        finally:
            client.close()
        self._answers.seen[what].append((waited or time.perf_counter() - began, status))
        if said.startswith((b"{", b"[")):
            with suppress(ValueError):
                return json.loads(said)
        return None

    def _health(self) -> None:
        while not self._over.wait(0.5):
            self.ask("GET /health", "GET", "/health")

    def _review(self, token: str) -> None:
        queue = self._seeded["queue"]
        while not self._over.is_set():
            review = self.ask("take an item", "POST", f"/api/v1/queues/{queue}/next", token=token)
            if review is None:
                continue
            for question in review["criteria"]:
                path = f"/api/v1/reviews/{review['id']}/criteria/{question['criterion']['id']}"
                self.ask("save a verdict", "PUT", path, {"verdict": "MET"}, token=token)
                if self._over.wait(THINKING_SECONDS):
                    return
            self.ask("submit a review", "POST", f"/api/v1/reviews/{review['id']}/submit", token=token)

    def _runs(self) -> None:
        """Starts a run, and grades it in a process of its own: workers wait for the broker."""
        owner = self._seeded["owner_token"]
        while not self._over.is_set():
            asked = {"dataset_id": self._seeded["small"], "judge": "offline", "use_cache": False}
            asked["rubric_version_id"] = self._seeded["version"]
            run = self.ask("start a run", "POST", "/api/v1/runs", asked, token=owner)
            if run and "id" in run:
                env = {**self._installation.env, **self._env}
                grade = [
                    sys.executable,
                    "-m",
                    "rubricweb.management.console",
                    "grade",
                    "--resume",
                    str(run["id"]),
                ]
                subprocess.run(grade, cwd=ROOT, env=env, capture_output=True, check=False)
                self.ask("watch a run", "GET", f"/api/v1/runs/{run['id']}/progress", token=owner)
            self._over.wait(RUN_EVERY_SECONDS)

    def _exports(self) -> None:
        owner, queue, dataset = (self._seeded[name] for name in ("owner_token", "queue", "dataset"))
        path = f"/api/v1/exports?dataset={dataset}&queue={queue}&what=verdicts&format=jsonl"
        while not self._over.wait(5.0):
            self.ask("export verdicts", "GET", path, token=owner)

    def _pages(self) -> None:
        team, queue = self._seeded["team"], self._seeded["queue"]
        pages = {"dashboard": "", "runs": "runs/", "datasets": "datasets/", "queue": f"review/{queue}/"}
        while not self._over.is_set():
            for name, path in pages.items():
                self.ask(f"page: {name}", "GET", f"/t/{team}/{path}", cookie=self._seeded["session"])
                if self._over.wait(1.0):
                    return

    def _be_slow(self, how_many: int) -> None:
        """Keeps so many requests open that never end; what the server closes is opened anew."""
        poll, opened = select.poll(), dict[int, socket.socket]()
        while not self._over.is_set():
            while len(opened) < how_many:
                one = socket.create_connection((self._host, self._port), timeout=60)
                one.sendall(BEGINNINGS[len(opened) % len(BEGINNINGS)])
                opened[one.fileno()] = one
                poll.register(one, select.POLLIN | select.POLLHUP | select.POLLERR)
            self._answers.slow_at_once.append(len(opened))
            for number, _ in poll.poll(1000):
                poll.unregister(number)
                opened.pop(number).close()
        for one in opened.values():
            one.close()


def show(answers: Answers) -> bool:
    """Prints a line for everything that was asked, and the promises; whether they hold."""
    print(f"{'what':<20}{'times':>8}{'median':>10}{'99 %':>10}{'longest':>10}{'5xx':>6}  other")
    broken, longest = 0, 0.0
    for what, seen in sorted(answers.seen.items()):
        seconds = sorted(one for one, _ in seen)
        statuses = [status for _, status in seen]
        server_errors = sum(status is None or status >= 500 for status in statuses)
        others = sorted({status for status in statuses if status is not None and 400 <= status < 500})
        p99 = statistics.quantiles(seconds, n=100)[-1] if len(seconds) > 1 else seconds[0]
        print(
            f"{what:<20}{len(seen):>8,}{statistics.median(seconds):>8.2f} s{p99:>8.2f} s{seconds[-1]:>8.2f} s"
            f"{server_errors:>6}  {', '.join(map(str, others))}"
        )
        broken += server_errors
        longest = max(longest, seconds[-1])
    if answers.slow_at_once:
        print(f"slow clients at once: {min(answers.slow_at_once)} to {max(answers.slow_at_once)}")
    for fault in answers.faults[:5]:
        print(f"fault: {fault}")
    health = max(one for one, _ in answers.seen["GET /health"])
    promises = {
        f"no answer of 5xx, none missing: {broken}": not broken and not answers.faults,
        f"nobody waits over {PROMISED_SECONDS:g} s: longest {longest:.2f} s": longest < PROMISED_SECONDS,
        f"/health within {PROMISED_HEALTH_SECONDS:g} s: longest {health:.2f} s": health
        < PROMISED_HEALTH_SECONDS,
    }
    for promise, holds in promises.items():
        print(f"promised: {promise}: {'holds' if holds else 'misses'}")
    return all(promises.values())


def seed() -> None:
    """A team with eight raters, items to review and a dataset to grade; prints what they go by."""
    from rubricweb.management import console

    console.name_settings()
    import django

    django.setup()
    from django.test import Client
    from django.utils import timezone

    from rubricweb.models import Role
    from rubricweb.services.teams import teams
    from tests import factories

    owner = teams.create_person("lotte")
    team = teams.create_team("Load", owner=owner, slug="load")
    people = [teams.create_person(f"rater{number}") for number in range(REVIEWERS)]
    for person in people:
        teams.add_member(team, person, Role.ANNOTATOR, by=owner)

    def token(person: Any) -> str:
        membership = team.memberships.get(user=person)
        return teams.create_token(membership, name="load", may_write=True, days=1, now=timezone.now())[1]

    def items(count: int) -> list[dict[str, str]]:
        return [
            {"id": f"i{n}", "submission": f"Answer {n}: Paris is the capital. " * 20} for n in range(count)
        ]

    version = factories.version(team, owner)
    large = factories.dataset(team, owner, name="large", items=items(ITEMS))
    small = factories.dataset(team, owner, name="small", items=items(200))
    queue = factories.queue(team, owner, dataset=large, rubric_version=version, raters=people)
    client = Client()
    client.force_login(owner)
    print(
        json.dumps(
            {
                "team": team.slug,
                "dataset": large.pk,
                "small": small.pk,
                "version": version.pk,
                "queue": queue.pk,
                "tokens": [token(person) for person in people],
                "owner_token": token(owner),
                "session": client.cookies["sessionid"].value,
            }
        )
    )


if __name__ == "__main__":
    sys.exit(main())
