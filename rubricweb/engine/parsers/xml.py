"""Texts whose parts stand between tags: ``<answer>4</answer>``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from rubricweb.engine.parsers.completion import Messages, Parser, assistant_texts

_TAG_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


class XMLParser(Parser):
    """Reads named fields out of tags, and writes them.

    ``fields`` are tag names in the order they are written; a tuple such as ``("code", "answer")`` is one
    field with alternative tags, of which the first is its name. ``answer_field`` is the tag
    ``parse_answer`` looks for; ``extract_fn`` is applied to what it found there. Raises ValueError for no
    field, a name that is not a tag name, or a tag named twice.

    >>> parser = XMLParser(fields=["reasoning", ("code", "answer")])
    >>> parser.parse("<reasoning>x</reasoning> <answer>4</answer>")
    namespace(reasoning='x', code=None, answer='4')
    """

    def __init__(
        self,
        fields: Sequence[str | tuple[str, ...]],
        answer_field: str = "answer",
        extract_fn: Callable[[str], Any] | None = None,
    ) -> None:
        super().__init__(extract_fn)
        self.answer_field = answer_field
        if isinstance(fields, str):
            raise ValueError(f"fields is the text {fields!r}; allowed: a list of tag names")
        self._fields = [tuple(field) if isinstance(field, tuple | list) else (field,) for field in fields]
        _refuse_bad_fields(self._fields)

    def parse(self, text: str, strip: bool = True, last: bool = False) -> SimpleNamespace:
        """An object with one attribute per tag, alternatives included; None where the tag is not there.

        Of several the first counts, or the last with ``last=True``. An opening tag counts when it is the
        nearest before its closing tag, so that a tag merely mentioned earlier does not open the field.
        ``strip=False`` keeps the white space around a field.
        """
        found = {tag: _between(text, tag, last) for field in self._fields for tag in field}
        return SimpleNamespace(
            **{tag: value.strip() if strip and value is not None else value for tag, value in found.items()}
        )

    def parse_answer(self, completion: Messages) -> Any:
        """The last ``answer_field`` of the latest assistant message that has one; None when none has."""
        for text in reversed(assistant_texts(completion)):
            answer = _between(text, self.answer_field, last=True)
            if answer is not None:
                return self.extract_fn(answer.strip())
        return None

    def format(self, **values: Any) -> str:
        """Write the fields as ``parse`` reads them, each under its first name, on lines of their own.

        A value may be given under any of its field's names. Raises ValueError for a field without a value,
        for a name that is no field, and for a value that holds one of the fields' tags: it would be read as
        the end of one field or the beginning of another.
        """
        known = [tag for field in self._fields for tag in field]
        unknown = [name for name in values if name not in known]
        if unknown:
            raise ValueError(f"unknown field {', '.join(unknown)}; allowed: {', '.join(known)}")
        return "\n".join(
            f"<{field[0]}>\n{_value(field, values, known)}\n</{field[0]}>" for field in self._fields
        )

    def get_format_str(self) -> str:
        """The shape to ask a model for: ``<reasoning>``, ``...``, ``</reasoning>``, one field after another.

        Alternatives are listed: ``<[ code | answer ]>``.
        """
        shown = [field[0] if len(field) == 1 else f"[ {' | '.join(field)} ]" for field in self._fields]
        return "\n".join(f"<{tag}>\n...\n</{tag}>" for tag in shown)

    def get_fields(self) -> list[str]:
        """The fields' names (of alternatives the first), in order."""
        return [field[0] for field in self._fields]


def _between(text: str, tag: str, last: bool) -> str | None:
    opening, closing = f"<{tag}>", f"</{tag}>"
    found: str | None = None
    at = 0
    while (end := text.find(closing, at)) >= 0:
        start = text.rfind(opening, at, end)
        if start >= 0:
            found = text[start + len(opening) : end]
            if not last:
                return found
        at = end + len(closing)
    return found


def _value(field: tuple[str, ...], values: dict[str, Any], tags: Sequence[str]) -> str:
    given = [values[tag] for tag in field if values.get(tag) is not None]
    if not given:
        raise ValueError(f"no value for the field {field[0]}; allowed names: {', '.join(field)}")
    value = str(given[0])
    inside = [written for tag in tags for written in (f"<{tag}>", f"</{tag}>") if written in value]
    if inside:
        raise ValueError(f"the value of {field[0]} holds the tag {inside[0]}; allowed: text without it")
    return value


def _refuse_bad_fields(fields: Sequence[tuple[str, ...]]) -> None:
    if not fields:
        raise ValueError("no fields; allowed: one tag name or more")
    seen: set[str] = set()
    for i, field in enumerate(fields):
        if not field:
            raise ValueError(f"fields[{i}] is empty; allowed: a tag name or a tuple of them")
        for tag in field:
            if not isinstance(tag, str) or _TAG_NAME.fullmatch(tag) is None:
                raise ValueError(f"fields[{i}] is {tag!r}; allowed: a tag name such as answer")
            if tag in seen:
                raise ValueError(f"fields[{i}] names the tag {tag} again; allowed: each tag once")
            seen.add(tag)
