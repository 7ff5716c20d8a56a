"""Who is lenient: each rater's mean value beside that of the others on the same units."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from rubricweb.engine.agreement.intervals import Figure, Floats, cluster_figure, divide, mean_of_sums
from rubricweb.engine.agreement.ratings import Ratings


@dataclass(frozen=True, slots=True)
class RaterLeniency:
    """One rater beside the others.

    `mean` is the rater's mean value (the MET rate) over all `labelled` units. `leniency` is the mean of own
    value − mean of the others' values, over the units somebody else labelled too (its `n`): above 0 the rater
    gives more than the others do for the same work.
    """

    rater: Hashable
    labelled: int
    mean: Figure
    others: Figure
    leniency: Figure


def rater_leniency(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> tuple[RaterLeniency, ...]:
    """Each rater's mean value and leniency, in the order of the ratings, with a bootstrap clustered by item.

    Values are those of the ratings, MET 1 and UNMET 0 without any. More of an error is not more lenient: give
    the units of negative criteria apart, or reverse their values. Figures are None without units. Raises
    ValueError when other labels have no values.

    Worked: ann MET MET UNMET, rae MET UNMET UNMET, bob UNMET – UNMET → ann: mean 2/3, others 1/2, 0, 0,
    leniency (1/2 + 1 + 0) / 3 = 0.5.
    """
    numbers = ratings.numbers()
    present = ~np.isnan(numbers)
    filled = np.where(present, numbers, 0.0)
    totals, labels = filled.sum(axis=0), present.sum(axis=0)

    def mean(values: Floats, units: Floats) -> Figure:
        return cluster_figure(
            np.stack([values[units], np.ones(int(units.sum()))], axis=1),
            ratings.clusters[units],
            mean_of_sums,
            resamples=resamples,
            seed=seed,
        )

    found = []
    for row, rater in enumerate(ratings.raters):
        own = present[row]
        shared = own & (labels >= 2)
        others = divide(totals - filled[row], labels - own.astype(np.float64))
        found.append(
            RaterLeniency(
                rater=rater,
                labelled=int(own.sum()),
                mean=mean(filled[row], own),
                others=mean(others, shared),
                leniency=mean(filled[row] - others, shared),
            )
        )
    return tuple(found)
