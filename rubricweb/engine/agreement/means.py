"""Means of one column or several over the same items, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rubricweb.engine.agreement.intervals import Figure, Floats, mean_of_sums
from rubricweb.engine.agreement.shared_draws import Later, SharedDraws


def mean_figure(values: Sequence[float], *, resamples: int = 1000, seed: int = 0) -> Figure:
    """Mean of one score per item, with a seeded percentile bootstrap over items (95 %).

    None when there are no values; no interval for a single one. Efron & Tibshirani (1993), chapter 13.
    Worked: 0.5, 1.0 → 0.75 with the interval (0.5, 1.0).
    """
    [figure] = mean_columns([(value,) for value in values], 1, resamples=resamples, seed=seed)
    return figure


def mean_columns(
    rows: Sequence[Sequence[float]], columns: int, *, resamples: int = 1000, seed: int = 0
) -> tuple[Figure, ...]:
    """The mean of each of `columns` columns, with its percentile bootstrap over the rows.

    `rows` are one per item, each (columns,): the items are drawn once for all columns, so what adds up over
    the columns adds up in every resample too. Without rows every figure is None, with one there are no
    intervals. Raises ValueError when a row has another length.

    Worked: (1, 0) and (0, 0.5): means 0.5 and 0.25.
    """
    for place, row in enumerate(rows):
        if len(row) != columns:
            raise ValueError(f"rows[{place}] has {len(row)} values; allowed: {columns}, one per column")
    table = np.asarray(rows, dtype=np.float64).reshape(len(rows), columns)
    means = mean_columns_later(table, SharedDraws(resamples=resamples, seed=seed))
    return tuple(mean() for mean in means)


def mean_columns_later(rows: Floats, draws: SharedDraws) -> tuple[Later[Figure], ...]:
    """`mean_columns` of (items × columns), worked out when it is called."""
    each, ones = np.arange(len(rows)), np.ones(len(rows))
    return tuple(draws.figure(np.stack([column, ones], axis=1), each, mean_of_sums) for column in rows.T)
