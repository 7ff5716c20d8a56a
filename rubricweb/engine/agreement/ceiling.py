"""The human ceiling: how far one person agrees with the others, which is all a judge can be asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement import tables
from rubricweb.engine.agreement.intervals import Figure, Floats, cluster_figure, mean_share_figure
from rubricweb.engine.agreement.kappa import Weighting
from rubricweb.engine.agreement.many_raters import raw_agreement
from rubricweb.engine.agreement.options import kappa_of
from rubricweb.engine.agreement.rater_pairs import mean_pair_kappa
from rubricweb.engine.agreement.ratings import Ratings


@dataclass(frozen=True, slots=True)
class HumanCeiling:
    """Expected agreement of one person with the rest; `n` units have at least two labels.

    `accuracy` and `kappa` hold one person at a time against the majority of the others, as a judge is held
    against the majority of all; `pair_accuracy` and `pair_kappa` hold people against each other one to one.
    """

    n: int
    accuracy: Figure
    kappa: Figure
    pair_accuracy: Figure
    pair_kappa: Figure


def human_ceiling(
    ratings: Ratings, *, weighting: Weighting = "identity", resamples: int = 1000, seed: int = 0
) -> HumanCeiling:
    """How far one person agrees with the others, with 95 % intervals from a bootstrap clustered by item.

    Leave one out: on every unit with at least two labels each person is compared with the most frequent label
    of the others there. Where the others tie between t labels, each of these counts 1/t: leaving ties out
    would keep the easy units only. A unit counts once, shared by the people who labelled it. `accuracy` is
    the share of equal labels, `kappa` Cohen's κ (`weighting` for ordered options) of the table of others ×
    person. The others are one fewer than the majority a judge meets, so this ceiling is slightly too low,
    not too high.

    Pairwise: `pair_accuracy` is `raw_agreement`; `pair_kappa` the mean of Cohen's κ over pairs of people
    weighted by the units they share, pairs with an undefined κ left out. Every figure is None when undefined.

    Worked: units MET MET UNMET, MET MET MET, UNMET UNMET UNMET. In the first, each of the two METs meets the
    tie MET–UNMET (1/2 each) and the UNMET meets MET MET (0): 1/3; the others give 1. Accuracy 7/9 = 0.7778;
    table of others × person: MET–MET 4/3, MET–UNMET 1/3, UNMET–MET 1/3, UNMET–UNMET 1,
    p_e = (25/9 + 16/9) / 9 = 0.5062, κ = 0.55. Pairwise: accuracy (1/3 + 1 + 1) / 3 = 0.7778; κ 1,
    0.4, 0.4, mean 0.6.
    """
    full = ratings.on_full_scale()
    levels = len(full.labels)
    cells, pairable = _others_by_person(full.label_counts().astype(np.float64))
    clusters = full.clusters[pairable]
    statistic = kappa_of(weighting)
    diagonal = cells[:, :: levels + 1].sum(axis=1) if levels else np.zeros(0)
    return HumanCeiling(
        n=int(pairable.sum()),
        accuracy=mean_share_figure(diagonal, clusters, resamples=resamples, seed=seed),
        kappa=cluster_figure(
            cells, clusters, lambda sums: statistic(tables.square(sums)), resamples=resamples, seed=seed
        ),
        pair_accuracy=raw_agreement(full, resamples=resamples, seed=seed),
        pair_kappa=mean_pair_kappa(full, weighting=weighting, resamples=resamples, seed=seed),
    )


def human_ceilings(
    ratings: Ratings,
    criterion_of: Callable[[Hashable], Hashable],
    *,
    weighting: Weighting = "identity",
    resamples: int = 1000,
    seed: int = 0,
) -> dict[Hashable, HumanCeiling]:
    """The `human_ceiling` of every criterion apart, in order of first appearance.

    `criterion_of(unit)` names the criterion of a unit. Labels nobody gave a criterion still count as its
    options when the ratings have levels.
    """

    def ceiling_of(criterion: Hashable) -> HumanCeiling:
        own = ratings.of_units(lambda unit: criterion_of(unit) == criterion)
        return human_ceiling(own, weighting=weighting, resamples=resamples, seed=seed)

    criteria = dict.fromkeys(criterion_of(unit) for unit in ratings.units)
    return {criterion: ceiling_of(criterion) for criterion in criteria}


def _others_by_person(counts: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """(pairable units × levels²) cells of the table others' majority × person, each unit adding up to 1."""
    labels = counts.sum(axis=1)
    pairable = labels >= 2
    counts, labels = counts[pairable], labels[pairable]
    levels = counts.shape[1]
    cells = np.zeros((len(counts), levels, levels))
    for given in range(levels):
        others = counts.copy()
        others[:, given] -= 1
        most = others == others.max(axis=1, keepdims=True)
        share_of_people = counts[:, given] / labels
        cells[:, :, given] = most / most.sum(axis=1, keepdims=True) * share_of_people[:, None]
    return cells.reshape(len(counts), levels * levels), pairable
