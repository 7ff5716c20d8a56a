"""The items of two runs over the same dataset: where the score fell, rose, stayed or is missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, overload

import numpy as np
from django.db.models import Case, TextField, Value, When

from rubricweb.errors import Invalid
from rubricweb.models import Item, Judgement, Run, RunItem, User
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.runs.diff.criteria import MatchedCriteria
from rubricweb.selectors.shared.columns import Bools, Floats, Ints, columns, floats, ints, present

ROUNDING = 1e-9
"""Scores are sums of weights: two closer than this are equal."""

ITEM_CHANGES = ("regression", "fix", "unchanged", "unpaired")


class ItemGrade(NamedTuple):
    """What one run has on one item; `score` on the scale the runs are compared on, None without one and where
    a verdict failed.
    """

    rubric_version_id: int
    score: float | None
    coverage: float | None
    errors: int
    is_graded: bool


@dataclass(frozen=True)
class ItemChange:
    """One item in both runs; a side is None where the run does not have the item.

    `change` is one of ITEM_CHANGES: the score fell, rose, stayed, or is missing on a side.
    """

    item_id: int
    run: ItemGrade | None
    baseline: ItemGrade | None

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
    def place(self) -> tuple[float, ...]:
        """Regressions first, then fixes, the largest first; then the unchanged, then the unpaired."""
        kind = ITEM_CHANGES.index(self.change)
        size = abs(self.difference or 0.0) if kind < 2 else 0.0
        return (kind, -size, self.item_id)


@dataclass(frozen=True, eq=False)
class ItemGrades:
    """What one run has on items: `ItemGrade` as arrays; `there` is false where it does not have the item."""

    there: Bools
    rubric_versions: Ints
    scores: Floats
    coverages: Floats
    errors: Ints
    graded: Bools

    def at(self, place: int) -> ItemGrade | None:
        if not self.there[place]:
            return None
        return ItemGrade(
            int(self.rubric_versions[place]),
            _number(self.scores[place]),
            _number(self.coverages[place]),
            int(self.errors[place]),
            bool(self.graded[place]),
        )

    def take(self, places: Ints | slice) -> "ItemGrades":
        """Those at these places."""
        return ItemGrades(
            self.there[places],
            self.rubric_versions[places],
            self.scores[places],
            self.coverages[places],
            self.errors[places],
            self.graded[places],
        )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


class ItemChanges(Sequence[ItemChange]):
    """Items of two runs in the order of `place`; one becomes an ItemChange when it is looked at.

    `differences` are NaN and `kinds`, places in ITEM_CHANGES, the last one where a score is missing.
    """

    def __init__(self, item_ids: Ints, run: ItemGrades, baseline: ItemGrades) -> None:
        self.item_ids, self.run, self.baseline = item_ids, run, baseline

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
        return ItemChanges(self.item_ids[places], self.run.take(places), self.baseline.take(places))

    def __len__(self) -> int:
        return len(self.item_ids)

    @overload
    def __getitem__(self, at: int) -> ItemChange: ...
    @overload
    def __getitem__(self, at: slice) -> "ItemChanges": ...
    def __getitem__(self, at: int | slice) -> "ItemChange | ItemChanges":
        if isinstance(at, slice):
            return self.taken(at)
        return ItemChange(int(self.item_ids[at]), self.run.at(at), self.baseline.at(at))

    def place_of(self, item_id: int) -> int | None:
        """Where the item stands, from 0; None when it does not."""
        found = np.flatnonzero(self.item_ids == item_id)
        return int(found[0]) if len(found) else None


def score_scale(run: Run, baseline: Run) -> str:
    """ "score", or "raw score" where one run normalised and the other did not."""
    return "score" if run.normalize == baseline.normalize else "raw score"


def hidden_from(run: Run, viewer: User) -> set[int]:
    """Items of the run's dataset this person is still to review blind."""
    return hidden_of(viewer, run.team, run.dataset_id)


