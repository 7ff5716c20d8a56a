"""Agreement of any number of raters with gaps: Krippendorff's α for labels, ordered labels and numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import (
    Figure,
    Floats,
    Strata,
    bracketed,
    cluster_figure,
    cluster_sums,
    divide,
    percentile_interval,
    resampled_sums,
    units_together,
    within,
)
from rubricweb.engine.agreement.raters.many_raters import label_pairs, pair_shares
from rubricweb.engine.agreement.ratings import Ratings, cluster_codes

_PAIRS_AT_ONCE = 256  # bounds one block of (clusters × pairs of labels) at 10,000 clusters to about 20 MB
_SAME = 1e-24  # squared spread, of values scaled to 1, that is rounding and not disagreement


def alpha_nominal(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> Figure:
    """Krippendorff's α for unordered labels, at most 1 (0 is chance), with a bootstrap clustered by item.

    Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", C: α = 1 − D_o / D_e over the units
    that at least two raters labelled; `n` of the figure counts those units. None when there is no such unit,
    or when only one label occurs in them all: without disagreement to expect, agreement says nothing.

    Worked: units MET MET, MET UNMET, UNMET UNMET from two raters. Six values, three of each; observed
    disagreements 2, expected (36 − 18) / 5 = 3.6, α = 1 − 2 / 3.6 = 0.4444.
    """
    return alpha_within(ratings, [None] * len(ratings.units), resamples=resamples, seed=seed)


def alpha_within(
    ratings: Ratings, strata: Sequence[Hashable], *, resamples: int = 1000, seed: int = 0
) -> Figure:
    """`alpha_nominal` over several criteria, with the disagreement to expect counted within each.

    `strata` names the criterion of each of the ratings' units. α = 1 − Σ Dₒₖ / Σ Dₑₖ over criteria k, both as
    numbers of disagreeing values: α of one table of all is high already where some criteria are always met
    and others never. One criterion gives `alpha_nominal`. Raises ValueError unless every unit has a stratum.

    Worked: criterion a MET MET, MET MET, MET UNMET; criterion b UNMET UNMET, UNMET UNMET, UNMET MET. In each
    observed disagreements 2, expected (36 − 26) / 5 = 2, so α = 1 − 4 / 4 = 0; of one table
    1 − 4 / ((144 − 72) / 11) = 0.3889.
    """
    if len(strata) != len(ratings.units):
        raise ValueError(f"strata must name one of each unit: {len(ratings.units)}; found {len(strata)}")
    counts, clusters, pairable = _pairable_counts(ratings)
    figure = cluster_figure(
        _nominal_terms(counts),
        clusters,
        _nominal,
        unseen=_nominal_terms(label_pairs(counts.shape[1])) * _labels_per_pair(counts),
        agreement=pair_shares(counts),
        strata=Strata(cluster_codes(strata)[pairable]),
        resamples=resamples,
        seed=seed,
    )
    return within(figure, -1, 1)


def alpha_ordinal(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> Figure:
    """Krippendorff's α for ordered labels, at most 1 (0 is chance), with a bootstrap clustered by item.

    Krippendorff (2011), D: as for nominal labels, but two different labels disagree by the square of how many
    of all the values lie between them, half of each end included; that is the squared distance of their
    midranks. The order is that of the ratings' labels: pass `levels`. Options nobody used change nothing.
    `n` and None are as for `alpha_nominal`. Reversing the order changes nothing.

    Worked: units low low, low mid, high high. Values 3, 1, 2 with midranks 2, 4, 5.5; disagreement observed
    2·(2 − 4)² = 8, expected 2·(3·1·4 + 3·2·12.25 + 1·2·2.25) / 5 = 36, α = 1 − 8 / 36 = 0.7778.
    """
    counts, clusters, _ = _pairable_counts(ratings)
    n = len(counts)
    if n == 0:
        return Figure(None, None, None, 0)
    per_label = cluster_sums(counts, clusters)
    total = per_label.sum(axis=0)[None, :]
    drawn = resamples if len(per_label) > 1 else 0
    pairs = label_pairs(counts.shape[1])
    agreeing = pair_shares(counts)
    together = units_together(
        cluster_sums(agreeing[:, None], clusters)[:, 0],
        cluster_sums(np.ones((n, 1)), clusters)[:, 0],
        float(agreeing.var()),
    )
    size = _labels_per_pair(counts) * together
    resampled = resampled_sums(per_label, resamples=drawn, seed=seed, unseen=pairs * size)
    observed, resampled_observed = np.zeros(1), np.zeros(drawn)
    lower, upper = np.triu_indices(counts.shape[1], k=1)
    for start in range(0, len(lower), _PAIRS_AT_ONCE):
        low, high = lower[start : start + _PAIRS_AT_ONCE], upper[start : start + _PAIRS_AT_ONCE]
        contributions = cluster_sums(_coincidences(counts, low, high), clusters)
        # The same seed draws the same clusters again, so every block of pairs sees the same resamples.
        unseen = _coincidences(pairs, low, high) * size
        sums = resampled_sums(contributions, resamples=drawn, seed=seed, unseen=unseen)
        observed += _rank_disagreement(contributions.sum(axis=0)[None, :], total, low, high)
        resampled_observed += _rank_disagreement(sums, resampled, low, high)
    value = float(_ordinal(observed, total)[0])
    if not np.isfinite(value):
        return Figure(None, None, None, n)
    if drawn == 0:
        return Figure(value, None, None, n)
    items = len(per_label)
    return bracketed(value, percentile_interval(_ordinal(resampled_observed, resampled), items), n, items)


def alpha_interval(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> Figure:
    """Krippendorff's α for labels with numbers, at most 1 (0 is chance), with a bootstrap clustered by item.

    Krippendorff (2011), D: two labels disagree by the squared difference of their values. The values are
    those of the ratings; MET is 1 and UNMET 0 without any. `n` and None are as for `alpha_nominal`. Raises
    ValueError when other labels have no values.

    Worked: see `alpha_scores`.
    """
    return _interval_figure(ratings.numbers(), ratings.clusters, resamples=resamples, seed=seed)


def alpha_scores(
    columns: Sequence[Sequence[float | None]],
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Krippendorff's α (interval) for scores: one sequence per rater over the same units, None for a gap.

    `clusters` gives each unit's item; without it every unit is its own. Raises ValueError when the lengths
    differ.

    Worked: scores 1, 2, 3 and 1, 3, 3. Squared differences within units 0, 1, 0: D_o = 2·1 / 6 = 1/3; the
    ordered pairs of the six values 1 1 2 3 3 3: D_e = 2·(n Σx² − (Σx)²) / (n (n − 1)) = 2·(6·33 − 13²) / 30 =
    1.9333; α = 1 − 0.3333 / 1.9333 = 0.8276.
    """
    units = len(columns[0]) if columns else 0
    items = list(range(units)) if clusters is None else list(clusters)
    lengths = {len(column) for column in columns} | ({len(items)} if columns else set())
    if len(lengths) > 1:
        raise ValueError(
            f"every rater and `clusters` must cover the same units; found lengths {sorted(lengths)}"
        )
    numbers = np.array(
        [[np.nan if score is None else score for score in column] for column in columns], dtype=np.float64
    ).reshape(len(columns), units)
    return _interval_figure(numbers, cluster_codes(items), resamples=resamples, seed=seed)


