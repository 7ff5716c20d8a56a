"""Numbers as people read and write them: on pages, at a terminal, in mails. API and JSON have all digits."""

from __future__ import annotations

import math
import re
from typing import Protocol, TypeGuard

MISSING = "–"
MINUS = "\N{MINUS SIGN}"
LEAST_DIGITS, MOST_DIGITS = 2, 4
"""Decimals of a figure on a scale of 0 to 1, however wide or narrow its interval is."""

ROUNDING = 1e-9
"""A sum of weights this close to 0 or 1 is that: 0.1 + 0.2 + 0.7 in binary is a little less than 1."""


def figure_digits(low: float | None = None, high: float | None = None, n: int | None = None) -> int:
    """How many decimals a figure deserves: the last one is the first digit of half its interval's width.

    0.61 to 0.74: half is 0.065, so 2. 0.681 to 0.687: half is 0.003, so 3. From 2 to 4. Without an interval
    half is taken as 1/√n, about that of a share at its widest: n = 11 gives 2, n = 20,000 gives 3. With
    neither it is 3, as for a score that is known exactly.
    """
    half = abs(high - low) / 2 if is_number(low) and is_number(high) else 0.0
    if half == 0:
        if n is None:
            return 3
        half = 1 / math.sqrt(max(n, 1))
    # 0.01 in binary must not be taken for a little less.
    first_digit = -math.floor(math.log10(half) + 1e-9)
    return min(MOST_DIGITS, max(LEAST_DIGITS, first_digit))


def figure_text(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    n: int | None = None,
    *,
    signed: bool = False,
    percent: bool = False,
    digits: int | None = None,
) -> str:
    """A figure with its 95 % interval, the one way it is written: "0.68 [0.61, 0.74]".

    `signed` gives a difference its plus, `percent` writes shares as "62% [55%, 69%]", `digits` sets the
    decimals where the scale is not 0 to 1. "–" is undefined; without an interval the value stands alone.
    """
    if not is_number(value):
        return MISSING
    places = figure_digits(low, high, n) if digits is None else digits
    said = value_text(value, places, signed=signed, percent=percent)
    between = interval_text(low, high, places, percent=percent)
    return f"{said} {between}" if between else said


