"""The human ceiling: how far one person agrees with the others, and a judge put in that person's seat."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import (
    Figure,
    Floats,
    Statistic,
    Strata,
    cluster_figure,
    mean_interval,
    paired_share_difference,
    unseen_cells,
    within,
)
from rubricweb.engine.agreement.judge import tables
from rubricweb.engine.agreement.judge.kappa import Weighting, kappa_of, kappa_within
from rubricweb.engine.agreement.raters.krippendorff import alpha_within
from rubricweb.engine.agreement.raters.many_raters import raw_agreement
from rubricweb.engine.agreement.raters.rater_pairs import mean_pair_kappa
from rubricweb.engine.agreement.ratings import GAP, Ratings, cluster_codes, label_texts

_MOST_KINDS = 1000  # of (others, person, judge) that may be unseen; of more options some are picked


@dataclass(frozen=True, slots=True)
class JudgeSeat:
    """A judge in a person's seat, on the same units as the people: what may stand beside their ceiling.

    `accuracy` and `kappa` are the judge's with the majority of the others, each person left out in turn; the
    differences are the judge's less the people's, in −2 … 2. A judge exactly as good as a person has 0.
    """

    accuracy: Figure
    kappa: Figure
    accuracy_difference: Figure
    kappa_difference: Figure


@dataclass(frozen=True, slots=True)
class HumanCeiling:
    """How far one of these people agrees with the others; `n` units have at least two labels.

    They are of `items` items; those that answer one case count as one, as intervals do. `raters` people
    labelled them. `accuracy` and `kappa` hold one person at a time against the majority of the others, `tied`
    is the share of those majorities that were shared between labels; `pair_accuracy` and `pair_kappa` hold
    people against each other one to one. `judge` is a judge held against the same majorities on the same
    units, None without one.
    """

    n: int
    raters: int
    accuracy: Figure
    kappa: Figure
    tied: float | None
    pair_accuracy: Figure
    pair_kappa: Figure
    judge: JudgeSeat | None = None
    items: int = 0


def human_ceiling(
    ratings: Ratings,
    judged: Sequence[str | None] | None = None,
    *,
    weighting: Weighting = "identity",
    resamples: int = 1000,
    seed: int = 0,
) -> HumanCeiling:
    """How far one person agrees with the others, and how far a judge in that person's seat would.

    Leave one out: on every unit with at least two labels each person is compared with the most frequent label
    of the others there. Where the others tie between t labels, each of these counts 1/t: leaving ties out
    would keep the easy units only. A unit counts once, shared by the people who labelled it. `accuracy` is
    the share of equal labels, `kappa` Cohen's κ (`weighting` for ordered options) of the pooled table of
    others × person.

    `judged` is the judge's label of each of the ratings' units; None, or a label that is none of theirs, is
    no answer, and its unit counts for nobody. For each person left out the judge meets the same majority of
    the others, which gives a second pooled table: beside a judge who meets the majority of all, who are one
    more, people would look worse than they are. The intervals are bootstraps by item of both tables at once
    (`resampled_sums`), of accuracies t (`mean_interval`, their difference `paired_share_difference`).

    Pairwise: `pair_accuracy` is `raw_agreement`; `pair_kappa` the mean of Cohen's κ over pairs of people
    weighted by the units they share, pairs with an undefined κ left out. Every figure is None when undefined.
    Raises ValueError when `judged` has not one label per unit.

    Worked: units MET MET UNMET, MET MET MET, UNMET UNMET UNMET. In the first, each of the two METs meets the
    tie MET–UNMET (1/2 each) and the UNMET meets MET MET (0): 1/3; the others give 1. Accuracy 7/9 = 0.7778;
    table of others × person: MET–MET 4/3, MET–UNMET 1/3, UNMET–MET 1/3, UNMET–UNMET 1,
    p_e = (25/9 + 16/9) / 9 = 0.5062, κ = 0.55. A judge that says MET MET UNMET meets MET 2/3 of the time on
    the first: accuracy (2/3 + 1 + 1) / 3 = 0.8889. Pairwise: accuracy (1/3 + 1 + 1) / 3 = 0.7778; κ 1, 0.4,
    0.4, mean 0.6.
    """
    full = ratings.on_full_scale()
    given = None
    if judged is not None:
        full, given, _ = _where_judged(full, judged)
    pairable, people, tied, judge = _seats(full, given)
    clusters = full.clusters[pairable]
    figure = _Pooled(clusters, None, kappa_of(weighting), resamples, seed)
    accuracy = mean_interval(_diagonal(people), clusters, limits=(0.0, 1.0))
    ceiling = HumanCeiling(
        n=len(people),
        raters=int((full.codes[:, pairable] != GAP).any(axis=1).sum()),
        accuracy=accuracy,
        kappa=figure.kappa(people),
        tied=float(tied.mean()) if len(tied) else None,
        pair_accuracy=raw_agreement(full),
        pair_kappa=mean_pair_kappa(full, weighting=weighting, resamples=resamples, seed=seed),
        items=len(np.unique(clusters)),
    )
    if judge is None:
        return ceiling
    apart = _diagonal(judge) - _diagonal(people)
    seat = JudgeSeat(
        accuracy=mean_interval(_diagonal(judge), clusters, limits=(0.0, 1.0)),
        kappa=figure.kappa(judge),
        accuracy_difference=paired_share_difference(apart, clusters),
        kappa_difference=figure.difference(people, judge),
    )
    return replace(ceiling, judge=seat)


@dataclass(frozen=True, slots=True)
class SeatWithin:
    """κ of one person, of a judge in that person's seat, and the judge's less the person's, over `n` units.

    The same as in a `HumanCeiling` of several criteria, but with chance counted within each.
    """

    n: int
    kappa: Figure
    judge_kappa: Figure
    kappa_difference: Figure


def seat_within(
    ratings: Ratings,
    judged: Sequence[str | None],
    strata: Sequence[Hashable],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> SeatWithin:
    """The `human_ceiling` of several criteria, with chance counted within each (`kappa_within`).

    `strata` names the criterion of each of the ratings' units, `judged` is the judge's label of each. Figures
    are None when undefined. Raises ValueError when either has not one entry per unit.

    Worked: three people and a judge say MET of a's two items and UNMET of b's two: every table holds one
    label, κ is undefined within, and 1 in one table of both criteria.
    """
    if len(strata) != len(ratings.units):
        raise ValueError(f"strata must name one of each unit: {len(ratings.units)}; found {len(strata)}")
    full, given, kept = _where_judged(ratings.on_full_scale(), judged)
    pairable, people, _, judge = _seats(full, given)
    assert judge is not None
    criteria = cluster_codes(strata)[kept][pairable]
    figure = _Pooled(full.clusters[pairable], criteria, kappa_within, resamples, seed)
    return SeatWithin(
        len(people), figure.kappa(people), figure.kappa(judge), figure.difference(people, judge)
    )


@dataclass(frozen=True, slots=True)
class PeopleWithin:
    """How people agree over several criteria with chance counted within each, over `n` units.

    `alpha` is Krippendorff's, `pair_kappa` the mean κ of pairs, `kappa` that of one person with the majority
    of the others.
    """

    n: int
    alpha: Figure
    pair_kappa: Figure
    kappa: Figure


def people_within(
    ratings: Ratings, strata: Sequence[Hashable], *, resamples: int = 1000, seed: int = 0
) -> PeopleWithin:
    """`alpha_within`, and both κ of the `human_ceiling` within criteria.

    `strata` names the criterion of each of the ratings' units. Raises ValueError when it does not of each.

    Worked: two people who both say MET of a's two items and UNMET of b's two: all are undefined within, and 1
    in one table of both criteria.
    """
    if len(strata) != len(ratings.units):
        raise ValueError(f"strata must name one of each unit: {len(ratings.units)}; found {len(strata)}")
    full = ratings.on_full_scale()
    pairable, people, _, _ = _seats(full, None)
    criteria = cluster_codes(strata)[pairable]
    return PeopleWithin(
        len(people),
        alpha_within(full, strata, resamples=resamples, seed=seed),
        mean_pair_kappa(full, strata=strata, resamples=resamples, seed=seed),
        _Pooled(full.clusters[pairable], criteria, kappa_within, resamples, seed).kappa(people),
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


def _where_judged(
    ratings: Ratings, judged: Sequence[str | None]
) -> tuple[Ratings, NDArray[np.int64], NDArray[np.bool_]]:
    """The units the judge gave one of the ratings' labels, the codes of those, and which units they are."""
    if len(judged) != len(ratings.units):
        raise ValueError(f"judged must have one label per unit: {len(ratings.units)}; found {len(judged)}")
    code = {label.strip().casefold(): place for place, label in enumerate(ratings.labels)}
    given = np.array(
        [GAP if label is None else code.get(label.strip().casefold(), GAP) for label in label_texts(judged)],
        dtype=np.int64,
    )
    kept = given != GAP
    some = replace(
        ratings,
        units=tuple(unit for unit, stays in zip(ratings.units, kept, strict=True) if stays),
        codes=ratings.codes[:, kept],
        clusters=cluster_codes(ratings.clusters[kept].tolist()),
    )
    return some, given[kept], kept


