"""Every test is run where CONTRIBUTING.md says: at a landing, or each night."""

from pathlib import Path, PurePath

from tests.legs import LEGS, NIGHT, PLACES, POSTGRES, SQLITE, legs_of

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
    assert [place for place in PLACES if not (TESTS / place).exists()] == []


def test_the_innermost_place_decides() -> None:
    assert legs_of(PurePath("services/test_demo.py")) == (POSTGRES,)
    assert legs_of(PurePath("services/grading/test_sessions.py")) == LEGS
    assert legs_of(PurePath("processes/kills/test_rabbitmq.py")) == NIGHT
    assert legs_of(PurePath("services/grading/batches/test_batches.py")) == (POSTGRES,)
    assert legs_of(PurePath("a_new_folder/test_something.py")) == (SQLITE,)
