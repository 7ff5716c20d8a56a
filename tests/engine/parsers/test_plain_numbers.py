"""Which texts are numbers, wherever a judge or a file writes one as a text."""

import pytest

from rubricweb.engine.autograders import PerCriterionOneShotGrader
from rubricweb.engine.formats.labels.answers import number_of
from rubricweb.engine.number_format import plain_number
from rubricweb.engine.parsers.json_reply import read_json_reply
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.submission import Submission

NO_NUMBERS = [
    "",
    "1_000",
    "1__0",
    "0x10",
    "0b1",
    "1,5",
    "1 000",
    "5 %",
    "5kg",
    "nan",
    "inf",
    "1e999",
    "٤",
    "½",
    "1e",
]


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1.0), (" 2.50 ", 2.5), ("1e3", 1000.0), (".5", 0.5), ("-3", -3.0), ("−3", -3.0)],
)
def test_a_text_in_the_notation_of_json_is_a_number(text, number):
    assert plain_number(text) == number


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_any_other_text_is_none(text):
    assert plain_number(text) is None
    assert number_of(text) is None  # a rating in a file of labels


def test_a_criterion_is_not_the_one_that_an_odd_number_may_mean():
    """Python takes 1_0 for 10, and a judge that writes it has not said which criterion it is about."""
    rubric = Rubric.from_dict([{"requirement": f"Wants {number}"} for number in range(10)])
    grader = PerCriterionOneShotGrader()
    (prompt,) = grader.prompts(Submission("text"), rubric)
    entry = '{"criterion_number": %s, "criterion_status": "MET", "explanation": "So."}'
    entries = ", ".join(entry % number for number in ('"1_0"', '"3"'))
    reply = f'{{"criteria_evaluations": [{entries}]}}'
    reading = grader.read(prompt, reply, rubric)
    assert list(reading.answers) == [2]
    assert 9 in reading.missing


def test_prose_beside_a_score_states_no_number_where_it_writes_none():
    """ "1_0" is not 1, which would contradict the object's 10."""
    reply = 'The overall score is 1_0.\n{"explanation": "So.", "overall_score": 10}'
    assert read_json_reply(reply)["overall_score"] == 10
