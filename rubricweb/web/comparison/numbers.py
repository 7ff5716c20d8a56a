"""The figures of a comparison as the rows of one long table, for a file."""

from collections.abc import Iterator

from rubricweb.engine.agreement import Figure, HumanCeiling, MeanRates
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.labels.by_kind import CriterionComparison

COLUMNS = ("criterion", "weight", "figure", "value", "low", "high", "n")
"""What a row is about, "" for all criteria together; the figure; its 95 % interval and its units."""

Row = tuple[str, float | None, str, float | None, float | None, float | None, int]


def comparison_rows(comparison: Comparison) -> Iterator[Row]:
    """One row per figure: all criteria first, then criterion by criterion. Names are those of the docs;
    `…_within` counts chance within each criterion, `seat_…` is the judge in a person's seat.
    """
    for name, figure in _overall(comparison):
        yield "", None, name, figure.value, figure.low, figure.high, figure.n
    for row in comparison.criteria:
        for name, figure in _of_criterion(row):
            about = row.criterion
            yield about.name, about.weight, name, figure.value, figure.low, figure.high, figure.n


def _overall(comparison: Comparison) -> Iterator[tuple[str, Figure]]:
    within = comparison.within
    yield from comparison.overall.figures.items()
    yield from comparison.human_figures.items()
    if within is not None:
        yield "cohen_kappa_within", within.kappa
        yield "alpha_within", within.human_alpha
        yield "human_ceiling_kappa_within", within.seat.kappa
        yield "seat_kappa_within", within.seat.judge_kappa
        yield "seat_kappa_difference_within", within.seat.kappa_difference
    yield from _shared(comparison.bias, comparison.rates, comparison.ceiling)


def _of_criterion(row: CriterionComparison) -> Iterator[tuple[str, Figure]]:
    """`kappa` is the one that leads, `alpha` that of the criterion's scale."""
    if row.mean_value is not None:
        yield "mean_value", row.mean_value
        return
    yield from row.agreement.figures.items()
    yield from row.human_figures.items()
    yield "kappa", row.leading.kappa
    yield "alpha", row.human_alpha
    yield from _shared(row.bias, row.rates, row.ceiling)


def _shared(bias: Figure, rates: MeanRates, ceiling: HumanCeiling) -> Iterator[tuple[str, Figure]]:
    yield "bias", bias
    yield "rate_people", rates.people
    yield "rate_judge", rates.judge
    yield "human_ceiling", ceiling.accuracy
    yield "human_ceiling_kappa", ceiling.kappa
    if ceiling.judge is not None:
        yield "seat_accuracy", ceiling.judge.accuracy
        yield "seat_kappa", ceiling.judge.kappa
        yield "seat_kappa_difference", ceiling.judge.kappa_difference
