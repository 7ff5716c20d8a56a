"""Means of one column or several over the same items, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rubricweb.engine.agreement.intervals import CONFIDENCE, Figure, Floats, mean_interval


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
    rows: Floats | Sequence[Sequence[float]], columns: int, *, confidence: float = CONFIDENCE
) -> tuple[Figure, ...]:
    """The mean of each of `columns` columns of differences, each with the interval of `mean_interval`.

    `rows` are one per item, each (columns,). Without rows every figure is None, with one there are no
    intervals. Raises ValueError when a row has another length.

    Worked: (1, 0) and (0, 0.5): means 0.5 and 0.25.
    """
    for place, row in enumerate(rows):
        if len(row) != columns:
            raise ValueError(f"rows[{place}] has {len(row)} values; allowed: {columns}, one per column")
    table = np.asarray(rows, dtype=np.float64).reshape(len(rows), columns)
    each = np.arange(len(table))
    return tuple(mean_interval(column, each, limits=None, confidence=confidence) for column in table.T)
