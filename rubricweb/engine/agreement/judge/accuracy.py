"""What a 2 × 2 table of verdicts says about a judge measured against a reference.

Every function takes counts of shape (… × 4) in the order of `Confusion` and returns (…), NaN where undefined,
so that one call serves the observed table and all its resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rubricweb.engine.agreement.intervals import Floats, divide


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of units by the reference's verdict, then the judge's: in `met_unmet` the judge missed a MET."""

    met_met: int
    met_unmet: int
    unmet_met: int
    unmet_unmet: int

    @property
    def n(self) -> int:
        """Units in the table."""
        return self.met_met + self.met_unmet + self.unmet_met + self.unmet_unmet


def accuracy(counts: Floats) -> Floats:
    """Share of units with equal verdicts, in [0, 1]; undefined without units.

    (met_met + unmet_unmet) / n. Counts 40, 10, 5, 45 give 85 / 100 = 0.85.
    """
    return divide(counts[..., 0] + counts[..., 3], counts.sum(axis=-1))


def balanced_accuracy(counts: Floats) -> Floats:
    """Mean of the recalls of MET and UNMET, in [0, 1]; undefined unless the reference holds both.

    Brodersen et al. (2010). Counts 40, 10, 5, 45 give (40/50 + 45/50) / 2 = 0.85; 9, 1, 80, 10 give
    (0.9 + 0.1111) / 2 = 0.5056 although the accuracy is 0.19.
    """
    met = divide(counts[..., 0], counts[..., 0] + counts[..., 1])
    unmet = divide(counts[..., 3], counts[..., 2] + counts[..., 3])
    return (met + unmet) / 2


def precision(counts: Floats) -> Floats:
    """Share of the judge's METs that the reference calls MET; undefined when the judge never says MET.

    Counts 40, 10, 5, 45 give 40 / 45 = 0.8889.
    """
    return divide(counts[..., 0], counts[..., 0] + counts[..., 2])


def recall(counts: Floats) -> Floats:
    """Share of the reference's METs that the judge calls MET; undefined when the reference never says MET.

    Counts 40, 10, 5, 45 give 40 / 50 = 0.8.
    """
    return divide(counts[..., 0], counts[..., 0] + counts[..., 1])


def f1(counts: Floats) -> Floats:
    """Harmonic mean of precision and recall of MET; undefined when neither side ever says MET.

    2·met_met / (2·met_met + met_unmet + unmet_met). Counts 40, 10, 5, 45 give 80 / 95 = 0.8421.
    """
    return divide(2 * counts[..., 0], 2 * counts[..., 0] + counts[..., 1] + counts[..., 2])


def mcc(counts: Floats) -> Floats:
    """Matthews correlation coefficient, in [−1, 1]; undefined when either side used only one verdict.

    Matthews (1975): (ad − bc) / √((a+b)(c+d)(a+c)(b+d)). Counts 40, 10, 5, 45 give
    (1800 − 50) / √(50·50·45·55) = 0.7035.
    """
    a, b, c, d = (counts[..., place] for place in range(4))
    # The root of each factor apart: the product of four margins overflows float precision long before its
    # root.
    margins = np.sqrt(a + b) * np.sqrt(c + d) * np.sqrt(a + c) * np.sqrt(b + d)
    return divide(a * d - b * c, margins)
