"""What the engine refuses.

::

    EngineError
    ├── Invalid              (also a ValueError) one or more faults, each with its place
    │   ├── InvalidText      a text that is not UTF-8, JSON or YAML at all
    │   ├── InvalidRubric    a rubric that must not be graded with
    │   └── InvalidFile      a dataset or label file that must not be imported
    ├── ConfigurationError   a judge that cannot be asked as it is set up
    └── UnreadableReply      a judge's reply that carries no answer
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MAX_FAULTS = 200
"""Faults kept in full per refusal; the rest is counted, so that a wrong column does not fill the screen."""


class EngineError(Exception):
    """Everything the engine raises on purpose."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: where (``criteria[3].weight``), what was found, what is allowed."""

    place: str
    found: str
    allowed: str

    def __post_init__(self) -> None:
        # NUL and half a surrogate pair are common faults of their own; a refusal must still be fit for any
        # page, log or database.
        for name in ("place", "found", "allowed"):
            object.__setattr__(self, name, encodable(getattr(self, name)))

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}found {self.found}; allowed: {self.allowed}"


class Invalid(EngineError, ValueError):
    """A refusal with every fault seen: ``faults`` up to MAX_FAULTS, ``more`` counts the rest."""

    def __init__(self, faults: Iterable[Fault], more: int = 0) -> None:
        everything = tuple(faults)
        self.faults: tuple[Fault, ...] = everything[:MAX_FAULTS]
        self.more: int = more + len(everything) - len(self.faults)
        super().__init__(self.faults, self.more)  # what pickle hands back to this constructor

    def __str__(self) -> str:
        lines = [str(fault) for fault in self.faults]
        if self.more:
            lines.append(f"and {self.more} more")
        return "\n".join(lines)


class InvalidText(Invalid):
    """A text that cannot be read as what it claims to be; its one fault is placed by line and column."""


class InvalidRubric(Invalid):
    """A rubric that is refused; places read ``criteria[3].weight``."""


class InvalidFile(Invalid):
    """A dataset or label file that is refused; places read ``items[3].id`` or ``line 4: id``.

    ``read_as`` is the format the file was taken for, in words; empty where nothing says it.
    """

    read_as = ""


class ConfigurationError(EngineError):
    """A judge cannot be asked as it is set up; raised once, never a score of None."""


class UnreadableReply(EngineError):
    """A judge's reply from which nothing can be read; asking again may help."""

    def __init__(self, detail: str) -> None:
        self.detail = detail
        super().__init__(detail)


class EnoughFaults(Exception):
    """A FaultList has so many faults that reading on is no use."""


class FaultList:
    """Faults collected while reading on: the first MAX_FAULTS are kept, the others counted.

    With ``enough`` the fault of that number raises EnoughFaults, for whoever reads a file of millions; with
    ``keep`` more are kept, for a report of them all.
    """

    def __init__(self, *, enough: int | None = None, keep: int = MAX_FAULTS) -> None:
        self._kept: list[Fault] = []
        self._enough = enough
        self._keep = keep
        self.total = 0

    def add(self, place: str, found: str, allowed: str) -> None:
        self.total += 1
        if len(self._kept) < self._keep:
            self._kept.append(Fault(place, found, allowed))
        if self.total == self._enough:
            raise EnoughFaults

    def extend(self, refusal: Invalid, *, under: str = "") -> None:
        """Take over another refusal's faults, placed under the place that contains them."""
        for fault in refusal.faults:
            self.add(join_place(under, fault.place), fault.found, fault.allowed)
        self.total += refusal.more

    def raise_as(self, error: type[Invalid]) -> None:
        """Raise ``error`` with everything collected; return quietly when nothing was."""
        if self.total:
            raise error(self._kept, self.total - len(self._kept))

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._kept)

    def __bool__(self) -> bool:
        return self.total > 0


def join_place(outer: str, inner: str) -> str:
    """Name a place inside a place: ``items[3].weight``, or ``line 4: weight`` inside a line."""
    if not outer or not inner:
        return outer or inner
    if inner.startswith("["):
        return outer + inner
    if outer.startswith("line ") and ":" not in outer:
        return f"{outer}: {inner}"
    return f"{outer}.{inner}"


def shown(value: object) -> str:
    """Describe a found value so that a person recognises it: ``NaN``, ``true``, ``the text "ten"``."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, int) and value.bit_length() > 128:
        return "an enormous whole number"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        if not value.strip():
            return "an empty text"
        return f"the text {json.dumps(encodable(shortened(value)), ensure_ascii=False)}"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return f"a {type(value).__name__}"


def encodable(text: str) -> str:
    """The text with NUL and halves of surrogate pairs written out, so that it can be encoded and stored:
    ``\\u0000``, ``\\ud800``.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\u0000")


def shortened(text: str, limit: int = 60) -> str:
    """The text itself, or its beginning and an ellipsis when it is longer than ``limit`` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def named_as(filename: str, read_as: str) -> str:
    """A refused file by its name and, where that is known, the format it was taken for."""
    return f"{filename}, read as {read_as}" if read_as else filename


def nearest(word: str, allowed: Iterable[str]) -> str:
    """List what is allowed, led by a guess when one is close: ``did you mean weight? One of …``."""
    choices = list(allowed)
    listed = ", ".join(choices)
    close = difflib.get_close_matches(word.strip().casefold(), choices, n=1, cutoff=0.6)
    return f"did you mean {close[0]}? One of {listed}" if close else f"one of {listed}"
