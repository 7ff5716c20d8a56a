"""Every usual shape of a file of labels gives the same labels; what stands in it says which it is."""

import json

import pytest

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.label_files import LabelChoices
from rubricweb.engine.formats.labels.reading import LabelsReading, read_label_table
from rubricweb.engine.rubric import Rubric

RUBRIC = Rubric.from_dict(
    [
        {"name": "polite", "requirement": "Is polite"},
        {
            "name": "final_tone",
            "requirement": "How warm?",
            "options": [{"label": "Cold"}, {"label": "Warm", "value": 1}, {"label": "No tone", "na": True}],
        },
        {"name": "rude", "weight": -1, "requirement": "Is rude"},
    ]
)
ONE = Rubric.from_dict([{"name": "polite", "requirement": "Is polite"}])
ITEMS = {"r1", "r2", "r3"}


def read(text: str, rubric: Rubric = RUBRIC, filename: str = "ratings.csv", **said: object) -> LabelsReading:
    choices = LabelChoices(**said)
    return read_label_table(text.encode(), filename=filename, rubric=rubric, items=ITEMS, choices=choices)


def labels(reading: LabelsReading) -> list[tuple[str, str, str, str]]:
    assert reading.refused == ()
    return [(one.item_id, one.criterion, one.rater, str(one.verdict)) for one in reading.labels]


EXPECTED = {
    ("r1", "polite", "ann", "MET"),
    ("r1", "final_tone", "ann", "Warm"),
    ("r1", "polite", "ben", "UNMET"),
    ("r2", "polite", "ann", "CANNOT_ASSESS"),
    ("r2", "final_tone", "ben", "No tone"),
}
LONG = """example_id;Question;Annotator;Rating;Comment
r1;polite;ann;yes;It greets.
r1;Final tone;ann;warm;
r1;POLITE;ben;no;
r2;polite;ann;n/a;
r2;final-tone;ben;N/A;
"""
CRITERIA = """id,worker,Polite,final tone,polite_comment
r1,ann,True,WARM,It greets.
r1,ben,0,,
r2,ann,NA,,
r2,ben,,not applicable,
"""
BOTH = """item,ann: polite,ann: final tone,polite_ben,final_tone.ben,ann: polite reason
r1,pass,warm,fail,,It greets.
r2,n/a,,,No tone,
"""


@pytest.mark.parametrize(
    ("text", "shape"),
    [(LONG, "long"), (CRITERIA, "criteria"), (BOTH, "both")],
    ids=["long", "criteria", "both"],
)
def test_every_shape_gives_the_same_labels(text: str, shape: str) -> None:
    reading = read(text)
    assert reading.found.shape == shape
    assert set(labels(reading)) == EXPECTED
    assert {one.reason for one in reading.labels} == {"It greets.", ""}
    assert (reading.left_out, reading.unknown_values) == ((), ())


def test_a_column_per_rater_is_about_the_one_criterion_or_the_one_named() -> None:
    text = "text_id,rater_1,rater_2,rater_2 reason\nr1,1,0,Curt.\nr2,,1,\n"
    expected = [("r1", "polite", "rater_1", "MET"), ("r1", "polite", "rater_2", "UNMET")]
    expected += [("r2", "polite", "rater_2", "MET")]
    assert labels(read(text, ONE)) == expected
    assert read(text, ONE).labels[1].reason == "Curt."
    assert labels(read(text, criterion="Polite")) == expected
    unclear = read(text)
    assert unclear.found is None
    assert "the criterion the labels are about" in unclear.refused[0].allowed
    # Raters by their own names are known by what stands in their columns; and the row may say the criterion.
    named = read("text_id,aspect,Ann,Ben\nr1,polite,yes,no\nr2,rude,no,no\n")
    assert (named.found.shape, len(named.labels)) == ("raters", 4)
    assert ("r2", "rude", "Ben", "UNMET") in labels(named)


def test_columns_are_known_by_what_stands_in_them_whatever_they_are_called() -> None:
    reading = read("a,b,c,rater\nr1,polite,yes,ann\nr3,final tone,cold,ann\nr2,rude,no,ann\n")
    assert (reading.found.item_id, reading.found.criterion, reading.found.cells[0].column) == ("a", "b", "c")
    assert len(reading.labels) == 3
    # A name that may be the id does not win over a column that holds the items.
    reading = read("example,text,polite\n1,r1,yes\n2,r2,no\n")
    assert (reading.found.item_id, reading.found.shape) == ("text", "criteria")


