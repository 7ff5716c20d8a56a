"""One person's program at a queue, as a process: takes items, saves verdicts, submits, until none is left.

Its network is bad: now and then it sends a question and is gone before the answer comes, and asks again.
Every verdict the server said it stored is a line in the program's log.
"""

import hashlib
import http.client
import json
import random
import socket
import sys
import time
from typing import Any

from tests.waiting import PATIENCE_SECONDS

CUT_OFF = 0.04
LABELS = ("MET", "UNMET", "CANNOT_ASSESS")


class Lost(Exception):
    """The network went while a question was on its way."""


class Desk:
    """A connection that breaks: as often as `CUT_OFF` says, after the question and before the answer."""

    def __init__(self, port: int, token: str, chance: random.Random) -> None:
        self._port, self._token, self._chance = port, token, chance
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and answer; asks again until there is one."""
        while True:
            try:
                return self._once(method, path, body)
            except (Lost, OSError, http.client.HTTPException):
                self._connection = None
                time.sleep(0.02)

    def _once(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_SECONDS)
            self._connection.connect()
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        text = "" if body is None else json.dumps(body)
        self._connection.request(method, f"/api/v1{path}", text, headers)
        if self._chance.random() < CUT_OFF:
            self._connection.close()
            raise Lost
        answer = self._connection.getresponse()
        said = answer.read()
        return answer.status, json.loads(said) if said else None


def label(rater: str, item: str, criterion: str) -> str:
    """What this person says to this criterion of this item, whenever they are asked."""
    digest = hashlib.sha256(f"{rater} {item} {criterion}".encode()).digest()
    return LABELS[digest[0] % 3]


def review(desk: Desk, rater: str, draft: Any, log: Any) -> None:
    """One item to its end, or to where the server says that others have its places."""
    item = str(draft["item"]["id"])
    for question in draft["criteria"]:
        verdict = label(rater, item, question["criterion"]["name"])
        path = f"/reviews/{draft['id']}/criteria/{question['criterion']['id']}"
        status, said = desk.ask("PUT", path, {"verdict": verdict})
        if status == 409:
            return  # submitted by a question whose answer was lost
        assert status == 200, said
        log.write(f"{draft['id']} {question['criterion']['id']} {verdict}\n")
        log.flush()
    status, said = desk.ask("POST", f"/reviews/{draft['id']}/submit")
    assert status in (200, 409), said


def main(port: int, rater: str, token: str, queue_id: int, log_path: str, seed: int) -> None:
    chance = random.Random(seed)
    desk = Desk(port, token, chance)
    with open(log_path, "a", encoding="utf-8") as log:
        while True:
            status, draft = desk.ask("POST", f"/queues/{queue_id}/next")
            if status == 200:
                review(desk, rater, draft, log)
                continue
            assert status == 204, draft
            _, queue = desk.ask("GET", f"/queues/{queue_id}")
            if queue["progress"]["submitted"] >= queue["progress"]["wanted"]:
                return
            time.sleep(0.3)  # somebody may lose a place yet


if __name__ == "__main__":
    _, port, rater, token, queue_id, log_path, seed = sys.argv
    main(int(port), rater, token, int(queue_id), log_path, int(seed))
