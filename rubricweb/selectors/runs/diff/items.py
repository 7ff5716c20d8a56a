"""The items or cases of two runs over the same dataset: where the score fell, rose, stayed or is missing."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import overload

import numpy as np

from rubricweb.engine.agreement.scores.pairing import Unit
from rubricweb.errors import Invalid
from rubricweb.models import Item, Judgement, Run, User
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.runs.diff.criteria import MatchedCriteria
from rubricweb.selectors.runs.diff.pairing import ItemGrade, ItemGrades, PairedRuns, paired_runs
from rubricweb.selectors.shared.columns import Floats, Ints

ROUNDING = 1e-9
"""Scores are sums of weights: two closer than this are equal."""

ITEM_CHANGES = ("regression", "fix", "unchanged", "unpaired")


@dataclass(frozen=True)
class ItemChange:
    """One item, or one case, in both runs; a side is None where the run does not have it.

    `change` is one of ITEM_CHANGES: the score fell, rose, stayed, or is missing on a side. `item_id` names
    it. Of a case the items of a side are its attempts.
    """

    item_id: int
    run: ItemGrade | None
    baseline: ItemGrade | None
    run_items: tuple[int, ...]
    baseline_items: tuple[int, ...]

    @property
    def difference(self) -> float | None:
        """The run's score less the baseline's; None unless both have one."""
        if self.run is None or self.baseline is None:
            return None
        if self.run.score is None or self.baseline.score is None:
            return None
        return self.run.score - self.baseline.score

    @property
    def change(self) -> str:
        apart = self.difference
        if apart is None:
            return "unpaired"
        if abs(apart) <= ROUNDING:
            return "unchanged"
        return "regression" if apart < 0 else "fix"

    @property
    def answers_most(self) -> int:
        """How many attempts the side with more of them has: 1 of an item."""
        return max(len(self.run_items), len(self.baseline_items))

    @property
    def place(self) -> tuple[float, ...]:
        """Regressions first, then fixes, the largest first; then the unchanged, then the unpaired."""
        kind = ITEM_CHANGES.index(self.change)
        size = abs(self.difference or 0.0) if kind < 2 else 0.0
        return (kind, -size, self.item_id)


class ItemChanges(Sequence[ItemChange]):
    """Items, or cases, of two runs in the order of `place`; one becomes an ItemChange when it is looked at.

    `differences` are NaN and `kinds`, places in ITEM_CHANGES, the last one where a score is missing.
    """

    def __init__(self, paired: PairedRuns, units: Ints, run: ItemGrades, baseline: ItemGrades) -> None:
        self.paired, self.units, self.run, self.baseline = paired, units, run, baseline

    @property
    def by(self) -> Unit:
        return self.paired.by

    @property
    def item_ids(self) -> Ints:
        """An item for each unit, by which it is named."""
        return self.paired.item_ids[self.units]

    @cached_property
    def differences(self) -> Floats:
        return self.run.scores - self.baseline.scores

    @cached_property
    def kinds(self) -> Ints:
        apart = self.differences
        names = np.select(
            [np.isnan(apart), np.abs(apart) <= ROUNDING, apart < 0],
            [ITEM_CHANGES.index(name) for name in ("unpaired", "unchanged", "regression")],
            default=ITEM_CHANGES.index("fix"),
        )
        return names.astype(np.int64)

    def taken(self, places: Ints | slice) -> "ItemChanges":
        return ItemChanges(self.paired, self.units[places], self.run.take(places), self.baseline.take(places))

    def __len__(self) -> int:
        return len(self.units)

    @overload
    def __getitem__(self, at: int) -> ItemChange: ...
    @overload
    def __getitem__(self, at: slice) -> "ItemChanges": ...
    def __getitem__(self, at: int | slice) -> "ItemChange | ItemChanges":
        if isinstance(at, slice):
            return self.taken(at)
        unit = int(self.units[at])
        return ItemChange(
            int(self.paired.item_ids[unit]),
            self.run.at(at),
            self.baseline.at(at),
            self.paired.run.items_of(unit),
            self.paired.baseline.items_of(unit),
        )

    def place_of(self, item_id: int) -> int | None:
        """Where the item, or its case, stands, from 0; None when it does not."""
        for side in (self.paired.run, self.paired.baseline):
            units = side.units[side.item_ids == item_id]
            places = np.flatnonzero(np.isin(self.units, units))
            if len(places):
                return int(places[0])
        return None


def score_scale(run: Run, baseline: Run) -> str:
    """ "score", or "raw score" where one run normalised and the other did not."""
    return "score" if run.normalize == baseline.normalize else "raw score"


def hidden_from(run: Run, viewer: User) -> set[int]:
    """Items of the run's dataset this person is still to review blind."""
    return hidden_of(viewer, run.team, run.dataset_id)


def item_changes(run: Run, baseline: Run, hidden: set[int]) -> ItemChanges:
    """Every item, or case, of either run with nothing `hidden`, in the order of `place`.

    Queries and refusals are those of `paired_runs`.
    """
    field = "score" if score_scale(run, baseline) == "score" else "raw_score"
    paired = paired_runs(run, baseline, hidden, field=field)
    units = len(paired)
    sides = [side.grades_by_unit(units) for side in (paired.run, paired.baseline)]
    changes = ItemChanges(paired, np.arange(units), *sides)
    moved = changes.kinds < ITEM_CHANGES.index("unchanged")
    sizes = np.where(moved, np.abs(changes.differences), 0.0)
    return changes.taken(np.lexsort((changes.item_ids, -sizes, changes.kinds)))


