"""Rubrics of verifiers, in TOML and JSON, and rubrics of ours in TOML."""

import json

import pytest

from rubricweb.engine.errors import InvalidRubric
from rubricweb.engine.formats.rubric_files import read_rubric

TOML = """
[[criteria]]
name = "cites"
text = "Does it cite a source?"
weight = 2.0

[[criteria]]
name = "tone"
text = "How warm is it?"
choices = ["cold", "neutral", "warm"]

[[criteria]]
name = "short"
text = "Is it short?"
choices = ["no", "yes"]
"""
CRITERIA = [
    {"name": "cites", "text": "Does it cite a source?", "weight": 2.0},
    {"name": "tone", "text": "How warm is it?", "choices": ["cold", "neutral", "warm"]},
    {"name": "short", "text": "Is it short?", "choices": ["no", "yes"]},
]


@pytest.mark.parametrize(
    ("text", "filename"),
    [
        (TOML, "rubric.toml"),
        (TOML.replace("\n", "\r\n"), "RUBRIC.TOML"),
        (json.dumps({"criteria": CRITERIA}), "rubric.json"),
        (json.dumps(CRITERIA), "rubric.json"),
    ],
)
def test_texts_are_requirements_and_choices_options_from_worst_to_best(text, filename):
    rubric = read_rubric(text.encode(), filename=filename)
    assert [(one.name, one.requirement, one.weight, one.kind) for one in rubric.criteria] == [
        ("cites", "Does it cite a source?", 2, "binary"),
        ("tone", "How warm is it?", 1, "choice"),
        ("short", "Is it short?", 1, "binary"),
    ]
    # The first scores 0, the last 1, what is between them in equal steps.
    assert [(one.label, one.value) for one in rubric.criteria[1].options] == [
        ("cold", 0),
        ("neutral", 0.5),
        ("warm", 1),
    ]


def test_a_rubric_of_ours_is_read_from_toml():
    text = 'title = "Replies"\n[[criteria]]\nrequirement = "Is polite."\nweight = 3\n'
    rubric = read_rubric(text, filename="r.toml")
    assert (rubric.title, rubric.weights) == ("Replies", (3,))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[[criteria]\n", "line 1, column 11"),
        ('criteria = [{name = "a", text = "x", choices = "yes"}]', "criteria[0].options"),
        ('criteria = [{name = "a", text = ""}]', "criteria[0].requirement"),
        ('criteria = [{name = "a", text = "x", wieght = 1}]', "criteria[0].wieght"),
    ],
)
def test_what_is_wrong_is_placed(text, place):
    with pytest.raises(InvalidRubric) as refused:
        read_rubric(text, filename="r.toml")
    assert place in [fault.place for fault in refused.value.faults]