class HasInterval(Protocol):
    """What a statistic brings: `engine.agreement.Figure` and the like."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def n(self) -> int: ...


def text_of(figure: HasInterval | None, *, signed: bool = False, percent: bool = False) -> str:
    """`figure_text` of a whole figure; None is "–"."""
    if figure is None:
        return MISSING
    return figure_text(figure.value, figure.low, figure.high, figure.n, signed=signed, percent=percent)


def low_end_words(lowest: float | None, below_bar: float | None = None) -> str:
    """The lowest score and the share below the bar, beside a mean: "lowest 0.12, 8% do not pass".

    "" where no lowest score is known; without a pass rule the lowest score alone.
    """
    return ", ".join(low_end_parts(lowest, below_bar))


def low_end_parts(lowest: float | None, below_bar: float | None = None) -> list[str]:
    """The same apart, for where a line may end between them."""
    if not is_number(lowest):
        return []
    said = [f"lowest {number(lowest, 2)}"]
    return said if below_bar is None else [*said, f"{share(below_bar)} do not pass"]


def unseen_words(n: int, noun: str, unseen: float | None) -> str:
    """What so many cases could not have shown: "Up to 5% new outright failures would not have been seen in 60
    cases." "" without any.
    """
    if unseen is None:
        return ""
    most = "Any number of" if unseen >= 1 else f"Up to {share(unseen)}"
    return f"{most} new outright failures would not have been seen in {counted(n, noun)}."


def value_of(figure: HasInterval | None, *, signed: bool = False, percent: bool = False) -> str:
    """The value alone, with the digits that its interval allows: for columns that have no room for both."""
    if figure is None:
        return MISSING
    places = figure_digits(figure.low, figure.high, figure.n)
    return value_text(figure.value, places, signed=signed, percent=percent)


def value_text(value: float | None, digits: int, *, signed: bool = False, percent: bool = False) -> str:
    """The value of a figure alone: "0.68", "+0.03", "62%", "+7%" of a difference of shares."""
    if not is_number(value):
        return MISSING
    if percent:
        places = max(0, digits - 2)
        return f"{difference(value * 100, places)}%" if signed else share(value, places)
    return difference(value, digits) if signed else number(value, digits)


def interval_text(low: float | None, high: float | None, digits: int = 2, *, percent: bool = False) -> str:
    """ "[0.61, 0.74]" or "[61%, 74%]"; "" where there is no interval."""
    if not (is_number(low) and is_number(high)):
        return ""
    ends = (value_text(end, digits, percent=percent) for end in (low, high))
    return f"[{', '.join(ends)}]"


def from_to(low: float | None, high: float | None, digits: int = 2, *, percent: bool = False) -> str:
    """An interval inside a sentence: "0.57 to 0.81", "18% to 27%"; "" without one."""
    if not is_number(low) or not is_number(high):
        return ""
    return f"{value_text(low, digits, percent=percent)} to {value_text(high, digits, percent=percent)}"


def number(value: float | None, digits: int = 3) -> str:
    """A number with fixed decimals: 0.71349 is "0.713", −0.5 has a true minus, missing is "–".

    Almost 1 is ">0.999" and almost 0 "<0.001", never the exact end: 209 of 210 are not all.
    """
    if not is_number(value):
        return MISSING
    step = 10.0**-digits
    if _is_below_1(value) and round(value, digits) >= 1:
        return f">{1 - step:.{digits}f}"
    if _is_above_0(value) and round(value, digits) <= 0:
        return f"<{step:.{digits}f}"
    return _fixed(value, digits)


def difference(value: float | None, digits: int = 3) -> str:
    """A number with its sign: "+0.031", "−0.012"; what rounds to nothing is "0.000"."""
    if not is_number(value):
        return MISSING
    return f"+{_fixed(value, digits)}" if round(value, digits) > 0 else _fixed(value, digits)


def p_text(p: float | None) -> str:
    """A p value: "0.0180", and "< 0.0001" for what is smaller, since none is nothing."""
    return "< 0.0001" if p is not None and p < 0.0001 else number(p, 4)


def share(value: float | None, digits: int = 0) -> str:
    """A share from 0 to 1 as "86%"; almost all is ">99%" and almost none "<1%", never the exact end."""
    if not is_number(value):
        return MISSING
    step = 10.0**-digits
    hundredths = round(value * 100, digits)
    if _is_below_1(value) and hundredths >= 100:
        return f">{100 - step:.{digits}f}%"
    if _is_above_0(value) and hundredths <= 0:
        return f"<{step:.{digits}f}%"
    return f"{_fixed(hundredths, digits)}%"


def whole(value: float | None) -> str:
    """A whole number with thousands apart: "1,284"; missing is "–"."""
    return _minus(f"{value:,.0f}") if is_number(value) else MISSING


def counted(number: int, noun: str, nouns: str = "") -> str:
    """A number of things: (1, "item") is "1 item", (2_000, "item") "2,000 items".

    `nouns` is the plural where it is not the noun with an s: (2, "criterion", "criteria") is "2 criteria".
    """
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def weight(value: float | None) -> str:
    """A weight with its sign: "+10", "−15" with a true minus, "+2.5", plain "0"."""
    if not is_number(value):
        return MISSING
    digits = f"{abs(value):,.4f}".rstrip("0").rstrip(".")
    if digits == "0":
        return "0"
    return f"{MINUS if value < 0 else '+'}{digits}"


def points(value: float | None) -> str:
    """Points of a score of 100 with their sign: "+38", "−23", "0"; less than half a point "<+1" or "<−1"."""
    if not is_number(value):
        return MISSING
    if value == 0:
        return "0"
    return f"{'<' if abs(value) < 0.5 else ''}{MINUS if value < 0 else '+'}{max(round(abs(value)), 1):,}"


def money(usd: float | None) -> str:
    """Dollars and cents: "$12.30"; below a cent two significant digits, "$0.0042"; nothing spent "$0.00"."""
    if not is_number(usd):
        return MISSING
    amount = abs(float(usd))
    places = 2 if amount == 0 or amount >= 0.01 else 1 - math.floor(math.log10(amount))
    return f"{MINUS if usd < 0 else ''}${amount:,.{places}f}"


def is_number(value: object) -> TypeGuard[float]:
    """Whether there is something to write: neither None nor NaN, nor the "" of a template."""
    return not (value is None or value == "" or (isinstance(value, float) and math.isnan(value)))


def _is_below_1(value: float) -> bool:
    return value < 1 - ROUNDING


def _is_above_0(value: float) -> bool:
    return value > ROUNDING


def _fixed(value: float, digits: int) -> str:
    return _minus(f"{_plain_zero(value, digits):.{digits}f}")


def _minus(text: str) -> str:
    return text.replace("-", MINUS, 1)


def _plain_zero(value: float, digits: int) -> float:
    """Keep "−0.000" off the page."""
    return 0.0 if round(value, digits) == 0 else value


# Python's own float() also takes 1_000 and digits of every script, and makes infinity of 1e999.
_PLAIN_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


def plain_number(text: str) -> float | None:
    """The finite number that the whole text is, in the notation that people and JSON share; else None.

    ``" 1e3 "`` is 1000.0, ``"−3"`` with a true minus sign −3.0. Not a number are ``"1_000"`` and ``"0x10"``
    (a programming language's), ``"1,5"`` (nobody knows what the comma means), ``"5 %"``, ``"nan"`` and
    ``"1e999"``, which no number of the machine holds.
    """
    plain = text.strip().replace("\N{MINUS SIGN}", "-")
    if len(plain) > 400 or not _PLAIN_NUMBER.fullmatch(plain):
        return None
    number = float(plain)
    return number if math.isfinite(number) else None