def test_a_person_says_what_columns_are() -> None:
    text = "x,y,z,v\nr1,q1,ann,1\nr2,q1,ben,0\n"
    assert read(text).found is None
    columns = {"item_id": "x", "rater": "z", "verdict": "v", "criterion": ""}
    assert len(labels(read(text, columns=columns, criterion="polite"))) == 2
    wide = "x,acc,warmth,why\nr1,yes,Cold,It greets.\n"
    said = {"polite": "acc", "final_tone": "warmth", "polite reason": "why"}
    reading = read(wide, columns=said, rater="ann")
    assert labels(reading) == [("r1", "polite", "ann", "MET"), ("r1", "final_tone", "ann", "Cold")]
    assert reading.labels[0].reason == "It greets."
    both = read("x,c1,c2\nr1,yes,no\n", columns={"ann: polite": "c1", "ben: polite": "c2"})
    assert [one.rater for one in both.labels] == ["ann", "ben"]
    raters = read(
        "x,c1,c2\nr1,yes,no\n", shape="raters", columns={"ann": "c1", "ben": "c2"}, criterion="rude"
    )
    assert labels(raters) == [("r1", "rude", "ann", "MET"), ("r1", "rude", "ben", "UNMET")]


FINALS = {
    "id,rater,polite,polite (final)\nr1,ann,yes,no\nr2,ann,,no\n": "criteria",
    "id,criterion,ann,ann (final)\nr1,polite,yes,no\nr2,polite,,no\n": "raters",
    "id,ann: polite,ann: polite (final)\nr1,yes,no\nr2,,no\n": "both",
}


@pytest.mark.parametrize("text", FINALS, ids=FINALS.values())
def test_a_column_of_final_labels_belongs_to_the_one_beside_it_and_counts_alone(text: str) -> None:
    reading = read(text)
    assert reading.found.shape == FINALS[text]
    said = [(*label, one.final_verdict) for label, one in zip(labels(reading), reading.labels, strict=True)]
    assert said == [("r1", "polite", "ann", "MET", "UNMET"), ("r2", "polite", "ann", "UNMET", None)]


def test_without_first_labels_a_column_of_final_ones_holds_the_labels() -> None:
    reading = read("id,rater,polite (final)\nr1,ann,yes\n")
    assert labels(reading) == [("r1", "polite", "ann", "MET")]


def test_columns_that_say_nothing_are_named_once() -> None:
    reading = read("alpha,beta\n" + "1,2\n" * 500)
    (fault,) = reading.refused
    assert "the columns alpha, beta" in fault.found
    assert "item_id" in fault.allowed
    assert reading.faults == ()


def test_without_a_column_of_raters_the_file_is_the_rater_until_somebody_is_named() -> None:
    assert read("id,polite\nr1,yes\n").labels[0].rater == "ratings"
    assert read("id,polite\nr1,yes\n", rater="ann").labels[0].rater == "ann"


def test_choices_that_do_not_fit_are_refused_at_their_place() -> None:
    def place(**said: object) -> str:
        return read(LONG, **said).refused[0].place

    assert place(columns={"item_id": "nothing"}) == "columns.item_id"
    assert place(values={"ok": "Splendid"}) == "values.ok"
    assert place(criterion="unknown") == "criterion"
    assert place(shape="square") == "shape"


def test_json_lists_and_lines_are_read_like_tables() -> None:
    rows = [
        {"story_id": "r1", "category": "Polite", "expert_idx": 9, "binary_verdict": "Yes"},
        {"story_id": "r2", "category": "Polite", "expert_idx": 9, "binary_verdict": False},
    ]
    expected = [("r1", "polite", "9", "MET"), ("r2", "polite", "9", "UNMET")]
    assert labels(read(json.dumps(rows), filename="x.json")) == expected
    assert labels(read("\n".join(map(json.dumps, rows)), filename="x.jsonl")) == expected


