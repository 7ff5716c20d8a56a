"""Several people who click at the same moment, each a process of its own on one database."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.installation import ROOT, Installation, scratch_installation
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.processes]


OURS = {
    "DJANGO_SETTINGS_MODULE": "rubricweb.settings",
    "RUBRICWEB_LOCAL": "1",
    "OFFLINE_JUDGE_URL": "http://127.0.0.1:9/v1",
}


class Clickers:
    """`at_once("pause 1", "cancel 1")` has each line done by another process, begun together."""

    def __init__(self, installation: Installation, count: int) -> None:
        self._people = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.processes.people.clicker"],
                cwd=ROOT,
                env={**installation.env, **OURS},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(count)
        ]
        for person in self._people:
            assert person.stdout.readline() == "ready\n"

    def at_once(self, *clicks: str) -> list[Any]:
        people = self._people[: len(clicks)]
        for person, click in zip(people, clicks, strict=True):
            person.stdin.write(f"{click}\n")
            person.stdin.flush()
        return [json.loads(person.stdout.readline()) for person in people]

    def alone(self, click: str) -> Any:
        return self.at_once(click)[0]

    def go(self) -> None:
        for person in self._people:
            person.stdin.close()
            person.wait(timeout=PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with scratch_installation() as one:
        yield one


@pytest.fixture(scope="module")
def people(installation: Installation) -> Iterator[Clickers]:
    clickers = Clickers(installation, 4)
    yield clickers
    clickers.go()


@pytest.fixture(scope="module")
def run(people: Clickers) -> int:
    return int(people.alone("start 0"))


@pytest.fixture(autouse=True)
def running(people: Clickers, run: int) -> None:
    """Every test begins with a running run that has something left to do."""
    people.alone(f"add {run}")
    people.alone(f"extend {run}")
    people.alone(f"resume {run}")


def events(installation: Installation, run: int, kind: str) -> int:
    sql = f"SELECT count(*) FROM rubricweb_runevent WHERE run_id = {run} AND kind = '{kind}'"
    return installation.number(sql)


def state(installation: Installation, run: int) -> tuple[str, bool]:
    [[name, ended]] = installation.query(f"SELECT state, finished_at FROM rubricweb_run WHERE id = {run}")
    return name, ended is not None


def left(installation: Installation, run: int) -> int:
    sql = f"SELECT count(*) FROM rubricweb_runitem WHERE run_id = {run} AND graded_at IS NULL"
    return installation.number(sql)


def test_of_four_pauses_one_changes_the_run(people: Clickers, installation: Installation, run: int) -> None:
    before = events(installation, run, "paused")
    assert sorted(people.at_once(*[f"pause {run}"] * 4)) == [False, False, False, True]
    assert state(installation, run) == ("paused", False)
    assert events(installation, run, "paused") == before + 1


def test_of_four_resumes_one_calls_workers_and_three_are_told(people: Clickers, run: int) -> None:
    people.alone(f"pause {run}")
    done = people.at_once(*[f"resume {run}"] * 4)
    assert sorted(map(str, done)) == ["Conflict", "Conflict", "Conflict", "[1, 1]"]


def test_of_four_extensions_one_takes_the_items_in(
    people: Clickers, installation: Installation, run: int
) -> None:
    people.alone(f"add {run}")
    assert sorted(people.at_once(*[f"extend {run}"] * 4)) == [0, 0, 0, 1]
    assert left(installation, run) == 1


def test_a_run_that_ends_while_it_is_extended_does_not_end_with_items_left(
    people: Clickers, installation: Installation, run: int
) -> None:
    for _ in range(8):
        assert people.alone(f"add {run}") == 1
        people.at_once(f"finish {run}", f"extend {run}", f"finish {run}", f"finish {run}")
        assert left(installation, run) == 1
        assert state(installation, run) == ("running", False)


def test_a_pause_a_cancel_and_a_giving_up_leave_one_end(
    people: Clickers, installation: Installation, run: int
) -> None:
    for _ in range(8):
        done = people.at_once(f"pause {run}", f"cancel {run}", f"give-up {run}", f"sweep {run}")
        assert not [answer for answer in done if isinstance(answer, str)], done
        assert state(installation, run) in {("cancelled", True), ("failed", True), ("paused", False)}
        people.alone(f"resume {run}")


def test_items_added_by_four_at_once_are_all_there_in_places_of_their_own(
    people: Clickers, installation: Installation, run: int
) -> None:
    """They choose the same id, so one of them is let in each time; nobody meets a database error."""
    for _ in range(4):
        done = people.at_once(*[f"add {run}"] * 4)
        assert done.count(1) >= 1
        assert set(map(str, done)) <= {"1", "Invalid"}
    positions = installation.query("SELECT position FROM rubricweb_item ORDER BY position")
    assert [position for [position] in positions] == list(range(len(positions)))


def test_four_equal_requests_with_one_key_start_one_run(people: Clickers, run: int) -> None:
    people.at_once(*[f"order {run} warm-{number} warm" for number in range(4)])
    for turn in range(8):
        done = people.at_once(*[f"order {run} equal-{turn} turn-{turn}"] * 4)
        assert [status for status, _ in done] == [201] * 4
        assert len({started for _, started in done}) == 1


def test_of_two_requests_with_one_key_that_differ_one_is_refused(
    people: Clickers, installation: Installation, run: int
) -> None:
    for turn in range(8):
        done = people.at_once(*[f"order {run} differing-{turn} {turn}-{name}" for name in ("a", "b")])
        assert sorted(status for status, _ in done) == [201, 422]
    started = "SELECT count(*) FROM rubricweb_run WHERE name LIKE '%-a' OR name LIKE '%-b'"
    assert installation.number(started) == 8
