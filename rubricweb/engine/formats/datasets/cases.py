"""Which case each item of a file answers, by which version of which system."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rubricweb.engine.errors import FaultList, shown
from rubricweb.engine.formats.dataset_values import MAX_ID, Prompt
from rubricweb.engine.formats.field_values import canonical, read_id
from rubricweb.engine.parsers.plain_text import unstorable
from rubricweb.engine.rubric import Rubric

MAX_SYSTEM = 100
"""Characters of a system's name, and of the label of one of its versions."""

MAX_ATTEMPT = 1_000_000

UNNAMED = ""
"""The system version of items whose file names none."""


@dataclass(frozen=True, slots=True)
class AnsweredCase:
    """What an item answers, a case or "" for one of its own; which system version did; at which attempt."""

    case_id: str = ""
    system: str = UNNAMED
    attempt: int = 1

    @property
    def item_id(self) -> str:
        """The id of an item that has none: ``case``, ``case@assistant@v4`` or ``case@assistant@v4#2``."""
        id = f"{self.case_id}@{self.system}" if self.system else self.case_id
        return f"{id}#{self.attempt}" if self.attempt > 1 else id


OWN_CASE = AnsweredCase()


@dataclass
class CaseReader:
    """Reads case, system and attempt of items, and remembers what must hold for all of them together.

    A case has one prompt, reference and rubric, white space aside, and one answer of a system version for
    each attempt. Items of a named system without a case id are of one case where they are asked the same.
    An item with neither answers a case that is called as the item is.

    ``places`` is where the items read before stand, by id. ``version`` answered all items, where one is said
    of the whole file. An item that names neither case nor version is then still of the case called as it is,
    and one without an id of the case of its words.
    """

    faults: FaultList
    places: Mapping[str, str]
    version: str = UNNAMED
    _words: dict[str, tuple[str, str]] = field(default_factory=dict)
    _answers: dict[AnsweredCase, str] = field(default_factory=dict)
    # What items that named no case ask, by id. Most are alone in theirs: what is kept of them is little.
    _alone: dict[str, str] = field(default_factory=dict)

    def read(
        self, values: Mapping[str, Any], words: Callable[[], str], place: str, at: Callable[[str], str]
    ) -> AnsweredCase | None:
        """What the item answers; None where something about it was refused.

        ``words`` gives what `asked_words` makes of the item, ``at`` the place of one of its fields.
        """
        before = self.faults.total
        case_id = read_id(values.get("case_id"), at("case_id"), self.faults)
        system = read_system(values.get("system"), at("system"), self.faults)
        attempt = read_attempt(values.get("attempt"), at("attempt"), self.faults)
        if self.version and system not in (None, self.version):
            self.faults.add(at("system"), shown(system), f"{self.version}, the version of the whole file")
        if self.faults.total > before:
            return None
        if not case_id and not system and (not self.version or values.get("id") is not None):
            return OWN_CASE
        asked = words()
        answered = AnsweredCase(case_id or f"auto-{asked[:16]}", system or self.version, attempt)
        name = answered.case_id
        if name in self._alone:
            place_of_it = self.places[name]
            self._words[name] = self._alone.pop(name), place_of_it
            self._answers[AnsweredCase(name, self.version)] = place_of_it
        if not self._agrees(answered, asked, place, at("case_id")):
            return None
        what = f"case {case_id!r}" if case_id else "the same prompt"
        named_at = at("system" if system else "case_id")
        return answered if self._is_first(answered, what, place, named_at) else None

    def read_alone(self, item_id: str, asked: str, place: str, id_place: str) -> bool:
        """Takes an item that names no case for an answer to the case called as it is; False where refused.

        ``asked`` is what `asked_words` makes of the item, ``id_place`` the place of its id.
        """
        if item_id not in self._words:
            self._alone[item_id] = asked
            return True
        answered, what = AnsweredCase(item_id, self.version), f"case {item_id!r}"
        return self._agrees(answered, asked, place, id_place) and self._is_first(
            answered, what, place, id_place
        )

    def _agrees(self, answered: AnsweredCase, asked: str, place: str, case_place: str) -> bool:
        """Whether the case is asked in the words of whoever answered it before."""
        known, known_place = self._words.setdefault(answered.case_id, (asked, place))
        if known != asked:
            found = f"case {answered.case_id!r} with another prompt, reference or rubric (as {known_place})"
            allowed = "one of each for a case: correct the case where its words have changed"
            self.faults.add(case_place, found, allowed)
        return known == asked

    def _is_first(self, answered: AnsweredCase, what: str, place: str, named_at: str) -> bool:
        """Whether nobody has given this answer to the case before; ``what`` says which case it is."""
        if answered not in self._answers:
            self._answers[answered] = place
            return True
        whose = f"of {answered.system} " if answered.system else ""
        how = "an attempt" if what != "the same prompt" else "a case id, or an attempt,"
        found = f"a second answer {whose}to {what} (as {self._answers[answered]})"
        self.faults.add(named_at, found, f"one, or {how} that tells them apart")
        return False


def asked_words(prompt: Prompt | None, reference: str | None, rubric: Rubric | None) -> str:
    """A digest of what a case asks: equal for equal words, white space in prompt and reference aside.

    64 hexadecimal digits, of the values in force for the item. An empty text is as good as none.
    """
    rules = None if rubric is None else rubric.to_dict(ids=False)
    asked = [_spaced(prompt) or None, _spaced(reference) or None, rules]
    return hashlib.sha256(canonical(asked).encode()).hexdigest()


def _spaced(value: Any) -> Any:
    """The value with every text in it in single spaces."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        return [_spaced(one) for one in value]
    if isinstance(value, dict):
        return {key: _spaced(one) for key, one in value.items()}
    return value


def read_system(value: Any, place: str, faults: FaultList) -> str | None:
    """A system version as ``assistant@v4``, or ``assistant`` where the version has no label; None without.

    A name has neither "@" nor "/". What is no such text goes to ``faults``.
    """
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        faults.add(place, shown(value), "a system and its version, as assistant@v4")
        return None
    name, _, label = (part.strip() for part in value.partition("@"))
    if not name or "/" in name or unstorable(value):
        faults.add(place, shown(value), "a system and its version, as assistant@v4; a name without / and @")
        return None
    if len(name) > MAX_SYSTEM or len(label) > MAX_SYSTEM:
        faults.add(place, f"{max(len(name), len(label)):,} characters", f"at most {MAX_SYSTEM}")
        return None
    return f"{name}@{label}" if label else name


def read_attempt(value: Any, place: str, faults: FaultList) -> int:
    """A whole number from 1, also as text; 1 where there is none."""
    if value is None or value == "":
        return 1
    text = str(value).strip()
    if isinstance(value, bool | float) or not (text.isascii() and text.isdigit() and len(text) < 10):
        faults.add(place, shown(value), f"a whole number from 1 to {MAX_ATTEMPT:,}")
        return 1
    if not 1 <= int(text) <= MAX_ATTEMPT:
        faults.add(place, shown(value), f"a whole number from 1 to {MAX_ATTEMPT:,}")
        return 1
    return int(text)


def checked_item_id(answered: AnsweredCase, place: str, faults: FaultList) -> str:
    """The id an item gets from its case; one that is too long is a fault."""
    if len(answered.item_id) > MAX_ID:
        faults.add(
            place, f"a case and system of {len(answered.item_id)} characters", f"at most {MAX_ID}, or an id"
        )
    return answered.item_id
