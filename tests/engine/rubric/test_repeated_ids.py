"""An id names a submission: it may come again with another rubric, never with another text."""

import json
from typing import Any

import pytest

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.datasets.files import read_dataset

RUBRIC = [{"weight": 1, "requirement": "Names Paris."}]
OTHER = [{"weight": 1, "requirement": "Is short."}]


def ids(*rows: dict[str, Any]) -> list[str]:
    data = "\n".join(json.dumps(row) for row in rows).encode()
    return [item.id for item in read_dataset(data, filename="rows.jsonl").items]


def test_the_same_submission_under_another_rubric_is_numbered() -> None:
    one = {"id": "x", "prompt": "Where?", "submission": "Paris."}
    assert ids(one | {"rubric": RUBRIC}, one | {"rubric": OTHER}, one | {"rubric": OTHER}) == [
        "x",
        "x#2",
        "x#3",
    ]


@pytest.mark.parametrize(
    "second",
    [
        pytest.param({"submission": "Rome.", "rubric": OTHER}, id="another submission"),
        pytest.param({"submission": "Paris.", "prompt": "Who?", "rubric": OTHER}, id="another prompt"),
        pytest.param({"submission": "Paris."}, id="no rubric of its own"),
    ],
)
def test_anything_else_under_a_used_id_is_refused(second: dict[str, Any]) -> None:
    with pytest.raises(InvalidFile) as refusal:
        ids({"id": "x", "submission": "Paris.", "rubric": RUBRIC}, {"id": "x"} | second)
    assert [fault.place for fault in refusal.value.faults] == ["line 2: id"]
    assert "again (as line 1)" in refusal.value.faults[0].found
