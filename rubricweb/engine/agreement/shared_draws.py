"""Bootstrap figures that are asked for first and worked out together, their resamples drawn once for all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import (
    Figure,
    Floats,
    Statistic,
    bootstrap_figure,
    cluster_sums,
    resampled_sums,
)

Result = TypeVar("Result")
Later: TypeAlias = Callable[[], Result]
"""What was asked for, worked out when it is called."""


class SharedDraws:
    """Each figure is the one `cluster_figure` gives; drawing is what takes the time over many clusters.

    The first answer that is called for draws for all that were asked until then over as many clusters, so
    ask for everything before reading anything.
    """

    def __init__(self, *, resamples: int = 1000, seed: int = 0) -> None:
        self._resamples = resamples
        self._seed = seed
        self._waiting: dict[int, list[_Asked]] = defaultdict(list)

    def figure(
        self, terms: Floats, clusters: NDArray[np.int64], statistic: Statistic, *, n: int | None = None
    ) -> Later[Figure]:
        """Arguments as for `cluster_figure`."""
        n = len(terms) if n is None else n
        if len(terms) == 0:
            undefined = Figure(None, None, None, n)
            return lambda: undefined
        asked = _Asked(cluster_sums(terms, clusters), statistic, n)
        self._waiting[len(asked.contributions)].append(asked)

        def answer() -> Figure:
            if asked.found is None:
                self._draw(len(asked.contributions))
            assert asked.found is not None
            return asked.found

        return answer

    def _draw(self, clusters: int) -> None:
        waiting = self._waiting.pop(clusters)
        columns: dict[bytes, Floats] = {}
        for asked in waiting:
            asked.columns = [column.tobytes() for column in asked.contributions.T]
            columns |= zip(asked.columns, asked.contributions.T, strict=True)
        sums = resampled_sums(
            np.stack(list(columns.values()), axis=1),
            resamples=self._resamples if clusters > 1 else 0,
            seed=self._seed,
        )
        place = {column: at for at, column in enumerate(columns)}
        for asked in waiting:
            of_it = sums[:, [place[column] for column in asked.columns]]
            asked.found = bootstrap_figure(asked.contributions, of_it, asked.statistic, n=asked.n)


class _Asked:
    """One figure: what each cluster adds to its terms, and the figure once it is there."""

    def __init__(self, contributions: Floats, statistic: Statistic, n: int) -> None:
        self.contributions = contributions
        self.statistic = statistic
        self.n = n
        self.columns: list[bytes] = []
        self.found: Figure | None = None
