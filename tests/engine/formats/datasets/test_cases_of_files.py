"""Cases, systems and attempts in dataset files."""

import json
from pathlib import Path
from typing import Any

import pytest

from rubricweb.engine import DataItem
from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.dataset_values import RefusedFile
from rubricweb.engine.formats.datasets.files import preview, read_dataset, read_in_batches
from rubricweb.engine.formats.datasets.writers import write_dataset
from rubricweb.engine.parsers.yaml_text import dump_yaml

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


def of_version(rows: list[dict[str, Any]], folder: Path, format: Any = "json") -> Any:
    """The items of a file that is all answers of assistant@v3, as (id, case id, version), or its faults."""
    head = {"name": "asked", "prompt": "Where?", "items": rows}
    path = folder / f"a.{format}"
    if format == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    elif format == "csv":
        path.write_text("id,submission\n" + "".join(f"{row['id']},{row['submission']}\n" for row in rows))
    else:
        path.write_text(json.dumps(head) if format == "json" else dump_yaml(head))
    [file] = read_in_batches(path, filename=path.name, version="assistant@v3")
    if isinstance(file, RefusedFile):
        return [str(fault) for fault in file.faults]
    return [(item.id, item.case_id or item.id, item.system) for item in file.items]


@pytest.mark.parametrize("format", ["jsonl", "csv", "json", "yaml"])
def test_a_version_of_the_whole_file_answers_the_case_of_each_id(format: str, tmp_path: Path) -> None:
    rows = [{"id": "q1", "submission": "x"}, {"id": "q2", "submission": "y"}]
    assert of_version(rows, tmp_path, format) == [
        ("q1", "q1", "assistant@v3"),
        ("q2", "q2", "assistant@v3"),
    ]


def test_a_version_of_the_whole_file_answers_the_cases_it_names(tmp_path: Path) -> None:
    rows = [ROWS[0], {"case_id": "c3", "submission": "x"}, {"id": "own", "case_id": "c4", "submission": "y"}]
    assert of_version(rows, tmp_path) == [
        ("c1@assistant@v3", "c1", "assistant@v3"),
        ("c3@assistant@v3", "c3", "assistant@v3"),
        ("own", "c4", "assistant@v3"),
    ]


def test_rows_without_an_id_answer_the_case_of_their_words(tmp_path: Path) -> None:
    [(id, case_id, version)] = of_version([{"prompt": "Capital of Peru?", "submission": "Lima."}], tmp_path)
    [column] = read([{"prompt": "Capital of Peru?", "submission": "Lima.", "system": "assistant@v3"}])
    assert (id, case_id, version) == (column.id, column.case_id, "assistant@v3")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([ROWS[1]], 'found the text "assistant@v4"; allowed: assistant@v3, the version of the whole file'),
        (
            [{"id": "q1", "submission": "x"}, *answers_to("q1", id="q1b")],
            "items[1].case_id: found a second answer of assistant@v3 to case 'q1' (as items[0])",
        ),
        (
            [*answers_to("q1", id="q1b"), {"id": "q1", "submission": "x"}],
            "items[1].id: found a second answer of assistant@v3 to case 'q1' (as items[0])",
        ),
        (
            [{"submission": "x"}, {"submission": "y"}],
            "a second answer of assistant@v3 to the same prompt (as items[0])",
        ),
    ],
)
def test_a_version_of_the_whole_file_refuses_what_add_items_refuses(
    rows: list[dict[str, Any]], said: str, tmp_path: Path
) -> None:
    [fault] = of_version(rows, tmp_path)
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
