"""The mean of scores with its interval."""

from collections.abc import Sequence

import numpy as np

from rubricweb.engine.agreement.intervals import Figure, bootstrap_figure, resampled_sums


def mean_figure(values: Sequence[float], *, resamples: int = 1000, seed: int = 0) -> Figure:
    """Mean of one score per item, with a seeded percentile bootstrap over items (95 %).

    None when there are no values; no interval for a single one. Efron & Tibshirani (1993), chapter 13.
    Worked: 0.5, 1.0 → 0.75 with the interval (0.5, 1.0).
    """
    n = len(values)
    if n == 0:
        return Figure(None, None, None, 0)
    contributions = np.stack([np.asarray(values, dtype=np.float64), np.ones(n)], axis=1)
    sums = resampled_sums(contributions, resamples=resamples, seed=seed) if n > 1 else contributions
    return bootstrap_figure(contributions, sums, lambda totals: totals[..., 0] / totals[..., 1], n=n)
