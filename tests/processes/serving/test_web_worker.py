"""The web worker: slow clients take no thread, bodies have a limit, answers are whole or cut."""

import http.client
import json
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rubricweb.management.serving.serve import WORKER_CLASS
from tests.installation import ROOT
from tests.processes.conftest import wait_for
from tests.processes.serving.small_app import LARGEST_BODY, LONG_BYTES
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.processes

THREADS = 2
SLOW = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nonly this"


@dataclass
class Web:
    """One web process with two threads."""

    process: "subprocess.Popen[bytes]"
    port: int
    log: Path

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS)

    def send(self, data: bytes) -> socket.socket:
        connection = self.connect()
        connection.sendall(data)
        return connection

    def ask(self, method: str = "GET", path: str = "/echo", **more: Any) -> tuple[int, dict[str, Any]]:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        client.request(method, path, **more)
        answer = client.getresponse()
        return answer.status, json.loads(answer.read())


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Web]]:
    """`start()` starts a web process; `start("ulimit -n 300; ")` does after that."""
    started: list[Web] = []

    def begin(before: str = "") -> Web:
        log = tmp_path / f"web-{len(started)}.log"
        gunicorn = (
            f"exec {sys.executable} -m gunicorn tests.processes.serving.small_app --bind 127.0.0.1:0 "
            f"--worker-class {WORKER_CLASS} --workers 1 --threads {THREADS} --graceful-timeout 60 "
            f"--no-control-socket"
        )
        with log.open("wb") as said:
            process = subprocess.Popen(["sh", "-c", before + gunicorn], cwd=ROOT, stdout=said, stderr=said)
        one = Web(process, 0, log)
        started.append(one)
        wait_for(lambda: "Booting worker" in log.read_text() or process.poll() is not None)
        [port] = re.findall(r"Listening at: http://127.0.0.1:(\d+)", log.read_text())
        one.port = int(port)
        return one

    yield begin
    for one in started:
        one.process.kill()
        one.process.wait()


@pytest.fixture
def web(start: Callable[..., Web]) -> Web:
    return start()


def are_waiting(connections: list[socket.socket]) -> bool:
    """Whether the server has neither answered nor closed any of them."""
    poll = select.poll()
    for one in connections:
        poll.register(one, select.POLLIN | select.POLLHUP)
    return not poll.poll(0)


def read_all(connection: socket.socket) -> bytes:
    pieces = []
    while piece := connection.recv(1_000_000):
        pieces.append(piece)
    return b"".join(pieces)


# ── Slow clients ─────────────────────────────────────────────────────────────────────────────────


def test_clients_that_send_slowly_keep_nobody_from_an_answer(web: Web) -> None:
    slow = [web.send(SLOW) for _ in range(10 * THREADS)]
    assert web.ask()[0] == 200
    assert are_waiting(slow)
    for one in slow:
        one.sendall(b"." * (1000 - len("only this")))
    for one in slow:
        assert one.recv(1000).startswith(b"HTTP/1.1 200 OK\r\n")
        one.close()


def test_clients_that_read_nothing_keep_nobody_from_an_answer_and_get_theirs_whole(web: Web) -> None:
    asked = b"GET /long HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    slow = [web.send(asked) for _ in range(3 * THREADS)]
    # The answer is larger than what the system holds of it: its sender is not done.
    for one in slow:
        assert one.recv(12) == b"HTTP/1.1 200"
    assert web.ask()[0] == 200
    for one in slow:
        assert read_all(one).count(b"#") == LONG_BYTES
        one.close()


def test_above_as_many_connections_as_files_allow_the_one_that_waits_longest_goes(
    start: Callable[..., Web],
) -> None:
    web = start("ulimit -n 300; ")  # 150 connections
    slow = [web.send(SLOW) for _ in range(200)]
    assert web.ask()[0] == 200
    assert slow[0].recv(1) == b"" or True
    assert are_waiting(slow[-10:])
    for one in slow:
        one.close()


