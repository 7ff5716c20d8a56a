"""What was written is read back as it was, in every format that can hold it."""

import json
import uuid

import pytest
from hypothesis import given, settings

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.dataset_values import DatasetFile, ItemRecord
from rubricweb.engine.formats.datasets.files import read_dataset
from rubricweb.engine.formats.datasets.writers import DATASET_FORMATS, write_dataset
from tests.engine.formats.strategies import dataset_files

PATIENT = settings(max_examples=30)


def read_back(file, format):
    return read_dataset(b"".join(write_dataset(file, format)), filename=f"file.{format}")


def in_force(file):
    return [
        (
            item.id,
            item.submission,
            item.thinking,
            item.description,
            item.metadata,
            item.ground_truth,
            item.ground_truth_reasons,
            item.ground_truth_provenance,
            item.labels,
            item.label_reasons,
            file.prompt_for(item),
            file.reference_for(item),
            file.rubric_for(item),
        )
        for item in file.items
    ]


@pytest.mark.parametrize("format", ["json", "yaml", "parquet"])
def test_whole_formats_give_an_equal_dataset(format):
    @given(dataset_files())
    @PATIENT
    def check(file):
        assert read_back(file, format) == file

    check()


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_line_formats_give_equal_items_with_what_is_in_force(format):
    @given(dataset_files())
    @PATIENT
    def check(file):
        read = read_back(file, format)
        assert in_force(read) == in_force(file)
        assert read.labels == file.labels

    check()


def test_there_is_no_format_without_a_round_trip():
    assert set(DATASET_FORMATS) == {"json", "yaml", "parquet", "jsonl", "csv"}


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="allowed: json"):
        write_dataset(DatasetFile("", None, None, None, ()), "xlsx")


def test_cells_of_our_own_csv_are_safe_in_a_spreadsheet():
    file = DatasetFile(
        "", None, None, None, (ItemRecord("-1", "=cmd()", reference="@x"), ItemRecord("a", "'=1"))
    )
    text = b"".join(write_dataset(file, "csv")).decode()
    assert "\n-1,'=cmd()," in text.replace("\r\n", "\n")
    assert in_force(read_dataset(text.encode(), filename="x.csv")) == in_force(file)


def test_the_csv_of_others_keeps_its_apostrophes():
    (item,) = read_dataset(b"submission\n'=quoted\n", filename="x.csv").items
    assert item.submission == "'=quoted"


# ── Raters' labels ───────────────────────────────────────────────────────────────────────────────

RUBRIC = [{"name": "a", "requirement": "x"}, {"name": "b", "requirement": "y"}]


def test_raters_labels_come_as_lists_or_by_criterion():
    items = [{"id": 1, "submission": "s", "labels": {"ann": ["MET", None], " ben ": {"B ": "unmet"}}}]
    file = read_dataset(json.dumps({"rubric": RUBRIC, "items": items}).encode(), filename="x.json")
    assert file.items[0].labels == {"ann": ("MET", None), "ben": (None, "UNMET")}
    assert [(label.criterion, label.rater, label.verdict) for label in file.labels] == [
        ("a", "ann", "MET"),
        ("b", "ben", "UNMET"),
    ]


def test_reasons_by_criterion_are_found_as_labels_are():
    text = """
rubric: [{name: "2024", requirement: x}, {name: b, requirement: y}]
items:
  - submission: s
    labels: {ann: {2024: MET, b: UNMET}}
    label_reasons: {ann: {2024: Because., " B": So.}}
"""
    (item,) = read_dataset(text.encode(), filename="x.yaml").items
    assert item.label_reasons == {"ann": ("Because.", "So.")}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("- {submission: s, 1: a, '1': b}", "items[0].1"),
        ("- {submission: s, metadata: {flags: {true: a, 'True': b}}}", "items[0].metadata.flags.True"),
    ],
)
def test_keys_that_are_the_same_as_text_are_refused(text, place):
    with pytest.raises(InvalidFile) as refused:
        read_dataset(text.encode(), filename="x.yaml")
    assert [(fault.place, fault.found) for fault in refused.value.faults] == [(place, "this key twice")]


def test_a_list_of_labels_is_somebodys_tags():
    (item,) = read_dataset(b'[{"submission": "s", "labels": ["x"]}]', filename="x.json").items
    assert (item.labels, item.metadata) == ({}, {"labels": ["x"]})


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"labels": {"ann": ["MET"]}}, "labels.ann"),
        ({"labels": {"ann": ["MET", "yes"]}}, "labels.ann[1]"),
        ({"labels": {"ann": {"c": "MET"}}}, "labels.ann.c"),
        ({"labels": {"ann": {"a": "MET", "A": "MET"}}}, "labels.ann.A"),
        ({"labels": {"": []}}, "labels"),
        ({"labels": {"ann": "MET"}}, "labels.ann"),
        ({"label_reasons": {"ann": ["r", "r"]}}, "label_reasons.ann"),
        ({"labels": {"ann": ["MET", "MET"]}, "label_reasons": {"ann": ["r"]}}, "label_reasons.ann"),
        ({"labels": {"ann": ["MET", "MET"]}, "label_reasons": {"ann": {"a": 5}}}, "label_reasons.ann.a"),
        (
            {"labels": {"ann": ["MET", "MET"]}, "label_reasons": {"ann": {"a": "r", "A": "r"}}},
            "label_reasons.ann.A",
        ),
        ({"labels": {"ann": ["MET", None]}, "label_reasons": {"ann": ["r", "r"]}}, "label_reasons.ann[1]"),
        ({"labels": {"ann": {"a": "MET"}}, "label_reasons": {"ann": {"B": "r"}}}, "label_reasons.ann.B"),
        ({"ground_truth": ["MET", None], "ground_truth_reasons": ["r", "r"]}, "ground_truth_reasons[1]"),
    ],
)
def test_faulty_labels_are_refused_with_their_place(fields, place):
    data = {"rubric": RUBRIC, "items": [{"submission": "s"} | fields]}
    with pytest.raises(InvalidFile) as refused:
        read_dataset(json.dumps(data).encode(), filename="x.json")
    assert [fault.place for fault in refused.value.faults] == [f"items[0].{place}"]


