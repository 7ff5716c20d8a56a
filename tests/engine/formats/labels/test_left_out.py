"""What of a file of labels is not imported is told in groups, and never guessed."""

import pytest

from rubricweb.engine.formats.labels.answers import CriterionValueReader
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.verdict import Verdict
from tests.engine.formats.labels.test_shapes import labels, read

SCALE = Rubric.from_dict(
    [
        {"name": "polite", "requirement": "Is polite"},
        {"name": "rude", "weight": -1, "requirement": "Is rude"},
        {
            "name": "clear",
            "requirement": "How clear?",
            "options": [
                {"label": "Low", "value": 0},
                {"label": "Mid", "value": 0.5},
                {"label": "High", "value": 1},
            ],
        },
        {"name": "size", "check": "length_between", "params": {"max": 10}},
    ]
)


def test_rows_are_grouped_by_reason_with_the_names_they_are_about() -> None:
    rows = [f"x{number},polite,ann,yes" for number in range(7)]
    rows += ["x0,polite,ben,yes", "r1,polit,ann,yes", "r1,size,ann,yes", "r1,polite,,yes", "r1,polite,ann,"]
    rows += [
        "r1,polite,ann,great",
        "r2,polite,ann,great",
        "r3,polite,ann,yes",
        "r3,polite,ann,MET",
        ",polite,ann,no",
    ]
    reading = read("id,criterion,rater,verdict\n" + "\n".join(rows) + "\n", SCALE)
    assert labels(reading) == [("r3", "polite", "ann", "MET")]
    assert [str(group) for group in reading.left_out] == [
        "8 rows on 7 items that are not in this dataset: x0, x1, x2, x3, x4 …",
        "2 labels with 1 value that is no answer here: great",
        "1 label on 1 criterion that is not in the rubric: polit",
        "1 label on 1 check, which is computed and takes no labels: size",
        "1 row: nobody who gave the label",
        "1 label without a verdict",
        "1 label that is there already",
        "1 row: no item id",
    ]
    # Row by row they are there for whoever wants the whole file or nothing.
    assert len(reading.faults) == len(reading.left_out_rows) == 16
    assert reading.faults[0].place == "line 2: id"


def test_empty_cells_of_a_wide_file_are_no_labels_and_nothing_left_out() -> None:
    # Nor is the column of a check, which our own wide exports have.
    reading = read("id,polite,clear,size\nr1,yes,,\nr2,,low,3\n", SCALE)
    assert len(reading.labels) == 2
    assert (reading.left_out, "size" in reading.found.used) == ((), False)


def test_of_a_contradiction_all_rows_are_left_out_and_listed_by_their_places() -> None:
    text = "id,rater,polite\nr1,ann,yes\nr1,ann,yes\nr1,ann,no\nr2,ann,yes\n"
    reading = read(text, SCALE)
    assert (labels(reading), reading.refused) == ([("r2", "polite", "ann", "MET")], ())
    said = "by 'ann' on 'polite' of 'r1'"
    assert [(fault.place, fault.found) for fault in reading.left_out_rows] == [
        ("line 2", f"a verdict {said} that differs from the one at line 4"),
        ("line 3", f"a second verdict {said} (as line 2)"),
        ("line 4", f"a verdict {said} that differs from the one at line 2"),
    ]
    assert list(map(str, reading.left_out)) == [
        "2 labels beside a different one by the same rater",
        "1 label that is there already",
    ]
    in_one_row = read("id,polite,polite score\nr1,yes,no\n", SCALE)
    assert ([fault.place for fault in in_one_row.faults], in_one_row.labels) == (["line 2", "line 2"], ())


def test_a_label_that_was_not_counted_is_left_out_only_beside_another_of_its_rater() -> None:
    rows = ["r1,yes,not counted", "r1,no,same words", "r2,yes,not counted"]
    rows += ["r3,yes,not counted", "r3,no,not counted"]  # of two the later one
    lines = [row.replace(",", ",polite,ann,", 1) for row in rows]
    reading = read("\n".join(["id,criterion,rater,verdict,counts_by", *lines]), SCALE)
    assert [(item, verdict) for item, _, _, verdict in labels(reading)] == [
        ("r1", "UNMET"),
        ("r2", "MET"),
        ("r3", "UNMET"),
    ]
    assert reading.refused == ()
    assert list(map(str, reading.left_out)) == ["2 labels that do not count beside another of the same rater"]


