"""A rubric as far as it can be read: lint runs while somebody is still typing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from rubricweb.engine.lint.language import content_stems, plain, words

Kind: TypeAlias = Literal["binary", "choice", "check"]

LINTED_CHARACTERS = 4_000
"""So much of a requirement is looked at while one types; a longer one is found too long anyway."""

LINTED_CHARACTERS_OF_A_RUBRIC = 500_000
"""Of many long requirements less is looked at, the same of each: 1,000 characters of each of 500."""


@dataclass(frozen=True, slots=True)
class DraftOption:
    """One answer of a choice criterion; ``value`` is None where it cannot be read."""

    label: str
    value: float | None
    abstains: bool


@dataclass(frozen=True)
class DraftCriterion:
    """What can be read of one criterion.

    ``index`` is its place in the list, unreadable entries counted. ``requirement`` keeps its characters as
    typed, so that spans fit, and is empty when it is missing; ``weight`` is None when it is not a finite
    number. ``values`` are the texts among a check's parameters.
    """

    index: int
    requirement: str
    weight: float | None
    name: str
    kind: Kind
    explained: bool
    """Whether guidance or a met or unmet example stands beside the requirement."""
    options: tuple[DraftOption, ...] = ()
    ordinal: bool = True
    check: str = ""
    values: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What to call it in a message: its name, else its number."""
        return self.name or f"C{self.index + 1}"

    @cached_property
    def plain(self) -> str:
        """The requirement with what stands in brackets or quotes blanked out, of the same length."""
        return plain(self.requirement)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the words that carry its meaning."""
        return content_stems(self.requirement)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words in lower case: a cheap way to see that a rule cannot apply."""
        return frozenset(words(self.requirement))

    @property
    def asks_a_judge(self) -> bool:
        """Whether somebody has to read the requirement: a check is answered by a function."""
        return self.kind != "check" and bool(self.requirement.strip())


def read_draft(data: Any) -> tuple[DraftCriterion, ...]:
    """Read a rubric in any form that ``Rubric.from_dict`` does, leaving out what is broken.

    Nothing is refused: an entry that is no object keeps its place with nothing in it, and anything that is
    not a rubric at all gives an empty tuple. Sections follow the top-level criteria, in order.
    """
    entries = tuple(_entries(data))
    most = min(LINTED_CHARACTERS, LINTED_CHARACTERS_OF_A_RUBRIC // max(1, len(entries)))
    return tuple(_criterion(index, entry, most) for index, entry in enumerate(entries))


def _entries(data: Any) -> Iterator[Any]:
    if isinstance(data, Mapping) and "rubric" in data:
        data = data["rubric"]
    if isinstance(data, Mapping):
        yield from _flattened(data.get("criteria"))
        for section in _listed(data.get("sections")):
            if isinstance(section, Mapping):
                yield from _listed(section.get("criteria"))
    else:
        yield from _flattened(data)


def _flattened(value: Any) -> Iterator[Any]:
    for entry in _listed(value):
        if isinstance(entry, Mapping) and "criteria" in entry:
            yield from _listed(entry["criteria"])
        else:
            yield entry


def _listed(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def _criterion(index: int, entry: Any, most: int) -> DraftCriterion:
    fields = entry if isinstance(entry, Mapping) else {"weight": None}
    options = tuple(
        _option(option) for option in _listed(fields.get("options")) if isinstance(option, Mapping)
    )
    check = _text(fields.get("check"))
    kind: Kind = "check" if check else "choice" if options else "binary"
    explained = any(
        _text(fields.get(field)).strip() for field in ("guidance", "met_example", "unmet_example")
    )
    return DraftCriterion(
        index=index,
        requirement=_text(fields.get("requirement"))[:most],
        weight=_number(fields.get("weight", 1.0)),
        name=_text(fields.get("name")).strip(),
        kind=kind,
        explained=explained,
        options=options,
        ordinal=fields.get("scale_type") != "nominal",
        check=check,
        values=tuple(_texts(fields.get("params"))),
    )


def _option(option: Mapping[str, Any]) -> DraftOption:
    return DraftOption(
        label=_text(option.get("label")).strip(),
        value=_number(option.get("value", 0.0)),
        abstains=option.get("na") is True,
    )


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text inside plain data; deeper than any parameter goes, nothing is read."""
    if isinstance(value, str):
        yield value
    elif depth < 5 and isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner, depth + 1)
    elif depth < 5:
        for inner in _listed(value):
            yield from _texts(inner, depth + 1)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
