"""One judge against one reference on binary criteria."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import (
    Figure,
    Strata,
    cluster_figure,
    explained,
    unseen_cells,
    within,
)
from rubricweb.engine.agreement.judge.kappa import kappa_within
from rubricweb.engine.agreement.judge.pair_agreement import PairAgreement, SetAside, pair_agreement
from rubricweb.engine.agreement.judge.tables import counts_by_cluster
from rubricweb.engine.agreement.ratings import cluster_codes, label_texts

MET, UNMET, CANNOT_ASSESS = "MET", "UNMET", "CANNOT_ASSESS"
VERDICTS = (MET, UNMET)


def compare_labels(
    reference: Sequence[str | None],
    judged: Sequence[str | None],
    clusters: Sequence[Hashable],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> PairAgreement:
    """Compare two columns of verdicts over the same units.

    `reference[i]` and `judged[i]` are "MET", "UNMET", "CANNOT_ASSESS" or None (no label), `clusters[i]` the
    item that unit i belongs to: units of one item fall together. Intervals are 95 %: Wilson for shares
    (`share_figure`), for the others a percentile bootstrap over items from counts with ½ added to each of the
    four cells, with `resamples` draws from `seed`. Undefined figures are None: see each function of
    `tables` and `kappa`. Raises ValueError on unequal lengths or any other label.

    Worked: reference MET MET UNMET UNMET, judged MET UNMET UNMET UNMET → accuracy 0.75, balanced accuracy
    (0.5 + 1) / 2 = 0.75, κ = (0.75 − 0.5) / 0.5 = 0.5, MCC = (1·2 − 1·0) / √(2·2·1·3) = 0.5774.
    """
    if not len(reference) == len(judged) == len(clusters):
        raise ValueError(
            "reference, judged and clusters must cover the same units; "
            f"found {len(reference)}, {len(judged)} and {len(clusters)}"
        )
    one, other = _codes("reference", reference), _codes("judged", judged)
    missing = (one == _MISSING) | (other == _MISSING)
    abstained_one, abstained_other = (one == _ABSTAINED) & ~missing, (other == _ABSTAINED) & ~missing
    both = ~missing & ~abstained_one & ~abstained_other

    return pair_agreement(
        counts_by_cluster(one[both], other[both], cluster_codes(clusters)[both], len(VERDICTS)),
        VERDICTS,
        SetAside(missing, abstained_one, abstained_other),
        scale="binary",
        resamples=resamples,
        seed=seed,
    )


def pair_kappa_within(
    reference: Sequence[str | None],
    judged: Sequence[str | None],
    clusters: Sequence[Hashable],
    strata: Sequence[Hashable],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """The κ of `compare_labels` over several criteria, with chance counted within each (`kappa_within`).

    `strata[i]` names the criterion of unit i, the rest is as there. None where within every criterion both
    sides gave one and the same verdict. Raises ValueError on unequal lengths or any other label.
    """
    if not len(reference) == len(judged) == len(clusters) == len(strata):
        raise ValueError("reference, judged, clusters and strata must cover the same units")
    one, other = _codes("reference", reference), _codes("judged", judged)
    both = (one < _ABSTAINED) & (other < _ABSTAINED)
    one, other = one[both], other[both]
    cells = np.zeros((len(one), 4))
    cells[np.arange(len(one)), one * 2 + other] = 1
    figure = cluster_figure(
        cells,
        cluster_codes(clusters)[both],
        lambda sums: kappa_within(sums.reshape(*sums.shape[:-1], 2, 2)),
        unseen=unseen_cells(2),
        agreement=(one == other).astype(np.float64),
        strata=Strata(cluster_codes(strata)[both]),
        resamples=resamples,
        seed=seed,
    )
    if figure.value is None and figure.n:
        return replace(figure, reason="within every criterion both sides gave one and the same verdict")
    return explained(within(figure, -1, 1), "verdict", _least_within(one, other, cluster_codes(strata)[both]))


def _least_within(one: NDArray[np.int64], other: NDArray[np.int64], strata: NDArray[np.int64]) -> int:
    """Units of the rarest verdict of the reference, where chance is counted: in strata that hold both."""
    tables = np.zeros((int(strata.max(initial=-1)) + 1, 2, 2), dtype=np.int64)
    np.add.at(tables, (strata, one, other), 1)
    constant = (tables.reshape(-1, 4) > 0).sum(axis=1) <= 1
    constant &= tables[:, 0, 1] + tables[:, 1, 0] == 0
    return int(tables[~constant].sum(axis=(0, 2)).min(initial=len(one)))


_CODES: dict[str | None, int] = {MET: 0, UNMET: 1, CANNOT_ASSESS: 2, None: 3}
_ABSTAINED, _MISSING = _CODES[CANNOT_ASSESS], _CODES[None]


def _codes(side: str, labels: Sequence[str | None]) -> NDArray[np.int64]:
    labels = label_texts(labels)
    try:
        return np.array([_CODES[label] for label in labels], dtype=np.int64)
    except KeyError:
        place = next(place for place, label in enumerate(labels) if label not in _CODES)
        raise ValueError(
            f"{side}[{place}] is {labels[place]!r}; allowed are MET, UNMET, CANNOT_ASSESS and None"
        ) from None