def test_a_file_that_breaks_off_is_not_imported_up_to_there() -> None:
    reading = read('id,polite\nr1,yes\nr2,"no\n', SCALE)
    assert "a broken row" in reading.refused[0].found
    cells = read("id,polite\nr1,yes\nr2,no,3\n", SCALE)
    assert cells.refused == ()
    assert [str(group) for group in cells.left_out] == ["1 row that cannot be read"]


def test_a_value_nobody_knows_is_listed_once_with_what_may_be_answered_and_can_be_told() -> None:
    text = "id,rater,polite,clear\nr1,ann,good,fine\nr2,ann,good,Low\nr3,ann,bad,fine\n"
    reading = read(text, SCALE)
    assert [(one.value, one.labels, one.criteria, one.allowed) for one in reading.unknown_values] == [
        ("good", 2, ("polite",), ("MET", "UNMET", "CANNOT_ASSESS")),
        ("fine", 2, ("clear",), ("Low", "Mid", "High")),
        ("bad", 1, ("polite",), ("MET", "UNMET", "CANNOT_ASSESS")),
    ]
    told = read(text, SCALE, values={"GOOD": "met", "bad": "UNMET", "clear: fine": "mid"})
    assert told.left_out == ()
    assert [str(one.verdict) for one in told.labels] == ["MET", "Mid", "MET", "Low", "UNMET", "Mid"]


def test_pass_and_fail_are_not_guessed_of_an_error_to_avoid() -> None:
    reading = read("id,polite,rude\nr1,pass,pass\nr2,fail,yes\n", SCALE)
    assert [(one.criterion, str(one.verdict)) for one in reading.labels] == [
        ("polite", "MET"),
        ("polite", "UNMET"),
        ("rude", "MET"),
    ]
    assert [(one.value, one.criteria) for one in reading.unknown_values] == [("pass", ("rude",))]
    told = read("id,polite,rude\nr1,pass,pass\n", SCALE, values={"rude: pass": "UNMET"})
    assert [str(one.verdict) for one in told.labels] == ["MET", "UNMET"]


def test_one_and_zero_are_verdicts_only_where_no_other_number_is_said() -> None:
    assert [str(one.verdict) for one in read("id,polite\nr1,1\nr2,0.0\n", SCALE).labels] == ["MET", "UNMET"]
    scale = read("id,polite\nr1,1\nr2,5\n", SCALE)
    assert scale.labels == ()
    assert [one.value for one in scale.unknown_values] == ["1", "5"]


@pytest.mark.parametrize(
    ("numbers", "expected"), [([0, 0.5, 1], ["Low", "Mid", "High"]), ([0, 1, 2], [None, None, None])]
)
def test_numbers_are_values_of_options_only_where_all_are(numbers: list[float], expected: list[str]) -> None:
    clear = SCALE.criteria[2]
    answers = CriterionValueReader("clear", clear, {}, [float(number) for number in numbers])
    assert [answers.read(number) for number in numbers] == expected


def test_what_a_criterion_writes_itself_is_never_read_otherwise() -> None:
    odd = Rubric.from_dict(
        [
            {
                "requirement": "x",
                "name": "q",
                "options": [{"label": "No"}, {"label": "1"}, {"label": "n/a", "na": True}],
            }
        ]
    )
    answers = CriterionValueReader("q", odd.criteria[0], {}, [1.0])
    assert [answers.read(value) for value in ("no", 1, "N/A")] == ["No", "1", "n/a"]
    assert CriterionValueReader("p", SCALE.criteria[0], {}, []).read("met", exact=True) is Verdict.MET
    assert CriterionValueReader("p", SCALE.criteria[0], {}, []).read("yes", exact=True) is None


def test_options_called_by_numbers_are_never_found_by_their_values() -> None:
    """0 says that the question does not apply; it is not the option 1, whose value is 0."""
    options = [{"label": str(step), "value": (step - 1) / 3} for step in (1, 2, 3, 4)]
    scale = Rubric.from_dict([{"name": "Q1", "requirement": "x", "options": options}])
    reading = read("text_id,Q1\nr1,4.0\nr2,1\nr3,0\n", scale)
    assert [str(one.verdict) for one in reading.labels] == ["4", "1"]
    assert [one.value for one in reading.unknown_values] == ["0"]
