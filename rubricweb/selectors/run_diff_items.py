"""The items of two runs over the same dataset: where the score fell, rose, stayed or is missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rubricweb.errors import Invalid
from rubricweb.models import Item, Judgement, Run, RunItem, User
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.run_diff_criteria import Partners

ROUNDING = 1e-9
"""Scores are sums of weights: two closer than this are equal."""

ITEM_CHANGES = ("regression", "fix", "unchanged", "unpaired")


class Graded(NamedTuple):
    """What one run has on one item; `score` on the scale the runs are compared on, None without one."""

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
    run: Graded | None
    baseline: Graded | None

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


def score_scale(run: Run, baseline: Run) -> str:
    """ "score", or "raw score" where one run normalised and the other did not."""
    return "score" if run.normalize == baseline.normalize else "raw score"


def hidden_from(run: Run, viewer: User) -> set[int]:
    """Items of the run's dataset this person is still to review blind."""
    return hidden_of(viewer, run.team, run.dataset_id)


def item_changes(run: Run, baseline: Run, hidden: set[int]) -> list[ItemChange]:
    """Every item of either run that is not `hidden`, in the order of `place`. One query."""
    field = "score" if score_scale(run, baseline) == "score" else "raw_score"
    fields = ("run_id", "item_id", "rubric_version_id", field, "coverage", "errors", "graded_at")
    sides: dict[int, dict[int, Graded]] = {run.pk: {}, baseline.pk: {}}
    rows = RunItem.objects.filter(run__in=(run.pk, baseline.pk)).order_by().values_list(*fields)
    for run_id, item_id, version_id, score, coverage, errors, graded_at in rows:
        if item_id not in hidden:
            sides[run_id][item_id] = Graded(version_id, score, coverage, errors, graded_at is not None)
    here, there = sides[run.pk], sides[baseline.pk]
    changes = [ItemChange(item_id, here.get(item_id), there.get(item_id)) for item_id in here.keys() | there]
    return sorted(changes, key=lambda one: one.place)


@dataclass(frozen=True)
class ItemRow:
    """One item as the list shows it; `answers_changed` counts criteria both answered, but not alike."""

    item: Item
    change: ItemChange
    answers_changed: int


@dataclass(frozen=True)
class ItemPage:
    """One page of the list; `next_cursor` is the item id of its last row, None on the last page.

    `counts` are those of the whole list by ITEM_CHANGES; `change` is what it is narrowed to, "" for nothing.
    """

    rows: tuple[ItemRow, ...]
    counts: Mapping[str, int]
    total: int
    change: str
    next_cursor: str | None


def narrowed(changes: Sequence[ItemChange], change: str) -> list[ItemChange]:
    """The items of one kind of change; with "" all of them. Raises Invalid for a kind there is not."""
    if change and change not in ITEM_CHANGES:
        raise Invalid(f"{change[:40]!r} is not a change of an item. Allowed: {', '.join(ITEM_CHANGES)}.")
    return [one for one in changes if change in ("", one.change)]


def item_page(
    changes: Sequence[ItemChange],
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
    ids = [one.item_id for one in wanted]
    start = ids.index(cursor) + 1 if cursor in ids else 0
    rows = item_rows(wanted[start : start + size], run, baseline)
    return ItemPage(
        rows=rows,
        counts=counted(changes),
        total=len(wanted),
        change=change,
        next_cursor=str(rows[-1].item.pk) if start + size < len(wanted) else None,
    )


def counted(changes: Sequence[ItemChange]) -> dict[str, int]:
    """How many items there are of each of ITEM_CHANGES."""
    found = Counter(one.change for one in changes)
    return {name: found[name] for name in ITEM_CHANGES}


def item_rows(changes: Sequence[ItemChange], run: Run, baseline: Run) -> tuple[ItemRow, ...]:
    """These items with their names and changed answers, in the order given. Three queries at most."""
    ids = [one.item_id for one in changes]
    items = Item.objects.only("pk", "key", "description", "dataset_id").in_bulk(ids)
    run_ids = Partners.of(run, baseline).run_ids()
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
    return tuple(ItemRow(items[one.item_id], one, changed[one.item_id]) for one in changes)


@dataclass(frozen=True)
class ItemsAround:
    """Where an item stands in the list, from 1 (None when it is not in it), and the item ids beside it."""

    position: int | None
    total: int
    before: int | None
    after: int | None


def items_around(changes: Sequence[ItemChange], item_id: int) -> ItemsAround:
    """The neighbours of an item; one that is not in the list is followed by the list's first."""
    ids = [one.item_id for one in changes]
    if item_id not in ids:
        return ItemsAround(None, len(ids), None, ids[0] if ids else None)
    at = ids.index(item_id)
    return ItemsAround(
        at + 1, len(ids), ids[at - 1] if at else None, ids[at + 1] if at + 1 < len(ids) else None
    )
