"""The number a text is."""

from __future__ import annotations

import math
import re

# Python's own float() also takes 1_000 and digits of every script, and makes infinity of 1e999.
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


def plain_number(text: str) -> float | None:
    """The finite number that the whole text is, in the notation that people and JSON share; else None.

    ``" 1e3 "`` is 1000.0, ``"−3"`` with a true minus sign −3.0. Not a number are ``"1_000"`` and ``"0x10"``
    (a programming language's), ``"1,5"`` (nobody knows what the comma means), ``"5 %"``, ``"nan"`` and
    ``"1e999"``, which no number of the machine holds.
    """
    plain = text.strip().replace("\N{MINUS SIGN}", "-")
    if len(plain) > 400 or not _NUMBER.fullmatch(plain):
        return None
    number = float(plain)
    return number if math.isfinite(number) else None
