"""The keys of items and cases a dataset has, found as files write them that went through other programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rubricweb.engine.parsers.plain_text import composed

_WHOLE = re.compile(r"-?[0-9]{1,30}(?:\.0+)?\Z")


class KnownKeys:
    """Keys there are. One is found as it is written, else in Unicode's form NFC, else as the number it is.

    Spreadsheets and data frames make ``1.0`` of 1 and ``7`` of 007: such a text stands for the one key of
    that number; where several keys are it, for none of them.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = frozenset(keys)
        self._composed = {composed(key): key for key in self._keys if not key.isascii()}
        self._numbers: dict[int, str | None] = {}
        for key in self._keys:
            if (number := whole_number(key)) is not None:
                self._numbers[number] = None if number in self._numbers else key

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def find(self, text: str) -> str | None:
        """The key a text stands for."""
        if text in self._keys:
            return text
        if not text.isascii():
            return self._composed.get(composed(text))
        number = whole_number(text)
        return None if number is None else self._numbers.get(number)


@dataclass(frozen=True, slots=True)
class AnswerOfCase:
    """An item by what it answers: its case's key, the system version (``assistant@v4``, "") and attempt."""

    item_id: str
    case_id: str
    system: str = ""
    attempt: int = 1


class KnownItems:
    """The items of a dataset by their ids, and by what they answer."""

    def __init__(self, ids: Iterable[str], answers: Iterable[AnswerOfCase] = ()) -> None:
        self.ids = KnownKeys(ids)
        self._of_case: dict[str, list[AnswerOfCase]] = {}
        for one in answers:
            self._of_case.setdefault(one.case_id, []).append(one)
        self.cases = KnownKeys(self._of_case)
        versions = {one.system for of_case in self._of_case.values() for one in of_case if one.system}
        self._systems = {name.casefold() for version in versions for name in (version, _name(version))}

    def is_item(self, text: str) -> bool:
        return self.ids.find(text) is not None

    def is_case(self, text: str) -> bool:
        return self.cases.find(text) is not None

    def is_system(self, text: str) -> bool:
        return composed(text).casefold() in self._systems

    def answers(self, case: str, system: str = "", attempt: int | None = None) -> list[AnswerOfCase]:
        """The answers to a case: of a system version, or of all versions of a name; of an attempt."""
        answers = self._of_case.get(self.cases.find(case) or "", [])
        if system:
            name = composed(system).casefold()
            of_version = [answer for answer in answers if answer.system.casefold() == name]
            of_name = [answer for answer in answers if _name(answer.system).casefold() == name]
            answers = of_version or of_name
        return [answer for answer in answers if attempt in (None, answer.attempt)]


def _name(version: str) -> str:
    return version.partition("@")[0]


def whole_number(text: str) -> int | None:
    """The number a text is, where it is a whole one: 2 for ``2``, ``2.0`` and ``02``."""
    return int(text.partition(".")[0]) if _WHOLE.match(text) else None