@dataclass(frozen=True)
class DiffItemRow:
    """One item, or case, as the list shows it; `item` names it.

    `answers_changed` counts criteria that both answered, but not alike.
    """

    item: Item
    change: ItemChange
    answers_changed: int


@dataclass(frozen=True)
class ItemPage:
    """One page of the list; `next_cursor` is the item id of its last row, None on the last page.

    `paired_by` says whether a row is an item or a case. `counts` are those of the whole list by ITEM_CHANGES;
    `change` is what it is narrowed to, "" for nothing.
    """

    paired_by: Unit
    rows: tuple[DiffItemRow, ...]
    counts: Mapping[str, int]
    total: int
    change: str
    next_cursor: str | None


def narrowed(changes: ItemChanges, change: str) -> ItemChanges:
    """The items of one kind of change; with "" all of them. Raises Invalid for a kind there is not."""
    if change and change not in ITEM_CHANGES:
        raise Invalid(f"{change[:40]!r} is not a change of an item. Allowed: {', '.join(ITEM_CHANGES)}.")
    if not change:
        return changes
    return changes.taken(np.flatnonzero(changes.kinds == ITEM_CHANGES.index(change)))


def item_page(
    changes: ItemChanges,
    run: Run,
    baseline: Run,
    *,
    change: str = "",
    cursor: int | None = None,
    size: int = 50,
) -> ItemPage:
    """The items of one kind of change after the item `cursor`.

    A cursor no longer in the list starts at the top.
    """
    wanted = narrowed(changes, change)
    last = None if cursor is None else wanted.place_of(cursor)
    start = 0 if last is None else last + 1
    rows = item_rows(wanted[start : start + size], run, baseline)
    return ItemPage(
        paired_by=changes.by,
        rows=rows,
        counts=change_counts(changes),
        total=len(wanted),
        change=change,
        next_cursor=str(rows[-1].item.pk) if start + size < len(wanted) else None,
    )


def change_counts(changes: ItemChanges) -> dict[str, int]:
    """How many items there are of each of ITEM_CHANGES."""
    counts = np.bincount(changes.kinds, minlength=len(ITEM_CHANGES))
    return dict(zip(ITEM_CHANGES, counts.tolist(), strict=True))


def item_rows(changes: Sequence[ItemChange], run: Run, baseline: Run) -> tuple[DiffItemRow, ...]:
    """These items with their names and changed answers, in the order given. Three queries at most."""
    named = Item.objects.only("pk", "key", "description", "dataset_id", "case__key").select_related("case")
    items = named.in_bulk([one.item_id for one in changes])
    changed = _answers_changed(changes, run, baseline)
    return tuple(DiffItemRow(items[one.item_id], one, changed[one.item_id]) for one in changes)


def _answers_changed(changes: Sequence[ItemChange], run: Run, baseline: Run) -> Counter[int]:
    """By the item that names a row: criteria that both sides answered, each answer not as often on both."""
    places = {(run.pk, item_id): one.item_id for one in changes for item_id in one.run_items}
    places |= {(baseline.pk, item_id): one.item_id for one in changes for item_id in one.baseline_items}
    run_ids = MatchedCriteria.of(run, baseline).run_ids()
    said: dict[tuple[int, int], dict[int, Counter[tuple[str | None, float | None]]]] = {}
    rows = Judgement.objects.filter(
        run__in=(run.pk, baseline.pk),
        item__in={item_id for _, item_id in places},
        error_kind=None,
        repeat=0,
    )
    for run_id, item_id, criterion_id, verdict, value in rows.order_by().values_list(
        "run_id", "item_id", "criterion_id", "verdict", "value"
    ):
        own = criterion_id if run_id == run.pk else run_ids.get(criterion_id, criterion_id)
        of_unit = said.setdefault((places[run_id, item_id], own), {})
        of_unit.setdefault(run_id, Counter())[verdict, value] += 1
    return Counter(
        unit[0]
        for unit, both in said.items()
        if len(both) == 2 and len({_shares(answers) for answers in both.values()}) == 2
    )


def _shares(answers: Counter[tuple[str | None, float | None]]) -> frozenset[tuple[Hashable, Fraction]]:
    """Each answer with its share of all: of one answer, that one."""
    return frozenset((answer, Fraction(times, answers.total())) for answer, times in answers.items())


@dataclass(frozen=True)
class ItemsAround:
    """Where an item stands in the list, from 1 (None when it is not in it), and the item ids beside it."""

    position: int | None
    total: int
    before: int | None
    after: int | None


def items_around(changes: ItemChanges, item_id: int) -> ItemsAround:
    """The neighbours of an item; one that is not in the list is followed by the list's first."""

    def id_at(place: int) -> int | None:
        return int(changes.item_ids[place]) if 0 <= place < len(changes) else None

    at = changes.place_of(item_id)
    if at is None:
        return ItemsAround(None, len(changes), None, id_at(0))
    return ItemsAround(at + 1, len(changes), id_at(at - 1), id_at(at + 1))
