"""Agreement of two raters beyond chance: Cohen's κ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rubricweb.engine.agreement.intervals import Floats


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


def label_table(one: Sequence[str | None], other: Sequence[str | None]) -> tuple[tuple[str, ...], Floats]:
    """The labels seen (sorted) and the (labels × labels) counts of units that both raters labelled.

    Raises ValueError when the sequences differ in length.
    """
    if len(one) != len(other):
        raise ValueError(f"both raters must cover the same units; found {len(one)} and {len(other)}")
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    labels = tuple(sorted({label for pair in pairs for label in pair}))
    place = {label: index for index, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)))
    for a, b in pairs:
        table[place[a], place[b]] += 1
    return labels, table
