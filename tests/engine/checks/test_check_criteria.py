"""Criteria answered by a check: parameters, isolation, and that no text can make a check crash."""

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricweb.engine.answer import Answer
from rubricweb.engine.checks import (
    CHECKS,
    CannotCheck,
    Check,
    CheckParams,
    CheckResult,
    NoParams,
    check_params,
    describe_check,
    run_check,
)
from rubricweb.engine.errors import FaultList
from rubricweb.engine.report import GradingError
from rubricweb.engine.rubric.criterion import Criterion
from rubricweb.engine.submission import Submission

EXAMPLES = {
    "contains_keywords": {"keywords": ["summary", "key points"], "mode": "any"},
    "no_forbidden_phrases": {"phrases": ["as an AI"], "match": "word"},
    "length_between": {"min": 2, "max": 50},
    "matches_regex": {"pattern": r"\b\d+"},
    "json_schema": {"schema": {"type": "object", "required": ["a"], "default": None}},
    "matches_reference": {},
    "numeric_tolerance": {"absolute": 0.5},
    "math_equivalence": {},
    "xml_format": {"tags": ["reasoning", "answer"], "mode": "fraction"},
    "think_format": {},
}


def criterion(check: str, params: dict | None = None, weight: float = 1.0) -> Criterion:
    return Criterion(name="c", weight=weight, requirement="r", kind="check", check=check, params=params or {})