def _seats(
    ratings: Ratings, given: NDArray[np.int64] | None
) -> tuple[NDArray[np.bool_], Floats, Floats, Floats | None]:
    """Each person left out in turn: which units have at least two labels, and of those, one by one, the table
    of others × person, the share of tied others, and the table of others × judge where a judge is `given`.
    """
    counts = ratings.label_counts().astype(np.float64)
    pairable = counts.sum(axis=1) >= 2
    others, people, tied = _left_out(counts[pairable])
    if given is None:
        return pairable, people, tied, None
    judge = np.zeros_like(people)
    judge[np.arange(len(judge)), :, given[pairable]] = others
    return pairable, people, tied, judge


def _left_out(counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Each person of a unit left out in turn, from (units × levels) counts of at least two labels each.

    (units × levels): how often each label is the majority of the others; (units × levels × levels): the same
    against the label of the person left out; (units,): the share of people whose others are tied. Each unit
    adds up to 1.
    """
    units, levels = counts.shape
    people = np.zeros((units, levels, levels))
    tied = np.zeros(units)
    share = counts / counts.sum(axis=1, keepdims=True)
    for label in range(levels):
        others = counts.copy()
        others[:, label] -= 1
        most = others == others.max(axis=1, keepdims=True)
        people[:, :, label] = most / most.sum(axis=1, keepdims=True) * share[:, label, None]
        tied += (most.sum(axis=1) > 1) * share[:, label]
    return people.sum(axis=2), people, tied


def _diagonal(cells: Floats) -> Floats:
    return np.asarray(np.trace(cells, axis1=1, axis2=2))


class _Pooled:
    """κ of tables added up over units, and of two at once, from one set of resamples of the items.

    With `strata` (units,) the tables are added up in each apart, and `kappa` is one of several tables.
    """

    def __init__(
        self,
        clusters: NDArray[np.int64],
        strata: NDArray[np.int64] | None,
        kappa: Statistic,
        resamples: int,
        seed: int,
    ) -> None:
        self._clusters = clusters
        self._strata = strata
        self._kappa = kappa
        self._resamples = resamples
        self._seed = seed

    def kappa(self, cells: Floats) -> Figure:
        levels = cells.shape[-1]
        flat = cells.reshape(len(cells), levels * levels)

        def of_sums(sums: Floats) -> Floats:
            return self._kappa(tables.square(sums))

        return within(self._figure(flat, unseen_cells(levels), of_sums, _diagonal(cells)), -1, 1)

    def difference(self, people: Floats, judge: Floats) -> Figure:
        """The judge's κ less the people's; in the unseen either agrees half of the time, by itself."""
        levels = people.shape[-1]
        cells = levels * levels
        both = np.concatenate([one.reshape(len(one), cells) for one in (people, judge)], axis=1)
        kinds = unseen_cells(levels)
        others = kinds.reshape(len(kinds), levels, levels).sum(axis=2).argmax(axis=1)
        pairs = np.argwhere(others[:, None] == others[None, :])
        if len(pairs) > _MOST_KINDS:
            pairs = np.random.default_rng(self._seed).choice(pairs, _MOST_KINDS, replace=False)
        unseen = np.concatenate([kinds[pairs[:, 0]], kinds[pairs[:, 1]]], axis=1)

        def apart(sums: Floats) -> Floats:
            first, second = sums[..., :cells], sums[..., cells:]
            return self._kappa(tables.square(second)) - self._kappa(tables.square(first))

        agreement = (_diagonal(people) + _diagonal(judge)) / 2
        return within(self._figure(both, unseen, apart, agreement, of_difference=True), -2, 2)

    def _figure(
        self,
        cells: Floats,
        unseen: Floats,
        statistic: Statistic,
        agreement: Floats,
        *,
        of_difference: bool = False,
    ) -> Figure:
        return cluster_figure(
            cells,
            self._clusters,
            statistic,
            unseen=unseen,
            agreement=agreement,
            strata=None if self._strata is None else Strata(self._strata, of_difference),
            resamples=self._resamples,
            seed=self._seed,
        )
