"""Tags of cases in dataset files."""

import json
from typing import Any

import pytest

from rubricweb.engine import DataItem
from rubricweb.engine.errors import FaultList, InvalidFile
from rubricweb.engine.formats.datasets.case_tags import read_tags
from rubricweb.engine.formats.datasets.files import preview, read_dataset
from rubricweb.engine.formats.datasets.writers import write_dataset

ROW = {"id": "a", "submission": "Paris."}


def tags_in(*rows: dict[str, Any], **more: Any) -> list[tuple[str, ...]]:
    data = "\n".join(map(json.dumps, rows)).encode()
    return [item.case_tags for item in read_dataset(data, filename="a.jsonl", **more).items]


def refused(*rows: dict[str, Any]) -> str:
    with pytest.raises(InvalidFile) as error:
        tags_in(*rows)
    return "; ".join(map(str, error.value.faults))


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (["Hard", "billing"], ("billing", "hard")),
        ("Hard; billing,hard, ", ("billing", "hard")),
        (["two words", "x", "X"], ("two words", "x")),
        (["Stra\u00dfe", "e\u0301t\u00e9"], ("stra\u00dfe", "\u00e9t\u00e9")),
        ([], ()),
        ("", ()),
        (None, ()),
    ],
)
def test_tags_are_read_in_lower_case_each_once(said: Any, read: tuple[str, ...]) -> None:
    assert tags_in(ROW | {"case_tags": said}) == [read]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (7, "7; allowed: a list of tags"),
        ([7], "7; allowed: a tag as a text"),
        (["a,b"], "without comma and semicolon"),
        (["a;b"], "without comma and semicolon"),
        (["x" * 61], "a tag of 61 characters; allowed: at most 60"),
        (["a\nb"], "a control character in a tag"),
        ([f"t{n}" for n in range(21)], "21 tags; allowed: at most 20"),
        ({"a": 1}, "a list of tags"),
    ],
)
def test_what_is_no_tag_is_refused_with_its_place(said: Any, why: str) -> None:
    found = refused(ROW, ROW | {"id": "b", "case_tags": said})
    assert found.startswith("line 2: case_tags: ")
    assert why in found


def test_a_tag_with_nul_is_refused() -> None:
    faults = FaultList()
    assert read_tags(["a\0"], "tags", faults) == ()
    assert [str(fault) for fault in faults] == ["tags: found a NUL character; allowed: text"]


def test_a_case_has_at_most_twenty_tags_in_all_its_answers() -> None:
    first = ROW | {"case_id": "c", "system": "a@1", "prompt": "?", "case_tags": [f"t{n}" for n in range(15)]}
    more = first | {"id": "b", "system": "a@2", "case_tags": [f"t{n}" for n in range(10, 21)]}
    assert "line 2: case_tags: found 21 tags of case 'c' in all its answers" in refused(first, more)
    assert len(tags_in(first, more | {"case_tags": [f"t{n}" for n in range(10, 20)]})) == 2


def test_a_column_called_tags_is_metadata_until_somebody_says_that_it_holds_tags() -> None:
    row = ROW | {"tags": ["Hard"]}
    data = json.dumps(row).encode()
    [item] = read_dataset(data, filename="a.jsonl").items
    assert (item.case_tags, item.metadata) == ((), {"tags": ["Hard"]})
    assert preview(data, "a.jsonl").suggestions == {"case_tags": "tags"}
    [item] = read_dataset(data, filename="a.jsonl", columns={"case_tags": "tags"}).items
    assert (item.case_tags, item.metadata) == (("hard",), {})


def test_cells_hold_tags_as_a_list_or_with_separators() -> None:
    data = b'id,answer,case_tags\na,x,Hard;billing\nb,y,"hard, german"\nc,z,"[""hard""]"\nd,z2,\n'
    items = read_dataset(data, filename="a.csv").items
    assert [item.case_tags for item in items] == [("billing", "hard"), ("german", "hard"), ("hard",), ()]
    with pytest.raises(InvalidFile, match="a list of tags as JSON"):
        read_dataset(b'id,answer,case_tags\na,x,"[hard"\n', filename="a.csv")


@pytest.mark.parametrize("format", ["json", "jsonl", "csv", "yaml", "parquet"])
def test_tags_survive_being_written_and_files_without_are_as_before(format: Any) -> None:
    rows = [ROW | {"case_tags": ["=1+1", "hard"]}, {"id": "b", "submission": "Rome."}]
    file = read_dataset("\n".join(map(json.dumps, rows)).encode(), filename="a.jsonl")
    written = b"".join(write_dataset(file, format))
    again = read_dataset(written, filename=f"a.{format}")
    assert [item.case_tags for item in again.items] == [("=1+1", "hard"), ()]
    plain = read_dataset(json.dumps(rows[1]).encode(), filename="a.jsonl")
    assert b"case_tags" not in b"".join(write_dataset(plain, format))


def test_the_library_reads_writes_and_checks_them() -> None:
    item = DataItem("x", id="a", case_tags=["Hard"])
    record = item.to_record(None)
    assert record.case_tags == ("hard",)
    assert DataItem.from_record(record).case_tags == ("hard",)
    with pytest.raises(InvalidFile, match=r"item\.case_tags"):
        DataItem("x", case_tags=["a,b"]).to_record(None, "item")
