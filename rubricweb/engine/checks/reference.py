"""Checks against a reference answer: the same text, the same number, the same mathematics."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from decimal import Context, Decimal
from typing import Annotated, Literal

from pydantic import Field

from rubricweb.engine.checks.base import (
    CannotCheck,
    Check,
    CheckParams,
    CheckResult,
    quoted,
    reference_of,
)
from rubricweb.engine.checks.processes.limited import LimitedProcess
from rubricweb.engine.submission import Submission

MAX_MATH_CHARACTERS = 100_000
MATH_TIMEOUT_SECONDS = 5.0

_GivenReference = Annotated[str | None, Field(max_length=100_000)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]
_Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]

# What parts thousands beside a comma: the Swiss apostrophe, and spaces that no line ends at.
_GAP = r"['\u2019\u00a0\u202f\u2009]"
_DECIMALS = r"(?:\.\d{1,400})?"
# Bounded, so that a long run of groups is looked through once and not from each of them on.
_DIGITS = "|".join(
    (
        rf"\d{{1,3}}(?P<gap>{_GAP})\d{{3}}(?:(?P=gap)\d{{3}}){{0,99}}(?:[.,]\d{{1,400}})?",  # 1 000,5
        rf"\d{{1,3}}(?:,\d{{3}}){{1,99}}(?!,?\d){_DECIMALS}",  # 1,000.5
        rf"\d{{1,2}}(?:,\d{{2}}){{1,20}},\d{{3}}(?!,?\d){_DECIMALS}",  # 1,00,000.5, as in India
        rf"\d{{1,400}}{_DECIMALS}",
        r"\.\d{1,400}",
    )
)
# What goes on as no notation of a number does is none: 1_000, 1'00, 0x10, 1e999999999.
_GOES_ON = rf"\.?\d|_|{_GAP}\d|[eE][+\-\u2212]?\d|(?<=\b0)[xXoObB][0-9a-fA-F]"
_NUMBER = re.compile(
    rf"(?<![\w.])(?<!\d{_GAP})[+\-\u2212]?(?:{_DIGITS})(?:[eE][+\-\u2212]?\d{{1,4}})?(?!{_GOES_ON})"
)
# No traps: an overflow is infinite and far from every reference, not an exception.
_EXACT = Context(prec=60, traps=[])

_helper = LimitedProcess("math_equivalence", timeout_seconds=MATH_TIMEOUT_SECONDS)


class MatchesReferenceParams(CheckParams):
    """How strictly the text must equal the reference."""

    mode: Literal["exact", "normalised"] = Field(
        "normalised",
        description="exact: every character; normalised: whatever the case, white space and closing dot",
    )
    reference: _GivenReference = Field(
        None, description="The text to compare with; empty for the item's own reference"
    )


def run_matches_reference(submission: Submission, params: MatchesReferenceParams) -> CheckResult:
    """1 when the text equals the reference, else 0. Raises CannotCheck (``no_reference``) without one.

    Normalised: Unicode NFKC, case folded, white space as one space, none at the ends, and without the
    full stops, exclamation or question marks at the end. ``" PARIS. "`` equals ``"Paris"``.
    """
    reference = reference_of(submission, params.reference)
    text = submission.output
    if params.mode == "normalised":
        same = _normalised(text) == _normalised(reference)
    else:
        same = text == reference
    if same:
        return CheckResult(1.0, "equals the reference")
    return CheckResult(0.0, f"{quoted(text)} is not the reference {quoted(reference)}")


def describe_matches_reference(params: MatchesReferenceParams) -> str:
    """Equals the reference, whatever the case and white space."""
    what = "the reference" if params.reference is None else quoted(params.reference)
    return f"Equals {what}" + (
        ", whatever the case and white space" if params.mode == "normalised" else " exactly"
    )


class NumericToleranceParams(CheckParams):
    """Which number is expected, and how far from it is near enough."""

    expected: _Finite | None = Field(
        None, description="The number expected; empty for the last number of the item's reference"
    )
    absolute: _Tolerance = Field(0.0, description="Largest difference allowed, in the number's own unit")
    relative: _Tolerance = Field(
        0.0, description="Largest difference allowed, as a share of the expected number"
    )
    which: Literal["last", "first", "only"] = Field(
        "last", description="Which number of the text counts; only: the text must hold exactly one"
    )


def run_numeric_tolerance(submission: Submission, params: NumericToleranceParams) -> CheckResult:
    """1 when ``|found − expected| ≤ max(absolute, relative · |expected|)``, else 0, also without a number.

    Expected 200 with relative 0.05 accepts 190 to 210, both included: decimals are compared exactly as
    written. ``1,234.5`` is read with thousands separators, ``1e3`` as 1000, ``−3`` with the minus sign of
    typographers, ``1'000`` as 1000, and ``1 000,5`` with a space at which no line ends as 1000.5. What goes
    on in no notation of numbers (``1_000``, ``0x10``, ``1e999999999``) is none. Raises CannotCheck
    (``no_reference``) when the reference holds no number.
    """
    expected = _expected(submission, params)
    numbers = numbers_in(submission.output)
    if not numbers:
        return CheckResult(0.0, "no number found")
    if params.which == "only" and len(numbers) > 1:
        return CheckResult(0.0, f"{len(numbers):,} numbers found; one asked for")
    found = numbers[0] if params.which == "first" else numbers[-1]
    allowed = max(
        Decimal(repr(params.absolute)), _EXACT.multiply(Decimal(repr(params.relative)), abs(expected))
    )
    difference = abs(_EXACT.subtract(found, expected))
    near = difference <= allowed
    return CheckResult(
        float(near),
        f"found {float(found):.12g}; expected {float(expected):.12g}"
        + (f" ± {float(allowed):.12g}" if allowed else ""),
    )


def describe_numeric_tolerance(params: NumericToleranceParams) -> str:
    """Gives 42 within 0.5."""
    what = "the reference's number" if params.expected is None else f"{params.expected:.12g}"
    limits = [f"{params.absolute:.12g}"] if params.absolute else []
    limits += [f"{100 * params.relative:.6g} %"] if params.relative else []
    return f"Gives {what}" + (f" within {' or '.join(limits)}" if limits else " exactly")


class MathEquivalenceParams(CheckParams):
    """The formula to compare with."""

    reference: _GivenReference = Field(
        None, description="The formula to compare with; empty for the item's own reference"
    )


def run_math_equivalence(submission: Submission, params: MathEquivalenceParams) -> CheckResult:
    """1 when the text's answer is mathematically equal to the reference, else 0, also without a formula.

    Read by math-verify: ``\\boxed{…}`` first, then formulas and numbers; ``$\\frac{1}{2}$`` equals ``0.5``.
    Raises CannotCheck: ``not_installed`` without the extra ``math``, ``no_reference`` without a readable
    reference, ``too_large``, and ``timed_out`` after five seconds.
    """
    return compare_mathematics(submission, reference_of(submission, params.reference), _helper)


def compare_mathematics(submission: Submission, reference: str, process: LimitedProcess) -> CheckResult:
    """``run_math_equivalence`` in a process of one's own, with a time limit of its own."""
    if importlib.util.find_spec("math_verify") is None:
        raise CannotCheck("not_installed", "math-verify is missing; allowed: rubricweb with the extra math")
    if max(len(submission.output), len(reference)) > MAX_MATH_CHARACTERS:
        found = f"{max(len(submission.output), len(reference)):,} characters"
        raise CannotCheck("too_large", f"{found} are too many; allowed: {MAX_MATH_CHARACTERS:,}")
    answer = process.ask({"reference": reference, "text": submission.output})
    if answer["reference"] is None:
        raise CannotCheck("no_reference", f"the reference {quoted(reference)} cannot be read as mathematics")
    if answer["found"] is None:
        return CheckResult(0.0, f"no formula found; expected {quoted(answer['reference'])}")
    verb = "equals" if answer["equal"] else "does not equal"
    return CheckResult(
        float(answer["equal"]), f"{quoted(answer['found'])} {verb} {quoted(answer['reference'])}"
    )


