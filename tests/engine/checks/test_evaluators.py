"""The evaluators beyond their published examples: errors, categories, CSV, refusals."""

import asyncio
import csv
import functools
import io

import pytest

from rubricweb.engine.checks import (
    AllRubric,
    CheckResult,
    ContainsKeywords,
    JsonSchema,
    LengthBetween,
    MatchesRegex,
    NoForbiddenPhrases,
    WeightedRubric,
    threshold_rubric,
)
from rubricweb.engine.errors import InvalidRubric


def half(output: str) -> float:
    return 0.5


def full(output: str) -> float:
    return 1.0


def broken(output: str) -> float:
    raise RuntimeError("no")


def test_categories_have_scores_of_their_own():
    rubrics = WeightedRubric([(half, 1, "tone"), (full, 3, "tone"), (broken, 2, "format"), (full, 2)])
    result = rubrics.score("text")
    # tone: (1 · 0.5 + 3 · 1) / 4; format: its only rubric crashed; whole: (0.5 + 3 + 0 + 2) / 8.
    assert result.groups == {"tone": 0.875, "format": 0.0}
    assert result.score == 5.5 / 8
    assert result.coverage == 6 / 8
    assert list(result.breakdown) == ["half", "full", "broken", "full_2"]


def test_errors_are_grading_errors_with_a_kind():
    result = WeightedRubric([(broken, 1)]).score("text")
    assert [(error.criterion, error.kind) for error in result.grading_errors] == [("broken", "check_crashed")]
    assert result.score == 0.0


@pytest.mark.parametrize("returned", [float("nan"), float("inf"), None, "1.0", [1.0]])
def test_what_is_no_finite_number_is_an_error(returned):
    result = WeightedRubric([(lambda output: returned, 1)]).score("text")
    assert result.score == 0.0
    assert "allowed: a finite number" in result.errors["lambda"]


def test_values_are_clipped_and_truth_is_one():
    values = {"two": 2.0, "minus": -1.0, "yes": True, "no": False}
    rubrics = []
    for name, value in values.items():
        fn = functools.partial(lambda output, value: value, value=value)
        fn.__name__ = name
        rubrics.append((fn, 1))
    result = WeightedRubric(rubrics).score("text")
    assert [part.score for part in result.breakdown.values()] == [1.0, 0.0, 1.0, 0.0]


def test_a_metric_without_weight_is_tracked_unclipped_and_moves_nothing():
    result = WeightedRubric([(len, 0), (half, 1)]).score("twelve chars")
    assert result.breakdown["len"].score == 12.0
    assert result.score == 0.5


def test_a_negative_weight_takes_away():
    # (2 · 1 − 1 · 0.5) / 2
    assert WeightedRubric([(full, 2), (half, -1)]).score("text").score == 0.75


def test_a_function_may_give_its_reason():
    result = WeightedRubric([(lambda output: CheckResult(0.25, "a quarter"), 1)]).score("text")
    assert (result.score, result.breakdown["lambda"].label) == (0.25, "a quarter")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_an_interruption_is_not_a_score(interruption):
    def interrupted(output):
        raise interruption

    with pytest.raises(interruption):
        WeightedRubric([(interrupted, 1)]).score("text")
    with pytest.raises(interruption):
        AllRubric([interrupted]).score("text")


def test_coroutine_functions_are_refused_when_the_rubric_is_made():
    async def later(output: str) -> float:
        return 1.0

    for make in (
        lambda: WeightedRubric([(later, 1)]),
        lambda: AllRubric([later]),
        lambda: threshold_rubric(later),
    ):
        with pytest.raises(TypeError, match=r"\(later\) is a coroutine function; allowed: a plain function"):
            make()


def test_a_function_that_returns_a_coroutine_is_an_error():
    async def later() -> float:
        return 1.0

    result = WeightedRubric([(lambda output: later(), 1)]).score("text")
    assert result.errors == {"lambda": "TypeError: returned an awaitable; allowed: a number"}


def test_a_crashed_rubric_fails_even_at_threshold_zero():
    result = AllRubric([broken, half], threshold=0.0).score("text")
    assert (result.passed, result.failed_rubrics) == (False, ["broken"])
    assert result.errors == {"broken": "RuntimeError: no"}


def test_the_threshold_itself_passes():
    assert AllRubric([half], threshold=0.5).score("text").passed
    assert not AllRubric([half], threshold=0.51).score("text").passed


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WeightedRubric([]), "rubrics is empty; allowed: at least one"),
        (lambda: AllRubric([]), "rubrics is empty; allowed: at least one"),
        (lambda: WeightedRubric([half]), r"rubrics\[0\] is a function; allowed: \(rubric, weight\)"),
        (
            lambda: WeightedRubric([(half, float("nan"))]),
            r"rubrics\[0\]\[1\] is NaN; allowed: a finite number",
        ),
        (lambda: WeightedRubric([(half, "1")]), r"rubrics\[0\]\[1\] is the text \"1\""),
        (lambda: WeightedRubric([(half, 1, 2)]), r"rubrics\[0\]\[2\] is 2; allowed: a category's name"),
        (lambda: AllRubric([half], threshold=2), "threshold is 2; allowed: a number from 0 to 1"),
        (lambda: threshold_rubric(half, min_score=float("nan")), "min_score is nan"),
        (lambda: LengthBetween(min_chars=1, max_words=2), "in characters and in words"),
    ],
)
def test_unusable_evaluators_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_cannot_be_called_is_refused():
    with pytest.raises(
        TypeError, match=r"rubrics\[0\]\[0\] is the text \"x\"; allowed: a rubric or a function"
    ):
        WeightedRubric([("x", 1)])


@pytest.mark.parametrize(
    ("make", "place"),
    [
        (lambda: ContainsKeywords([]), "params.keywords"),
        (lambda: ContainsKeywords("summary"), "params.keywords"),
        (lambda: NoForbiddenPhrases(["  "]), "params.phrases[0]"),
        (lambda: MatchesRegex("("), "params.pattern"),
        (lambda: JsonSchema({"type": "strin"}), "params.schema"),
        (lambda: LengthBetween(), "params"),
        (lambda: LengthBetween(min_chars=5, max_chars=3), "params"),
    ],
)
def test_a_built_in_rubric_refuses_its_parameters_when_it_is_made(make, place):
    with pytest.raises(InvalidRubric) as refusal:
        make()
    assert [fault.place for fault in refusal.value.faults] == [place]


def test_a_run_writes_its_csv_text_by_text():
    rubrics = WeightedRubric([(half, 1, "tone"), (broken, 1)])
    outputs = ["=HYPERLINK(1)", 'two\nlines, "quoted"']
    text = "".join(rubrics.score(output).to_csv(header=i == 0) for i, output in enumerate(outputs))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["output"] for row in rows] == ["'=HYPERLINK(1)", outputs[1]]
    assert rows[0] == {
        "output": "'=HYPERLINK(1)",
        "score": "0.25",  # (0.5 + 0) / 2
        "errors": "broken: RuntimeError: no",
        "group.tone": "0.5",
        "rubric.half": "0.5",
        "rubric.broken": "0.0",
    }


def test_no_name_of_a_rubric_can_hide_a_column_or_be_a_formula():
    def score(output: str) -> float:
        return 1.0

    def named(output: str) -> float:
        return 0.0

    named.__name__ = "=cmd()"
    header, row = csv.reader(io.StringIO(AllRubric([score, named]).score("+1+2").to_csv()))
    assert header == ["output", "passed", "errors", "rubric.score", "rubric.=cmd()"]
    assert row == ["'+1+2", "false", "", "1.0", "0.0"]
