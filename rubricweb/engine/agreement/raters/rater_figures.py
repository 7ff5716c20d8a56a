"""The figures of people among themselves, a row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from rubricweb.engine.agreement.figure_rows import (
    BOARD,
    COMPARED,
    INFINITY,
    LABELS,
    NOMINAL,
    NUMBERS,
    ORDINAL,
    FigureRow,
    Place,
    Scale,
    shown_in,
)
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.judge.kappa import Weighting
from rubricweb.engine.agreement.raters.ceiling import HumanCeiling, human_ceiling
from rubricweb.engine.agreement.raters.krippendorff import alpha_interval, alpha_nominal, alpha_ordinal
from rubricweb.engine.agreement.raters.many_raters import fleiss_kappa, gwet_ac1, gwet_ac2, raw_agreement
from rubricweb.engine.agreement.ratings import Ratings


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
        shows=COMPARED | BOARD,
        of_ratings=_of_ratings(alpha_nominal),
    ),
    RaterFigure(
        name="alpha_ordinal",
        title="Krippendorff α, ordinal",
        short="α",
        applies_to=ORDINAL,
        about="alpha",
        shows=COMPARED | BOARD,
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
        shows=BOARD,
        of_ratings=lambda people: people.ceiling.pair_kappa,
    ),
    RaterFigure(
        name="gwet_ac1",
        title="Gwet AC1",
        short="AC1",
        applies_to=LABELS,
        about="ac",
        shows=COMPARED | BOARD,
        of_ratings=_of_ratings(gwet_ac1),
    ),
    RaterFigure(
        name="gwet_ac2",
        title="Gwet AC2",
        short="AC2",
        applies_to=ORDINAL,
        low=-INFINITY,
        about="ac",
        shows=COMPARED | BOARD,
        of_ratings=_of_ratings(gwet_ac2),
    ),
    RaterFigure(
        name="raw_agreement",
        title="Raw agreement",
        short="raw",
        applies_to=LABELS,
        low=0,
        about="raw",
        shows=BOARD,
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
        shows=BOARD,
        of_ratings=lambda people: people.ceiling.accuracy,
    ),
    RaterFigure(
        name="human_ceiling_kappa",
        title="Human ceiling, κ",
        short="ceiling κ",
        applies_to=LABELS,
        about="ceiling",
        shows=BOARD,
        of_ratings=lambda people: people.ceiling.kappa,
    ),
]
