"""Means of one column or several over the same items, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import (
    CONFIDENCE,
    Figure,
    Floats,
    difference_interval,
    mean_interval,
    within,
)

Limits = tuple[float, float] | None
"""The least and the most a value can be; None where that is not known."""

_SAME = 1e-9  # of the length of a scale: less is rounding


def mean_figure(
    values: Sequence[float], *, limits: Limits = (0.0, 1.0), confidence: float = CONFIDENCE
) -> Figure:
    """Mean of one score per item with the interval of `mean_interval`, on the scale between two `limits`.

    See `mean_between`. None when there are no values; no interval for a single one unless it is an end.
    Raises ValueError for NaN.
    Worked: 0.2, 0.4, 0.6, 0.8 → 0.5 with the interval (0.089, 0.911); 0.7 forty times: with a 0 and a 1 more
    the mean is 0.6905, SE 0.01829, t of 41 degrees 2.0195, so (0.654, 0.727).
    """
    column = known_numbers("values", values)
    return mean_between(column, np.arange(len(column)), limits, confidence)


def known_numbers(name: str, values: Sequence[float]) -> Floats:
    """The column as numbers. Raises ValueError for NaN: to leave it out may change what the mean is of."""
    column = np.asarray(values, dtype=np.float64)
    if np.isnan(column).any():
        place = int(np.flatnonzero(np.isnan(column))[0])
        raise ValueError(
            f"{name}[{place}] is NaN; allowed: a number for each, those without one left out before"
        )
    return column


def mean_between(
    values: Floats,
    clusters: NDArray[np.int64],
    limits: Limits,
    confidence: float = CONFIDENCE,
) -> Figure:
    """`mean_interval` in units of the scale whose ends are `limits`, cut there.

    An interval is never without width, and that of values at the ends alone is Wilson's. A value that
    can only be one is that one. Without limits, and where values beyond them show that the scale is another,
    nothing is cut, and what was not seen may be as far off as the largest value is from 0.
    """
    if not len(values):
        return Figure(None, None, None, 0)
    low, high = limits or (0.0, 0.0)
    slack = _SAME * (high - low)
    if limits is None or values.min() < low - slack or values.max() > high + slack:
        return mean_interval(values, clusters, limits=None, confidence=confidence)
    if low == high:
        return Figure(low, low, high, len(values))
    unit = to_the_ends((values - low) / (high - low))
    figure = mean_interval(unit, clusters, limits=(0.0, 1.0), confidence=confidence)
    # The mean itself is that of the values as they are, without the rounding of there and back.
    return replace(on_scale(figure, low, high), value=float(values.mean()))


def to_the_ends(values: Floats) -> Floats:
    """Values that miss 0 or 1 by no more than rounding are there."""
    for end in (0.0, 1.0):
        values = np.where(np.abs(values - end) < _SAME, end, values)
    return values


def at(place: float | None, low: float, high: float) -> float | None:
    """The value at a place of a scale, which begins at 0 and ends at 1: 0.5 of −2 … 4 is 1."""
    return None if place is None else low * (1 - place) + high * place


def on_scale(figure: Figure, low: float, high: float) -> Figure:
    """A figure of places on a scale as one of its values."""
    value, below, above = (at(one, low, high) for one in (figure.value, figure.low, figure.high))
    return replace(figure, value=value, low=below, high=above)


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
    figure = difference_interval(column, np.arange(len(column)), length=most, confidence=confidence)
    return within(figure, low, high)
