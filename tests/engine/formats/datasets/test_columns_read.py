"""What the columns of a file are read as is said, and a column of the user's own ids is taken for the id."""

import json

import pytest

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.datasets.files import preview, read_import, read_in_batches
from rubricweb.engine.formats.datasets.item_reader import MOST_COLUMNS


def jsonl(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read(data, filename="x.jsonl", **options):
    return read_import(data, filename=filename, **options)


ASKED = [{"question_id": f"q{n}", "instruction": "Add.", "answer": str(n), "topic": "sums"} for n in range(3)]


@pytest.mark.parametrize("filename", ["x.jsonl", "x.json", "x.csv"])
def test_each_column_is_named_with_what_it_was_read_as(tmp_path, filename):
    data = jsonl(*ASKED)
    if filename == "x.json":
        data = json.dumps(ASKED).encode()
    if filename == "x.csv":
        rows = [",".join(row.values()) for row in ASKED]
        data = "\n".join([",".join(ASKED[0]), *rows]).encode()
    path = tmp_path / filename
    path.write_bytes(data)
    *_, streamed = read_in_batches(path, filename=filename)
    for file in (read(data, filename), streamed):
        assert [(item.id, item.prompt, item.submission, item.metadata) for item in file.items] == [
            (f"q{n}", "Add.", str(n), {"topic": "sums"}) for n in range(3)
        ]
        assert str(file.columns) == (
            "id ← question_id (unique values), submission ← answer, prompt ← instruction; metadata: topic"
        )


def test_columns_called_like_their_fields_are_named_once_and_made_ids_are_said():
    file = read(jsonl({"submission": "s", "prompt": "p"}))
    assert str(file.columns) == "submission, prompt; ids are made from the content"


def test_an_instruction_is_the_prompt_before_the_input_beside_it():
    (item,) = read(jsonl({"instruction": "Translate.", "input": "Guten Tag", "output": "Hello"})).items
    assert (item.prompt, item.submission, item.metadata) == ("Translate.", "Hello", {"input": "Guten Tag"})


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        ([{"uid": 0}, {"uid": 1}], "uid"),
        ([{"topic_id": "t1", "key": "a"}, {"topic_id": "t2", "key": "b"}], "key"),
        ([{"ticketId": "A-1"}, {"ticketId": "A-2"}], "ticketId"),
        ([{"Ticket-Key": "A-1"}, {"Ticket-Key": "A-2"}], "Ticket-Key"),
        ([{"question_id": "a"}, {"question_id": "a"}], ""),  # twice
        ([{"question_id": "a"}, {}], ""),  # not everywhere
        ([{"question_id": "a"}, {"question_id": " "}], ""),
        ([{"score_id": 1.5}, {"score_id": 2.5}], ""),  # no ids
        ([{"index": 0, "row_id": 1}, {"index": 1, "row_id": 2}], ""),  # counters of rows
        ([{"topic": "a", "valid": "b"}, {"topic": "c", "valid": "d"}], ""),
        ([{"question_id": "a", "case_id": "c1"}, {"question_id": "b", "case_id": "c2"}], ""),
        ([{"question_id": "a"}, {"question_id": "b", "id": "x"}], ""),
    ],
)
def test_a_column_whose_name_and_values_are_ids_is_taken_for_the_id(tmp_path, rows, column):
    data = jsonl(*({"submission": f"s{n}", **row} for n, row in enumerate(rows)))
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    *_, streamed = read_in_batches(path, filename="x.jsonl")
    for file in (read(data), streamed):
        assert file.columns.own_id == bool(column)
        if column:
            assert [item.id for item in file.items] == [str(row[column]) for row in rows]
    seen = preview(data, "x.jsonl")
    assert (seen.own_id, seen.mapping.get("id", "") if seen.own_id else "") == (bool(column), column)


def test_a_column_that_repeats_far_below_is_not_taken():
    rows = [{"submission": f"s{n}", "question_id": f"q{n % 3_000}"} for n in range(6_000)]
    assert not read(jsonl(*rows)).columns.own_id


def test_who_says_that_no_column_is_the_id_gets_ids_made_from_the_content():
    file = read(jsonl(*ASKED), columns={"id": ""})
    assert all(item.id.startswith("auto-") for item in file.items)
    assert file.items[0].metadata["question_id"] == "q0"


@pytest.mark.parametrize(
    ("data", "filename"),
    [
        (jsonl({"uid": 1, "model_reply": "hi"}, {"uid": 2, "model_reply": "ho"}), "x.jsonl"),
        (json.dumps([{"uid": 1, "model_reply": "hi"}] * 30).encode(), "x.json"),
        (json.dumps({"items": [{"uid": 1, "model_reply": "hi"}] * 2}).encode(), "x.json"),
        (b"- {uid: 1, model_reply: hi}\n- {uid: 2, model_reply: ho}\n", "x.yaml"),
    ],
)
def test_keys_among_which_is_no_submission_are_named_once(data, filename):
    with pytest.raises(InvalidFile) as refused:
        read(data, filename)
    [fault] = refused.value.faults
    assert (fault.place, fault.found) == ("submission", "the keys uid, model_reply")


def test_a_row_without_a_submission_among_others_is_named_by_its_place():
    with pytest.raises(InvalidFile) as refused:
        read(jsonl({"uid": 1}, {"uid": 2, "output": "x"}, {"uid": 3}))
    assert [fault.place for fault in refused.value.faults] == ["line 1: submission", "line 3: submission"]


def test_a_file_of_many_keys_names_the_first_and_counts_the_others():
    file = read(jsonl({"submission": "s", **{f"k{n}": n for n in range(300)}}))
    assert len(file.columns.metadata) == MOST_COLUMNS
    assert str(file.columns).endswith("k19 and 180 more")
