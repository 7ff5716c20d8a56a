"""What a value in a file of labels says: a verdict, an option's label, or nothing that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rubricweb.engine.number_format import plain_number
from rubricweb.engine.parsers.plain_text import folded
from rubricweb.engine.rubric import Criterion
from rubricweb.engine.scoring.outcomes import own_label
from rubricweb.engine.verdict import Label, Verdict

MET_WORDS = ("yes", "y", "true", "present", "1")
UNMET_WORDS = ("no", "n", "false", "absent", "not met", "not_met", "0")
GRADES = {"pass": Verdict.MET, "passed": Verdict.MET, "fail": Verdict.UNMET, "failed": Verdict.UNMET}
"""Words that praise: of an error to avoid they could mean either, so there they are not understood."""
ABSTENTIONS = ("n/a", "na", "not applicable", "cannot assess", "cannot tell", "can't tell")

WORDS: dict[str, Verdict] = {
    **dict.fromkeys(MET_WORDS, Verdict.MET),
    **dict.fromkeys(UNMET_WORDS, Verdict.UNMET),
    **dict.fromkeys(ABSTENTIONS, Verdict.CANNOT_ASSESS),
}
"""Other words for verdicts; MET says that the thing is there, of an error too."""

_MAX_KEPT = 1_000


def value_text(value: Any) -> str | None:
    """A cell or JSON value as text: true and 2.0 as ``true`` and ``2``; None for what is no answer at all."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 128 else None  # as in ids of items
    # From 10^15 on a float may stand for another number than the one that was written.
    if isinstance(value, float) and abs(value) < 1e15:
        return str(int(value) if value.is_integer() else value)
    return None


def number_of(text: str) -> float | None:
    """The ordinary number a text is."""
    return plain_number(text) if len(text) <= 20 else None


def allowed_labels(criterion: Criterion) -> tuple[str, ...]:
    """What may be answered to a criterion."""
    return tuple(option.label for option in criterion.options) if criterion.options else tuple(Verdict)


class CriterionValueReader:
    """Reads the values of one criterion, all of whose numbers in the file are ``numbers``.

    1 and 0 are verdicts only where no other number is said of the criterion: in a scale from 1 to 5 they
    would be read the wrong way round. For the same reason a number is an option's value only where every
    number is one's, and no option is called by a number.
    """

    def __init__(self, name: str, criterion: Criterion, values: Mapping[str, str], numbers: Iterable[float]):
        self.criterion = criterion
        self._read: dict[str, Label | None] = {}
        self._said = _said(name, criterion, values)
        self._numbers = self._options_by_number() if criterion.is_multi_choice else {}
        known = self._numbers if criterion.is_multi_choice else (0.0, 1.0)
        self._numbers_count = self._has_numbered_labels() or all(number in known for number in numbers)

    def read(self, value: Any, *, exact: bool = False) -> Label | None:
        """The answer a value stands for; ``exact`` takes only what the criterion itself writes."""
        text = value_text(value)
        if text is None:
            return None
        if text not in self._read:
            if len(self._read) >= _MAX_KEPT:
                self._read.clear()
            self._read[text] = self._answer(text, exact)
        return self._read[text]

    def _answer(self, text: str, exact: bool) -> Label | None:
        said = None if exact else self._said.get(folded(text))
        if said is not None:
            return said
        own = _own(self.criterion, text)
        if own is not None or exact:
            return own
        number = number_of(text)
        if number is not None and not self._numbers_count:
            return None
        if self.criterion.is_multi_choice:
            return self._numbers.get(number) if number is not None else self._abstention(text)
        return self._word(text.casefold() if number is None else f"{number:g}")

    def _word(self, word: str) -> Verdict | None:
        grade = GRADES.get(word)
        if grade is not None:
            return grade if self.criterion.weight >= 0 else None
        return WORDS.get(word)

    def _abstention(self, text: str) -> str | None:
        options = [option.label for option in self.criterion.options if option.na]
        return options[0] if len(options) == 1 and text.casefold() in ABSTENTIONS else None

    def _has_numbered_labels(self) -> bool:
        return any(number_of(option.label) is not None for option in self.criterion.options)

    def _options_by_number(self) -> dict[float, str]:
        """By their labels, where these are numbers: then 0 is not the option 1 of value 0. Else by value."""
        options = [option for option in self.criterion.options if not option.na]
        if self._has_numbered_labels():
            named = {option.label: number_of(option.label) for option in self.criterion.options}
            return {number: label for label, number in named.items() if number is not None}
        values = [option.value for option in options]
        return {option.value: option.label for option in options if values.count(option.value) == 1}


def _said(name: str, criterion: Criterion, values: Mapping[str, str]) -> dict[str, Label]:
    """What a person said values stand for, as far as this criterion has such an answer; its own go first."""
    general: dict[str, Label] = {}
    special: dict[str, Label] = {}
    for value, answer in values.items():
        own = _own(criterion, answer)
        if own is None:
            continue
        about, colon, rest = value.partition(": ")
        if colon and folded(about) == folded(name):
            special[folded(rest)] = own
        general[folded(value)] = own
    return general | special


def _own(criterion: Criterion, text: str) -> Label | None:
    try:
        own = own_label(criterion, text)
    except ValueError:
        return None
    return own if isinstance(own, str) else None
