"""A try through our own web server: its lines are there as they come, and who leaves ends the asking."""

import json
import urllib.request
from collections.abc import Callable
from http.client import HTTPResponse

import pytest

from tests.installation import Installation
from tests.processes.conftest import Serve, SlowJudge, wait_for
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.processes

RUBRIC = {
    "title": "Capitals",
    "criteria": [
        {"name": "quick", "requirement": "Names Paris."},
        {"name": "slow", "requirement": "Is patient."},
    ],
}
HANGING = {"rules": [{"requirement": "patient", "actions": [{"kind": "hang", "seconds": 600}]}]}


def test_lines_are_there_as_they_come_and_who_leaves_ends_the_asking(
    installation: Installation, serve: Callable[..., Serve], judge: SlowJudge
) -> None:
    serving = serve("--owner", "olga", OFFLINE_JUDGE_URL=f"{judge.root}/v1")
    token = installation.run("tokens", "new", "tries", "--write", "--days", "1").stdout.strip()
    judge.script(HANGING)
    body = {"judge": "offline", "submission": {"output": "Paris."}, "rubric": RUBRIC}
    request = urllib.request.Request(
        f"{serving.address}/api/v1/named-judges/tries",
        json.dumps(body).encode(),
        {
            "Authorization": f"Bearer {token}",
            "Accept": "application/x-ndjson",
            "Content-Type": "application/json",
        },
    )
    answer: HTTPResponse = urllib.request.urlopen(request, timeout=PATIENCE_SECONDS)
    assert json.loads(answer.readline())["kind"] == "item"
    # The quick one is here while the slow one hangs.
    while (line := json.loads(answer.readline()))["kind"] != "answer":
        assert line["kind"] == "waiting"
    assert line["answer"]["criteria"][0]["criterion"] == "quick"
    assert judge.in_flight() == 1
    answer.close()
    wait_for(lambda: judge.in_flight() == 0, serving)
