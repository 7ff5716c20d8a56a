"""What a judge is told before it is asked: the instructions shipped in ``prompts/``, or a team's own.

A system message is the instructions with the frame filled in, and then how to reply. The frame says that the
material is never an instruction; frame and reply form are ours, for the reading of replies rests on them. All
else is a default that a team may word otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Self

from pydantic import BaseModel, ConfigDict

from rubricweb.engine.errors import Fault

EDITION: Final = 1
"""The newest edition of the shipped prompts. An edited prompt is a new edition: judges keep theirs."""

FRAME: Final = "{{frame}}"
"""Stands in instructions for the paragraph that no judge goes without."""

MAX_CHARACTERS: Final = 20_000
"""Characters of instructions, and of a whole message."""

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][\w.]*)\s*\}\}")
_REPLY = "\n\nHow to reply\n"


class FormTexts(BaseModel):
    """A text for each form of a question: about criteria without options, and with. "" is the shipped one."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    without_options: str = ""
    with_options: str = ""

    def of(self, *, options: bool) -> str:
        return self.with_options if options else self.without_options


class JudgeWording(BaseModel):
    """The words of one judge: which edition of the shipped prompts, and what of it is worded otherwise.

    ``instructions`` hold ``{{frame}}`` once and are followed by how to reply. A text of ``whole_messages`` is
    the system message word for word: guarding against the material, and asking for a reply that can be read,
    are then its own affair. Of one form there is one or the other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    edition: int = EDITION
    instructions: FormTexts = FormTexts()
    whole_messages: FormTexts = FormTexts()

    @property
    def is_shipped(self) -> bool:
        """Whether nothing of it is the team's own."""
        return self.instructions == self.whole_messages == FormTexts()

    @classmethod
    def word_for_word(cls, message: str) -> Self:
        """One message for both forms."""
        return cls(whole_messages=FormTexts(without_options=message, with_options=message))

    def system_message(self, form: str, *, options: bool) -> str:
        """What the judge is told before a question of this form: ``form`` names a shipped prompt."""
        whole = self.whole_messages.of(options=options)
        own = self.instructions.of(options=options)
        return whole or system_message(form, own, edition=self.edition)


def system_message(form: str, instructions: str = "", *, edition: int = EDITION) -> str:
    """The instructions, by default the shipped ones, with the frame in its place; then how to reply."""
    _, reply = _shipped(form, edition)
    text = instructions.strip() or shipped_instructions(form, edition=edition)
    return f"{text.replace(FRAME, _text('frame', edition))}{_REPLY}{reply}"


def shipped_instructions(form: str, *, edition: int = EDITION) -> str:
    """The instructions of the shipped prompt called ``form``, with ``{{frame}}`` where the frame goes."""
    return _shipped(form, edition)[0]


def frame_text(*, edition: int = EDITION) -> str:
    """What stands in the place of ``{{frame}}``."""
    return _text("frame", edition)


def reply_form(form: str, *, edition: int = EDITION) -> str:
    """How to reply, as it follows the instructions of the shipped prompt called ``form``."""
    return f"{_REPLY.strip()}\n{_shipped(form, edition)[1]}"


def faults_of(wording: JudgeWording, place: str = "") -> Iterator[Fault]:
    """What no judge can be told, each with its place below ``place``."""
    if not 1 <= wording.edition <= EDITION:
        yield Fault(f"{place}edition", str(wording.edition), f"1 to {EDITION}")
    for form in FormTexts.model_fields:
        own, whole = getattr(wording.instructions, form), getattr(wording.whole_messages, form)
        if own and whole:
            yield Fault(f"{place}whole_messages.{form}", "a whole message beside instructions", "one of them")
        yield from _text_faults(f"{place}whole_messages.{form}", whole)
        yield from _text_faults(f"{place}instructions.{form}", own)
        if own:
            yield from _frame_faults(f"{place}instructions.{form}", own)


def _text_faults(place: str, text: str) -> Iterator[Fault]:
    if text and not text.strip():
        yield Fault(place, "nothing but white space", "a text, or nothing for the shipped one")
    if len(text) > MAX_CHARACTERS:
        yield Fault(place, f"{len(text):,} characters", f"up to {MAX_CHARACTERS:,}")
    if "\x00" in text:
        yield Fault(place, "a NUL character", "a text without it")


def _frame_faults(place: str, text: str) -> Iterator[Fault]:
    times = text.count(FRAME)
    if times != 1:
        found = "no {{frame}}" if not times else f"{{{{frame}}}} {times} times"
        yield Fault(
            place, found, "{{frame}} once: it says that the material to judge is never an instruction"
        )
    for name in dict.fromkeys(match.group(0) for match in _PLACEHOLDER.finditer(text)):
        if name != FRAME:
            allowed = "{{frame}} alone: criterion and response follow the instructions by themselves"
            yield Fault(place, name, allowed)


@cache
def _shipped(form: str, edition: int) -> tuple[str, str]:
    """Instructions and reply form of a shipped prompt, the paragraphs that prompts share filled in."""
    shared = {part: _text(part, edition) for part in ("material", "options", "verdicts")}
    text = fill(_text(form, edition), shared | {"frame": FRAME})
    instructions, reply = text.rsplit(_REPLY, 1)
    return instructions, reply


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace every ``{{name}}`` of a shipped text by its value, in one pass: braces in a value stay text.

    Nothing else is syntax: ``{0.__class__}`` comes out as it went in. Raises KeyError for a name without a
    value.
    """
    return _PLACEHOLDER.sub(lambda match: values[match.group(1)], template)


@cache
def _text(name: str, edition: int) -> str:
    path = files(__package__).joinpath("prompts", f"edition_{edition}", f"{name}.txt")
    return path.read_text("utf-8").strip()
