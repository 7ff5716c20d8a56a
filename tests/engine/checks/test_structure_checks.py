"""Tags in their order, and thinking before the answer."""

import pytest

from rubricweb.engine.checks import CHECKS
from rubricweb.engine.submission import Submission


def measured(check: str, submission: Submission, **params):
    return CHECKS[check].run(submission, CHECKS[check].params.model_validate(params))


@pytest.mark.parametrize(
    ("text", "fraction"),
    [
        ("<reasoning>a</reasoning>\n<answer>4</answer>", 1.0),
        ("before <reasoning>a</reasoning> between <answer>4</answer> after", 1.0),
        ("<answer>4</answer>", 0.5),
        ("<answer>4</answer><reasoning>a</reasoning>", 0.5),  # the answer comes too early
        ("<reasoning>a</reasoning><answer> </answer>", 0.5),  # an empty answer
        ("<reasoning>a</reasoning><answer>4</answer><answer>5</answer>", 0.5),  # two answers
        ("<reasoning>a<answer>4</answer></reasoning>", 0.5),  # one inside the other
        ("</reasoning>a<reasoning></answer>4<answer>", 0.0),
        ("<REASONING>a</REASONING>", 0.0),
        ("", 0.0),
    ],
)
def test_tags_in_order(text, fraction):
    tags = ["reasoning", "answer"]
    assert measured("xml_format", Submission(text), tags=tags, mode="fraction").value == fraction
    assert measured("xml_format", Submission(text), tags=tags).value == float(fraction == 1.0)


def test_what_is_missing_is_named():
    result = measured("xml_format", Submission("<b>1</b>"), tags=["a", "b", "c"])
    assert result.reason == "not once, filled and in order: a, c"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<think>hm</think>4", 1.0),
        ("\n <think>\nhm\n</think>\n\n4\n", 1.0),
        ("4", 0.0),
        ("<think>hm</think>", 0.0),
        ("<think> </think>4", 0.0),
        ("<think>hm 4", 0.0),
        ("hm</think>4", 0.0),
        ("so <think>hm</think>4", 0.0),
        ("<think>a</think><think>b</think>4", 0.0),
        ("</think>a<think>4", 0.0),
        ("", 0.0),
    ],
)
def test_thinking_then_an_answer(text, value):
    assert measured("think_format", Submission(text)).value == value


def test_thinking_that_came_separately():
    assert measured("think_format", Submission("4", thinking="hm")).value == 1.0
    assert measured("think_format", Submission("4", thinking=" ")).value == 0.0
    assert measured("think_format", Submission(" ", thinking="hm")).value == 0.0
    assert measured("think_format", Submission("<think>a</think>4", thinking="hm")).value == 0.0
