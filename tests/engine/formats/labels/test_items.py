"""Which items a file of labels is about: ids as spreadsheets leave them, cases and systems, two spellings."""

import unicodedata

import pytest

from rubricweb.engine.formats.datasets.known_keys import AnswerOfCase, KnownItems
from rubricweb.engine.formats.label_files import LabelChoices
from rubricweb.engine.formats.labels.reading import LabelsReading, read_label_table
from rubricweb.engine.rubric import Rubric

STARS = Rubric.from_dict(
    [
        {
            "name": "tone",
            "requirement": "How warm is it?",
            "options": [{"label": str(stars), "value": stars / 4} for stars in range(5)],
        }
    ]
)


def read(text: str, items: object, rubric: Rubric = STARS, **said: object) -> LabelsReading:
    choices = LabelChoices(**said)
    return read_label_table(text.encode(), filename="r.csv", rubric=rubric, items=items, choices=choices)


def told(reading: LabelsReading) -> dict[str, str]:
    assert (reading.refused, reading.faults) == ((), ())
    return {one.item_id: str(one.verdict) for one in reading.labels}


@pytest.mark.parametrize(
    ("ids", "written"),
    [
        (("1", "2", "3"), ("1.0", "2.0", "3.0")),  # a column with a gap is one of floats in data frames
        (("007", "010", "4"), ("7", "10", "4")),  # a spreadsheet takes leading zeros away
        (("1.0", "2.0", "3.0"), ("1", "2", "3")),  # it was the dataset that went through one
    ],
)
def test_an_id_a_spreadsheet_changed_is_found_by_its_number(ids, written):
    # Every score is the id of another item: taken for the id it would go there.
    text = f"id,tone\n{written[0]},3\n{written[1]},1\n{written[2]},2\n"
    assert told(read(text, set(ids))) == dict(zip(ids, ("3", "1", "2"), strict=True))


def test_a_number_that_two_items_have_stands_for_neither():
    reading = read("id,tone\n1.0,3\n", {"1", "01"})
    assert (reading.labels, [fault.found for fault in reading.faults]) == ((), ["'1.0'"])


def test_a_column_called_like_the_id_is_the_id_even_where_another_one_fits():
    reading = read("id,tone\nx1,3\nx2,1\n", {"1", "2", "3"})
    assert (reading.found.item_id, reading.labels) == ("id", ())
    assert [(fault.place, fault.found) for fault in reading.faults] == [
        ("line 2: id", "'x1'"),
        ("line 3: id", "'x2'"),
    ]


@pytest.mark.parametrize("text", ["Nr,Score\n1,3\n2,1\n", "Score,Nr\n3,1\n1,2\n"])
def test_a_score_whose_values_are_ids_is_not_taken_for_the_id(text):
    assert told(read(text, {"1", "2", "3"})) == {"1": "3", "2": "1"}


def test_a_column_that_is_said_to_be_two_things_is_refused():
    reading = read("id,tone\n1,3\n", {"1"}, columns={"item_id": "tone", "tone": "tone"})
    assert [(fault.place, fault.found) for fault in reading.refused] == [
        ("columns.tone", "the column 'tone' again (as item_id)")
    ]


ANSWERS = KnownItems(
    ["a1", "a2", "b1", "b2", "b2-again"],
    [
        AnswerOfCase("a1", "a", "warm@v1"),
        AnswerOfCase("a2", "a", "cold@v1"),
        AnswerOfCase("b1", "b", "warm@v1"),
        AnswerOfCase("b2", "b", "cold@v1"),
        AnswerOfCase("b2-again", "b", "cold@v1", 2),
    ],
)


