"""What changed in meaning between two versions of a rubric."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.rubric.words import Segment, within_pairs, word_diff

Aspect: TypeAlias = Literal[
    "renamed",
    "reworded",
    "reweighted",
    "regrouped",
    "kind",
    "options",
    "scale",
    "check",
    "vote rule",
    "guidance",
    "tags",
    "examples",
    "moved",
]


@dataclass(frozen=True, slots=True)
class Change:
    """One criterion that differs. `before` is None when it was added, `after` when it was removed.

    `aspects` say what differs when both are there, the requirement first; empty otherwise. `word_by_word` is
    False where the requirements are too long to be compared like that.
    """

    before: Criterion | None
    after: Criterion | None
    aspects: tuple[Aspect, ...] = ()
    word_by_word: bool = True

    @property
    def name(self) -> str:
        """The name it has now, or had when it was removed."""
        criterion = self.after or self.before
        return (criterion and criterion.name) or ""

    @property
    def words(self) -> tuple[Segment, ...]:
        """The requirement's word diff; of an added or removed criterion it is all new or all gone."""
        return word_diff(*_requirements(self), word_by_word=self.word_by_word)


@dataclass(frozen=True, slots=True)
class RubricDiff:
    """Everything that differs, criteria in the newer rubric's order with removed ones last.

    `reordered` is about the criteria both have, whatever was put between them.
    """

    changes: tuple[Change, ...]
    unchanged: int
    reordered: bool
    title_changed: bool
    guidelines: tuple[Segment, ...]
    """The word diff of the guidelines, empty when they are equal."""
    pass_rule_changed: bool = False
    length_penalty_changed: bool = False

    def __bool__(self) -> bool:
        rules = self.pass_rule_changed or self.length_penalty_changed
        return bool(self.changes or self.reordered or self.title_changed or self.guidelines or rules)

    @property
    def added(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.before is None)

    @property
    def removed(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.after is None)

    @property
    def summary(self) -> tuple[str, ...]:
        """In a few words, most consequential first: ("1 added", "2 reworded", "order changed")."""
        counts = {"added": len(self.added), "removed": len(self.removed)}
        for change in self.changes:
            for aspect in change.aspects:
                counts[aspect] = counts.get(aspect, 0) + 1
        words = {
            "kind": "of another kind",
            "options": "with other options",
            "scale": "on another scale",
            "check": "checked otherwise",
            "vote rule": "with another vote rule",
            "guidance": "with other guidance",
            "tags": "retagged",
            "examples": "with other examples",
        }
        order = ("added", "removed", "reworded", "reweighted", "renamed", "regrouped", "moved", *words)
        parts = [f"{counts[kind]} {words.get(kind, kind)}" for kind in order if counts.get(kind)]
        whole = (
            ("pass rule changed", self.pass_rule_changed),
            ("length penalty changed", self.length_penalty_changed),
            ("title changed", self.title_changed),
            ("guidelines changed", bool(self.guidelines)),
        )
        return (*parts, *(phrase for phrase, holds in whole if holds))


def rubric_diff(before: Rubric, after: Rubric) -> RubricDiff:
    """Compare two rubrics criterion by criterion.

    A criterion is the same one when its id is. Without ids it is when its requirement reads the same (spaces
    and case aside), else when its name does: so moving an unnamed criterion, which renumbers C1, C2, …, does
    not look like rewording. Of those in another order as few as possible count as moved. From (A +10, B +5)
    to (B +5, A +8, D +1): A reweighted and moved, D added.
    """
    partner = _matched(before.criteria, after.criteria)
    moved = _moved(partner)
    changes: list[Change] = []
    unchanged = 0
    for j, criterion in enumerate(after.criteria):
        if j not in partner:
            changes.append(Change(None, criterion))
            continue
        old = before.criteria[partner[j]]
        aspects = _aspects(
            old, criterion, was_numbered=_is_number(old, partner[j]) and _is_number(criterion, j)
        )
        aspects += ("moved",) if j in moved else ()
        if aspects:
            changes.append(Change(old, criterion, aspects))
        else:
            unchanged += 1
    kept = set(partner.values())
    changes += [Change(old, None) for i, old in enumerate(before.criteria) if i not in kept]
    return RubricDiff(
        changes=tuple(
            replace(change, word_by_word=compared)
            for change, compared in zip(changes, within_pairs(map(_requirements, changes)), strict=True)
        ),
        unchanged=unchanged,
        reordered=bool(moved),
        title_changed=before.title != after.title,
        guidelines=()
        if before.guidelines == after.guidelines
        else word_diff(before.guidelines, after.guidelines),
        pass_rule_changed=before.pass_rule != after.pass_rule,
        length_penalty_changed=before.length_penalty != after.length_penalty,
    )


