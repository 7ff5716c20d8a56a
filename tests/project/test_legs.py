"""Every test is run where CONTRIBUTING.md says: at a landing, or each night."""

from pathlib import Path, PurePath

from tests.legs import LEGS, NIGHT, NOT_QUICK, PLACES, POSTGRES, SQLITE, is_quick, legs_of
from tests.progress import read_seconds

TESTS = Path(__file__).resolve().parents[1]
WORDS = {"SQLite": (SQLITE,), "PostgreSQL": (POSTGRES,), "both": LEGS, "at night": NIGHT}


def test_the_table_of_contributing_says_which_leg_runs_what() -> None:
    page = (TESTS.parent / "CONTRIBUTING.md").read_text()
    section = page.partition("\n## Where a test runs")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")][2:]
    (rest, _, leg, _), *rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in table]
    assert (rest, WORDS[leg]) == ("all that has no row below", PLACES["."])
    assert {row[0].removeprefix("tests/").rstrip("/"): WORDS[row[2]] for row in rows} == {
        place: legs for place, legs in PLACES.items() if place != "."
    }


def test_every_place_is_there() -> None:
    assert [place for place in (*PLACES, *NOT_QUICK) if not (TESTS / place).exists()] == []


def test_what_make_test_leaves_out_is_run_by_a_leg_and_named() -> None:
    left_out = [
        file.relative_to(TESTS) for file in TESTS.rglob("test_*.py") if not is_quick(file.relative_to(TESTS))
    ]
    assert left_out
    # RabbitMQ alone waits for the night.
    assert [str(file) for file in left_out if not legs_of(file)] == ["processes/kills/test_rabbitmq.py"]
    page = (TESTS.parent / "CONTRIBUTING.md").read_text()
    assert [place for place in NOT_QUICK if f"`tests/{place}" not in page] == []


def test_seconds_are_of_test_files_that_are_there() -> None:
    assert [place for place in read_seconds() if not (TESTS / place).exists()] == []


def test_the_innermost_place_decides() -> None:
    assert legs_of(PurePath("services/test_demo.py")) == (POSTGRES,)
    assert legs_of(PurePath("services/grading/test_sessions.py")) == LEGS
    assert legs_of(PurePath("processes/kills/test_rabbitmq.py")) == NIGHT
    assert legs_of(PurePath("services/grading/batches/test_batches.py")) == (POSTGRES,)
    assert legs_of(PurePath("a_new_folder/test_something.py")) == (SQLITE,)
