"""Rubrics as tables: one criterion a row, and teachers' grids in the forms they are kept in."""

import pytest

from rubricweb.engine.errors import InvalidRubric
from rubricweb.engine.formats.rubric_files import read_rubric, rubric_columns
from rubricweb.engine.rubric import Rubric


def read(text: str, filename: str = "r.csv") -> Rubric:
    return read_rubric(text.encode(), filename=filename)


def options(rubric: Rubric, place: int = 0) -> list[tuple[str, float]]:
    return [(one.label, one.value) for one in rubric.criteria[place].options]


def faults(text: str) -> list[tuple[str, str]]:
    with pytest.raises(InvalidRubric) as refused:
        read(text)
    return [(fault.place, fault.found) for fault in refused.value.faults]


@pytest.mark.parametrize(
    ("text", "filename"),
    [
        ("criterion,description,points\nRule,States the rule.,10\nBlame,Blames them.,-6\n", "r.csv"),
        ("sep=;\nCriterion;Requirement;Weight\nRule;States the rule.;10\nBlame;Blames them.;-6\n", "r.csv"),
        ("Name\tQuestion\tpts\nRule\tStates the rule.\t10 pts\nBlame\tBlames them.\t-6,0\n", "r.tsv"),
    ],
)
def test_a_row_without_ratings_is_a_criterion_that_is_met_or_not(text, filename):
    rubric = read(text, filename)
    assert [(one.name, one.requirement, one.weight, one.kind) for one in rubric.criteria] == [
        ("Rule", "States the rule.", 10, "binary"),
        ("Blame", "Blames them.", -6, "binary"),
    ]


GRIDS = [
    # Points behind each rating, in its name, below the header, and as Canvas writes them.
    "Criterion,Good,pts,Fair,pts,Poor,pts\nClaim,Clear,4,Vague,2,None,0\nProof,All,6,Most,3,None,0\n",
    "Criterion,Weight,Good (4),Fair (2 pts),Poor (0)\nClaim,4,Clear,Vague,None\nProof,6,All,Most,None\n",
    ",Max points,Good,Fair,Poor\n,,4,2,0\nClaim,4,Clear,Vague,None\nProof,6,All,Most,None\n",
    "Criteria Name,Criteria Enable Range,"
    + ",".join(["Rating Name,Rating Description,Rating Points"] * 3)
    + "\nClaim,false,Good,Clear,4,Fair,Vague,2,Poor,None,0\nProof,false,Good,All,6,Fair,Most,3,Poor,None,0\n",
]


@pytest.mark.parametrize("text", GRIDS)
def test_a_column_for_each_rating_makes_choices(text):
    rubric = read(text)
    assert rubric.names == ("Claim", "Proof")
    assert rubric.weights == (4, 6)  # the most points of the row, or what a column says
    # 0, 2 and 4 of 4 points; 0, 3 and 6 of 6.
    for place in (0, 1):
        assert options(rubric, place) == [("Poor", 0), ("Fair", 0.5), ("Good", 1)]
        assert rubric.criteria[place].scale_type == "ordinal"
    assert rubric.criteria[0].guidance == "Poor: None\nFair: Vague\nGood: Clear"


def test_ranges_below_the_header_count_as_their_middle_and_an_undescribed_rating_is_no_option():
    rubric = read(',Weight,D,B,A\n,,"[0, 50)","[50, 80)","[80, 100]"\nRuns,10,No,,Yes\nDocs,5,,,\n')
    # (0 + 50) / 2, (50 + 80) / 2 and (80 + 100) / 2, of 100.
    assert options(rubric) == [("D", 0.25), ("A", 0.9)]
    assert options(rubric, 1) == [("D", 0.25), ("B", 0.65), ("A", 0.9)]
    assert rubric.weights == (10, 5)


def test_what_the_columns_were_read_as_is_said():
    assert (
        str(rubric_columns(GRIDS[1], filename="r.csv"))
        == "name ← Criterion, weight ← Weight; ratings: Good, Fair, Poor"
    )
    assert rubric_columns("title: x", filename="r.yaml") is None


def test_faults_are_placed_by_line():
    assert faults("criterion,points\nA,1\nB,many\nA,2\n") == [
        ("line 3: weight", "'many'"),
        ("line 4: name", "the name 'A' again (as criteria[0])"),
    ]


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("criterion,owner\nA,ann\n", "line 2: owner", "no points"),  # never an option worth nothing
        ("criterion,Good,Bad\nA,Yes,No\n", "line 2: Good", "no points"),
        ("criterion,Good (1)\nA,Yes\n", "line 2", "1 ratings"),
        ("criterion,Good,pts,Bad,pts\nA,x,0,y,0\n", "line 2", "ratings that are all worth 0 points"),
        ("criterion,Good,pts,Bad,pts\nA,x,1,y,-1\n", "line 2: Bad", "-1"),
        (",Good,Bad\n,high,low\nA,x,y\n", "line 2: Good", "high"),
        ("colour,size\nred,2\n", "line 1", "the columns colour, size"),
        ("criterion,points\n", "", "a table without rows"),
        ('criterion,points\n"A,1\n', "line 2", "a broken row (unexpected end of data)"),
    ],
)
def test_a_table_that_says_too_little_is_refused(text, place, found):
    assert (place, found) in faults(text)
