"""A figure of agreement is a row: what it is called, how it is computed, and where it is shown.

Compare, the agreement board, the API, the terminal, CSV, bundles, `METRICS` and the docs walk through
`PAIR_FIGURES` and `RATER_FIGURES`: a new row is in all of them.
"""

# Long because the row of every figure stands here.

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, TypeVar

import numpy as np

from rubricweb.engine.agreement.intervals import Figure, Floats, Statistic, mean_of_sums
from rubricweb.engine.agreement.judge import tables
from rubricweb.engine.agreement.judge.kappa import Weighting, kappa_of
from rubricweb.engine.agreement.raters.ceiling import HumanCeiling, human_ceiling
from rubricweb.engine.agreement.raters.krippendorff import alpha_interval, alpha_nominal, alpha_ordinal
from rubricweb.engine.agreement.raters.many_raters import fleiss_kappa, gwet_ac1, gwet_ac2, raw_agreement
from rubricweb.engine.agreement.ratings import Ratings

Scale = Literal["binary", "nominal", "ordinal", "score"]
Place = Literal["compare", "board", "terminal"]

BINARY: frozenset[Scale] = frozenset({"binary"})
ORDINAL: frozenset[Scale] = frozenset({"ordinal"})
NOMINAL: frozenset[Scale] = frozenset({"binary", "nominal"})
OPTIONS: frozenset[Scale] = frozenset({"nominal", "ordinal"})
LABELS: frozenset[Scale] = frozenset({"binary", "nominal", "ordinal"})
NUMBERS: frozenset[Scale] = frozenset({"binary", "ordinal", "score"})

INFINITY = float("inf")

Cells = Callable[[Floats], tuple[Floats, Floats]]
"""(clusters × options × options) of counts → what is counted in each cluster, and of how many units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRow:
    """What is said of a figure wherever it stands.

    `name` is what it is exported and documented under, `title` what people read, `short` what heads a narrow
    column. It makes sense on the scales of `applies_to` and lies in `low` … `high`. `about` is where pages
    explain it, "" where the docs alone do, `unit` what it counts, "" of most. `shows` are the tables and
    tiles that have it.
    """

    name: str
    title: str
    short: str
    applies_to: frozenset[Scale]
    low: float = -1
    high: float = 1
    about: str = ""
    unit: str = ""
    shows: frozenset[Place] = frozenset()

    @property
    def is_of_steps(self) -> bool:
        """Whether it takes options that are steps."""
        return self.applies_to == ORDINAL

    @property
    def drawn(self) -> bool:
        """Whether there is a scale to draw it on: 1 is perfect."""
        return self.high == 1


Row = TypeVar("Row", bound=FigureRow)


def shown_in(place: Place, rows: Iterable[Row]) -> list[Row]:
    """Those of the rows that have a place there."""
    return [row for row in rows if place in row.shows]


# ── A judge against a reference ──────────────────────────────────────────────────────────────────


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


_COMPARED: frozenset[Place] = frozenset({"compare", "terminal"})
_BOARD: frozenset[Place] = frozenset({"board", "terminal"})

PAIR_FIGURES: list[PairFigure] = [
    PairFigure(
        name="accuracy",
        title="Accuracy",
        short="accuracy",
        applies_to=LABELS,
        low=0,
        about="accuracy",
        shows=_COMPARED,
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
        shows=_COMPARED,
        field="balanced_accuracy",
        of_table=tables.balanced_accuracy,
    ),
    PairFigure(
        name="cohen_kappa",
        title="Cohen κ",
        short="κ",
        applies_to=LABELS,
        about="kappa",
        shows=_COMPARED,
        field="kappa",
        of_table=kappa_of("identity"),
    ),
    PairFigure(
        name="mcc",
        title="MCC",
        short="MCC",
        applies_to=LABELS,
        about="mcc",
        shows=_COMPARED,
        field="mcc",
        of_table=tables.mcc,
    ),
    PairFigure(
        name="judge_ac1",
        title="AC1 of the judge",
        short="AC1",
        applies_to=LABELS,
        about="ac",
        shows=_COMPARED,
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
        shows=_COMPARED,
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
        shows=_COMPARED,
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
        shows=_COMPARED,
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


# ── People among themselves ──────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterFigure(FigureRow):
    """A figure of any number of people, as `People` gives it."""

    of_ratings: Callable[[People], Figure]


class People:
    """Ratings with what several of their figures share, made once.

    `is_ordinal`: the options are steps, so that α and the weights of κ count how far apart they are.
    """

    def __init__(
        self, ratings: Ratings, *, is_ordinal: bool = False, resamples: int = 1000, seed: int = 0
    ) -> None:
        self.ratings = ratings
        self.is_ordinal = is_ordinal
        self.resamples = resamples
        self.seed = seed
        self._made: dict[str, Figure] = {}

    @cached_property
    def ceiling(self) -> HumanCeiling:
        """One person against the others."""
        weighting: Weighting = "quadratic" if self.is_ordinal else "identity"
        return human_ceiling(self.ratings, weighting=weighting, resamples=self.resamples, seed=self.seed)

    @property
    def alpha(self) -> Figure:
        """Krippendorff's α: ordinal where options are steps, else nominal."""
        return self.figure("alpha_ordinal" if self.is_ordinal else "alpha_nominal")

    def figure(self, name: str) -> Figure:
        """That of the row of this name."""
        if name not in self._made:
            row = next(row for row in RATER_FIGURES if row.name == name)
            self._made[name] = row.of_ratings(self)
        return self._made[name]

    def figures(self, place: Place) -> dict[str, Figure]:
        """By name, those that are shown there and make sense on the scale."""
        scale: Scale = "ordinal" if self.is_ordinal else "nominal"
        return {
            row.name: self.figure(row.name)
            for row in shown_in(place, RATER_FIGURES)
            if scale in row.applies_to
        }


