"""What monitoring is told of a running installation: database, broker and worker answer."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from tests.processes.conftest import Serve, wait_for

pytestmark = pytest.mark.processes


def told(server: Serve) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"{server.address}/ready") as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_with_a_worker_that_beats_it_is_ready(serve: Callable[..., Serve]) -> None:
    server = serve()
    wait_for(lambda: told(server) == (200, {"database": "ok", "broker": "ok", "workers": 1}), server)