def _interval_figure(numbers: Floats, clusters: NDArray[np.int64], *, resamples: int, seed: int) -> Figure:
    """α of (raters × units) numbers, NaN at gaps."""
    present = ~np.isnan(numbers)
    labels = present.sum(axis=0)
    pairable = labels >= 2
    n = int(pairable.sum())
    if n == 0:
        return Figure(None, None, None, 0)
    used, present, labels = numbers[:, pairable], present[:, pairable], labels[pairable].astype(np.float64)
    # α does not change when values are shifted or stretched; sums of squares lose fewer digits at 0 … 1.
    lowest, highest = float(np.nanmin(used)), float(np.nanmax(used))
    scaled = np.where(present, (used - lowest) / ((highest - lowest) or 1.0) - 0.5, 0.0)
    terms = _interval_terms(scaled, labels)
    within = terms[:, 0] / labels
    ends = np.array([[-0.5, -0.5, 0.5, 0.5], [-0.5, 0.5, -0.5, 0.5]])  # two labels at the ends seen
    return cluster_figure(
        terms,
        clusters[pairable],
        _interval,
        unseen=_interval_terms(ends, np.full(4, 2.0)) * (float(labels.mean()) / 2),
        agreement=-within,
        resamples=resamples,
        seed=seed,
    )


