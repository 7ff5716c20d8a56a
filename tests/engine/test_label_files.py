"""Label files: one verdict per line, every fault with its line."""

import pytest

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.label_files import LabelRecord, read_labels
from rubricweb.engine.verdict import Verdict

HEADER = "item_id,criterion,rater,verdict,reason\n"


def faults(data, filename="labels.csv"):
    with pytest.raises(InvalidFile) as refused:
        read_labels(data.encode(), filename=filename)
    return [(fault.place, fault.found) for fault in refused.value.faults]


def test_csv_and_jsonl_give_the_same_labels():
    expected = (LabelRecord(2, "7", "pace", "ann", Verdict.MET, "flows"),)
    assert read_labels((HEADER + "7,pace,ann, met ,flows\n").encode(), filename="x.csv") == expected
    line = '\n{"item_id": 7, "criterion": "pace", "rater": "ann", "verdict": "MET", "reason": "flows"}'
    assert read_labels(line.encode(), filename="x.jsonl") == expected


def test_the_reason_is_optional_and_further_columns_are_ignored():
    data = "Rater,item_id,criterion,verdict,seconds\nann,i,c,UNMET,12\n"
    assert read_labels(data.encode(), filename="x.csv") == (LabelRecord(2, "i", "c", "ann", Verdict.UNMET),)


def test_what_spreadsheets_made_safe_is_restored():
    data = HEADER + "'-a,c,'@rae,MET,'=1+1\n"
    (label,) = read_labels(data.encode(), filename="x.csv")
    assert (label.item_id, label.rater, label.reason) == ("-a", "@rae", "=1+1")


def test_all_faults_are_told_with_their_lines():
    data = HEADER + "i,c,ann,yes,\n,c,ann,MET,\ni,c,ann,,\ni,c,ann,MET,\ni,C,ann,UNMET,\ni,c\n"
    assert faults(data) == [
        ("line 2: verdict", 'the text "yes"'),
        ("line 3: item_id", "nothing"),
        ("line 4: verdict", "nothing"),
        ("line 6", "a second verdict by 'ann' on 'C' of 'i' (as line 5)"),
        ("line 7", "2 cells"),
    ]


def test_keys_too_long_to_store_are_refused():
    assert faults(HEADER + f"{'i' * 201},{'c' * 121},{'r' * 121},MET,\n") == [
        ("line 2: item_id", "201 characters"),
        ("line 2: criterion", "121 characters"),
        ("line 2: rater", "121 characters"),
    ]


def test_jsonl_values_of_the_wrong_type_are_refused():
    data = '{"item_id": true, "criterion": [], "rater": "r", "verdict": 1, "reason": 5}'
    assert faults(data, "x.jsonl") == [
        ("line 1: item_id", "true"),
        ("line 1: criterion", "an empty list"),
        ("line 1: verdict", "1"),
        ("line 1: reason", "5"),
    ]


@pytest.mark.parametrize(
    ("data", "filename"), [("", "x.csv"), (HEADER, "x.csv"), ("[]", "x.json"), ("x", "labels")]
)
def test_files_without_labels_are_refused(data, filename):
    assert len(faults(data, filename)) == 1
