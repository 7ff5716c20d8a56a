"""Means of one column or several over the same items, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rubricweb.engine.agreement.intervals import Figure, bootstrap_figure, mean_of_sums, resampled_sums


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
    if not rows:
        return (Figure(None, None, None, 0),) * columns
    terms = np.ones((len(rows), columns + 1))
    terms[:, :columns] = np.asarray(rows, dtype=np.float64).reshape(len(rows), columns)
    sums = resampled_sums(terms, resamples=resamples, seed=seed) if len(rows) > 1 else terms
    # Row by row in memory, a column adds up to the same last digit however many stand beside it.
    return tuple(
        bootstrap_figure(
            np.ascontiguousarray(terms[:, (column, -1)]), sums[:, (column, -1)], mean_of_sums, n=len(rows)
        )
        for column in range(columns)
    )
