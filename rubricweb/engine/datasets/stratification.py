"""Dividing items in two so that every label is spread alike."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence, Set
from random import Random

MAX_SWAPS_TRIED = 50_000
"""Pairs tried at most: about a second for 14 labels per item."""


def stratified_halves(
    rows: Sequence[Sequence[Hashable]], n_first: int, rng: Random
) -> tuple[list[int], list[int]]:
    """Positions of the first part (exactly ``n_first``) and of the second, each in ascending order.

    ``rows`` holds every item's labels. Iterative stratification (Sechidis, Tsoumakas, Vlahavas 2011): the
    label with the fewest items left goes first, each of its items to the part that still lacks most of that
    label, then to the one that lacks most items, then by lot. With many labels per item this leaves uneven
    what went last, so pairs drawn by lot then change places wherever that evens the counts. A label that only
    one item has cannot be spread and is passed over.

    Eight items, four labelled a and four b, with ``n_first`` 2: one of each.
    """
    sizes = (n_first, len(rows) - n_first)
    order = list(range(len(rows)))
    rng.shuffle(order)
    holders: dict[Hashable, list[int]] = {}
    for position in order:
        for label in dict.fromkeys(rows[position]):
            holders.setdefault(label, []).append(position)
    holders = {label: positions for label, positions in holders.items() if len(positions) > 1}
    # What each part still lacks of a label, times the number of items: whole numbers have exact ties.
    lacks = {label: [len(positions) * size for size in sizes] for label, positions in holders.items()}
    room = list(sizes)
    part_of: dict[int, int] = {}
    left = {label: len(positions) for label, positions in holders.items()}
    numbered = list(holders)
    number_of = {label: number for number, label in enumerate(numbered)}
    waiting = [(count, number_of[label]) for label, count in left.items()]
    heapq.heapify(waiting)
    while waiting:
        count, number = heapq.heappop(waiting)
        label = numbered[number]
        if count != left[label] or count == 0:
            continue  # an older entry: the count has fallen since
        touched: dict[Hashable, None] = {}
        for position in holders[label]:
            if position in part_of:
                continue
            part = _neediest(lacks[label], room, rng)
            part_of[position] = part
            room[part] -= 1
            for other in dict.fromkeys(rows[position]):
                if other in left:
                    left[other] -= 1
                    lacks[other][part] -= len(rows)
                    touched[other] = None
        for other in touched:
            heapq.heappush(waiting, (left[other], number_of[other]))
    for position in order:
        if position not in part_of:
            part_of[position] = 0 if room[0] > 0 else 1
            room[part_of[position]] -= 1
    parts = [[position for position in range(len(rows)) if part_of[position] == part] for part in (0, 1)]
    _even_out([frozenset(row) & holders.keys() for row in rows], parts, rng)
    return sorted(parts[0]), sorted(parts[1])


def _even_out(rows: Sequence[Set[Hashable]], parts: list[list[int]], rng: Random) -> None:
    """Swap pairs between the parts while that lowers the sum of squared distances from an even spread."""
    first, second = parts
    if not first or not second:
        return
    excess: dict[Hashable, int] = {}
    for row in rows:
        for label in row:
            excess[label] = excess.get(label, 0) - len(first)
    for position in first:
        for label in rows[position]:
            excess[label] += len(rows)
    step = len(rows)
    for _ in range(min(MAX_SWAPS_TRIED, 50 * len(rows))):
        i, j = rng.randrange(len(first)), rng.randrange(len(second))
        leaving, coming = rows[first[i]] - rows[second[j]], rows[second[j]] - rows[first[i]]
        change = sum(step - 2 * excess[label] for label in leaving)
        change += sum(step + 2 * excess[label] for label in coming)
        if change < 0:
            first[i], second[j] = second[j], first[i]
            for label in leaving:
                excess[label] -= step
            for label in coming:
                excess[label] += step


def _neediest(lacking: Sequence[int], room: Sequence[int], rng: Random) -> int:
    if room[0] == 0 or room[1] == 0:
        return 0 if room[0] else 1
    first, second = (lacking[0], room[0]), (lacking[1], room[1])
    if first == second:
        return rng.randrange(2)
    return 0 if first > second else 1
