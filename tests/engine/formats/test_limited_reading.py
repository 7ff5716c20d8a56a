"""Files are read in a process of its own with limits: the same comes of it, and no file holds anybody up."""

import json
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rubricweb.engine.errors import InvalidFile, InvalidText
from rubricweb.engine.formats.content_ids import numbered_ids
from rubricweb.engine.formats.datasets.files import ENOUGH_FAULTS, read_dataset
from rubricweb.engine.formats.limited_reading import ReadersBusy, read_limited
from rubricweb.engine.parsers.yaml_text import MAX_VALUES, parse_yaml
from tests.waiting import PATIENCE_SECONDS, wait_for

ITEMS = [
    {"id": f"i{n}", "submission": f"Text {n}", "rubric": [{"weight": 1, "requirement": "Names a city."}]}
    for n in range(3)
]


def forever(data: bytes) -> None:
    while True:
        pass


def greedy(data: bytes) -> None:
    held = [bytearray(1 << 30)]
    while True:
        held.append(bytearray(1 << 30))


def until(folder: Path) -> str:
    """Reads until it may be done."""
    (folder / "begun").touch()
    while not (folder / "done").exists():
        time.sleep(0.01)
    return "read"


def broken(data: bytes) -> None:
    raise LookupError("a bug of ours")


def test_what_is_read_apart_is_what_is_read_here() -> None:
    data = json.dumps(ITEMS).encode()
    here = read_dataset(data, filename="a.json")
    assert read_limited(read_dataset, data, filename="a.json", read_here_bytes=0) == here
    with pytest.raises(InvalidFile) as apart:
        read_limited(read_dataset, b"[{}]", filename="a.json", read_here_bytes=0)
    with pytest.raises(InvalidFile) as told:
        read_dataset(b"[{}]", filename="a.json")
    assert apart.value.faults == told.value.faults


@pytest.mark.parametrize("reader", [forever, greedy])
def test_a_reader_that_takes_too_much_is_ended_by_its_process(reader) -> None:
    with pytest.raises(InvalidFile, match="more than 1 seconds or 4 GB of memory") as refused:
        read_limited(reader, b"x", read_here_bytes=0, cpu_seconds=1)
    assert "several smaller files" in refused.value.faults[0].allowed


def test_a_bug_in_a_reader_is_a_bug_and_no_fault_of_the_file() -> None:
    with pytest.raises(RuntimeError, match="a bug of ours"):
        read_limited(broken, b"x", read_here_bytes=0)


def test_no_more_files_are_read_at_once_than_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # the turns of this machine, for this test alone
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    with ThreadPoolExecutor() as threads:
        reading = threads.submit(read_limited, until, first, read_here_bytes=0, at_once=1)
        wait_for((first / "begun").exists)
        with pytest.raises(ReadersBusy):
            read_limited(until, second, read_here_bytes=0, at_once=1)
        waiting = threads.submit(
            read_limited, until, second, read_here_bytes=0, at_once=1, wait_seconds=PATIENCE_SECONDS
        )
        (second / "done").touch()
        (first / "done").touch()
        assert (reading.result(), waiting.result()) == ("read", "read")
    # What is small is read here, whatever else is.
    assert read_limited(until, second, read_here_bytes=1_000_000, at_once=1) == "read"


@pytest.mark.parametrize("line", [b'{"submission": ""}\n', b"{\n", b"7\n"])
def test_a_file_is_read_no_further_than_to_enough_faults(line: bytes) -> None:
    lines = line * (ENOUGH_FAULTS + 5_000)
    with pytest.raises(InvalidFile) as refused:
        read_dataset(lines, filename="a.jsonl")
    assert len(refused.value.faults) + refused.value.more == ENOUGH_FAULTS


def test_yaml_has_a_limit_of_values() -> None:
    assert len(parse_yaml(f"[{'a,' * (MAX_VALUES - 1)}]")) == MAX_VALUES - 1
    with pytest.raises(InvalidText, match="more than 200,000 values"):
        parse_yaml(f"[{'a,' * MAX_VALUES}]")


def test_equal_items_are_numbered_from_where_the_last_one_was() -> None:
    assert next(iter(numbered_ids("a", after=5))) == (6, "a-6")
    rows = [{"submission": "the same"}] * 4
    ids = [item.id for item in read_dataset(json.dumps(rows).encode(), filename="a.json").items]
    assert ids == [ids[0], f"{ids[0]}-2", f"{ids[0]}-3", f"{ids[0]}-4"]