def test_a_final_verdict_of_false_or_zero_is_one_and_blanks_are_none() -> None:
    rows = [
        {"item_id": "r1", "criterion": "polite", "rater": "ann", "verdict": True, "final_verdict": False},
        {"item_id": "r2", "criterion": "polite", "rater": "ann", "verdict": 1, "final_verdict": 0},
        {"item_id": "r3", "criterion": "polite", "rater": "ann", "verdict": True, "final_verdict": " "},
        {"item_id": "r3", "criterion": "rude", "rater": "ann", "verdict": None, "final_verdict": False},
    ]
    reading = read("\n".join(map(json.dumps, rows)), filename="x.jsonl")
    assert [(one.verdict, one.final_verdict) for one in reading.labels] == [
        ("MET", "UNMET"),
        ("MET", "UNMET"),
        ("MET", None),
        ("UNMET", None),
    ]
    assert reading.refused == ()


def test_what_raters_are_stands_in_a_column_or_is_said() -> None:
    text = "id,rater,kind,polite\nr1,ann,person,yes\nr1,gpt,model,no\nr2,gt,,no\n"
    kinds = {"gt": "settled", "ann": "machine"}
    assert [one.rater_kind for one in read(text).labels] == ["human", "machine", "human"]
    assert [one.rater_kind for one in read(text, rater_kinds=kinds).labels] == [
        "machine",
        "machine",
        "settled",
    ]


def test_our_own_wide_export_is_read_again() -> None:
    odd = Rubric.from_dict([{"name": "rater", "requirement": "x"}, {"name": "polite", "requirement": "y"}])
    text = "item_id,rater,rater_kind,run,rater (criterion),polite\nr1,ann,human,,MET,UNMET\n"
    assert labels(read(text, odd)) == [("r1", "rater", "ann", "MET"), ("r1", "polite", "ann", "UNMET")]


@pytest.mark.parametrize(
    "text", ["\ufeff" + CRITERIA, CRITERIA.replace("\n", "\r\n"), CRITERIA.replace(",", "\t")]
)
def test_marks_line_ends_and_delimiters_change_nothing(text: str) -> None:
    assert set(labels(read(text))) == EXPECTED


def test_formulas_are_what_they_were_and_nul_is_refused() -> None:
    reading = read("id,rater,polite,'=why\nr1,'@ann,yes,'-5' is wrong\n", columns={"polite reason": "=why"})
    assert (reading.labels[0].rater, reading.labels[0].reason) == ("@ann", "'-5' is wrong")
    with pytest.raises(InvalidFile, match="NUL"):
        read("id,polite\nr1,yes\x00\n")
    long = read(f"id,rater,polite\nr1,{'x' * 100_000},yes\nr2,ann,yes\n")
    assert [str(group) for group in long.left_out] == ["1 row: a text that is too long or cannot be stored"]
    assert len(long.labels) == 1


def test_columns_are_chosen_by_their_names_as_shown_or_as_the_file_writes_them() -> None:
    text = "id,rater,'=sum ok,''=b\nr1,ann,yes,no\n"
    assert read(text).columns == ("id", "rater", "=sum ok", "'=b")
    for name in ("=sum ok", "'=sum ok"):
        assert labels(read(text, columns={"polite": name})) == [("r1", "polite", "ann", "MET")]
    for name in ("'=b", "''=b"):
        assert labels(read(text, columns={"rude": name})) == [("r1", "rude", "ann", "UNMET")]
    only = "id,aspect,'=sum ok,other\nr1,polite,yes,no\n"
    for name in ("=sum ok", "'=sum ok"):
        assert labels(read(only, unread={name})) == [("r1", "polite", "ratings", "UNMET")]
    (fault,) = read(text, columns={"polite": "'=no"}).refused
    assert fault.found == 'the column "\'=no"'


@pytest.mark.parametrize("rows", ["r1,yes,no\n", "r1,yes,\nr2,,no\n"])
def test_two_columns_that_have_one_name_restored_are_refused_by_both(rows: str) -> None:
    with pytest.raises(InvalidFile) as refused:
        read(f"id,=x,'=x\n{rows}")
    (fault,) = refused.value.faults
    assert fault.found == """the columns "'=x" and '=x'"""


