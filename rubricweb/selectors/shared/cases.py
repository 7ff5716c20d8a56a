"""Several answers to one case: they are alike, so in a mean they count as one.

So are answers to a case in the words before and after it was corrected: it is one case of those that were
drawn. Two runs are held against each other by answers to the same words only (`runs/diff/pairing.py`).
"""

from typing import Any

import numpy as np
from django.db.models import Count, F, QuerySet
from numpy.typing import NDArray

from rubricweb.models import Item, Run, RunItem
from rubricweb.selectors.shared.columns import Ints, columns, floats, ints

WORDINGS = 1 << 20
"""More than a case ever has: a case and its wording are one number."""


ANY_WORDING = 0
"""Where a wording stands, which count from 1: the case in whatever words."""


def case_numbers(cases: Ints, wordings: Ints | int) -> Ints:
    """A number for each case in its words: case 3 in its second words is 3 * WORDINGS + 2."""
    return cases * WORDINGS + wordings


def has_repeated_cases(run: Run, *, anew: bool = False) -> bool:
    """Whether the run has several answers to a case: as its summary says, or else, and `anew`, by a query."""
    summary = None if anew else getattr(run, "summary", None)
    if summary is not None:
        return bool(summary.repeats_cases)
    of_cases = RunItem.objects.filter(run=run).order_by().values("item__case_id")
    return of_cases.annotate(answers=Count("pk")).filter(answers__gt=1).exists()


def repeated_cases(items: QuerySet[Item]) -> dict[int, int]:
    """Item id → the number of its case, of those that share a case with another of these items. One query.

    The numbers are below 0, so that none is an item's id.
    """
    item_ids, cases = columns(items.order_by().values_list("pk", "case_id"), ints, ints)
    found, places, answers = np.unique(cases, return_inverse=True, return_counts=True)
    shared = answers[places] > 1
    return dict(zip(item_ids[shared].tolist(), (-found[places[shared]]).tolist(), strict=True))


def repeated_cases_of(run: Run) -> dict[int, int]:
    """The same of all items of a run; nothing is read where its summary says that no case has several."""
    items = Item.objects.filter(run_items__run=run, run_items__replaced=False)
    return repeated_cases(items) if has_repeated_cases(run) else {}


def with_cases(rows: QuerySet[RunItem], *numbers: str, by_case: bool) -> list[NDArray[Any]]:
    """Columns of these rows, each (rows,): these `numbers`, NaN for None, the ids of their items, and what a
    mean counts: the id of the case each answers `by_case`, else of the item.

    One query: an answer that is stored meanwhile is in all of them or in none.
    """
    unit = "item__case_id" if by_case else "item_id"
    readers = [*[floats for _ in numbers], ints, ints]
    return columns(rows.values_list(*numbers, "item_id", F(unit)), *readers)
