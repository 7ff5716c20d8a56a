"""Agreement of any number of raters, from how many of them gave each unit each label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import (
    CONFIDENCE,
    Figure,
    Floats,
    Statistic,
    cluster_figure,
    divide,
    mean_interval,
    mean_of_sums,
    unseen_pairs,
)
from rubricweb.engine.agreement.judge.kappa import Weighting, agreement_weights
from rubricweb.engine.agreement.ratings import Ratings

_UNDEFINED_BELOW = 1e-12  # a chance agreement this close to 1 leaves nothing beyond chance to measure


def raw_agreement(ratings: Ratings) -> Figure:
    """Share of pairs of labels of the same unit that are equal, averaged over units, in [0, 1].

    Every unit with at least two labels counts once, whatever their number: Fleiss (1971), P̄; `n` counts
    these units. Two raters: the plain share of equal units. Intervals are those of `mean_interval`: Wilson's
    where every unit agrees in whole or not at all, else t, over items. None when no unit has two labels.

    Worked: units A A A, A A B, A B (one gap) → (1 + 1/3 + 0) / 3 = 0.4444.
    """
    return raw_agreement_of(ratings.label_counts(), ratings.clusters)


def raw_agreement_of(
    counts: NDArray[np.int64], clusters: NDArray[np.int64], confidence: float = CONFIDENCE
) -> Figure:
    """`raw_agreement` of (units × labels), how often each was given."""
    shares, pairable = _pair_shares(counts.astype(np.float64), None)
    return mean_interval(shares[pairable], clusters[pairable], limits=(0.0, 1.0), confidence=confidence)


def unit_agreement(ratings: Ratings) -> Floats:
    """(units,): the share of pairs of labels of each unit that are equal, NaN with fewer than two labels.

    Worked: units A A A, A A B, A → 1, 1/3, NaN. Their mean over units is `raw_agreement`.
    """
    shares, pairable = _pair_shares(ratings.label_counts().astype(np.float64), None)
    return np.where(pairable, shares, np.nan)


def fleiss_kappa(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> Figure:
    """Fleiss' κ, at most 1 (0 is chance), with a bootstrap clustered by item.

    Fleiss (1971): κ = (P̄ − P̄_e) / (1 − P̄_e). P̄ is `raw_agreement`, P̄_e = Σ_k π_k² and π_k the share of
    label k in a unit, averaged over units. With the same number of labels on every unit this is Fleiss' own
    formula; with gaps it is Gwet's (2014) extension, where a unit with one label still counts for π, so that
    κ may fall below −1. `n` counts units with at least two labels. None without such a unit or when only one
    label was ever used; no interval unless two clusters hold such a unit.

    Worked: units A A, A B, B B → P̄ = 2/3, π = (1/2, 1/2), κ = (2/3 − 1/2) / (1/2) = 0.3333.
    """

    def kappa(sums: Floats) -> Floats:
        agreement, prevalence = _agreement_and_prevalence(sums)
        chance = (prevalence**2).sum(axis=-1)
        return _beyond(agreement, chance)

    return _figure(ratings, kappa, None, resamples=resamples, seed=seed)


def gwet_ac1(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> Figure:
    """Gwet's AC1 over the full option list, at most 1 (0 is chance), with a bootstrap clustered by item.

    Gwet (2008): AC1 = (p_a − p_e) / (1 − p_e), p_a the `raw_agreement`, p_e = Σ π_k (1 − π_k) / (q − 1) over
    q options, π as in `fleiss_kappa`. Unlike κ and α it stays high when nearly all labels are the same and
    nearly all agree, and is 1, not undefined, when all labels are the same one of several options. Options
    nobody used count in q, so pass `levels`; MET and UNMET are always both counted. None when no unit has
    two labels or when only one option is known.

    Worked: units A A, A B, B B → p_a = 2/3, p_e = 1/2, AC1 = 0.3333; nine units A A and one A B → p_a = 0.9,
    π = (0.95, 0.05), p_e = 0.095, AC1 = 0.805 / 0.905 = 0.8895 (Fleiss' κ: −0.0526).
    """
    return gwet_ac2(ratings, weighting="identity", resamples=resamples, seed=seed)


def gwet_ac2(
    ratings: Ratings, *, weighting: Weighting = "quadratic", resamples: int = 1000, seed: int = 0
) -> Figure:
    """Gwet's AC2: AC1 with partial credit for near options of an ordered list.

    Gwet (2014): p_a = mean over units of Σ_k r_k (r*_k − 1) / (r (r − 1))
    with r_k of r labels and r*_k = Σ_l w_kl r_l; p_e = Σ_kl w_kl / (q (q − 1)) · Σ π_k (1 − π_k); w from
    `agreement_weights`. With identity weights it is AC1. `n`, gaps and None are as there; with gaps AC2 may
    fall below −1, AC1 does not.

    Worked: three options, units low low and low mid, quadratic weights: p_a = (1 + 0.75) / 2 = 0.875,
    π = (0.75, 0.25, 0), p_e = 6 / 6 · 0.375 = 0.375, AC2 = 0.5 / 0.625 = 0.8.
    """
    full = ratings.on_full_scale()
    options = len(full.labels)
    if options < 2:
        return Figure(None, None, None, _figure(full, _never, None, resamples=0, seed=seed).n)
    weights = agreement_weights(options, weighting)
    share_of_weights = weights.sum() / (options * (options - 1))

    def coefficient(sums: Floats) -> Floats:
        agreement, prevalence = _agreement_and_prevalence(sums)
        return _beyond(agreement, share_of_weights * (prevalence * (1 - prevalence)).sum(axis=-1))

    return _figure(full, coefficient, weights, resamples=resamples, seed=seed)


def _figure(
    ratings: Ratings, statistic: Statistic, weights: Floats | None, *, resamples: int, seed: int
) -> Figure:
    counts = ratings.label_counts().astype(np.float64)
    rated, pairable = counts.sum(axis=1) > 0, counts.sum(axis=1) >= 2
    # A unit with one label tells of chance alone: agreement on a single cluster has nothing to be resampled.
    drawn = resamples if len(np.unique(ratings.clusters[pairable])) > 1 else 0
    figure = cluster_figure(
        _terms(counts[rated], weights),
        ratings.clusters[rated],
        statistic,
        unseen=_terms(label_pairs(counts.shape[1]), weights),
        agreement=_pair_shares(counts[rated], weights)[0],
        resamples=drawn,
        seed=seed,
    )
    return Figure(figure.value, figure.low, figure.high, int(pairable.sum()), df=figure.df)


def pair_shares(counts: Floats) -> Floats:
    """(units,): the share of equal pairs of labels, from (units × labels) counts; 0 without a pair."""
    return _pair_shares(counts, None)[0]


def label_pairs(labels: int) -> Floats:
    """(kinds × labels) counts of units with two labels that may be unseen."""
    one, other = unseen_pairs(labels)
    return np.asarray(np.eye(labels)[one] + np.eye(labels)[other])


def _terms(counts: Floats, weights: Floats | None) -> Floats:
    """(units × terms): share of agreeing pairs, whether there is one, 1, and each label's share."""
    shares, pairable = _pair_shares(counts, weights)
    columns = [shares, pairable, np.ones(len(counts)), *(counts / counts.sum(axis=1, keepdims=True)).T]
    return np.stack(columns, axis=1)


def _pair_shares(counts: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """(units,) share of agreeing pairs, 0 where there is no pair, and (units,) whether there is one."""
    labels = counts.sum(axis=1)
    pairable = labels >= 2
    credited = counts if weights is None else counts @ weights
    agreeing = (counts * (credited - 1)).sum(axis=1)
    shares = np.zeros(len(counts))
    np.divide(agreeing, labels * (labels - 1), out=shares, where=pairable)
    return shares, pairable


def _agreement_and_prevalence(sums: Floats) -> tuple[Floats, Floats]:
    return mean_of_sums(sums), divide(sums[..., 3:], sums[..., 2:3])


def _beyond(agreement: Floats, chance: Floats) -> Floats:
    left = 1 - chance
    return divide(agreement - chance, np.where(left < _UNDEFINED_BELOW, 0, left))


def _never(sums: Floats) -> Floats:
    return np.full(sums.shape[:-1], np.nan)
