"""Cells that a spreadsheet would run as formulas."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")


def neutralised(cell: str) -> str:
    """The cell with a leading ``'`` if a spreadsheet would take it for a formula; numbers stay numbers.

    ``=1+1`` becomes ``'=1+1``, ``-3.5`` stays, and ``'=1+1`` becomes ``''=1+1``, so that ``restored`` is
    exact.
    """
    if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return "'" + cell
    return cell


def restored(cell: str) -> str:
    """What a neutralised cell was before: the inverse of ``neutralised`` for files of our own."""
    if cell.startswith("'") and _FORMULA.match(cell):
        return cell[1:]
    return cell