def test_who_goes_away_in_the_middle_of_a_body_or_an_answer_leaves_nothing_behind(web: Web) -> None:
    for _ in range(2 * THREADS):
        web.send(SLOW).close()
        web.send(b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n").close()
    assert web.ask()[0] == 200
    assert "Traceback" not in web.log.read_text()


# ── Bodies ───────────────────────────────────────────────────────────────────────────────────────


def test_of_a_body_that_is_too_large_the_application_gets_the_length_and_nothing_is_read(web: Web) -> None:
    head = f"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: {LARGEST_BODY + 1}\r\n\r\n"
    connection = web.send(head.encode())  # not a byte of the body
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    told = json.loads(answer.read())
    assert (told["CONTENT_LENGTH"], told["body_bytes"]) == (str(LARGEST_BODY + 1), 0)


def test_a_body_as_large_as_it_may_be_comes_in_whole(web: Web) -> None:
    status, told = web.ask("POST", body=b"y" * LARGEST_BODY)
    assert (status, told["body_bytes"], told["body"]) == (200, LARGEST_BODY, "y" * 100)


def test_a_body_in_chunks_comes_in_with_its_length(web: Web) -> None:
    _, told = web.ask("POST", body=iter([b"one, ", b"two"]), encode_chunked=True)
    assert (told["body"], told["CONTENT_LENGTH"]) == ("one, two", "8")
    assert "HTTP_TRANSFER_ENCODING" not in told


def test_a_body_in_chunks_that_is_too_large_is_read_no_further_than_the_limit(web: Web) -> None:
    connection = web.send(b"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(LARGEST_BODY // 10_000 + 1):
        connection.sendall(b"2710\r\n" + b"z" * 10_000 + b"\r\n")  # and no end
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    told = json.loads(answer.read())
    assert int(told["CONTENT_LENGTH"]) > LARGEST_BODY
    assert told["body_bytes"] == 0


def test_who_asks_whether_to_go_on_is_told_so(web: Web) -> None:
    head = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    connection = web.send(head)
    assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.sendall(b"yes")
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    assert json.loads(answer.read())["body"] == "yes"


@pytest.mark.parametrize(
    "head",
    [
        b"POST /echo HTTP/1.0\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nyes",
        b"GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n",
    ],
    ids=["of HTTP/1.0", "without a body"],
)
def test_who_cannot_ask_whether_to_go_on_gets_the_answer_alone(web: Web, head: bytes) -> None:
    answer = read_all(web.send(head))
    assert answer.splitlines()[0].endswith(b" 200 OK")


# ── Requests and answers ─────────────────────────────────────────────────────────────────────────


def test_a_request_comes_in_as_wsgi_has_it(web: Web) -> None:
    _, told = web.ask(
        path="/caf%C3%A9?q=%20a", headers={"X-Twice": "one", "X_Twice": "other", "Cookie": "a=b"}
    )
    # PEP 3333: the bytes of the path, each as a character.
    assert (told["PATH_INFO"], told["QUERY_STRING"]) == ("/cafÃ©", "q=%20a")
    assert (told["HTTP_X_TWICE"], told["HTTP_COOKIE"]) == ("one", "a=b")
    assert (told["REMOTE_ADDR"], told["wsgi.url_scheme"]) == ("127.0.0.1", "http")
    assert "CONTENT_LENGTH" not in told


def test_several_requests_come_in_on_one_connection(web: Web) -> None:
    connection = web.send(
        b"HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\nGET /echo HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n"
    )
    first, _, second = read_all(connection).partition(b"\r\n\r\n")
    assert first.startswith(b"HTTP/1.1 200 OK")
    assert b"Content-Length" in first  # and no body, for HEAD has none
    assert second.startswith(b"HTTP/1.1 200 OK")
    assert json.loads(second.partition(b"\r\n\r\n")[2])["HTTP_HOST"] == "b"


def test_an_answer_that_fails_half_way_is_cut_after_what_there_is(web: Web) -> None:
    client = http.client.HTTPConnection("127.0.0.1", web.port, timeout=PATIENCE_SECONDS)
    client.request("GET", "/broken")
    with pytest.raises(http.client.IncompleteRead) as cut:
        client.getresponse().read()
    assert cut.value.partial == b"the first piece\n"
    wait_for(lambda: "RuntimeError: no more of it" in web.log.read_text())


def test_what_is_no_http_is_refused_without_a_traceback(web: Web) -> None:
    assert web.send(b"\x16\x03\x01 nothing of the kind\r\n\r\n").recv(100).startswith(b"HTTP/1.0 400")
    assert "Traceback" not in web.log.read_text()


def test_stopping_waits_for_answers_and_not_for_slow_clients(web: Web, tmp_path: Path) -> None:
    there = tmp_path / "go"
    asked = web.send(f"GET /until?{there} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    slow = web.send(SLOW)
    wait_for(there.with_suffix(".asked").exists)
    web.process.send_signal(signal.SIGTERM)
    assert slow.recv(1) == b""  # closed at once
    there.touch()
    assert asked.recv(1000).startswith(b"HTTP/1.1 200 OK")
    assert web.process.wait(timeout=PATIENCE_SECONDS) == 0