def _moved(partner: Mapping[int, int]) -> set[int]:
    """The places, in the newer rubric, of the fewest criteria without which the order is that of the older.

    The rest is a longest increasing run of places: of 2, 0, 1 the first was moved.
    """
    ends: list[int] = []
    """The last newer place of the best run of each length; runs are followed back through `before`."""
    before: dict[int, int | None] = {}
    for j in sorted(partner):
        length = bisect_left([partner[end] for end in ends], partner[j])
        before[j] = ends[length - 1] if length else None
        ends[length:] = [j, *ends[length + 1 :]]
    stayed: set[int] = set()
    at = ends[-1] if ends else None
    while at is not None:
        stayed.add(at)
        at = before[at]
    return set(partner) - stayed


def _requirements(change: Change) -> tuple[str, str]:
    return (
        change.before.requirement if change.before else "",
        change.after.requirement if change.after else "",
    )


def _matched(before: tuple[Criterion, ...], after: tuple[Criterion, ...]) -> dict[int, int]:
    """Index in `after` → index in `before` of the same criterion."""
    partner: dict[int, int] = {}
    free = dict.fromkeys(range(len(before)))
    for same in (_same_id, _same_both, _same_requirement, _same_name):
        for j, criterion in enumerate(after):
            if j in partner:
                continue
            i = next(
                (i for i in free if _may_be_one(before[i], criterion) and same(before[i], criterion)), None
            )
            if i is not None:
                partner[j] = i
                del free[i]
    return partner


def _may_be_one(one: Criterion, other: Criterion) -> bool:
    """Whether no two ids tell them apart."""
    return one.id is None or other.id is None or one.id == other.id


def _same_id(one: Criterion, other: Criterion) -> bool:
    return one.id is not None and one.id == other.id


def _same_both(one: Criterion, other: Criterion) -> bool:
    return _same_name(one, other) and _same_requirement(one, other)


def _same_requirement(one: Criterion, other: Criterion) -> bool:
    return one.requirement.casefold().split() == other.requirement.casefold().split()


def _same_name(one: Criterion, other: Criterion) -> bool:
    return (one.name or "").casefold() == (other.name or "").casefold()


def _aspects(before: Criterion, after: Criterion, *, was_numbered: bool) -> tuple[Aspect, ...]:
    found: tuple[tuple[Aspect, bool], ...] = (
        ("reworded", before.requirement != after.requirement),
        ("reweighted", before.weight != after.weight),
        ("renamed", before.name != after.name and not was_numbered),
        ("regrouped", before.group != after.group),
        ("kind", before.kind != after.kind),
        ("options", before.kind == after.kind and before.options != after.options),
        ("scale", before.kind == after.kind and before.scale_type != after.scale_type),
        (
            "check",
            before.kind == after.kind and (before.check, before.params) != (after.check, after.params),
        ),
        ("vote rule", before.aggregation != after.aggregation),
        ("guidance", before.guidance != after.guidance),
        ("tags", before.tags != after.tags),
        (
            "examples",
            (before.met_example, before.unmet_example) != (after.met_example, after.unmet_example),
        ),
    )
    return tuple(aspect for aspect, holds in found if holds)


def _is_number(criterion: Criterion, index: int) -> bool:
    return criterion.name == f"C{index + 1}"
