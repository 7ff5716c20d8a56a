"""Result files: lossless lines, safe cells, and readers that take back what was written."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricweb.engine.formats import FORMATS
from rubricweb.engine.formats.datasets.files import read_dataset
from rubricweb.engine.formats.formulas import neutralised, restored
from rubricweb.engine.formats.labels.exact import read_labels
from rubricweb.engine.formats.result_files import (
    VERDICT_COLUMNS,
    DatasetHead,
    GroundTruthItem,
    VerdictRow,
    autorubric_dataset,
    ground_truth_csv,
    ground_truth_jsonl,
    verdicts_csv,
    verdicts_jsonl,
)
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.verdict import Verdict

RUBRIC = Rubric([Criterion(requirement="Names Paris", weight=2), Criterion(requirement="Is rude", weight=-1)])
OWN = Rubric([Criterion(requirement="Own", name="own")])
HEAD = DatasetHead("capitals", "Name the capital.", RUBRIC, "Paris.")
PAYLOADS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    '=HYPERLINK("http://x","y")',
    "-",
    "''=1",
    "＝1",
]

ITEMS = [
    GroundTruthItem(
        "1",
        'Paris, "of\ncourse"',
        (Verdict.MET, None),
        ("says so", None),
        thinking="hm",
        description="good",
        metadata={"k": [1]},
    ),
    GroundTruthItem(
        "2",
        "Lyon",
        (Verdict.UNMET,),
        rubric=OWN,
        prompt=[{"role": "user", "content": "hi"}],
        reference="r",
    ),
    GroundTruthItem("3", "…", None),
]


def rows_of(pieces):
    return list(csv.DictReader(io.StringIO("".join(pieces), newline="")))


def test_verdicts_are_long_csv_with_empty_cells_for_what_is_missing():
    rows = [
        VerdictRow(
            "1", "C1", "ann", Verdict.MET, "says so", "human", group="g", weight=-2.5, evidence=("Paris",)
        ),
        VerdictRow("1", "C1", "gpt", None, rater_kind="judge", error="timeout: 60 s", run="12"),
    ]
    first, second = rows_of(verdicts_csv(rows))
    assert tuple(first) == VERDICT_COLUMNS
    assert (first["verdict"], first["weight"], first["evidence"]) == ("MET", "-2.5", '["Paris"]')
    assert (second["verdict"], second["error"], second["weight"], second["run"]) == (
        "",
        "timeout: 60 s",
        "",
        "12",
    )


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_cell_is_a_formula_and_every_label_comes_back(payload):
    row = VerdictRow(payload, payload, payload, Verdict.MET, payload, "human", payload, payload, run=payload)
    written = "".join(verdicts_csv([row]))
    (cells,) = rows_of([written])
    assert all(not cell.startswith(tuple("=+-@\t\r＝")) for cell in cells.values())
    (label,) = read_labels(written.encode(), filename="x.csv")
    # Keys are stripped on reading; the reason is free text and comes back to the letter.
    assert (label.item_id, label.criterion, label.rater) == (payload.strip(),) * 3
    assert label.reason == payload


@pytest.mark.parametrize("number", ["-1", "+1", "-1.5", "-.5", "-1e-3", "+10."])
def test_numbers_stay_numbers(number):
    assert neutralised(number) == number


@given(st.text())
def test_what_is_made_safe_can_be_restored(text):
    assert restored(neutralised(text)) == text


def test_jsonl_is_lossless():
    rows = [
        VerdictRow(
            "1", "C1", payload, Verdict.CANNOT_ASSESS, payload + "\u2028\n", weight=0.1, evidence=("a", "b")
        )
        for payload in PAYLOADS
    ]
    lines = "".join(verdicts_jsonl(rows)).split("\n")[:-1]
    back = [json.loads(line) for line in lines]
    # Nobody said MET or UNMET, so nothing moved a score.
    assert [row.pop("effect") for row in back] == [None] * len(rows)
    assert [row.pop("origin") for row in back] == [None] * len(rows)
    assert [VerdictRow(**{**row, "evidence": tuple(row["evidence"])}) for row in back] == rows


def test_ground_truth_in_long_form_is_read_as_labels():
    labels = read_labels("".join(ground_truth_csv(ITEMS, HEAD)).encode(), filename="x.csv")
    assert [
        (label.item_id, label.criterion, label.rater, label.verdict, label.reason) for label in labels
    ] == [
        ("1", "C1", "ground_truth", "MET", "says so"),
        ("2", "own", "ground_truth", "UNMET", ""),
    ]


def test_ground_truth_jsonl_is_read_back_as_the_same_items():
    dataset = read_dataset("".join(ground_truth_jsonl(ITEMS, HEAD)).encode(), filename="x.jsonl")
    first, second, third = dataset.items
    assert (first.submission, first.thinking, first.description) == ('Paris, "of\ncourse"', "hm", "good")
    assert (first.ground_truth, first.ground_truth_reasons) == (("MET", None), ("says so", None))
    assert (first.metadata, first.prompt, first.reference) == ({"k": [1]}, "Name the capital.", "Paris.")
    assert (first.rubric, second.rubric, third.rubric) == (RUBRIC, OWN, RUBRIC)
    assert second.prompt == [{"role": "user", "content": "hi"}]
    assert third.ground_truth is None


def test_an_autorubric_dataset_is_read_back_as_the_same_dataset():
    written = "".join(autorubric_dataset(ITEMS, HEAD))
    dataset = read_dataset(written.encode(), filename="x.json")
    assert (dataset.name, dataset.prompt, dataset.rubric) == ("capitals", "Name the capital.", RUBRIC)
    assert dataset.reference == "Paris."
    assert [item.rubric for item in dataset.items] == [None, OWN, None]
    assert [item.ground_truth for item in dataset.items] == [("MET", None), ("UNMET",), None]
    assert json.loads(written)["items"][1]["reference_submission"] == "r"


def test_an_empty_export_is_still_a_file():
    assert json.loads("".join(autorubric_dataset([], DatasetHead())))["items"] == []
    assert "".join(ground_truth_jsonl([], HEAD)) == ""
    assert rows_of(verdicts_csv([])) == []


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_streams_and_refuses_labels_that_do_not_fit(name):
    def endless():
        while True:
            yield ITEMS[0]

    pieces = FORMATS[name].write_ground_truth(endless(), HEAD)
    assert any("MET" in next(pieces) for _ in range(50))
    for items in ([GroundTruthItem("1", "s", (Verdict.MET,))], [GroundTruthItem("1", "s", None)]):
        head = HEAD if items[0].ground_truth else DatasetHead()
        with pytest.raises(ValueError, match="item '1' has"):
            list(FORMATS[name].write_ground_truth(items, head))


CHOICES = Rubric.from_dict(
    [
        {
            "name": "clear",
            "requirement": "How clear?",
            "options": [{"label": label, "value": 0.5} for label in (*PAYLOADS[:4], "Low", "-3.5")],
        },
        {"name": "size", "check": "length_between", "params": {"max": 10}},
    ]
)


def test_option_labels_come_back_from_every_form_of_ground_truth():
    labels = [option.label for option in CHOICES.criteria[0].options]
    items = [GroundTruthItem(str(i), "text", (label, None)) for i, label in enumerate(labels)]
    head = DatasetHead(rubric=CHOICES)
    table = "".join(ground_truth_csv(items, head))
    for row in list(csv.reader(io.StringIO(table)))[1:]:
        assert row[3] == "-3.5" or row[3][0] in "'L"
    read = read_labels(table.encode(), filename="x.csv", rubric=CHOICES)
    assert [record.verdict for record in read] == labels
    for write in (ground_truth_jsonl, autorubric_dataset):
        lines = "".join(write(items, head))
        found = (
            json.loads(lines)["items"] if write is autorubric_dataset else map(json.loads, lines.splitlines())
        )
        assert [item["ground_truth"] for item in found] == [[label, None] for label in labels]


def test_what_a_check_measured_is_a_number_beside_an_empty_verdict():
    row = VerdictRow("i", "size", "run 1", None, rater_kind="judge", kind="check", value=0.25)
    assert "".join(verdicts_csv([row])).splitlines()[1].startswith("i,size,run 1,,,check,0.25,judge,")
    line = json.loads("".join(verdicts_jsonl([row])))
    assert (line["verdict"], line["kind"], line["value"]) == (None, "check", 0.25)


def test_ground_truth_in_long_form_says_what_each_label_counts_as():
    found = rows_of(ground_truth_csv([GroundTruthItem("1", "s", ("Low", None))], DatasetHead(rubric=CHOICES)))
    assert [(row["verdict"], row["kind"], row["value"]) for row in found] == [("Low", "choice", "0.5")]
    binary = rows_of(ground_truth_csv([GroundTruthItem("1", "s", (Verdict.UNMET, "CANNOT_ASSESS"))], HEAD))
    assert [(row["kind"], row["value"]) for row in binary] == [("binary", "0.0"), ("binary", "")]
