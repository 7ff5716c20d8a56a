"""Agreement of any number of raters with gaps: Krippendorff's α."""

from __future__ import annotations

import numpy as np

from rubricweb.engine.agreement.intervals import Figure, Floats, bootstrap_figure, resampled_sums
from rubricweb.engine.agreement.ratings import Ratings


def alpha_nominal(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> Figure:
    """Krippendorff's α for unordered labels, at most 1 (0 is chance), with a bootstrap clustered by item.

    Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", C: α = 1 − D_o / D_e over the units
    that at least two raters labelled; `n` of the figure counts those units. None when there is no such unit,
    or when only one label occurs in them all: without disagreement to expect, agreement says nothing.

    Worked: units MET MET, MET UNMET, UNMET UNMET from two raters. Six values, three of each; observed
    disagreements 2, expected (36 − 18) / 5 = 3.6, α = 1 − 2 / 3.6 = 0.4444.
    """
    terms = _unit_terms(ratings)
    pairable = terms.any(axis=1)
    n = int(pairable.sum())
    if n == 0:
        return Figure(None, None, None, 0)
    _, clusters = np.unique(ratings.clusters[pairable], return_inverse=True)
    contributions = np.zeros((int(clusters.max()) + 1, terms.shape[1]))
    np.add.at(contributions, clusters, terms[pairable])
    sums = resampled_sums(contributions, resamples=resamples, seed=seed)
    return bootstrap_figure(contributions, sums, _alpha, n=n)


def _unit_terms(ratings: Ratings) -> Floats:
    """(units × (1 + labels)): coinciding values, then values per label; all 0 when not pairable."""
    counts = ratings.label_counts().astype(np.float64)
    values = counts.sum(axis=1)
    pairable = values >= 2
    coinciding = np.zeros(len(values))
    np.divide((counts * (counts - 1)).sum(axis=1), values - 1, out=coinciding, where=pairable)
    terms = np.concatenate([coinciding[:, None], counts], axis=1)
    terms[~pairable] = 0
    return terms


def _alpha(terms: Floats) -> Floats:
    coinciding, per_label = terms[..., 0], terms[..., 1:]
    values = per_label.sum(axis=-1)
    unlike_pairs = values * values - (per_label * per_label).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = 1 - (values - 1) * (values - coinciding) / unlike_pairs
    return np.where(unlike_pairs == 0, np.nan, alpha)