def test_every_check_has_an_example_here():
    assert set(EXAMPLES) == set(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_a_form_can_be_built_from_every_checks_parameters(name):
    check = CHECKS[name]
    assert check.name == name
    assert check.title
    assert check.description.endswith(".")
    assert issubclass(check.params, CheckParams)
    schema = check.params.model_json_schema()
    assert schema["additionalProperties"] is False
    for field, described in schema["properties"].items():
        assert described.get("description"), field


@pytest.mark.parametrize("name", CHECKS)
def test_parameters_come_back_complete_and_unchanged_by_a_second_reading(name):
    faults = FaultList()
    read = check_params(name, EXAMPLES[name], faults)
    assert not faults
    assert read is not None
    assert read.items() >= EXAMPLES[name].items()
    assert check_params(name, read, faults) == read


def test_defaults_are_written_out_and_what_is_unset_is_left_out():
    assert check_params("length_between", {"max": 5}, FaultList()) == {"unit": "characters", "max": 5}


@pytest.mark.parametrize(
    ("name", "params", "refusal"),
    [
        (
            "contains_keyword",
            {},
            'criteria[2].check: found the text "contains_keyword"; '
            "allowed: did you mean contains_keywords? One of " + ", ".join(CHECKS),
        ),
        (None, {}, "criteria[2].check: found nothing (null); allowed: one of " + ", ".join(CHECKS)),
        (
            "think_format",
            {"a": 1},
            "criteria[2].params.a: found an unknown parameter; allowed: no parameters",
        ),
        (
            "length_between",
            {"maximum": 1, "max": 1},
            "criteria[2].params.maximum: found an unknown parameter; "
            "allowed: did you mean max? One of unit, min, max",
        ),
        (
            "json_schema",
            {},
            "criteria[2].params.schema: found nothing; "
            "allowed: a JSON schema, draft 2020-12 unless its $schema says otherwise; no outside references",
        ),
        (
            "length_between",
            {"min": 5, "max": 3},
            "criteria[2].params: found an object; allowed: a min (5) that is not above max (3)",
        ),
        (
            "length_between",
            {"min": "5"},
            'criteria[2].params.min: found the text "5"; allowed: a valid integer',
        ),
        ("length_between", {"min": True}, "criteria[2].params.min: found true; allowed: a valid integer"),
        (
            "contains_keywords",
            {"keywords": ["a", " "]},
            "criteria[2].params.keywords[1]: found an empty text; allowed: text",
        ),
        (
            "contains_keywords",
            {"keywords": "a"},
            'criteria[2].params.keywords: found the text "a"; allowed: a list',
        ),
        (
            "contains_keywords",
            {"keywords": []},
            "criteria[2].params.keywords: found 0 entries; allowed: at least 1",
        ),
        (
            "contains_keywords",
            {"keywords": ["a"] * 101},
            "criteria[2].params.keywords: found 101 entries; allowed: at most 100",
        ),
        (
            "numeric_tolerance",
            {"absolute": math.nan},
            "criteria[2].params.absolute: found NaN; allowed: a finite number",
        ),
        (
            "xml_format",
            {"tags": ["a b"]},
            'criteria[2].params.tags[0]: found the text "a b"; allowed: a tag\'s name: a letter or _, '
            "then letters, digits, _ . -",
        ),
        ("length_between", [1], "criteria[2].params: found a list; allowed: an object of parameters by name"),
    ],
)
def test_a_refusal_names_the_place_what_was_found_and_what_is_allowed(name, params, refusal):
    faults = FaultList()
    assert check_params(name, params, faults, "criteria[2]") is None
    assert [str(fault) for fault in faults] == [refusal]


def test_all_faults_are_named_at_once():
    faults = FaultList()
    check_params("contains_keywords", {"keywords": [" ", "a"], "mode": "most", "x": 1}, faults)
    assert [fault.place for fault in faults] == ["params.keywords[0]", "params.mode", "params.x"]


@pytest.mark.parametrize(
    ("name", "params", "sentence"),
    [
        ("contains_keywords", EXAMPLES["contains_keywords"], "Contains at least one of: summary, key points"),
        (
            "contains_keywords",
            {"keywords": list("abcdefghij")},
            "Contains all of: a, b, c, d, e, f, g, h and 2 more",
        ),
        ("contains_keywords", {}, CHECKS["contains_keywords"].description),
        ("no_forbidden_phrases", {"phrases": ["as an AI"]}, "Contains none of: as an AI"),
        ("length_between", {"min": 2, "max": 5000}, "Has 2 to 5,000 characters"),
        ("length_between", {"max": 5, "unit": "words"}, "Has at most 5 words"),
        ("matches_regex", {"pattern": "a+", "mode": "fullmatch"}, "Matches as a whole the pattern a+"),
        (
            "json_schema",
            {"schema": {"title": "Order", "required": ["id", "sum"]}},
            "Is JSON with id, sum that fits the schema “Order”",
        ),
        ("matches_reference", {}, "Equals the reference, whatever the case and white space"),
        ("numeric_tolerance", {"expected": 42, "relative": 0.05}, "Gives 42 within 5 %"),
        ("math_equivalence", {"reference": "x"}, "Is mathematically equal to “x”"),
        ("xml_format", {"tags": ["a", "b"]}, "Has the tags a, b in this order"),
        ("think_format", {}, CHECKS["think_format"].description),
    ],
)
def test_a_check_describes_itself_to_a_reviewer(name, params, sentence):
    assert describe_check(name, params) == sentence


def test_an_unknown_check_cannot_be_described():
    with pytest.raises(ValueError, match="did you mean length_between"):
        describe_check("length_betwen")


def test_an_answer_holds_the_value_and_the_reason():
    answer = run_check(criterion("length_between", {"max": 3}), Submission("four"))
    assert answer == Answer(verdict=None, reason="4 characters; at most 3 allowed", value=0.0)


@pytest.fixture
def registered(monkeypatch):
    def register(run) -> str:
        check = Check("of_the_test", "Of the test", "Of the test.", NoParams, run)
        monkeypatch.setitem(CHECKS, "of_the_test", check)
        return "of_the_test"

    return register


def test_a_crash_is_recorded_by_name(registered):
    def run(submission, params):
        raise ValueError("something went wrong")

    error = run_check(criterion(registered(run)), Submission("text"))
    assert error == GradingError(
        criterion="c", kind="check_crashed", message="ValueError: something went wrong"
    )


def test_a_check_may_decline(registered):
    def run(submission, params):
        raise CannotCheck("no_reference", "the item has none")

    error = run_check(criterion(registered(run)), Submission("text"))
    assert error == GradingError(criterion="c", kind="no_reference", message="the item has none")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_an_interruption_passes(registered, interruption):
    def run(submission, params):
        raise interruption

    with pytest.raises(interruption):
        run_check(criterion(registered(run)), Submission("text"))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "1", [1]])
