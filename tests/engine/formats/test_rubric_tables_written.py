"""Rubrics written as tables: what they hold comes back, and what they cannot hold is said."""

import pytest

from rubricweb.engine import Rubric
from rubricweb.engine.formats.rubric_files import read_rubric, write_rubric
from rubricweb.engine.formats.tables.rubric_table_writer import write_rubric_table

HELD = Rubric.from_dict(
    {
        "title": "Essay",
        "criteria": [
            {"id": "a", "name": "claim", "weight": 10, "requirement": "=Says, what it is.", "group": "G"},
            {"weight": -2.5, "requirement": 'Quotes "nobody".\nNot even once.', "guidance": "Look twice."},
            {
                "name": "evidence",
                "weight": 3,
                "requirement": "How is it supported?",
                "scale_type": "ordinal",
                "options": [
                    {"label": "not", "value": 0},
                    {"label": "partly", "value": 1 / 3},
                    {"label": "all", "value": 1},
                ],
            },
        ],
    }
)  # fmt: skip


def test_what_a_table_holds_comes_back() -> None:
    text, left_out = write_rubric_table(HELD)
    assert left_out == ()
    again = read_rubric(text, filename="essay.csv")
    assert [one.requirement for one in again.criteria] == [one.requirement for one in HELD.criteria]
    assert [one.weight for one in again.criteria] == [10, -2.5, 3]
    assert [option.value for option in again.criteria[2].options] == pytest.approx([0, 1 / 3, 1])
    assert (again.title, again.criteria[0].id, again.criteria[1].guidance) == ("Essay", "a", "Look twice.")
    # 3 points of the weight of 3 for the best, a third of them for the one between.
    assert text.splitlines()[-1].endswith("not,0,partly,1,all,3")


def test_what_a_table_cannot_hold_is_said_criterion_by_criterion() -> None:
    rubric = Rubric.from_dict(
        {
            "guidelines": "Be fair.",
            "criteria": [
                {"name": "tone", "weight": 2, "requirement": "Is kind.", "tags": ["t"], "met_example": "Hi!"},
                {"weight": 1, "check": "contains_keywords", "params": {"keywords": ["Paris"]}},
                {
                    "weight": 1,
                    "requirement": "How warm?",
                    "scale_type": "nominal",
                    "options": [
                        {"label": "a", "value": 1}, {"label": "b", "value": 0}, {"label": "none", "na": True},
                    ],
                },
            ],
        }
    )  # fmt: skip
    text, left_out = write_rubric_table(rubric)
    assert left_out == (
        "the guidelines",
        "tone: tags, the example that meets it",
        "Criterion 2: that it is a check",
        "Criterion 3: that its options are just different, "
        "options that abstain, their order, or values whose best is not 1",
    )
    again = read_rubric(text, filename="x.csv")
    assert [one.kind for one in again.criteria] == [
        "binary",
        "binary",
        "choice",
    ]


def test_a_rubric_whose_ratings_are_worth_nothing_is_written_as_met_or_not() -> None:
    options = [{"label": "a", "value": 0}, {"label": "b", "value": 0}]
    rubric = Rubric.from_dict([{"weight": 0, "requirement": "Which?", "options": options}])
    assert "Criterion 1: that it" not in (text := write_rubric(rubric, "csv"))
    assert read_rubric(text, filename="x.csv").criteria[0].kind == "binary"
