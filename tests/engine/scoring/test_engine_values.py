"""Verdicts, submissions, reports and refusals as values."""

import dataclasses

import pytest

from rubricweb.engine.errors import FaultList, InvalidFile, join_place, shown
from rubricweb.engine.report import CriterionReport, EvaluationReport, GradingError
from rubricweb.engine.submission import Submission
from rubricweb.engine.verdict import CriterionVerdict, Verdict


@pytest.mark.parametrize(
    ("text", "verdict"), [(" met ", "MET"), ("Unmet", "UNMET"), ("cannot_assess", "CANNOT_ASSESS")]
)
def test_labels_match_after_strip_and_casefold(text, verdict):
    assert Verdict.parse(text) is Verdict[verdict]


@pytest.mark.parametrize(
    "text", ["yes", "no", "true", "1", "pass", "fail", "", "MET.", "CANNOT ASSESS", "NOT MET"]
)
def test_other_codes_are_refused_not_guessed(text):
    with pytest.raises(ValueError, match="allowed: MET, UNMET, CANNOT_ASSESS"):
        Verdict.parse(text)


def test_the_published_name_is_the_same_enumeration():
    assert CriterionVerdict is Verdict
    assert f"[{Verdict.MET}]" == "[MET]"


def test_a_submission_is_made_of_what_grade_accepts():
    assert Submission.of("text", "q", "r") == Submission("text", None, "q", "r")
    assert Submission.of({"thinking": "t", "output": "o"}) == Submission("o", "t")
    assert Submission.of({"output": "o"}) == Submission("o")
    kept = Submission("o", "t", "own query", "own reference")
    assert Submission.of(kept) == kept
    assert Submission.of(kept, "q").query == "q"


@pytest.mark.parametrize(
    "bad", [None, 5, ["x"], {}, {"thinking": "t"}, {"output": 5}, {"output": "o", "text": "x"}]
)
def test_what_is_no_submission_is_refused(bad):
    with pytest.raises(ValueError, match=r"allowed: .*output"):
        Submission.of(bad)


def test_a_submission_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Submission("o").output = "p"


def test_a_report_can_be_built_as_the_published_package_builds_it():
    report = EvaluationReport(score=0.5, raw_score=5.0, llm_raw_score=None, report=None)
    assert (report.coverage, report.errors) == (None, ())


def test_a_criterion_report_has_a_verdict_or_an_error():
    error = GradingError(criterion="C1", kind="timeout", message="60 s")
    report = CriterionReport(weight=1, requirement="x", verdict=None, error=error)
    assert str(report.error) == "timeout: 60 s"


@pytest.mark.parametrize(
    ("outer", "inner", "place"),
    [
        ("items[3]", "weight", "items[3].weight"),
        ("items[3].rubric", "[1].weight", "items[3].rubric[1].weight"),
        ("line 4", "id", "line 4: id"),
        ("line 4: rubric", "title", "line 4: rubric.title"),
        ("", "id", "id"),
        ("id", "", "id"),
    ],
)
def test_places_nest(outer, inner, place):
    assert join_place(outer, inner) == place


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "NaN"),
        (True, "true"),
        (0, "0"),
        ([], "an empty list"),
        ({}, "an object"),
        ("", "an empty text"),
        ("x" * 100, 'the text "' + "x" * 59 + '…"'),
        (b"x", "a bytes"),
    ],
)
def test_found_values_are_shown_in_words(value, words):
    assert shown(value) == words


def test_a_million_faults_take_the_space_of_two_hundred():
    faults = FaultList()
    for i in range(1_000_000):
        faults.add(f"line {i}", "x", "y")
    with pytest.raises(InvalidFile) as refused:
        faults.raise_as(InvalidFile)
    assert (len(refused.value.faults), refused.value.more) == (200, 999_800)