@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_what_is_no_finite_number_is_an_error(registered, value, weight):
    name = registered(lambda submission, params: CheckResult(value, ""))
    error = run_check(criterion(name, weight=weight), Submission("text"))
    assert isinstance(error, GradingError)
    assert error.kind == "bad_value"
    assert error.message.endswith("allowed: a finite number")


def test_what_is_no_result_at_all_is_an_error(registered):
    error = run_check(criterion(registered(lambda submission, params: 1.0)), Submission("text"))
    assert str(error) == "bad_value: returned 1.0; allowed: a CheckResult"


@pytest.mark.parametrize(
    ("weight", "value", "used"), [(1, 7, 1.0), (-1, 7, 1.0), (1, -7, 0.0), (0, 7, 7.0), (0, -7, -7.0)]
)
def test_only_a_metric_without_weight_leaves_zero_to_one(registered, weight, value, used):
    name = registered(lambda submission, params: CheckResult(value, ""))
    answer = run_check(criterion(name, weight=weight), Submission("text"))
    assert isinstance(answer, Answer)
    assert answer.value == used


def test_parameters_that_no_longer_fit_are_an_error(registered, monkeypatch):
    known = criterion("length_between", {"max": 3})
    monkeypatch.setitem(CHECKS, "length_between", CHECKS["think_format"])
    error = run_check(known, Submission("text"))
    assert isinstance(error, GradingError)
    assert (error.kind, error.message) == (
        "bad_params",
        "params.unit: found an unknown parameter; allowed: no parameters",
    )


def test_a_check_that_is_no_longer_there_is_an_error(registered, monkeypatch):
    known = criterion(registered(lambda submission, params: CheckResult(1.0, "")))
    monkeypatch.delitem(CHECKS, "of_the_test")
    error = run_check(known, Submission("text"))
    assert isinstance(error, GradingError)
    assert error.kind == "unknown_check"


TEXTS = st.text(st.characters(), max_size=200) | st.text(
    '<>/think`~{}[]"0123456789.,e-+$\\ \nabc', max_size=200
)


@pytest.mark.parametrize("name", [name for name in CHECKS if name != "math_equivalence"])
@settings(max_examples=60)
@given(text=TEXTS, reference=TEXTS)
def test_no_text_makes_a_check_crash(name, text, reference):
    answer = run_check(criterion(name, EXAMPLES[name]), Submission(text, reference=reference))
    if isinstance(answer, GradingError):
        assert answer.kind == "no_reference"
    else:
        assert answer.value is not None
        assert 0.0 <= answer.value <= 1.0


@settings(max_examples=15)
@given(text=st.text("0123456789+-*/^()xy$\\ ", max_size=12))
def test_no_formula_makes_the_mathematics_crash(text):
    answer = run_check(criterion("math_equivalence"), Submission(text, reference="$x+1$"))
    if isinstance(answer, GradingError):
        assert answer.kind == "timed_out"
    else:
        assert answer.value in (0.0, 1.0)


@pytest.mark.parametrize("name", [name for name in CHECKS if name not in ("matches_regex", "json_schema")])
def test_a_huge_text_is_measured_or_refused(name):
    for text in ("a " * 2_000_000, "<think>" * 300_000, "1," * 1_000_000, "`" * 2_000_000):
        answer = run_check(criterion(name, EXAMPLES[name]), Submission(text, reference="3"))
        if isinstance(answer, GradingError):
            assert (name, answer.kind) == ("math_equivalence", "too_large")