KEY = "ground_truth_provenance"
PROVENANCE = {
    "rule": "majority",
    "decided_at": "2026-01-02T03:04:05+00:00",
    "labels": [{"rater": "ann", "is_judge": False, "verdict": "MET"}],
}


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({KEY: [None, PROVENANCE]}, ""),
        ({KEY: "majority"}, KEY),
        ({KEY: [PROVENANCE]}, KEY),
        ({KEY: [None, "majority"]}, f"{KEY}[1]"),
        (
            {KEY: [None, PROVENANCE | {"rule": "fate"}]},
            f"{KEY}[1].rule",
        ),
        ({KEY: [None, PROVENANCE | {"by": "ed"}]}, f"{KEY}[1].by"),
        (
            {KEY: [None, PROVENANCE | {"decided_at": "noon"}]},
            f"{KEY}[1].decided_at",
        ),
        (
            {
                "ground_truth_provenance": [
                    PROVENANCE | {"labels": [{"rater": "ann", "is_judge": False}]},
                    None,
                ]
            },
            f"{KEY}[0].labels[0].verdict",
        ),
        ({KEY: [None, None], "ground_truth": None}, KEY),
    ],
)
def test_faulty_provenance_is_refused_with_its_place(fields, place):
    item = {"submission": "s", "ground_truth": ["MET", "UNMET"]} | fields
    data = json.dumps({"rubric": RUBRIC, "items": [item]}).encode()
    if not place:
        [read] = read_dataset(data, filename="x.json").items
        assert read.ground_truth_provenance[0] is None
        assert read.ground_truth_provenance[1].labels == tuple(PROVENANCE["labels"])
        return
    with pytest.raises(InvalidFile) as refused:
        read_dataset(data, filename="x.json")
    assert [fault.place for fault in refused.value.faults] == [f"items[0].{place}"]


def test_choice_labels_are_spelled_as_the_rubric_does_and_checks_have_none():
    rubric = [
        {"requirement": "How?", "options": [{"label": "Good", "value": 1}, {"label": "Bad", "value": 0}]},
        {"check": "length_between", "params": {"min": 1}},
    ]

    def read(truth):
        data = {"rubric": rubric, "items": [{"submission": "s", "ground_truth": truth}]}
        return read_dataset(json.dumps(data).encode(), filename="x.json").items[0].ground_truth

    assert read([" good", None]) == ("Good", None)
    with pytest.raises(InvalidFile) as refused:
        read(["MET", "MET"])
    assert [(fault.place, fault.allowed[:9]) for fault in refused.value.faults] == [
        ("items[0].ground_truth[0]", "Good, Bad"),
        ("items[0].ground_truth[1]", "null: a c"),
    ]


# ── Parquet ──────────────────────────────────────────────────────────────────────────────────────


def test_parquet_of_others_is_read_with_nested_columns():
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    import datetime

    table = pa.table(
        {
            "question": ["q"],
            "response": ["r"],
            "rubric": [[{"requirement": "x", "weight": 2.0, "name": None}]],
            "when": [datetime.date(2024, 5, 1)],
            "gap": pa.array([None], pa.string()),
        }
    )
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    (item,) = read_dataset(sink.getvalue().to_pybytes(), filename="anything").items
    assert (item.prompt, item.submission, item.metadata) == ("q", "r", {"when": "2024-05-01"})
    assert item.rubric.weights == (2.0,)


def parquet_value(value):
    """The metadata that one value in a column of its own becomes."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"submission": ["s"], "value": value(pa)}), sink)
    (item,) = read_dataset(sink.getvalue().to_pybytes(), filename="x.parquet").items
    return item.metadata["value"]


def test_parquet_values_become_plain_data():
    text = "12345678-1234-5678-1234-567812345678"
    if hasattr(pytest.importorskip("pyarrow"), "uuid"):
        assert parquet_value(lambda pa: pa.array([uuid.UUID(text).bytes], pa.uuid())) == text
    half = parquet_value(lambda pa: pa.array([1.5], pa.float32()).cast(pa.float16()))
    assert (type(half), half) == (float, 1.5)


def test_a_parquet_bomb_is_refused():
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"submission": ["x" * 100_000] * 2_000}), sink)  # 200 MB in a few kilobytes
    data = sink.getvalue().to_pybytes()
    assert len(data) < 1_000_000
    with pytest.raises(InvalidFile, match="expand"):
        read_dataset(data, filename="x.parquet")


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch):
    file = DatasetFile("", None, None, None, (ItemRecord("a", "s"),))
    data = b"".join(write_dataset(file, "parquet"))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(InvalidFile, match=r"rubricweb\[parquet\]"):
        read_dataset(data, filename="x.parquet")
    with pytest.raises(ValueError, match=r"rubricweb\[parquet\]"):
        list(write_dataset(file, "parquet"))
