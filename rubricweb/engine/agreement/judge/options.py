"""One judge against one reference on criteria with any number of options."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import (
    Figure,
    Floats,
    Statistic,
    bootstrap_figure,
    explained,
    mean_of_sums,
    resampled_sums,
    share_figure,
    table_grouping,
    unseen_cells,
)
from rubricweb.engine.agreement.judge import tables
from rubricweb.engine.agreement.judge.kappa import Weighting, cohen_kappa, weighted_kappa
from rubricweb.engine.agreement.ratings import GAP, Ratings, label_texts

ScaleType = Literal["nominal", "ordinal"]


@dataclass(frozen=True, slots=True)
class OptionScale:
    """What can be chosen: all `levels` in order, with their `values` where they have some. `gaps` are the
    options that abstain.
    """

    levels: Sequence[str]
    scale_type: ScaleType = "nominal"
    values: Sequence[float] | None = None
    gaps: Collection[str] = ()


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
class OptionAgreement:
    """How far a judge agrees with a reference over the full option list.

    `confusion[i][j]` counts units the reference gave `levels[i]` and the judge `levels[j]`; options nobody
    used have their row and column. `n` is their sum and every figure rests on it; `abstained` counts the
    units where a side chose one of the set-aside labels, `missing` those where a side has no label at all.
    `linear_kappa`, `quadratic_kappa`, `adjacent_accuracy`, `steps_apart` (mean absolute error in places on
    the list) and `value_error` (mean absolute error in option values) are None for a nominal scale, and
    `value_error` without values.
    """

    levels: tuple[str, ...]
    n: int
    abstained: int
    missing: int
    confusion: tuple[tuple[int, ...], ...]
    options: tuple[OptionShares, ...]
    accuracy: Figure
    balanced_accuracy: Figure
    macro_precision: Figure
    macro_recall: Figure
    macro_f1: Figure
    mcc: Figure
    kappa: Figure
    linear_kappa: Figure | None
    quadratic_kappa: Figure | None
    adjacent_accuracy: Figure | None
    steps_apart: Figure | None
    value_error: Figure | None


# Long because each figure of a choice is made from the same table of counts.
def compare_options(
    reference: Sequence[str | None],
    judged: Sequence[str | None],
    clusters: Sequence[Hashable],
    scale: OptionScale,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> OptionAgreement:
    """Compare two columns of option labels over the same units.

    `reference[i]` and `judged[i]` are one of the scale's levels or gaps, matched after strip and casefold, or
    None; `clusters[i]` is the item unit i belongs to.
    Intervals are 95 %: Wilson for shares (`share_figure`), otherwise a percentile bootstrap over items, with
    disagreements that were not seen (`resampled_sums`), and `resamples` draws from `seed`. Undefined figures
    have the value None. Raises ValueError on unequal lengths and on any other label.

    Worked: levels low mid high, reference low low mid high, judged low mid mid high → accuracy 3/4, adjacent
    accuracy 1, steps apart 1/4, macro recall (1/2 + 1 + 1) / 3 = 0.8333, κ = (0.75 − 0.3125) / 0.6875 =
    0.6364, quadratic κ = 1 − 4·1 / 20 = 0.8.
    """
    if not len(reference) == len(judged) == len(clusters):
        raise ValueError(
            "reference, judged and clusters must cover the same units; "
            f"found {len(reference)}, {len(judged)} and {len(clusters)}"
        )
    reference, judged = label_texts(reference), label_texts(judged)
    _refuse_strange_labels({"reference": reference, "judged": judged}, scale.levels, scale.gaps)
    ratings = Ratings.from_columns(
        [reference, judged], clusters=clusters, levels=scale.levels, values=scale.values, gaps=scale.gaps
    )
    counts = two_rater_counts(ratings)
    drawn = resamples if len(counts) > 1 else 0
    sums = resampled_sums(
        counts, resamples=drawn, seed=seed, unseen=unseen_cells(len(ratings.labels), table_grouping(counts))
    )
    table = tables.square(counts.sum(axis=0))
    n = int(table.sum())
    missing = sum(one is None or other is None for one, other in zip(reference, judged, strict=True))

    used = table.sum(axis=1)
    least = int(used[used > 0].min(initial=n))

    def figure(statistic: Statistic) -> Figure:
        found = bootstrap_figure(counts, sums, lambda cells: statistic(tables.square(cells)), n=n)
        return explained(found, "option", least)

    def share(selected: NDArray[np.bool_]) -> Figure:
        return share_figure(counts @ selected.ravel().astype(np.float64), counts.sum(axis=1))

    def of_option(place: int, axis: int) -> Figure:
        """Of the units the reference (0) or the judge (1) gave the option, the share both gave it."""
        some = tables.square(counts)
        return share_figure(some[:, place, place], some.take(place, axis=axis + 1).sum(axis=1))

    places = np.arange(len(ratings.labels))
    steps = np.abs(np.subtract.outer(places, places))
    ordinal = scale.scale_type == "ordinal"
    return OptionAgreement(
        levels=ratings.labels,
        n=n,
        abstained=len(reference) - n - missing,
        missing=missing,
        confusion=tuple(tuple(int(count) for count in row) for row in table),
        options=tuple(
            OptionShares(
                label=label,
                reference=int(table[place].sum()),
                judged=int(table[:, place].sum()),
                precision=of_option(place, 1),
                recall=of_option(place, 0),
                f1=figure(_at(place, tables.f1s)),
            )
            for place, label in enumerate(ratings.labels)
        ),
        accuracy=share(steps == 0),
        balanced_accuracy=figure(tables.balanced_accuracy),
        macro_precision=figure(tables.macro_precision),
        macro_recall=figure(tables.macro_recall),
        macro_f1=figure(tables.macro_f1),
        mcc=figure(tables.mcc),
        kappa=figure(cohen_kappa),
        linear_kappa=figure(lambda some: weighted_kappa(some, "linear")) if ordinal else None,
        quadratic_kappa=figure(lambda some: weighted_kappa(some, "quadratic")) if ordinal else None,
        adjacent_accuracy=_adjacent(share(steps <= 1), len(places)) if ordinal else None,
        steps_apart=figure(tables.mean_steps_apart) if ordinal else None,
        value_error=None if scale.values is None or not ordinal else figure(_value_error_of(scale.values)),
    )


def table_figure(ratings: Ratings, statistic: Statistic, *, resamples: int = 1000, seed: int = 0) -> Figure:
    """A statistic of the table of two raters, the first of them the reference, with a clustered bootstrap.

    `statistic` maps tables (… × options × options) to (…), NaN where undefined; `n` counts the units both
    labelled. Raises ValueError unless there are exactly two raters.
    """
    full = ratings.on_full_scale()
    counts = two_rater_counts(full)
    n = int(counts.sum())
    if n == 0:
        return Figure(None, None, None, 0)
    drawn = resamples if len(counts) > 1 else 0
    sums = resampled_sums(
        counts, resamples=drawn, seed=seed, unseen=unseen_cells(len(full.labels), table_grouping(counts))
    )
    return bootstrap_figure(counts, sums, lambda cells: statistic(tables.square(cells)), n=n)


def table_share(ratings: Ratings, *, within: int = 0) -> Figure:
    """Share of units whose two labels are at most `within` places apart, with Wilson's interval.


    With `within` above 0 and fewer than three options the share is undefined: it could only be 1. Raises
    ValueError unless there are exactly two raters.
    """
    full = ratings.on_full_scale()
    counts = two_rater_counts(full)
    places = np.arange(len(full.labels))
    near = (np.abs(np.subtract.outer(places, places)) <= within).ravel().astype(np.float64)
    figure = share_figure(counts @ near, counts.sum(axis=1))
    return figure if within == 0 else _adjacent(figure, len(places))


def two_rater_counts(ratings: Ratings) -> Floats:
    """(clusters × labels²): units both of two raters labelled, per cell; the first rater gives the rows.

    Clusters without such a unit are left out. Raises ValueError unless there are exactly two raters.
    """
    if len(ratings.codes) != 2:
        raise ValueError(f"a judge is compared with one reference: 2 raters; found {len(ratings.codes)}")
    one, other = ratings.codes
    both = (one != GAP) & (other != GAP)
    return tables.counts_by_cluster(one[both], other[both], ratings.clusters[both], len(ratings.labels))


def kappa_of(weighting: Weighting) -> Statistic:
    """The κ of tables for a weighting: Cohen's plain one for identity."""
    return cohen_kappa if weighting == "identity" else lambda some: weighted_kappa(some, weighting)


def _at(place: int, per_option: Statistic) -> Statistic:
    return lambda some: per_option(some)[..., place]


def _adjacent(figure: Figure, levels: int) -> Figure:
    if levels < tables.LEAST_LEVELS_WITH_NEIGHBOURS:
        return Figure(None, None, None, figure.n)
    return figure


def _value_error_of(values: Sequence[float]) -> Statistic:
    apart = np.abs(np.subtract.outer(np.asarray(values, dtype=np.float64), np.asarray(values)))

    def value_error(some: Floats) -> Floats:
        return mean_of_sums(np.stack([(some * apart).sum(axis=(-2, -1)), some.sum(axis=(-2, -1))], axis=-1))

    return value_error


def _refuse_strange_labels(
    columns: dict[str, Sequence[str | None]], levels: Sequence[str], gaps: Collection[str]
) -> None:
    allowed = {label.strip().casefold() for label in (*levels, *gaps)}
    for side, labels in columns.items():
        for place, label in enumerate(labels):
            if label is not None and label.strip().casefold() not in allowed:
                listed = ", ".join(map(repr, (*levels, *gaps)))
                raise ValueError(f"{side}[{place}] is {label!r}; allowed are {listed} and None")