def _interval_terms(scaled: Floats, labels: Floats) -> Floats:
    """(units × 4) from (raters × units) values, 0 at gaps, and how many labels each unit has."""
    sums, squares = scaled.sum(axis=0), (scaled * scaled).sum(axis=0)
    within = 2 * (labels * squares - sums * sums) / (labels - 1)
    return np.stack([within, labels, sums, squares], axis=1)


def _nominal_terms(counts: Floats) -> Floats:
    coinciding = (counts * (counts - 1)).sum(axis=1) / (counts.sum(axis=1) - 1)
    return np.concatenate([coinciding[:, None], counts], axis=1)


def _labels_per_pair(counts: Floats) -> float:
    """By how much a unit of average size weighs more than one with two labels."""
    return float(counts.sum()) / (2 * max(1, len(counts)))


def _pairable_counts(ratings: Ratings) -> tuple[Floats, NDArray[np.int64], NDArray[np.bool_]]:
    """(pairable units × labels) counts, their (pairable units,) clusters, and which units are (units,)."""
    counts = ratings.label_counts().astype(np.float64)
    pairable = counts.sum(axis=1) >= 2
    return counts[pairable], ratings.clusters[pairable], pairable


def _nominal(terms: Floats) -> Floats:
    """α from (… × strata × 1 + labels): the coinciding values, and those of each label."""
    coinciding, per_label = terms[..., 0], terms[..., 1:]
    values = per_label.sum(axis=-1)
    unlike_pairs = values * values - (per_label * per_label).sum(axis=-1)
    expected = np.where(values > 1, divide(unlike_pairs, values - 1), 0.0)
    return 1 - divide((values - coinciding).sum(axis=-1), expected.sum(axis=-1))


def _interval(terms: Floats) -> Floats:
    within, values, sums, squares = (terms[..., place] for place in range(4))
    spread = values * squares - sums * sums
    return 1 - divide((values - 1) * within, 2 * np.where(spread <= _SAME * values * values, 0, spread))


def _ordinal(observed: Floats, per_label: Floats) -> Floats:
    """α from the observed disagreement (…,) and the number of values of each label (… × labels)."""
    values = per_label.sum(axis=-1)
    ranks = _midranks(per_label)
    # Σ_ck n_c n_k (R_c − R_k)² = 2·(n Σ n R² − (Σ n R)²); the mean midrank is (n + 1) / 2 exactly.
    centred = ranks - (values[..., None] + 1) / 2
    expected = 2 * values * (per_label * centred * centred).sum(axis=-1)
    return 1 - divide((values - 1) * observed, expected)


def _midranks(per_label: Floats) -> Floats:
    """(… × labels): the mean rank of each label's values among all, from 1; [3, 1, 2] → [2, 4, 5.5]."""
    ranks: Floats = np.cumsum(per_label, axis=-1) - per_label + (per_label + 1) / 2
    return ranks


def _rank_disagreement(
    coincidences: Floats, per_label: Floats, low: NDArray[np.int64], high: NDArray[np.int64]
) -> Floats:
    ranks = _midranks(per_label)
    apart = ranks[..., high] - ranks[..., low]
    disagreement: Floats = 2 * (coincidences * apart * apart).sum(axis=-1)
    return disagreement


def _coincidences(counts: Floats, low: NDArray[np.int64], high: NDArray[np.int64]) -> Floats:
    """(units × pairs): pairs of values with the labels low and high in one unit, over its values − 1."""
    return np.asarray(counts[:, low] * counts[:, high] / (counts.sum(axis=1) - 1)[:, None])
