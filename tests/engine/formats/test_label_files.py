"""Label files: one verdict per line, every fault with its line."""

import pytest

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.engine.formats.labels.exact import read_labels
from rubricweb.engine.formats.result_files import VerdictRow, verdicts_csv
from rubricweb.engine.rubric import Rubric
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


@pytest.mark.parametrize("mark", [",", ";"])
@pytest.mark.parametrize("reason", ["=1+1", "'-5' is wrong", "-5 is wrong", "'fine'"])
def test_what_our_export_made_safe_is_restored(reason, mark):
    row = VerdictRow("-a", "c", "@rae", Verdict.MET, reason, kind="binary", rater_kind="human")
    data = "".join(verdicts_csv([row])).replace(",", mark)
    (label,) = read_labels(data.encode(), filename="x.csv")
    assert (label.item_id, label.rater, label.reason) == ("-a", "@rae", reason)


def test_a_reason_that_begins_with_a_quotation_mark_keeps_it():
    data = HEADER + "'-a,c,'@rae,MET,'-5' is wrong\n"
    (label,) = read_labels(data.encode(), filename="x.csv")
    # Names are those of items, criteria and raters here, as a spreadsheet may have made them safe.
    assert (label.item_id, label.rater, label.reason) == ("-a", "@rae", "'-5' is wrong")


def test_all_faults_are_told_with_their_lines():
    data = HEADER + "i,c,ann,yes,\n,c,ann,MET,\ni,c,ann,,\ni,c,ann,MET,\ni,C,ann,UNMET,\ni,c\n"
    assert faults(data) == [
        ("line 2: verdict", 'the text "yes"'),
        ("line 3: item_id", "nothing"),
        ("line 4: verdict", "nothing"),
        ("line 5", "a verdict by 'ann' on 'c' of 'i' that differs from the one at line 6"),
        ("line 6", "a verdict by 'ann' on 'C' of 'i' that differs from the one at line 5"),
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
        ("line 1: reason", "5"),
        ("line 1: verdict", "1"),
    ]


@pytest.mark.parametrize(
    ("data", "filename"), [("", "x.csv"), (HEADER, "x.csv"), ("[]", "x.json"), ("x", "labels")]
)
def test_files_without_labels_are_refused(data, filename):
    assert len(faults(data, filename)) == 1


SCALE = Rubric.from_dict(
    [
        {"name": "city", "requirement": "Names Paris"},
        {
            "name": "clear",
            "requirement": "How clear?",
            "options": [{"label": "=Low"}, {"label": "2", "value": 0.5}, {"label": "High", "value": 1}],
        },
        {"name": "size", "check": "length_between", "params": {"max": 10}},
    ]
)
OWN = Rubric.from_dict(
    [{"name": "clear", "requirement": "x", "options": [{"label": "Yes"}, {"label": "No"}]}]
)


def test_the_verdict_of_a_choice_is_an_option_as_the_rubric_writes_it():
    data = HEADER + "i,City,ann,met,\ni,clear,ann, high ,\ni,clear,bob,'=low,\nj,clear,ann,yes,\n"
    labels = read_labels(data.encode(), filename="x.csv", rubric=SCALE, own_rubrics={"j": OWN})
    assert [label.verdict for label in labels] == [Verdict.MET, "High", "=Low", "Yes"]
    line = b'{"item_id": "i", "criterion": "clear", "rater": "ann", "verdict": 2}'
    (label,) = read_labels(line, filename="x.jsonl", rubric=SCALE)
    assert label.verdict == "2"


def test_labels_a_rubric_does_not_know_are_refused_with_what_it_knows():
    data = HEADER + "i,clear,ann,MET,\ni,city,ann,High,\ni,town,ann,MET,\ni,size,ann,1,\nj,clear,ann,High,\n"
    with pytest.raises(InvalidFile) as refused:
        read_labels(data.encode(), filename="x.csv", rubric=SCALE, own_rubrics={"j": OWN})
    assert [(fault.place, fault.found, fault.allowed) for fault in refused.value.faults] == [
        ("line 2: verdict", 'the text "MET"', "=Low, 2, High"),
        ("line 3: verdict", 'the text "High"', "MET, UNMET, CANNOT_ASSESS"),
        ("line 4: criterion", 'the text "town"', "one of city, clear, size"),
        ("line 5: verdict", "a label for the check size", "no line: a check answers for itself"),
        ("line 6: verdict", 'the text "High"', "Yes, No"),
    ]