def _of_ratings(measure: Callable[..., Figure]) -> Callable[[People], Figure]:
    return lambda people: measure(people.ratings, resamples=people.resamples, seed=people.seed)


RATER_FIGURES: list[RaterFigure] = [
    RaterFigure(
        name="alpha_nominal",
        title="Krippendorff α, nominal",
        short="α",
        applies_to=NOMINAL,
        about="alpha",
        shows=_COMPARED | _BOARD,
        of_ratings=_of_ratings(alpha_nominal),
    ),
    RaterFigure(
        name="alpha_ordinal",
        title="Krippendorff α, ordinal",
        short="α",
        applies_to=ORDINAL,
        about="alpha",
        shows=_COMPARED | _BOARD,
        of_ratings=_of_ratings(alpha_ordinal),
    ),
    RaterFigure(
        name="alpha_interval",
        title="Krippendorff α, interval",
        short="α, interval",
        applies_to=NUMBERS,
        of_ratings=_of_ratings(alpha_interval),
    ),
    RaterFigure(
        name="pairwise_kappa",
        title="Mean κ of pairs",
        short="mean κ",
        applies_to=LABELS,
        about="kappa",
        shows=_BOARD,
        of_ratings=lambda people: people.ceiling.pair_kappa,
    ),
    RaterFigure(
        name="gwet_ac1",
        title="Gwet AC1",
        short="AC1",
        applies_to=LABELS,
        about="ac",
        shows=_COMPARED | _BOARD,
        of_ratings=_of_ratings(gwet_ac1),
    ),
    RaterFigure(
        name="gwet_ac2",
        title="Gwet AC2",
        short="AC2",
        applies_to=ORDINAL,
        low=-INFINITY,
        about="ac",
        shows=_COMPARED | _BOARD,
        of_ratings=_of_ratings(gwet_ac2),
    ),
    RaterFigure(
        name="raw_agreement",
        title="Raw agreement",
        short="raw",
        applies_to=LABELS,
        low=0,
        about="raw",
        shows=_BOARD,
        of_ratings=lambda people: raw_agreement(people.ratings),
    ),
    RaterFigure(
        name="fleiss_kappa",
        title="Fleiss κ",
        short="Fleiss κ",
        applies_to=LABELS,
        low=-INFINITY,
        of_ratings=_of_ratings(fleiss_kappa),
    ),
    RaterFigure(
        name="human_ceiling",
        title="Human ceiling, accuracy",
        short="ceiling",
        applies_to=LABELS,
        low=0,
        about="ceiling",
        shows=_BOARD,
        of_ratings=lambda people: people.ceiling.accuracy,
    ),
    RaterFigure(
        name="human_ceiling_kappa",
        title="Human ceiling, κ",
        short="ceiling κ",
        applies_to=LABELS,
        about="ceiling",
        shows=_BOARD,
        of_ratings=lambda people: people.ceiling.kappa,
    ),
]
