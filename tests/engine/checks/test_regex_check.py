"""The check for a pattern: linear time, clear refusals."""

import pytest

from rubricweb.engine.checks import CHECKS, CannotCheck, check_params
from rubricweb.engine.checks.regex import compiled
from rubricweb.engine.errors import FaultList
from rubricweb.engine.rubric import MAX_CRITERIA, check_rubric
from rubricweb.engine.submission import Submission

CHECK = CHECKS["matches_regex"]


def measured(text: str, **params):
    return CHECK.run(Submission(text), CHECK.params.model_validate(params))


def test_a_match_anywhere_or_of_the_whole_text():
    assert measured("on 2024-05-17.", pattern=r"\d{4}-\d\d-\d\d").reason == "matched “2024-05-17”"
    assert measured("on 2024-05-17.", pattern=r"\d{4}-\d\d-\d\d", mode="fullmatch").value == 0.0
    assert measured("2024-05-17", pattern=r"\d{4}-\d\d-\d\d", mode="fullmatch").value == 1.0
    assert measured("YES", pattern="yes").value == 0.0
    assert measured("YES", pattern="yes", ignore_case=True).value == 1.0


def test_letters_of_every_script_and_line_breaks():
    assert measured("größer", pattern=r"^\p{L}+$").reason == "matched “größer”"
    assert measured("a\nb", pattern="a.b").value == 0.0
    assert measured("a\nb", pattern="(?s)a.b").value == 1.0
    assert measured("a\nb", pattern="(?m)^b$").value == 1.0
    assert measured("half \ud800 pair", pattern="half").value == 1.0


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(x+x+)+y", "x" * 1_000_000),
        (r"(a|a)*$b", "a" * 1_000_000),
        (r"(a|b)*a(a|b){500}c", "ab" * 30_000),
        (r"((a?){300})a{300}", "b" * 60_000),
        (r"(.*)(.*)(.*)(.*)(.*)(.*)z", "y" * 300_000),
    ],
)
def test_a_catastrophic_pattern_is_answered(pattern, text):
    assert measured(text, pattern=pattern).value == 0.0


def test_too_much_work_is_an_error_and_not_a_zero():
    with pytest.raises(CannotCheck, match="too_large: 1,000,001 characters are too many"):
        measured("a" * 1_000_001, pattern="b")
    with pytest.raises(CannotCheck, match="allowed: "):
        measured("a" * 1_000_000, pattern="(a|b)*a(a|b){500}c")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?=a)b", "a lookahead, (?="),
        ("(?!a)b", "a lookahead, (?!"),
        ("(?<=a)b", "a lookbehind, (?<="),
        ("(?<!a)b", "a lookbehind, (?<!"),
        (r"(a)\1", "a backreference, \\1"),
        ("(?P<n>a)(?P=n)", "a backreference, (?P="),
        ("(?>a)", "an atomic group, (?>"),
        ("a++", "a possessive repetition, ++"),
        ("(a)?(?(1)b|c)", "a conditional, (?("),
        (r"a\Z", "\\Z; RE2 writes the end of the text as \\z"),
        ("(a", "missing )"),
        ("[(?=]*(", "missing )"),
        ("a{5000}", "repetition"),
        (r"(\p{L}{900}){900}", "repetition"),
        ("\ud800", "unicode"),
    ],
)
def test_what_re2_cannot_do_is_refused_by_name(pattern, said):
    faults = FaultList()
    assert check_params("matches_regex", {"pattern": pattern}, faults, "criteria[0]") is None
    (fault,) = faults
    assert fault.place == "criteria[0].params.pattern"
    assert said in fault.allowed


def test_the_length_of_a_pattern_is_limited():
    faults = FaultList()
    assert check_params("matches_regex", {"pattern": "a" * 1001}, faults) is None
    assert [fault.allowed for fault in faults] == ["string should have at most 1000 characters"]


def test_the_largest_rubric_of_patterns_is_compiled_once():
    criteria = [
        {"weight": 1, "check": "matches_regex", "params": {"pattern": f"a{number}", "ignore_case": True}}
        for number in range(MAX_CRITERIA)
    ]

    def read() -> None:
        rubric = check_rubric({"title": "Patterns", "criteria": criteria}, FaultList())
        for criterion in rubric.criteria:
            measured("a7", **criterion.params)

    read()
    before = compiled.cache_info().misses
    read()
    assert compiled.cache_info().misses == before
