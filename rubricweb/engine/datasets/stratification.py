"""Dividing items in two so that every label is spread alike."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence
from random import Random


def stratified_halves(
    rows: Sequence[Sequence[Hashable]], n_first: int, rng: Random
) -> tuple[list[int], list[int]]:
    """Positions of the first part (exactly ``n_first``) and of the second, each in ascending order.

    ``rows`` holds every item's labels. Iterative stratification (Sechidis, Tsoumakas, Vlahavas 2011): the
    label with the fewest items left goes first, each of its items to the part that still lacks most of that
    label, then to the one that lacks most items, then by lot. A label only one item has cannot be spread and
    is passed over. Eight items, four labelled a and four b, with ``n_first`` 2: one of each.
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
    return (
        [position for position in range(len(rows)) if part_of[position] == 0],
        [position for position in range(len(rows)) if part_of[position] == 1],
    )


def _neediest(lacking: Sequence[int], room: Sequence[int], rng: Random) -> int:
    if room[0] == 0 or room[1] == 0:
        return 0 if room[0] else 1
    first, second = (lacking[0], room[0]), (lacking[1], room[1])
    if first == second:
        return rng.randrange(2)
    return 0 if first > second else 1
