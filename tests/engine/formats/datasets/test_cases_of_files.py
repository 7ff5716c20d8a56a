"""Cases, systems and attempts in dataset files."""

import json
from typing import Any

import pytest

from rubricweb.engine import DataItem
from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.datasets.files import preview, read_dataset
from rubricweb.engine.formats.datasets.writers import write_dataset

ROWS = [
    {"case_id": "c1", "system": "assistant@v3", "prompt": "Capital of France?", "submission": "Lyon."},
    {"case_id": "c1", "system": "assistant@v4", "prompt": "Capital of  France?\n", "submission": "Paris."},
    {"case_id": "c2", "system": "assistant@v4", "prompt": "Capital of Peru?", "submission": "Lima."},
]


def answers_to(case_id: str, **more: str) -> list[dict[str, Any]]:
    """One row that answers a case."""
    return [{"case_id": case_id, "submission": "y", **more}]


def read(rows: list[dict[str, Any]], **more: Any) -> Any:
    return read_dataset("\n".join(map(json.dumps, rows)).encode(), filename="a.jsonl", **more).items


def refused(rows: list[dict[str, Any]], **more: Any) -> list[str]:
    with pytest.raises(InvalidFile) as error:
        read(rows, **more)
    return [str(fault) for fault in error.value.faults]


def test_answers_of_two_versions_are_items_of_one_case() -> None:
    items = read(ROWS)
    assert [(item.case_id, item.system, item.attempt) for item in items] == [
        ("c1", "assistant@v3", 1),
        ("c1", "assistant@v4", 1),
        ("c2", "assistant@v4", 1),
    ]
    assert [item.id for item in items] == ["c1@assistant@v3", "c1@assistant@v4", "c2@assistant@v4"]


def test_an_item_keeps_an_id_of_its_own() -> None:
    assert [item.id for item in read([ROWS[0] | {"id": "a"}])] == ["a"]


def test_attempts_tell_answers_of_one_version_to_one_case_apart() -> None:
    items = read([ROWS[0], ROWS[0] | {"attempt": 2, "submission": "Nice."}])
    assert [(item.id, item.attempt) for item in items] == [("c1@assistant@v3", 1), ("c1@assistant@v3#2", 2)]


def test_items_of_a_system_without_a_case_id_are_of_one_case_where_they_are_asked_the_same() -> None:
    first, second, other = read([{k: v for k, v in row.items() if k != "case_id"} for row in ROWS])
    assert first.case_id == second.case_id != other.case_id
    assert first.case_id.startswith("auto-")


@pytest.mark.parametrize("turned", [False, True])
def test_an_item_without_a_case_may_be_answered_by_its_id(turned: bool) -> None:
    rows = [{"id": "q1", "prompt": "1?", "submission": "x"}, *answers_to("q1", prompt="1?", system="a@1")]
    items = read(rows[::-1] if turned else rows)
    assert sorted((item.id, item.case_id, item.system) for item in items) == [
        ("q1", "", ""),
        ("q1@a@1", "q1", "a@1"),
    ]


def test_without_case_and_system_each_item_is_its_own_case() -> None:
    [item] = read([{"submission": "Paris.", "attempt": 3, "system": "You are helpful."}])
    assert (item.case_id, item.system, item.attempt) == ("", "", 1)
    assert item.metadata == {"attempt": 3, "system": "You are helpful."}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [ROWS[0], ROWS[1] | {"prompt": "Capital of Italy?"}],
            "line 2: case_id: found case 'c1' with another prompt, reference or rubric (as line 1)",
        ),
        (
            [ROWS[0], ROWS[0] | {"submission": "Nice."}],
            "a second answer of assistant@v3 to case 'c1' (as line 1)",
        ),
        (
            [{"system": "a@1", "submission": "x"}, {"system": "a@1", "submission": "y"}],
            "a second answer of a@1 to the same prompt (as line 1)",
        ),
        (
            [{"id": "q1", "prompt": "1?", "submission": "x"}, *answers_to("q1", prompt="2?", system="a@1")],
            "line 2: case_id: found case 'q1' with another prompt, reference or rubric (as line 1)",
        ),
        (
            [*answers_to("q1", prompt="2?", system="a@1"), {"id": "q1", "prompt": "1?", "submission": "x"}],
            "line 2: id: found case 'q1' with another prompt, reference or rubric (as line 1)",
        ),
        (
            [{"id": "q1", "submission": "x"}, *answers_to("q1", id="q1b")],
            "line 2: case_id: found a second answer to case 'q1' (as line 1)",
        ),
        (
            [*answers_to("q1", id="q1b"), {"id": "q1", "submission": "x"}],
            "line 2: id: found a second answer to case 'q1' (as line 1)",
        ),
        ([ROWS[0] | {"system": "@v3"}], "a system and its version, as assistant@v4"),
        ([ROWS[0] | {"system": "a/b@v3"}], "a name without / and @"),
        ([ROWS[0] | {"system": f"{'a' * 101}@v3"}], "at most 100"),
        ([ROWS[0] | {"attempt": 0}], "a whole number from 1"),
        ([ROWS[0] | {"attempt": True}], "a whole number from 1"),
        ([ROWS[0] | {"attempt": "often"}], "a whole number from 1"),
        ([ROWS[0] | {"case_id": "c" * 185}], "at most 190, or an id"),
    ],
)
def test_what_is_refused_names_its_place(rows: list[dict[str, Any]], said: str) -> None:
    [fault] = refused(rows)
    assert said in fault


@pytest.mark.parametrize("format", ["json", "jsonl", "csv", "yaml"])
def test_cases_and_systems_survive_being_written(format: Any) -> None:
    rows = [ROWS[0], ROWS[1], ROWS[0] | {"attempt": 2, "submission": "Nice."}]
    file = read_dataset("\n".join(map(json.dumps, rows)).encode(), filename="a.jsonl")
    written = b"".join(write_dataset(file, format))
    again = read_dataset(written, filename=f"a.{format}")
    wanted = [(item.id, item.case_id, item.system, item.attempt) for item in file.items]
    assert [(item.id, item.case_id, item.system, item.attempt) for item in again.items] == wanted


def test_files_without_cases_are_written_as_before() -> None:
    plain = b'{"id": "a", "submission": "Paris.", "description": ""}\n'
    file = read_dataset(plain, filename="a.jsonl")
    assert b"".join(write_dataset(file, "jsonl")) == plain


def test_a_preview_suggests_columns_that_may_name_cases_and_systems() -> None:
    rows = b'{"question_id": 7, "model": "gpt", "answer": "x", "system": "Be brief."}'
    seen = preview(rows, "a.jsonl")
    assert seen.suggestions == {"case_id": "question_id", "system": "system"}
    assert "system" not in seen.mapping
    items = read_dataset(
        rows, filename="a.jsonl", columns={"case_id": "question_id", "system": "model"}
    ).items
    assert [(item.case_id, item.system, item.id) for item in items] == [("7", "gpt", "7@gpt")]


def test_the_library_reads_and_writes_them_as_well() -> None:
    [record] = read([ROWS[0]])
    item = DataItem.from_record(record)
    assert (item.case_id, item.system, item.attempt) == ("c1", "assistant@v3", 1)
    assert item.to_record(None) == record
    with pytest.raises(InvalidFile, match="as assistant@v4"):
        DataItem("x", system="@").to_record(None)
