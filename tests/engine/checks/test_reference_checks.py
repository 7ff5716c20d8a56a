"""The same text, the same number, the same mathematics as a reference."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from rubricweb.engine.checks import CHECKS, CannotCheck
from rubricweb.engine.checks.reference import numbers_in
from rubricweb.engine.submission import Submission


def measured(check: str, text: str, of: str | None = None, /, **params):
    return CHECKS[check].run(Submission(text, reference=of), CHECKS[check].params.model_validate(params))


@pytest.mark.parametrize("check", ["matches_reference", "numeric_tolerance", "math_equivalence"])
@pytest.mark.parametrize("reference", [None, "", "  \n"])
def test_no_reference_is_an_error_and_not_a_zero(check, reference):
    with pytest.raises(CannotCheck) as refusal:
        measured(check, "42", reference)
    assert refusal.value.kind == "no_reference"


@pytest.mark.parametrize(
    ("text", "normalised", "exact"),
    [
        ("Paris", 1.0, 1.0),
        (" PARIS. ", 1.0, 0.0),
        ("Ｐａｒｉｓ", 1.0, 0.0),  # full-width letters
        ("Paris, France", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_a_text_equals_the_reference(text, normalised, exact):
    assert measured("matches_reference", text, "Paris").value == normalised
    assert measured("matches_reference", text, "Paris", mode="exact").value == exact


def test_a_reference_in_the_parameters_comes_before_the_items():
    assert measured("matches_reference", "Rome", "Paris", reference="Rome").value == 1.0
    assert measured("math_equivalence", "$3$", "4", reference="3").value == 1.0
    assert measured("numeric_tolerance", "3", "4", expected=3).value == 1.0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("189.99", 0.0),
        ("190", 1.0),  # 200 − 5 %
        ("so 5 times 38 is 190.", 1.0),  # the last number counts
        ("210", 1.0),
        ("210.01", 0.0),
        ("2e2", 1.0),
        ("0.2e3 €", 1.0),
        ("−200", 0.0),
        ("-200", 0.0),
        ("none", 0.0),
        ("v1.200.3", 0.0),
        ("B200", 0.0),
    ],
)
def test_near_enough_to_two_hundred(text, value):
    assert measured("numeric_tolerance", text, "about 200", relative=0.05).value == value


def test_decimals_are_compared_as_written():
    # In binary 1.1 − 1.0 is more than 0.1, and 0.1 + 0.2 is not 0.3.
    assert measured("numeric_tolerance", "1.1", expected=1.0, absolute=0.1).value == 1.0
    assert measured("numeric_tolerance", "1.1000001", expected=1.0, absolute=0.1).value == 0.0
    assert measured("numeric_tolerance", "0.30", "0.3").value == 1.0


def test_thousands_the_typographers_minus_and_enormous_numbers():
    assert measured("numeric_tolerance", "1,234,567.5", expected=1234567.5).value == 1.0
    assert measured("numeric_tolerance", "it is −3.", expected=-3).value == 1.0
    assert measured("numeric_tolerance", "1e9999", expected=1, relative=0.5).value == 0.0
    assert measured("numeric_tolerance", "9" * 300, expected=1).value == 0.0


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("(1,2)", ["1", "2"]),
        ("1,234, and 12,345,678.9.", ["1234", "12345678.9"]),
        ("1,2345", ["1", "2345"]),
        ("on 2024-05-17", ["2024", "5", "17"]),
        ("5-3=2", ["5", "3", "2"]),
        ("$-5, +.5, 10% and 7kg", ["-5", "0.5", "10", "7"]),
        ("version 1.2.3 of B2", []),
        ("٣", ["3"]),
        ("1.5e3 1E-2", ["1500", "0.01"]),
        ("", []),
    ],
)
def test_numbers_as_a_reader_sees_them(text, numbers):
    assert numbers_in(text) == [Decimal(number) for number in numbers]


def test_which_number_counts():
    assert measured("numeric_tolerance", "3 of 7", expected=3, which="first").value == 1.0
    assert measured("numeric_tolerance", "3 of 7", expected=3).value == 0.0
    assert (
        measured("numeric_tolerance", "3 of 7", expected=7, which="only").reason
        == "2 numbers found; one asked for"
    )
    assert measured("numeric_tolerance", "3", expected=3, which="only").value == 1.0


def test_the_reason_says_what_was_found():
    result = measured("numeric_tolerance", "41", expected=42, absolute=0.5)
    assert result.reason == "found 41; expected 42 ± 0.5"


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        (r"so it is $\frac{2}{4}$", "0.5", 1.0),
        (r"The answer is \boxed{\frac12}.", r"\frac{1}{2}", 1.0),
        ("$(x+1)^2$", "x^2+2x+1", 1.0),
        ("(x+1)^2", "$x^2+2x+1$", 1.0),
        (r"$\sqrt{8}$", r"$2\sqrt{2}$", 1.0),
        ("$x+1$", "$x+2$", 0.0),
        ("I do not know", "3", 0.0),
        ("$1$ or no", "on", 0.0),
        (r"\sin x", r"$\sin{x}$", 1.0),
        ("sin x", r"$\sin x$", 0.0),  # three letters unmarked are a word
        ("", "3", 0.0),
    ],
)
def test_formulas_are_equal_in_value(text, reference, value):
    assert measured("math_equivalence", text, reference).value == value


def test_prose_is_not_a_product_of_letters():
    assert measured("math_equivalence", "left", "felt = 3").value == 0.0
    assert measured("math_equivalence", "the word is felt", "$l e f t$").value == 0.0


@pytest.mark.parametrize("reference", ["!!!", "a matter of taste"])
def test_a_reference_that_is_no_mathematics_is_an_error(reference):
    with pytest.raises(CannotCheck, match="cannot be read as mathematics"):
        measured("math_equivalence", "$3$", reference)


def test_an_endless_formula_is_stopped_and_the_next_one_answered():
    with pytest.raises(CannotCheck, match="timed_out"):
        measured("math_equivalence", "$10^{10^{10^{10}}}$", "3")
    assert measured("math_equivalence", "$3$", "3").value == 1.0


def test_threads_get_their_own_answers():
    with ThreadPoolExecutor(4) as pool:
        values = pool.map(lambda n: measured("math_equivalence", f"${n}$", str(n - n % 2)).value, range(20))
        assert list(values) == [1.0, 0.0] * 10  # even numbers equal themselves, odd ones the number before


def test_a_forked_process_asks_a_helper_of_its_own():
    program = """
