"""`rubricweb serve` beside clients that send slowly, and those that send far too much."""

import http.client
import json
import select
import socket
import urllib.parse
from collections.abc import Callable

import pytest

from tests.processes.conftest import Serve
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.processes

BEGINNINGS = (
    b"",
    b"GET / HT",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ",
    b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\nlogin=",
    b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nlog",
)
THREADS = 16
"""Of both web processes: as many slow clients took them all once."""


def connected(serve: Serve, data: bytes) -> socket.socket:
    address = urllib.parse.urlsplit(serve.address)
    connection = socket.create_connection((address.hostname, address.port), timeout=PATIENCE_SECONDS)
    connection.sendall(data)
    return connection


def still_waiting(connections: list[socket.socket]) -> int:
    """How many of them the server has neither answered nor closed."""
    poll = select.poll()
    for one in connections:
        poll.register(one, select.POLLIN | select.POLLHUP)
    return len(connections) - len(poll.poll(0))


def answer_to(connection: socket.socket) -> tuple[int, str, str]:
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    return answer.status, answer.headers["Content-Type"], answer.read().decode()


def test_health_answers_beside_500_clients_that_never_finish(serve: Callable[..., Serve]) -> None:
    running = serve()
    slow = [connected(running, BEGINNINGS[number % len(BEGINNINGS)]) for number in range(500)]
    assert running.healthy()
    assert still_waiting(slow) > THREADS
    # Stopping waits for none of them.
    assert running.stop() == 0
    for one in slow:
        one.close()


def test_150_mb_from_nobody_are_refused_before_a_byte_of_them_is_read(serve: Callable[..., Serve]) -> None:
    running = serve()
    head = "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 150000000\r\n"
    head += "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
    status, kind, page = answer_to(connected(running, head.format("/accounts/login/").encode()))
    assert (status, kind) == (413, "text/html; charset=utf-8")
    assert "larger than 64 KB, the most this server takes from somebody who is not signed in" in page
    status, kind, body = answer_to(connected(running, head.format("/api/v1/datasets/import").encode()))
    assert (status, kind) == (413, "application/problem+json")
    assert json.loads(body)["detail"].startswith("The request is larger than 50 MB, the most this address")
