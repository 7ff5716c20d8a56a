"""Two people change one draft: what both did goes together criterion by criterion, field by field."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rubricweb.engine.errors import Fault, shortened
from rubricweb.engine.rubric.identity import wording

ANSWERED = ("kind", "scale_type", "options", "check", "params")
"""Fields that say how a criterion is answered: taken together, or a check would be left with options."""
REMOVED = "(removed)"

Draft = Mapping[str, Any]
Choices = Mapping[str, str]
"""Of conflicts by their keys: "theirs"; anything else is mine."""


@dataclass(frozen=True)
class FieldConflict:
    """A field that both changed, each to something else. `place` is empty for the head of the draft, else the
    place of the criterion in mine, or in theirs where I removed it; `label` calls it."""

    key: str
    place: str
    label: str
    field: str
    mine: str
    theirs: str

    def fault(self) -> Fault:
        where = ".".join(filter(None, (self.place, self.field.replace(" ", "_"))))
        return Fault(where, shortened(self.mine), f"the saved draft says {shortened(self.theirs)!r}")


@dataclass
class DraftMerge:
    """The draft of both, the fields they differ in, and what they changed, in words."""

    draft: dict[str, Any] = field(default_factory=dict)
    conflicts: list[FieldConflict] = field(default_factory=list)
    theirs_changed: list[str] = field(default_factory=list)
    savers: str = ""
    is_possible: bool = True
    """False where criteria had no ids when both began: nobody can tell which is which."""


def merge_drafts(
    base: Draft | None, theirs: Draft, mine: Draft, choices: Choices | None = None
) -> DraftMerge:
    """What comes of a draft that two people began from `base`: the change of either, mine where both changed
    one field, unless `choices` say theirs. A criterion that one removes and the other changed is a conflict.

    Without a `base` all that differs is a conflict. {"title": "A"} changed to "B" by them and to "C" by me is
    one conflict, and the draft says "C".
    """
    return _Merging(base, theirs, mine, choices or {}).merged()


class _Merging:
    def __init__(self, base: Draft | None, theirs: Draft, mine: Draft, choices: Choices) -> None:
        self.base, self.theirs, self.mine, self.choices = base, theirs, mine, choices
        self.result = DraftMerge()
        if base is not None:
            self.result.is_possible = all(entry.get("id") for entry in base.get("criteria") or ())

    def merged(self) -> DraftMerge:
        base = None if self.base is None else _head(self.base)
        draft = self._fields("", "", base, _head(self.theirs), _head(self.mine))
        before, theirs, mine = (
            {} if draft is None else _by_key(draft) for draft in (self.base, self.theirs, self.mine)
        )
        entries = {key: self._criterion(key, before, theirs, mine) for key in {**mine, **theirs}}
        order = _order(list(before), list(theirs), list(mine))
        draft["criteria"] = [entry for key in order if (entry := entries[key]) is not None]
        for key in before.keys() - theirs.keys():
            self.result.theirs_changed.append(f"removed {_called(before[key])}")
        self.result.draft = draft
        return self.result

    def _criterion(
        self, key: str, before: dict[str, Draft], theirs: dict[str, Draft], mine: dict[str, Draft]
    ) -> dict[str, Any] | None:
        base, their, my = before.get(key), theirs.get(key), mine.get(key)
        if their is not None and my is not None:
            place = f"criteria[{list(mine).index(key)}]"
            return self._fields(place, _called(my), base if self.base else None, their, my)
        kept = my or their
        assert kept is not None, "it is in one of both"
        if base is None:
            if my is None:
                self.result.theirs_changed.append(f"added {_called(kept)}")
            return dict(kept)
        if kept == base:
            return None
        words = _as_words(kept)
        place = f"criteria[{list(mine if my else theirs).index(key)}]"
        chosen = self._conflict(
            place, _called(kept), "criterion", *((words, REMOVED) if my else (REMOVED, words))
        )
        # Whose is kept; where nobody chose, what is there.
        return dict(kept) if chosen is None or (chosen == "theirs") == (my is None) else None

    def _fields(self, place: str, label: str, base: Draft | None, their: Draft, my: Draft) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        changed = []
        for name, parts in _groups(their, my, base or {}):
            values = [None if draft is None else _part(draft, parts) for draft in (base, their, my)]
            chosen = my
            if values[1] != values[2]:
                if values[0] != values[1]:
                    changed.append(name)
                if values[2] == values[0]:
                    chosen = their
                elif values[1] != values[0] or base is None:
                    words = [_shown(each or {}, parts) for each in (values[2], values[1])]
                    if self._conflict(place, label, name, *words) == "theirs":
                        chosen = their
            merged |= {key: chosen[key] for key in parts if key in chosen}
        if changed:
            self.result.theirs_changed.append(
                f"{label}: {', '.join(changed)}" if label else ", ".join(changed)
            )
        return merged

    def _conflict(self, place: str, label: str, name: str, mine: str, theirs: str) -> str | None:
        """Notes a conflict and gives what was chosen of it, None for nothing yet."""
        key = f"{label} {name}"
        while any(conflict.key == key for conflict in self.result.conflicts):
            key += "+"
        self.result.conflicts.append(FieldConflict(key, place, label, name, mine, theirs))
        return self.choices.get(key)


def _head(draft: Draft) -> Draft:
    return {key: value for key, value in draft.items() if key != "criteria"}


def _by_key(draft: Draft) -> dict[str, Draft]:
    """The criteria by their ids; those without one by their words, and how often those were there."""
    found: dict[str, Draft] = {}
    for entry in draft.get("criteria") or ():
        key = str(entry.get("id") or wording(entry))
        while key in found:
            key += "+"
        found[key] = entry
    return found


def _groups(*entries: Draft) -> Iterator[tuple[str, Sequence[str]]]:
    keys = dict.fromkeys(key for entry in entries for key in entry)
    yield from ((key, (key,)) for key in keys if key not in ANSWERED)
    yield "how it is answered", ANSWERED


def _part(draft: Draft, parts: Sequence[str]) -> dict[str, Any]:
    """The fields that say something: nothing and an empty text are the same."""
    return {key: draft[key] for key in parts if draft.get(key) not in (None, "", [], {})}


def _order(before: list[str], theirs: list[str], mine: list[str]) -> list[str]:
    """The order of whoever moved something, mine if both did; what the other added comes where it was."""
    common = [key for key in mine if key in theirs and key in before]
    i_moved = common != [key for key in before if key in common]
    leading, other = (mine, theirs) if i_moved or not before else (theirs, mine)
    order = list(leading)
    for place, key in enumerate(other):
        if key not in order:
            earlier = next((one for one in reversed(other[:place]) if one in order), None)
            order.insert(0 if earlier is None else order.index(earlier) + 1, key)
    return order


def _called(entry: Draft) -> str:
    words = str(entry.get("name") or entry.get("requirement") or entry.get("check") or "an empty criterion")
    return f"“{shortened(words, 60)}”"


def _as_words(entry: Draft) -> str:
    return str(entry.get("requirement") or _called(entry))


def _shown(values: Draft, parts: Sequence[str]) -> str:
    if len(parts) == 1:
        value = values.get(parts[0], "")
        if isinstance(value, float) and value.is_integer():
            return str(int(value))
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if options := values.get("options"):
        return "; ".join(f"{one.get('label', '')} = {one.get('value', 'N/A')}" for one in options)
    return (
        f"check {values['check']} {json.dumps(values.get('params') or {}, ensure_ascii=False)}"
        if (values.get("check"))
        else "met or not met"
    )