import os
from rubricweb.engine.checks import CHECKS
from rubricweb.engine.submission import Submission
def value(text):
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}
    check = CHECKS["json_schema"]
    return check.run(Submission(text), check.params.model_validate({"schema": schema})).value
assert value("1") == 1.0
child = os.fork()
answers = [value(text) for text in (["1", "2", "3"] if child else ["x", "[]", "{}"]) * 50]
if child:
    assert os.waitpid(child, 0)[1] == 0
    print(set(answers))
else:
    os._exit(0 if set(answers) == {0.0} else 1)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "{1.0}"


def test_without_the_extra_the_check_says_what_to_install():
    program = """
import sys
sys.modules["math_verify"] = None
from rubricweb.engine.checks import CHECKS, CannotCheck
from rubricweb.engine.submission import Submission
check = CHECKS["math_equivalence"]
try:
    check.run(Submission("3", reference="3"), check.params())
except CannotCheck as refusal:
    print(refusal)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (
        result.stdout.strip()
        == "not_installed: math-verify is missing; allowed: rubricweb with the extra math"
    )


def test_importing_the_checks_does_not_import_the_mathematics():
    program = "import sys, rubricweb.engine.checks; print({'math_verify', 'sympy'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


@pytest.mark.parametrize(
    "text",
    [
        "1e999999999",
        "1_000",
        "1_000.5",
        "0x10",
        "0b101",
        "0o17",
        "1'00",
        "1'000'00",
        "1e1_0",
        "1.000.000",
        "12e3.5",
    ],
)
def test_what_is_written_in_no_notation_of_numbers_is_no_number(text):
    """None of its digits is one either: 1e999999999 is not 1."""
    assert numbers_in(text) == []
    for expected in (0, 1, 10, 1000):
        result = measured("numeric_tolerance", f"The answer is {text}", expected=expected)
        assert (result.value, result.reason) == (0.0, "no number found")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1'000", "1000"),
        ("1’000’000.5", "1000000.5"),
        ("1\u202f000,5 €", "1000.5"),
        ("1\u00a0000", "1000"),
        ("12,34,567", "1234567"),
        ("5kg", "5"),
        ("1e−3", "0.001"),
        ("1990's", "1990"),
    ],
)
def test_thousands_are_read_as_they_are_parted_elsewhere(text, number):
    assert numbers_in(text) == [Decimal(number)]


def test_a_reference_in_no_notation_of_numbers_is_an_error():
    with pytest.raises(CannotCheck, match="holds no number"):
        measured("numeric_tolerance", "1", "1_000")


@pytest.mark.parametrize("piece", ["1,", "12,34,", ",000", "1'000", "1_", "1e"])
def test_long_runs_of_digits_are_looked_through_in_time_that_grows_with_their_length(piece):
    assert isinstance(numbers_in(piece * 20_000 + "_"), list)