WITH_IDS = Rubric.from_dict(
    [
        # Renamed since the file was written; what has the name of the first by now is another criterion.
        {"name": "courteous", "id": "polite", "requirement": "Is polite"},
        {"name": "tone", "id": "uid-5db2057eedda538b", "requirement": "Is warm"},
        {"name": "polite thanks", "id": "courteous", "requirement": "Says thanks"},
    ]
)
BY_ID = {
    "long": "item_id,criterion,rater,verdict\nr1,POLITE,ann,MET\nr1,uid-5db2057eedda538b,ann,UNMET\n",
    "criteria": "item_id,rater,polite,uid-5db2057eedda538b,polite reason\nr1,ann,MET,UNMET,It greets.\n",
    "both": "item_id,ann: polite,ann: uid-5db2057eedda538b\nr1,MET,UNMET\n",
}


@pytest.mark.parametrize("shape", BY_ID)
def test_criteria_are_found_by_their_ids_in_columns_and_rows(shape: str) -> None:
    reading = read(BY_ID[shape], WITH_IDS)
    assert reading.found is not None
    assert reading.found.shape == shape
    assert labels(reading) == [("r1", "courteous", "ann", "MET"), ("r1", "tone", "ann", "UNMET")]
    assert reading.left_out == ()
    if shape == "criteria":
        # The preview says the criteria by the names they have now.
        assert [reading.fields[column] for column in ("polite", "uid-5db2057eedda538b", "polite reason")] == [
            "courteous",
            "tone",
            "courteous reason",
        ]


def test_a_column_of_ids_is_the_criterion_whatever_it_is_called() -> None:
    reading = read("item_id,what,who,said\nr1,uid-5db2057eedda538b,ann,MET\nr2,polite,ann,UNMET\n", WITH_IDS)
    assert reading.fields["what"] == "criterion"
    assert labels(reading) == [("r1", "tone", "ann", "MET"), ("r2", "courteous", "ann", "UNMET")]


def test_a_name_goes_before_the_id_of_another_criterion() -> None:
    reading = read("item_id,criterion,rater,verdict\nr1,courteous,ann,MET\n", WITH_IDS)
    assert labels(reading) == [("r1", "courteous", "ann", "MET")]


def test_a_person_may_name_a_criterion_by_its_id() -> None:
    said = {"columns": {"uid-5db2057eedda538b": "p2"}}
    reading = read("item_id,rater,p1,p2\nr1,ann,MET,UNMET\n", WITH_IDS, **said)
    assert labels(reading) == [("r1", "tone", "ann", "UNMET")]


def test_an_unknown_id_is_left_out_and_columns_without_any_are_named_once() -> None:
    reading = read("item_id,criterion,rater,verdict\nr1,uid-0,ann,MET\nr1,polite,ann,MET\n", WITH_IDS)
    assert labels(reading) == [("r1", "courteous", "ann", "MET")]
    assert [(one.why, one.rows) for one in reading.left_out] == [("criterion", 1)]
    reading = read("item_id,uid-0,uid-1\nr1,MET,fair\n", WITH_IDS)
    [refused] = reading.refused
    assert refused.found == "the columns item_id, uid-0, uid-1"


@pytest.mark.parametrize("filename", ["ratings.json", "ratings.jsonl"])
def test_whole_numbers_are_ids_however_long(filename: str) -> None:
    id = 1700000000000000123
    lines = [json.dumps({"item_id": id + n, "criterion": "polite", "rater": n, "verdict": 1}) for n in (0, 1)]
    text = "\n".join(lines) if filename.endswith("l") else f"[{', '.join(lines)}]"
    items = {str(id), str(id + 1)}
    reading = read_label_table(text.encode(), filename=filename, rubric=RUBRIC, items=items)
    assert labels(reading) == [(str(id + n), "polite", str(n), "MET") for n in (0, 1)]
    assert reading.left_out == ()
    # A column of ids is known by them, whatever it is called.
    renamed = text.replace("item_id", "nr").encode()
    assert read_label_table(renamed, filename=filename, rubric=RUBRIC, items=items).labels == reading.labels


def test_numbers_nobody_can_read_exactly_are_no_ids() -> None:
    for id in (1.7e18, 10**4000):
        row = {"item_id": id, "criterion": "polite", "rater": "ann", "verdict": 1}
        reading = read(json.dumps([row]), filename="ratings.json")
        assert [one.why for one in reading.left_out] == ["no_item"]
