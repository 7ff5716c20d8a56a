"""What differs between two versions of a judge: each field with what it was and is, texts word by word."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.engine.judging.shipped import shipped_texts
from rubricweb.engine.rubric.words import Segment, within_pairs, word_diff

_TEXTS = ("instructions.", "whole_messages.")
_NOTHING = object()


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """A field that differs: `members[gpt-5-mini].sampling.temperature`, 0.0, 0.7.

    None is a field that there is not. Of a member or an example that came or went the field is the whole of
    it; of a member with words of its own in one version, those of the judge stand in the other. `words` are
    those of a text; instructions that are the shipped ones stand there as the shipped text.
    """

    place: str
    before: Any
    after: Any
    words: tuple[Segment, ...] | None = None


def definition_changes(before: JudgeDefinition, after: JudgeDefinition) -> tuple[DefinitionChange, ...]:
    """Every field that differs, in the order of the definition; the order of members and examples last."""
    own = {one.name for one in (*before.members, *after.members) if one.wording}
    old, new = _plain(before, own), _plain(after, own)
    changes = [*_changes("", old, new)]
    shipped = {False: _shipped_by_place(before, own), True: _shipped_by_place(after, own)}
    texts = {
        one.place: (
            one.before or shipped[False].get(one.place, ""),
            one.after or shipped[True].get(one.place, ""),
        )
        for one in changes
        if any(f"wording.{kind}" in one.place for kind in _TEXTS)
    }
    fits = dict(zip(texts, within_pairs(texts.values()), strict=True))
    shown = [
        DefinitionChange(one.place, *pair, word_diff(*pair, word_by_word=fits[one.place]))
        if (pair := texts.get(one.place))
        else one
        for one in changes
    ]
    for place in ("members", "examples"):
        was, now = list(old[place]), list(new[place])
        if was != now and sorted(was) == sorted(now):
            shown.append(DefinitionChange(place, was, now))
    return tuple(shown)


def _plain(definition: JudgeDefinition, own: Container[str]) -> dict[str, Any]:
    """As plain values, members by their names and examples by what they are about; of the members called so
    with the words that they are told.
    """
    plain = definition.model_dump(mode="json")
    for member in plain["members"]:
        if member["wording"] is None and member["name"] in own:
            member["wording"] = plain["wording"]
    plain["members"] = _named(plain["members"], lambda one: one["name"])
    plain["examples"] = _named(plain["examples"], lambda one: f"{one['key']} · {one['requirement']}")
    return plain


def _named(rows: list[dict[str, Any]], name: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        label, times = name(row), 2
        while label in found:
            label, times = f"{name(row)} ({times})", times + 1
        found[label] = row
    return found


def _changes(place: str, before: Any, after: Any) -> Iterator[DefinitionChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys([*before, *after]):
            inner = f"{place}[{name}]" if place in ("members", "examples") else f"{place}.{name}".lstrip(".")
            yield from _changes(inner, before.get(name, _NOTHING), after.get(name, _NOTHING))
    elif before != after:
        yield DefinitionChange(place, *(None if one is _NOTHING else one for one in (before, after)))


def _shipped_by_place(definition: JudgeDefinition, own: Container[str]) -> dict[str, str]:
    """The shipped instructions by the places where a definition would have its own."""
    places = {"wording": definition.wording} | {
        f"members[{one.name}].wording": one.wording or definition.wording
        for one in definition.members
        if one.name in own
    }
    return {
        f"{place}.instructions.{form}": text
        for place, wording in places.items()
        for form, text in shipped_texts(definition, wording).model_dump().items()
        if not getattr(wording.whole_messages, form)
    }
