"""`rubricweb serve` as people meet it: it starts, lets them in once, restarts what dies, leaves nothing."""

import http.cookiejar
import os
import re
import shutil
import signal
import socket
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable

import pytest

from tests.installation import Installation
from tests.processes.conftest import Serve, wait_for
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.processes
Start = Callable[..., Serve]


class Visitor:
    """A browser without a screen: keeps cookies, posts forms with their token."""

    def __init__(self) -> None:
        self.cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, url: str) -> tuple[str, str]:
        with self._opener.open(url, timeout=PATIENCE_SECONDS) as answer:
            return answer.url, answer.read().decode()

    def press_sign_in(self, link: str) -> tuple[str, str]:
        _, page = self.get(link)
        fields = dict(re.findall(r'name="(csrfmiddlewaretoken|token)" value="([^"]*)"', page))
        data = urllib.parse.urlencode(fields).encode()
        with self._opener.open(link.partition("?")[0], data, timeout=PATIENCE_SECONDS) as answer:
            return answer.url, answer.read().decode()


@pytest.mark.parametrize("installation", ["empty"], indirect=True)
def test_it_starts_from_nothing_lets_the_owner_in_once_and_stops_cleanly(
    serve: Start, installation: Installation
) -> None:
    running = serve("--owner", "olga")
    assert running.healthy()
    url, page = Visitor().press_sign_in(running.link)
    assert url == f"{running.address}/t/my-team/"
    assert "My team" in page
    [typed] = re.findall(r"another: (\S+) sign-in-link olga\)", running.said)
    assert shutil.which(typed), typed
    with pytest.raises(urllib.error.HTTPError) as refused:
        Visitor().press_sign_in(running.link)
    assert refused.value.code == 400

    # Three programs and what they start: web and its two processes, worker and its pool of two, judge.
    wait_for(lambda: len(running.descendants()) == 7, running)
    assert running.stop() == 0
    assert running.survivors() == set()
    assert "Traceback" not in running.said


def test_a_second_one_on_the_same_folder_is_refused(serve: Start, installation: Installation) -> None:
    running = serve()
    ended = installation.run("serve")
    assert ended.returncode == 1
    assert f"already runs on {installation.folder}" in ended.stderr
    assert running.address in ended.stderr
    # Commands know where it runs.
    [(username,)] = installation.query("SELECT username FROM rubricweb_user")
    assert installation.run("sign-in-link", username).stdout.startswith(running.address)


def test_behind_a_proxy_it_asks_itself_and_its_link_opens_all_the_same(serve: Start) -> None:
    running = serve(ALLOWED_HOSTS="rubrics.example.org")
    url, _ = Visitor().press_sign_in(running.link)
    assert url.startswith(f"{running.address}/t/")


def test_its_link_begins_with_the_address_people_type_where_that_is_set(serve: Start) -> None:
    running = serve(ALLOWED_HOSTS="rubrics.example.org", SITE_URL="https://rubrics.example.org/")
    assert ": https://rubrics.example.org/sign-in/?token=" in running.said


def test_a_taken_port_is_refused_when_it_was_asked_for(installation: Installation) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = installation.run("serve", "--port", str(taken.getsockname()[1]))
    assert ended.returncode == 1
    assert "is taken; choose another with --port" in ended.stderr


def test_what_crashes_is_started_again(serve: Start) -> None:
    running = serve()
    for program in ("gunicorn", "rubricweb.management.serving.worker", "rubricweb.judges.offline"):
        before = running.descendants(running=program)
        os.kill(min(before), signal.SIGKILL)
        wait_for(lambda: running.descendants(running=program) - before, running)  # noqa: B023  called at once
        # What the killed one had started is gone as well.
        wait_for(lambda: not before & running.survivors(), running)  # noqa: B023  called at once
    wait_for(running.healthy, running)
    assert "was ended by signal 9; starting it again" in running.said
    assert running.stop() == 0
    assert running.survivors() == set()


def test_children_end_with_a_killed_supervisor(serve: Start) -> None:
    running = serve()
    assert running.descendants()
    running.process.kill()
    running.process.wait()
    wait_for(lambda: not running.survivors(), running)


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]], ids=["TERM", "twice"])
def test_any_way_of_asking_stops_everything(serve: Start, signals: list[signal.Signals]) -> None:
    running = serve()
    running.descendants()
    for number in signals:
        running.process.send_signal(number)
    assert running.process.wait(timeout=PATIENCE_SECONDS) == 0
    assert running.survivors() == set()
