"""One judge against one reference on criteria with any number of options."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rubricweb.engine.agreement.figure_rows import BINARY
from rubricweb.engine.agreement.intervals import Figure, Floats, bootstrap_figure
from rubricweb.engine.agreement.judge import tables
from rubricweb.engine.agreement.judge.pair_agreement import (
    PairAgreement,
    SetAside,
    pair_agreement,
    share_of,
    table_sums,
)
from rubricweb.engine.agreement.judge.pair_figures import PairFigure
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


def compare_options(
    reference: Sequence[str | None],
    judged: Sequence[str | None],
    clusters: Sequence[Hashable],
    scale: OptionScale,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> PairAgreement:
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
    missing = np.array(
        [one is None or other is None for one, other in zip(reference, judged, strict=True)], dtype=np.bool_
    )
    gone_one, gone_other = ratings.codes == GAP
    return pair_agreement(
        two_rater_counts(ratings),
        ratings.labels,
        SetAside(missing, gone_one & ~missing, gone_other & ~missing),
        scale=scale.scale_type,
        values=scale.values,
        resamples=resamples,
        seed=seed,
    )


def table_figure(row: PairFigure, ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> Figure:
    """One figure of the table of two raters, the first of them the reference.

    `n` counts the units both labelled. Raises ValueError unless there are exactly two raters, or, of a figure
    of MET, for other labels than MET and UNMET.
    """
    full = ratings.on_full_scale()
    order = _met_first(full) if row.applies_to == BINARY else list(range(len(full.labels)))
    counts = two_rater_counts(full)
    statistic = row.statistic(full.values)
    if statistic is None:
        return share_of(row, tables.square(counts)[:, order, :][:, :, order])
    if not len(counts):
        return Figure(None, None, None, 0)

    def of_tables(cells: Floats) -> Floats:
        return statistic(tables.square(cells)[..., order, :][..., order])

    sums = table_sums(counts, resamples=resamples, seed=seed)
    return bootstrap_figure(counts, sums, of_tables, n=int(counts.sum()))


def _met_first(ratings: Ratings) -> list[int]:
    verdicts = [label.strip().casefold() for label in ratings.labels]
    if sorted(verdicts) != ["met", "unmet"]:
        raise ValueError(
            f"this measure is of MET against UNMET; found {', '.join(map(repr, ratings.labels))}"
        )
    return [verdicts.index("met"), verdicts.index("unmet")]


def two_rater_counts(ratings: Ratings) -> Floats:
    """(clusters × labels²): units both of two raters labelled, per cell; the first rater gives the rows.

    Clusters without such a unit are left out. Raises ValueError unless there are exactly two raters.
    """
    if len(ratings.codes) != 2:
        raise ValueError(f"a judge is compared with one reference: 2 raters; found {len(ratings.codes)}")
    one, other = ratings.codes
    both = (one != GAP) & (other != GAP)
    return tables.counts_by_cluster(one[both], other[both], ratings.clusters[both], len(ratings.labels))


def _refuse_strange_labels(
    columns: dict[str, Sequence[str | None]], levels: Sequence[str], gaps: Collection[str]
) -> None:
    allowed = {label.strip().casefold() for label in (*levels, *gaps)}
    for side, labels in columns.items():
        for place, label in enumerate(labels):
            if label is not None and label.strip().casefold() not in allowed:
                listed = ", ".join(map(repr, (*levels, *gaps)))
                raise ValueError(f"{side}[{place}] is {label!r}; allowed are {listed} and None")
