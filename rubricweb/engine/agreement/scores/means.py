"""Means of one column or several over the same items, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rubricweb.engine.agreement.intervals import CONFIDENCE, Figure, Floats, mean_interval, within


def mean_figure(
    values: Sequence[float], *, limits: tuple[float, float] = (0.0, 1.0), confidence: float = CONFIDENCE
) -> Figure:
    """Mean of one score per item with Student's t interval, cut at `limits` (widened to what was seen).

    See `mean_interval`: scores that hardly vary get no interval of no width, and zeros and ones alone get
    Wilson's. None when there are no values; no interval for a single one unless it is 0 or 1.
    Worked: 0.2, 0.4, 0.6, 0.8 → 0.5 with the interval (0, 1).
    """
    column = np.asarray(values, dtype=np.float64)
    return mean_interval(column, np.arange(len(column)), limits=limits, confidence=confidence)


def mean_columns(
    rows: Floats | Sequence[Sequence[float]],
    limits: Sequence[tuple[float, float]],
    *,
    confidence: float = CONFIDENCE,
) -> tuple[Figure, ...]:
    """The mean of each column of differences, each with the interval of `mean_interval`.

    `rows` are one per item, with one value per column. `limits` are the least and the most of each column,
    below and above 0 and widened to what was seen: the interval is measured in units of the larger and cut at
    both, as what a light criterion adds varies less than what a heavy one does. A column that can only be 0
    is 0. Without rows every figure is None, with one there are no intervals. Raises ValueError when a row has
    another length.

    Worked: (1, 0) and (0, 0.5): means 0.5 and 0.25.
    """
    for place, row in enumerate(rows):
        if len(row) != len(limits):
            raise ValueError(f"rows[{place}] has {len(row)} values; allowed: {len(limits)}, one per column")
    table = np.asarray(rows, dtype=np.float64).reshape(len(rows), len(limits))
    return tuple(_mean_between(*one, confidence) for one in zip(table.T, limits, strict=True))


def _mean_between(column: Floats, limits: tuple[float, float], confidence: float) -> Figure:
    if not len(column):
        return Figure(None, None, None, 0)
    low, high = min(limits[0], float(column.min())), max(limits[1], float(column.max()))
    most = max(-low, high)
    if most == 0:
        return Figure(0.0, 0.0, 0.0, len(column))
    found = mean_interval(column / most, np.arange(len(column)), limits=None, confidence=confidence)
    value, below, above = (
        None if end is None else end * most for end in (found.value, found.low, found.high)
    )
    return within(replace(found, value=value, low=below, high=above), low, high)