def describe_math_equivalence(params: MathEquivalenceParams) -> str:
    """Is mathematically equal to the reference."""
    what = "the reference" if params.reference is None else quoted(params.reference)
    return f"Is mathematically equal to {what}"


def numbers_in(text: str) -> list[Decimal]:
    """Every number written in the text, in order; one glued to a word (``B2``, ``v1.2.3``) is none."""
    return [Decimal(_plain(found)) for found in _NUMBER.finditer(text)]


def _plain(found: re.Match[str]) -> str:
    """As Python writes it: without what parts the thousands, with a point before the decimals."""
    number = found.group().replace("\u2212", "-")
    if found["gap"]:  # then a comma can only be the decimal one
        return number.replace(found["gap"], "").replace(",", ".")
    return number.replace(",", "")


def _expected(submission: Submission, params: NumericToleranceParams) -> Decimal:
    if params.expected is not None:
        return Decimal(repr(params.expected))
    reference = reference_of(submission, None)
    numbers = numbers_in(reference)
    if not numbers:
        raise CannotCheck("no_reference", f"the reference {quoted(reference)} holds no number")
    return numbers[-1]


def _normalised(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split()).rstrip(".!?").rstrip()


MATCHES_REFERENCE = Check(
    name="matches_reference",
    title="Matches the reference",
    description="The text equals the reference, exactly or whatever its case and white space.",
    params=MatchesReferenceParams,
    run=run_matches_reference,
    describe=describe_matches_reference,
)
NUMERIC_TOLERANCE = Check(
    name="numeric_tolerance",
    title="Number within a tolerance",
    description="A number in the text is near enough to the expected one.",
    params=NumericToleranceParams,
    run=run_numeric_tolerance,
    describe=describe_numeric_tolerance,
)
MATH_EQUIVALENCE = Check(
    name="math_equivalence",
    title="Mathematically equal",
    description="The formula or number the text arrives at is mathematically equal to the reference.",
    params=MathEquivalenceParams,
    run=run_math_equivalence,
    describe=describe_math_equivalence,
)
