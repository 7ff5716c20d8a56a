"""How far a judge agrees with a reference: every figure of their table of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.figure_rows import Scale
from rubricweb.engine.agreement.intervals import (
    FEW_OF_A_CLASS,
    Figure,
    Floats,
    Statistic,
    bootstrap_figure,
    explained,
    resampled_sums,
    share_figure,
    table_grouping,
    unseen_cells,
)
from rubricweb.engine.agreement.judge import tables
from rubricweb.engine.agreement.judge.pair_figures import PairFigure, both_of, pair_figures


@dataclass(frozen=True, slots=True)
class OptionShares:
    """One option: how many units each side gave it, and its precision, recall and F1."""

    label: str
    reference: int
    judged: int
    precision: Figure
    recall: Figure
    f1: Figure


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far a judge agrees with a reference, over the units where both gave one of `levels`.

    `confusion[i][j]` counts units the reference gave `levels[i]` and the judge `levels[j]`; what nobody used
    has its row and column. `n` is their sum, and every figure rests on it. `figures` are those of
    `PAIR_FIGURES` that make sense on the scale, by name; `options` those of each option of a choice, none of
    verdicts. `missing` counts units where either side has no label at all; `abstained` the others where
    either abstained; `abstained_reference` and `abstained_judged` say which side did (a unit where both did
    counts in each). n + abstained + missing is the number of units given.
    """

    levels: tuple[str, ...]
    n: int
    confusion: tuple[tuple[int, ...], ...]
    figures: Mapping[str, Figure]
    options: tuple[OptionShares, ...]
    abstained: int
    abstained_reference: int
    abstained_judged: int
    missing: int

    @property
    def accuracy(self) -> Figure:
        return self.figures["accuracy"]

    @property
    def kappa(self) -> Figure:
        """Cohen's, without weights."""
        return self.figures["cohen_kappa"]

    @property
    def quadratic_kappa(self) -> Figure | None:
        """None where options are no steps."""
        return self.figures.get("quadratic_kappa")

    @property
    def leading_kappa(self) -> Figure:
        """The κ to show and speak of: quadratic where options are steps, so that a near miss counts less."""
        return self.quadratic_kappa or self.kappa

    @property
    def adjacent_accuracy(self) -> Figure | None:
        """None where options are no steps."""
        return self.figures.get("adjacent_accuracy")


@dataclass(frozen=True, slots=True)
class SetAside:
    """Which of the units given were not compared, (units,) each."""

    missing: NDArray[np.bool_]
    abstained_reference: NDArray[np.bool_]
    abstained_judged: NDArray[np.bool_]


def pair_agreement(
    counts: Floats,
    levels: Sequence[str],
    aside: SetAside,
    *,
    scale: Scale,
    values: Sequence[float] | None = None,
    resamples: int,
    seed: int,
) -> PairAgreement:
    """Every figure of the table, from one set of resamples of the clusters.

    `counts` is (clusters × levels²): units of each cluster per cell, rows the reference.
    """
    sums = table_sums(counts, resamples=resamples, seed=seed)
    by_cluster = tables.square(counts)
    total = by_cluster.sum(axis=0)
    n, used = int(total.sum()), total.sum(axis=1)
    is_choice = scale != "binary"
    # A verdict nobody gave makes the rarest of both: 0 units. An option nobody chose is no class.
    least = int((used[used > 0] if is_choice else used).min(initial=n))

    def drawn(statistic: Statistic, by_class: bool = True) -> Figure:
        figure = bootstrap_figure(counts, sums, lambda cells: statistic(tables.square(cells)), n=n)
        return explained(figure, "option" if is_choice else "verdict", least if by_class else FEW_OF_A_CLASS)

    def figure(row: PairFigure) -> Figure:
        statistic = row.statistic(values)
        if statistic is None:
            return share_of(row, by_cluster)
        return drawn(statistic, row.by_class)

    def option(place: int, label: str) -> OptionShares:
        return OptionShares(
            label=label,
            reference=int(total[place].sum()),
            judged=int(total[:, place].sum()),
            precision=share_figure(*both_of(by_cluster, 1, place)),
            recall=share_figure(*both_of(by_cluster, 0, place)),
            f1=drawn(lambda some: tables.f1s(some)[..., place]),
        )

    return PairAgreement(
        levels=tuple(levels),
        n=n,
        confusion=tuple(tuple(int(count) for count in row) for row in total),
        figures={row.name: figure(row) for row in pair_figures(scale, values)},
        options=tuple(option(*one) for one in enumerate(levels)) if is_choice else (),
        abstained=int((aside.abstained_reference | aside.abstained_judged).sum()),
        abstained_reference=int(aside.abstained_reference.sum()),
        abstained_judged=int(aside.abstained_judged.sum()),
        missing=int(aside.missing.sum()),
    )


def table_sums(counts: Floats, *, resamples: int, seed: int) -> Floats:
    """(resamples × levels²): the table in each resample of its clusters; none of a single cluster."""
    drawn = resamples if len(counts) > 1 else 0
    unseen = unseen_cells(round(counts.shape[1] ** 0.5), table_grouping(counts))
    return resampled_sums(counts, resamples=drawn, seed=seed, unseen=unseen)


def share_of(row: PairFigure, by_cluster: Floats) -> Figure:
    """A row of cells, with Wilson's interval, from (clusters × levels × levels)."""
    assert row.of_cells is not None
    if by_cluster.shape[-1] < row.least_levels:
        return Figure(None, None, None, int(by_cluster.sum()))
    return share_figure(*row.of_cells(by_cluster))