@pytest.mark.parametrize(
    "text",
    [
        "Question,Model,Attempt,Score\na,warm,1,3\na,cold,1,1\nb,COLD@v1,2,2\n",
        "case_id,system,attempt,tone\na,warm@v1,,3\na,cold@v1,1,1\nb,cold,2,2\n",
        "Item,Variant,trial,Rating\na,warm,1,3\na,cold,1,1\nb,cold,2.0,2\n",
    ],
)
def test_rows_name_an_item_by_its_case_and_who_answered(text):
    if ",," in text or "2.0" in text:
        reading = read(text, ANSWERS, columns={"attempt": text.split(",")[2]})
    else:
        reading = read(text, ANSWERS)
    assert told(reading) == {"a1": "3", "a2": "1", "b2-again": "2"}


def test_cases_and_systems_are_read_where_somebody_says_so():
    columns = {"case_id": "what", "system": "whose", "attempt": "", "tone": "n"}
    assert told(read("what,whose,n\na,cold,1\nb,warm,3\n", ANSWERS, columns=columns)) == {
        "a2": "1",
        "b1": "3",
    }


def test_a_case_with_several_answers_and_one_without_are_refused_with_what_would_tell():
    reading = read("case,system,tone\na,warm,3\nb,cold,1\nb,warm,2\na,tepid,1\nz,warm,1\n", ANSWERS)
    assert [one.item_id for one in reading.labels] == ["a1", "b1"]
    assert [(fault.place, fault.found, fault.allowed) for fault in reading.faults] == [
        (
            "line 3: case",
            "'b' of 'cold', which has 2 answers (cold@v1, attempt 1, cold@v1, attempt 2)",
            "columns that tell them apart (system=COLUMN, attempt=COLUMN)",
        ),
        (
            "line 5: case",
            "'a' of 'tepid', which has no such answer",
            "a system, and an attempt, that answered the case",
        ),
        ("line 6: case", "'z' of 'warm'", "the id of a case in the dataset"),
    ]


def test_a_case_that_stands_where_an_item_was_said_to_be_is_named_as_one():
    reading = read("Q,tone\na,3\n", ANSWERS, columns={"item_id": "Q"})
    assert "case_id=COLUMN" in reading.faults[0].allowed


def test_a_case_with_one_answer_needs_no_system():
    alone = KnownItems(["x@s", "y@s"], [AnswerOfCase("x@s", "x", "s"), AnswerOfCase("y@s", "y", "s")])
    assert told(read("case,tone\nx,3\ny,1\n", alone)) == {"x@s": "3", "y@s": "1"}


GERMAN = Rubric.from_dict(
    [
        {
            "name": "Höflichkeit",
            "requirement": "Ist es höflich?",
            "options": [{"label": "Schön", "value": 1}, {"label": "Öde", "value": 0}],
        }
    ]
)


def test_two_spellings_that_look_alike_are_one_in_columns_ids_labels_and_raters():
    wide = "id,rater,Höflichkeit\nÄpfel,Jürgen,schön\nBirnen,Jürgen,öde\n"
    long = "id,criterion,rater,verdict\nÄpfel,höflichkeit,Jürgen,Schön\nBirnen,Höflichkeit,Jürgen,Öde\n"
    for text in (wide, long):
        for items in ({"Äpfel", "Birnen"}, {unicodedata.normalize("NFD", "Äpfel"), "Birnen"}):
            reading = read(unicodedata.normalize("NFD", text), items, GERMAN)
            assert set(told(reading)) == items
            assert {(one.criterion, one.rater, str(one.verdict)) for one in reading.labels} == {
                ("Höflichkeit", "Jürgen", "Schön"),
                ("Höflichkeit", "Jürgen", "Öde"),
            }


def test_what_a_person_says_of_columns_and_values_is_found_in_either_spelling():
    for form in ("NFC", "NFD"):
        columns = {unicodedata.normalize(form, "Höflichkeit"): unicodedata.normalize(form, "Größe")}
        values = {unicodedata.normalize(form, "müde"): unicodedata.normalize("NFD", "Öde")}
        text = unicodedata.normalize("NFD", "id,Größe\na,müde\n")
        assert told(read(text, {"a"}, GERMAN, columns=columns, values=values)) == {"a": "Öde"}
