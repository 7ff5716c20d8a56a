"""What a table of any number of options says about a judge measured against a reference.

Every function takes tables (… × options × options) of counts, rows the reference and columns the judge, over
the full option list, and returns (…), NaN where undefined, so that one call serves the observed table and
all its resamples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import Floats, Statistic, cluster_sums, divide
from rubricweb.engine.agreement.judge.kappa import Weighting, agreement_weights

LEAST_LEVELS_WITH_NEIGHBOURS = 3


def recalls(tables: Floats) -> Floats:
    """(… × options): of the units the reference gave an option, the share the judge gave it too.

    NaN for an option the reference never used. [[2, 1], [0, 1]] gives [2/3, 1].
    """
    return divide(np.diagonal(tables, axis1=-2, axis2=-1), tables.sum(axis=-1))


def precisions(tables: Floats) -> Floats:
    """(… × options): of the units the judge gave an option, the share the reference gave it too.

    NaN for an option the judge never used. [[2, 1], [0, 1]] gives [1, 1/2].
    """
    return divide(np.diagonal(tables, axis1=-2, axis2=-1), tables.sum(axis=-2))


def f1s(tables: Floats) -> Floats:
    """(… × options): harmonic mean of precision and recall, 2·both / (reference's + judge's).

    NaN for an option neither used. [[2, 1], [0, 1]] gives [4/5, 2/3].
    """
    used = tables.sum(axis=-1) + tables.sum(axis=-2)
    return divide(2 * np.diagonal(tables, axis1=-2, axis2=-1), used)


def f1_of_first(tables: Floats) -> Floats:
    """(…,): F1 of the first option, 2·both / (2·both + one side alone + the other).

    NaN where neither side used it. [[40, 10], [5, 45]] gives 80 / 95 = 0.8421.
    """
    both, used = 2 * tables[..., 0, 0], 2 * tables[..., 0, 0]
    for place in range(1, tables.shape[-1]):
        used = used + tables[..., 0, place] + tables[..., place, 0]
    return divide(both, used)


def macro_recall(tables: Floats) -> Floats:
    """Mean recall over the options the reference used, in [0, 1]. [[2, 1], [0, 1]] gives 5/6."""
    return _mean_of_defined(recalls(tables))


def macro_precision(tables: Floats) -> Floats:
    """Mean precision over the options the judge used, in [0, 1]. [[2, 1], [0, 1]] gives 3/4."""
    return _mean_of_defined(precisions(tables))


def macro_f1(tables: Floats) -> Floats:
    """Mean F1 over the options either side used, in [0, 1]. [[2, 1], [0, 1]] gives 11/15 = 0.7333."""
    return _mean_of_defined(f1s(tables))


def balanced_accuracy(tables: Floats) -> Floats:
    """Mean recall over the options the reference used, in [0, 1]; undefined unless it used at least two.

    Brodersen et al. (2010) for two options, its usual extension for more. [[2, 1], [0, 1]] gives 5/6.
    """
    used = (tables.sum(axis=-1) > 0).sum(axis=-1)
    return np.where(used < 2, np.nan, macro_recall(tables))


def mcc(tables: Floats) -> Floats:
    """Matthews correlation for any number of options, at most 1; undefined when a side used only one.

    Gorodkin (2004): (c·s − Σ p·t) / √((s² − Σ p²)(s² − Σ t²)) with s units, c of them equal, p the judge's
    and t the reference's count of each option; for two options it is Matthews (1975), and computed as there:
    (ad − bc) / √((a + b)(c + d)(a + c)(b + d)), so that no digit of it depends on how many options can be.
    [[2, 1], [0, 1]]: (3·4 − (2·3 + 2·1)) / √((16 − 8)(16 − 10)) = 4 / √48 = 0.5774.
    """
    n = tables.sum(axis=(-2, -1))
    reference, judged = tables.sum(axis=-1), tables.sum(axis=-2)
    if tables.shape[-1] == 2:
        a, b, c, d = (tables[..., row, column] for row in (0, 1) for column in (0, 1))
        margins = np.sqrt(a + b) * np.sqrt(c + d) * np.sqrt(a + c) * np.sqrt(b + d)
        return divide(a * d - b * c, margins)
    equal = np.trace(tables, axis1=-2, axis2=-1)
    top = equal * n - (reference * judged).sum(axis=-1)
    # The root of each factor apart: their product overflows float precision long before its root.
    spread = np.sqrt(n * n - (judged**2).sum(axis=-1)) * np.sqrt(n * n - (reference**2).sum(axis=-1))
    return divide(top, spread)


def gwet_of(weighting: Weighting) -> Statistic:
    """Gwet's AC1 of tables (identity weights), or AC2 for ordered options; at most 1, 0 is chance.

    Gwet (2008, 2014): (pₐ − pₑ) / (1 − pₑ), pₐ = Σ w·o / n and pₑ = Σw / (q(q − 1)) · Σ π(1 − π) over q
    options, π the mean of both sides' shares; w from `agreement_weights`. NaN without units or with one
    option. [[118, 5], [2, 0]]: pₐ = 0.944, π = (0.972, 0.028), pₑ = 2·0.972·0.028 = 0.0544, AC1 = 0.9408,
    where κ is −0.0234.
    """

    def coefficient(tables: Floats) -> Floats:
        options = tables.shape[-1]
        if options < 2:
            return np.full(tables.shape[:-2], np.nan)
        weights = agreement_weights(options, weighting)
        n = tables.sum(axis=(-2, -1))
        shares = divide((tables.sum(axis=-1) + tables.sum(axis=-2)) / 2, n[..., None])
        chance = weights.sum() / (options * (options - 1)) * (shares * (1 - shares)).sum(axis=-1)
        return divide(divide((tables * weights).sum(axis=(-2, -1)), n) - chance, 1 - chance)

    return coefficient


def mean_steps_apart(tables: Floats) -> Floats:
    """Mean number of steps between the options on the ordered list, 0 … options − 1; undefined without units.

    [[1, 1, 1], [0, 1, 0], [0, 0, 1]] gives (1 + 2) / 5 = 0.6.
    """
    return divide((tables * _steps(tables)).sum(axis=(-2, -1)), tables.sum(axis=(-2, -1)))


def counts_by_cluster(
    reference: NDArray[np.int64], judged: NDArray[np.int64], clusters: NDArray[np.int64], levels: int
) -> Floats:
    """(kept clusters × levels²): units per cell of the table, clusters without a unit left out.

    The three are (units,): codes in 0 … levels − 1 without gaps, and the cluster of each unit.
    """
    if levels == 0 or len(reference) == 0:
        return np.zeros((0, levels * levels))
    cells = np.zeros((len(reference), levels * levels))
    cells[np.arange(len(reference)), reference * levels + judged] = 1
    return cluster_sums(cells, clusters)


def square(sums: Floats) -> Floats:
    """(… × levels²) → (… × levels × levels)."""
    levels = round(sums.shape[-1] ** 0.5)
    return sums.reshape(*sums.shape[:-1], levels, levels)


def _steps(tables: Floats) -> Floats:
    places = np.arange(tables.shape[-1])
    return np.abs(np.subtract.outer(places, places)).astype(np.float64)


def _mean_of_defined(shares: Floats) -> Floats:
    defined = ~np.isnan(shares)
    return divide(np.where(defined, shares, 0).sum(axis=-1), defined.sum(axis=-1).astype(np.float64))
