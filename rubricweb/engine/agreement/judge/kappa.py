"""Agreement of two raters beyond chance: Cohen's κ, plain and weighted."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rubricweb.engine.agreement.intervals import Floats, Statistic, divide

Weighting = Literal["identity", "linear", "quadratic"]


def cohen_kappa(tables: Floats) -> Floats:
    """Cohen's κ of square tables of counts, at most 1; undefined without units or at chance agreement 1.

    `tables` is (… × labels × labels), rows one rater and columns the other; returns (…), NaN where undefined.
    Cohen (1960): κ = (p_o − p_e) / (1 − p_e). Chance agreement is 1 when both raters gave every unit the same
    one label; when only one of them is constant, κ is a real 0. [[40, 10], [5, 45]]: p_o = 0.85, p_e =
    0.5·0.45 + 0.5·0.55 = 0.5, κ = 0.35 / 0.5 = 0.7.
    """
    n = tables.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.trace(tables, axis1=-2, axis2=-1) / n
        # In counts, so that "both constant" is an exact comparison and not 1 − 0.9999….
        chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
        expected = chance / (n * n)
        kappa = (observed - expected) / (1 - expected)
    return np.where((n == 0) | (chance == n * n), np.nan, kappa)


def kappa_within(tables: Floats) -> Floats:
    """Cohen's κ over several tables, with chance counted in each apart; at most 1.

    `tables` is (… × strata × labels × labels); returns (…), NaN without units or where both raters gave one
    and the same label throughout each table. De Vries et al. (2008), "Using pooled kappa to summarize
    interrater agreement across many items", tables weighted by their units: κ = Σ nₖ(pₒₖ − pₑₖ) /
    Σ nₖ(1 − pₑₖ). In one table of them all, who only knows how often each criterion is met agrees beyond
    chance; here not. One table gives `cohen_kappa`. [[9, 1], [0, 0]] and [[0, 0], [1, 9]]: pₒ = pₑ = 0.9 in
    both, so 0, where their sum [[9, 1], [1, 9]] has 0.8.
    """
    n = tables.sum(axis=(-2, -1))
    chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
    # In counts, so that a stratum where both are constant is exactly 0 in both sums.
    beyond = np.where(n == 0, 0.0, divide(n * np.trace(tables, axis1=-2, axis2=-1) - chance, n))
    room = np.where(n == 0, 0.0, divide(n * n - chance, n))
    return divide(beyond.sum(axis=-1), room.sum(axis=-1))


def weighted_kappa(tables: Floats, weighting: Weighting = "quadratic") -> Floats:
    """Weighted κ of square tables over the full, ordered option list, at most 1.

    `tables` is (… × labels × labels); returns (…), NaN without units or when both raters gave every unit the
    same one label. Cohen (1968): κ_w = 1 − Σ v·o / Σ v·e, where v is the disagreement of two options
    (|i − j| for linear, its square for quadratic weights), o the observed counts and e the product of the
    margins over n. Options that nobody used keep their place on the scale: leaving them out would move the
    others together. On three levels [[2, 1, 0], [0, 1, 0], [0, 0, 2]] quadratic: Σ v·o = 1, margins 3, 1, 2
    and 2, 2, 2, Σ v·e = (3·2·1 + 3·2·4 + 1·2·1 + 1·2·1 + 2·2·4 + 2·2·1) / 6 = 9, κ_w = 1 − 1/9 = 0.8889.
    """
    disagreement = 1 - agreement_weights(tables.shape[-1], weighting)
    n = tables.sum(axis=(-2, -1))
    observed = (tables * disagreement).sum(axis=(-2, -1))
    margins = tables.sum(axis=-1)[..., :, None] * tables.sum(axis=-2)[..., None, :]
    expected = (margins * disagreement).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected == 0, np.nan, 1 - n * observed / expected)


def kappa_of(weighting: Weighting) -> Statistic:
    """The κ of tables for a weighting: Cohen's plain one for identity."""
    return cohen_kappa if weighting == "identity" else lambda some: weighted_kappa(some, weighting)


def agreement_weights(levels: int, weighting: Weighting) -> Floats:
    """(levels × levels) of how much two options agree: 1 on the diagonal, 0 at the ends of the scale.

    identity: 1 or 0 · linear: 1 − |i − j| / (levels − 1) · quadratic: 1 − (i − j)² / (levels − 1)².
    Three levels, options 1 and 2: 0, 0.5 and 0.75. Raises ValueError for another name.
    """
    places = np.arange(levels, dtype=np.float64)
    apart: Floats = np.abs(places[:, None] - places[None, :])
    longest = max(1, levels - 1)
    if weighting == "identity":
        return np.eye(levels)
    if weighting == "linear":
        return 1.0 - apart / longest
    if weighting == "quadratic":
        return 1 - apart * apart / (longest * longest)
    raise ValueError(f"weighting is {weighting!r}; allowed are identity, linear and quadratic")
