"""The figures of a judge against a reference, a row each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from rubricweb.engine.agreement.figure_rows import (
    BINARY,
    COMPARED,
    INFINITY,
    LABELS,
    OPTIONS,
    ORDINAL,
    FigureRow,
    Scale,
)
from rubricweb.engine.agreement.intervals import Floats, Statistic, mean_of_sums
from rubricweb.engine.agreement.judge import tables
from rubricweb.engine.agreement.judge.kappa import kappa_of

Cells = Callable[[Floats], tuple[Floats, Floats]]
"""(clusters × options × options) of counts → what is counted in each cluster, and of how many units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFigure(FigureRow):
    """A figure of the table of two raters, rows the reference. API, CSV and bundles have all of them.

    One of three says how. `of_table` maps tables (… × options × options) to (…), NaN where undefined, and is
    drawn once with all others of the table; `of_values` gives such a one for options with values; `of_cells`
    is a share with Wilson's interval. Of verdicts MET is the first option. Below `least_levels` options it is
    undefined. `by_class`: it tells little where the reference has few units of a label. `field` is its name
    in the API beside `figures`, "" for none.
    """

    field: str = ""
    by_class: bool = True
    of_table: Statistic | None = None
    of_values: Callable[[Sequence[float]], Statistic] | None = None
    of_cells: Cells | None = None
    least_levels: int = 0

    def statistic(self, values: Sequence[float] | None) -> Statistic | None:
        """What is drawn; None for a share."""
        return self.of_table if self.of_values is None or values is None else self.of_values(values)


def pair_figures(scale: Scale, values: Sequence[float] | None = None) -> Iterator[PairFigure]:
    """The rows of a table of this scale, those of values only where there are some."""
    for row in PAIR_FIGURES:
        if scale in row.applies_to and (row.of_values is None or values is not None):
            yield row


def _equal(counts: Floats, within: int = 0) -> tuple[Floats, Floats]:
    """Units whose two labels are at most `within` places apart."""
    places = np.arange(counts.shape[-1])
    near = np.abs(np.subtract.outer(places, places)) <= within
    return (counts * near).sum(axis=(-2, -1)), counts.sum(axis=(-2, -1))


def both_of(counts: Floats, axis: int, place: int = 0) -> tuple[Floats, Floats]:
    """Of the units a side gave an option (the reference on `axis` 0, the judge on 1), those both did."""
    return counts[..., place, place], counts.take(place, axis=axis - 2).sum(axis=-1)


def _value_error(values: Sequence[float]) -> Statistic:
    apart = np.abs(np.subtract.outer(np.asarray(values, dtype=np.float64), np.asarray(values)))

    def value_error(some: Floats) -> Floats:
        return mean_of_sums(np.stack([(some * apart).sum(axis=(-2, -1)), some.sum(axis=(-2, -1))], axis=-1))

    return value_error


PAIR_FIGURES: list[PairFigure] = [
    PairFigure(
        name="accuracy",
        title="Accuracy",
        short="accuracy",
        applies_to=LABELS,
        low=0,
        about="accuracy",
        shows=COMPARED,
        field="accuracy",
        of_cells=_equal,
    ),
    PairFigure(
        name="balanced_accuracy",
        title="Balanced accuracy",
        short="balanced acc.",
        applies_to=LABELS,
        low=0,
        about="balanced",
        shows=COMPARED,
        field="balanced_accuracy",
        of_table=tables.balanced_accuracy,
    ),
    PairFigure(
        name="cohen_kappa",
        title="Cohen κ",
        short="κ",
        applies_to=LABELS,
        about="kappa",
        shows=COMPARED,
        field="kappa",
        of_table=kappa_of("identity"),
    ),
    PairFigure(
        name="mcc",
        title="MCC",
        short="MCC",
        applies_to=LABELS,
        about="mcc",
        shows=COMPARED,
        field="mcc",
        of_table=tables.mcc,
    ),
    PairFigure(
        name="judge_ac1",
        title="AC1 of the judge",
        short="AC1",
        applies_to=LABELS,
        about="ac",
        shows=COMPARED,
        by_class=False,
        of_table=tables.gwet_of("identity"),
    ),
    PairFigure(
        name="precision",
        title="Precision of MET",
        short="precision",
        applies_to=BINARY,
        low=0,
        field="precision",
        of_cells=partial(both_of, axis=1),
    ),
    PairFigure(
        name="recall",
        title="Recall of MET",
        short="recall",
        applies_to=BINARY,
        low=0,
        field="recall",
        of_cells=partial(both_of, axis=0),
    ),
    PairFigure(
        name="f1",
        title="F1 of MET",
        short="F1",
        applies_to=BINARY,
        low=0,
        field="f1",
        of_table=tables.f1_of_first,
    ),
    PairFigure(
        name="macro_precision",
        title="Macro precision",
        short="macro precision",
        applies_to=OPTIONS,
        low=0,
        about="macro",
        field="macro_precision",
        of_table=tables.macro_precision,
    ),
    PairFigure(
        name="macro_recall",
        title="Macro recall",
        short="macro recall",
        applies_to=OPTIONS,
        low=0,
        about="macro",
        field="macro_recall",
        of_table=tables.macro_recall,
    ),
    PairFigure(
        name="macro_f1",
        title="Macro F1",
        short="macro F1",
        applies_to=OPTIONS,
        low=0,
        about="macro",
        field="macro_f1",
        of_table=tables.macro_f1,
    ),
    PairFigure(
        name="linear_kappa",
        title="Linear κ",
        short="κ with linear weights",
        applies_to=ORDINAL,
        about="weighted",
        field="linear_kappa",
        of_table=kappa_of("linear"),
    ),
    PairFigure(
        name="quadratic_kappa",
        title="Quadratic κ",
        short="κ with quadratic weights",
        applies_to=ORDINAL,
        about="weighted",
        shows=COMPARED,
        field="quadratic_kappa",
        of_table=kappa_of("quadratic"),
    ),
    PairFigure(
        name="adjacent_accuracy",
        title="Adjacent accuracy",
        short="within one step",
        applies_to=ORDINAL,
        low=0,
        about="adjacent",
        shows=COMPARED,
        field="adjacent_accuracy",
        of_cells=partial(_equal, within=1),
        least_levels=tables.LEAST_LEVELS_WITH_NEIGHBOURS,
    ),
    PairFigure(
        name="judge_ac2",
        title="AC2 of the judge",
        short="AC2",
        applies_to=ORDINAL,
        low=-INFINITY,
        about="ac",
        shows=COMPARED,
        by_class=False,
        of_table=tables.gwet_of("quadratic"),
    ),
    PairFigure(
        name="steps_apart",
        title="Steps apart",
        unit="mean, places on the scale",
        short="steps apart",
        applies_to=ORDINAL,
        low=0,
        high=INFINITY,
        about="steps",
        field="steps_apart",
        of_table=tables.mean_steps_apart,
    ),
    PairFigure(
        name="value_error",
        title="Value error",
        unit="mean, in option values",
        short="value error",
        applies_to=ORDINAL,
        low=0,
        high=INFINITY,
        about="steps",
        field="value_error",
        of_values=_value_error,
    ),
]
