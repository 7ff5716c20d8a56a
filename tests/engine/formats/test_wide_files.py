"""Tables with one column per criterion."""

import csv
import io

import pytest

from rubricweb.engine.formats.label_files import LabelChoices
from rubricweb.engine.formats.labels.exact import read_labels
from rubricweb.engine.formats.labels.reading import read_label_table
from rubricweb.engine.formats.result_files import DatasetHead, GroundTruthItem, VerdictRow
from rubricweb.engine.formats.wide_files import ground_truth_wide, verdicts_wide
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.verdict import Verdict

RUBRIC = Rubric(
    [Criterion(requirement="Polite", name="polite"), Criterion(requirement="Rated", name="rater")]
)
HEAD = DatasetHead(rubric=RUBRIC)


def lines_of(pieces):
    return list(csv.reader(io.StringIO("".join(pieces), newline="")))


def test_every_rater_of_an_item_has_one_line_with_numbers_under_checks():
    rows = [
        VerdictRow("a", "polite", "ann", Verdict.MET, rater_kind="human", kind="binary", value=1.0),
        VerdictRow("a", "polite", "gpt", Verdict.UNMET, rater_kind="judge", run="3", value=0.0),
        VerdictRow("a", "size", "check", None, rater_kind="judge", run="3", kind="check", value=0.25),
        VerdictRow("b", "size", "gpt", None, rater_kind="judge", run="3", error="timeout: 60 s"),
    ]
    assert lines_of(verdicts_wide(rows, DatasetHead(criteria=("polite", "size")))) == [
        ["item_id", "rater", "rater_kind", "run", "polite", "size"],
        ["a", "ann", "human", "", "MET", ""],
        ["a", "gpt", "judge", "3", "UNMET", "0.25"],
        ["b", "gpt", "judge", "3", "", ""],
    ]


def test_a_second_answer_of_the_same_rater_is_a_further_line():
    rows = [VerdictRow("a", "polite", "ann", verdict) for verdict in (Verdict.MET, Verdict.UNMET)]
    _, first, second = lines_of(verdicts_wide(rows, HEAD))
    assert (first[4], second[4]) == ("MET", "UNMET")


def test_raters_of_one_name_and_different_kinds_have_lines_of_their_own():
    rows = [
        VerdictRow("a", "polite", "ann", Verdict.MET, rater_kind="human"),
        VerdictRow("a", "rater", "ann", Verdict.UNMET, rater_kind="settled"),
    ]
    _, first, second = lines_of(verdicts_wide(rows, HEAD))
    assert first == ["a", "ann", "human", "", "MET", ""]
    assert second == ["a", "ann", "settled", "", "", "UNMET"]


def test_criteria_named_like_formulas_are_read_again():
    names = ["-Blames", "@polite", "'=1"]
    rubric = Rubric([Criterion(name=name, requirement="x") for name in names])
    given = (Verdict.MET, Verdict.UNMET, Verdict.MET)
    items = [GroundTruthItem("r1", "s", given)]
    text = "".join(ground_truth_wide(items, DatasetHead(rubric=rubric)))
    assert text.startswith("item_id,'-Blames,'@polite,''=1")
    labels = read_labels(text.encode(), filename="truth.csv", rubric=rubric)
    assert [(label.criterion, label.verdict) for label in labels] == list(zip(names, given, strict=True))


@pytest.mark.parametrize("name", ["Clear; concise; and correct", "Clear;concise"])
def test_criteria_named_with_semicolons_are_read_again(name):
    rubric = Rubric([Criterion(name=name, requirement="x")])
    items = [GroundTruthItem("r1; a\tb", "s", (Verdict.MET,)), GroundTruthItem("r2", "s", (Verdict.UNMET,))]
    text = "".join(ground_truth_wide(items, DatasetHead(rubric=rubric)))
    assert text.startswith(f'"item_id","{name}"\r\n')
    # In quotes, and without them, as the releases before wrote it.
    for export in (text, text.replace('"', "")):
        labels = read_labels(export.encode(), filename="truth.csv", rubric=rubric)
        found = [(label.item_id, label.criterion, label.verdict) for label in labels]
        assert found == [("r1; a\tb", name, Verdict.MET), ("r2", name, Verdict.UNMET)]


def test_headers_without_semicolons_have_no_quotes():
    assert next(ground_truth_wide([], HEAD)) == "item_id,polite,rater\r\n"
    assert next(verdicts_wide([], HEAD)) == "item_id,rater,rater_kind,run,polite,rater (criterion)\r\n"


def test_a_criterion_named_like_another_column_keeps_a_column_of_its_own():
    [header] = lines_of(verdicts_wide([], HEAD))
    assert header[4:] == ["polite", "rater (criterion)"]


def test_final_verdicts_stand_last_and_are_read_again_as_such():
    rows = [
        VerdictRow("a", "polite", "ann", Verdict.MET, final_verdict=Verdict.UNMET),
        VerdictRow("a", "rater", "ann", Verdict.MET, final_verdict=Verdict.UNMET),
        VerdictRow("a", "polite", "ben", Verdict.MET),
        VerdictRow("b", "polite", "ann", Verdict.MET, final_verdict=Verdict.MET),
    ]
    text = "".join(verdicts_wide(rows, DatasetHead(rubric=RUBRIC, changed=("polite", "rater"))))
    header = text.split("\r\n")[0]
    assert header.endswith(",run,polite,rater (criterion),polite (final),rater (final)")
    read = read_label_table(text.encode(), filename="back.csv", rubric=RUBRIC)
    assert read.fields["polite (final)"] == "polite (final)"
    said = [(one.item_id, one.rater, one.criterion, one.verdict, one.final_verdict) for one in read.labels]
    assert said == [
        ("a", "ann", "polite", "MET", "UNMET"),
        ("a", "ann", "rater", "MET", "UNMET"),
        ("a", "ben", "polite", "MET", None),
        ("b", "ann", "polite", "MET", "MET"),
    ]
    # A person may say the same of a column of another name.
    renamed = text.replace("polite (final)", "after the talk").encode()
    choices = LabelChoices(columns={"polite (final)": "after the talk"})
    again = read_label_table(renamed, filename="back.csv", rubric=RUBRIC, choices=choices)
    assert again.labels == read.labels


def test_a_criterion_named_like_a_column_of_final_verdicts_keeps_its_own():
    rubric = Rubric([Criterion(requirement="x", name=name) for name in ("polite", "polite (final)")])
    head = DatasetHead(rubric=rubric, changed=("polite",))
    [header] = lines_of(verdicts_wide([], head))
    assert header[4:] == ["polite", "polite (final) (criterion)", "polite (final)"]


def test_ground_truth_has_one_line_per_item():
    items = [
        GroundTruthItem("=1", "s", (Verdict.MET, None)),
        GroundTruthItem("2", "s", None),
    ]
    assert lines_of(ground_truth_wide(items, HEAD)) == [
        ["item_id", "polite", "rater"],
        ["'=1", "MET", ""],
        ["2", "", ""],
    ]


def test_a_criterion_without_a_column_is_named():
    with pytest.raises(ValueError, match="item 'a' has the criterion 'own', which has no column"):
        list(verdicts_wide([VerdictRow("a", "own", "ann", Verdict.MET)], HEAD))