def item_changes(run: Run, baseline: Run, hidden: set[int]) -> ItemChanges:
    """Every item of either run that is not `hidden`, in the order of `place`. Two queries."""
    field = "score" if score_scale(run, baseline) == "score" else "raw_score"
    sides = [_grades(one, field) for one in (run, baseline)]
    item_ids = np.union1d(sides[0][0], sides[1][0])
    item_ids = item_ids[~np.isin(item_ids, ints(list(hidden)))]
    changes = ItemChanges(item_ids, *(_placed(ids, grades, item_ids) for ids, grades in sides))
    moved = changes.kinds < ITEM_CHANGES.index("unchanged")
    sizes = np.where(moved, np.abs(changes.differences), 0.0)
    return changes.taken(np.lexsort((item_ids, -sizes, changes.kinds)))


def _grades(run: Run, field: str) -> tuple[Ints, ItemGrades]:
    """The run's items, and what it has on them."""
    # Turning 100,000 of these into times takes longer than reading them, and only their absence counts.
    graded_at = Case(When(graded_at=None, then=None), default=Value("then"), output_field=TextField())
    fields = ("item_id", "rubric_version_id", field, "coverage", "errors", graded_at)
    rows = RunItem.objects.filter(run=run).order_by().values_list(*fields)
    item_ids, versions, scores, coverages, errors, graded = columns(
        rows, ints, ints, floats, floats, ints, present
    )
    there = np.ones(len(item_ids), dtype=np.bool_)
    scores[errors > 0] = np.nan
    return item_ids, ItemGrades(there, versions, scores, coverages, errors, graded)


def _placed(ids: Ints, grades: ItemGrades, item_ids: Ints) -> ItemGrades:
    """`grades` of the items `ids` as they belong to `item_ids`, ascending."""
    nan, nothing = np.full(len(item_ids), np.nan), np.zeros(len(item_ids), dtype=np.int64)
    placed = ItemGrades(
        nothing.astype(np.bool_), nothing, nan, nan.copy(), nothing.copy(), nothing.astype(np.bool_)
    )
    shown = np.isin(ids, item_ids)
    places = np.searchsorted(item_ids, ids[shown])
    for name in ItemGrades.__dataclass_fields__:
        getattr(placed, name)[places] = getattr(grades, name)[shown]
    return placed


@dataclass(frozen=True)
class DiffItemRow:
    """One item as the list shows it; `answers_changed` counts criteria both answered, but not alike."""

    item: Item
    change: ItemChange
    answers_changed: int


@dataclass(frozen=True)
class ItemPage:
    """One page of the list; `next_cursor` is the item id of its last row, None on the last page.

    `counts` are those of the whole list by ITEM_CHANGES; `change` is what it is narrowed to, "" for nothing.
    """

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
        rows=rows,
        counts=counted(changes),
        total=len(wanted),
        change=change,
        next_cursor=str(rows[-1].item.pk) if start + size < len(wanted) else None,
    )


def counted(changes: ItemChanges) -> dict[str, int]:
    """How many items there are of each of ITEM_CHANGES."""
    found = np.bincount(changes.kinds, minlength=len(ITEM_CHANGES))
    return dict(zip(ITEM_CHANGES, found.tolist(), strict=True))


def item_rows(changes: Sequence[ItemChange], run: Run, baseline: Run) -> tuple[DiffItemRow, ...]:
    """These items with their names and changed answers, in the order given. Three queries at most."""
    ids = [one.item_id for one in changes]
    items = Item.objects.only("pk", "key", "description", "dataset_id").in_bulk(ids)
    run_ids = MatchedCriteria.of(run, baseline).run_ids()
    said: dict[tuple[int, int], dict[int, tuple[str | None, float | None]]] = {}
    rows = Judgement.objects.filter(run__in=(run.pk, baseline.pk), item__in=ids, error_kind=None, repeat=0)
    for run_id, item_id, criterion_id, verdict, value in rows.order_by().values_list(
        "run_id", "item_id", "criterion_id", "verdict", "value"
    ):
        own = criterion_id if run_id == run.pk else run_ids.get(criterion_id, criterion_id)
        said.setdefault((item_id, own), {})[run_id] = (verdict, value)
    changed = Counter(
        unit[0] for unit, both in said.items() if len(both) == 2 and len(set(both.values())) == 2
    )
    return tuple(DiffItemRow(items[one.item_id], one, changed[one.item_id]) for one in changes)


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
