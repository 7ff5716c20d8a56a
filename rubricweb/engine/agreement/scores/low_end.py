"""The low end of scores: what a mean does not show of failures that are rare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rubricweb.engine.agreement.intervals import (
    CONFIDENCE,
    Figure,
    Floats,
    mean_interval,
    paired_share_difference,
)
from rubricweb.engine.agreement.scores.pairing import Ints, case_means


@dataclass(frozen=True, slots=True)
class LowEnd:
    """What stands beside a mean score: the `lowest` score, None without any, and the share `below_bar` that
    the rubric's pass rule turns down, None where no rule has a word on any.
    """

    lowest: float | None = None
    below_bar: float | None = None


def low_end(
    scores: Floats | Sequence[float | None],
    passed: Floats | Sequence[float | None] | None = None,
    cases: Ints | Sequence[int] | None = None,
) -> LowEnd:
    """The low end of one score per item; NaN and None are gaps.

    `passed` says of each item whether it passes, 1 or 0 or the share of its raters by whom it does. Every one
    of the `cases` weighs the same in the share below the bar, however many items answer it.

    Worked: scores 0.9, 0.2, 0.8 and passed 1, 0, 1 of the cases 7, 7, 8: lowest 0.2, below the bar ¼.
    """
    known = _numbers(scores)
    of_case = np.arange(len(known)) if cases is None else np.asarray(cases, dtype=np.int64)
    passing = case_means(np.full(len(known), np.nan) if passed is None else _numbers(passed), of_case)
    known = known[~np.isnan(known)]
    return LowEnd(
        lowest=float(known.min()) if len(known) else None,
        below_bar=1 - float(passing.mean()) if len(passing) else None,
    )


@dataclass(frozen=True, slots=True)
class BelowBar:
    """The shares below the bar of two runs, `one` and `other`, over the same units, and the `difference` of
    other − one. The `n` of all three counts the units on which both pass rules have a word.
    """

    one: Figure
    other: Figure
    difference: Figure


def compare_below_bar(
    one: Floats | Sequence[float | None],
    other: Floats | Sequence[float | None],
    *,
    confidence: float = CONFIDENCE,
) -> BelowBar | None:
    """Compare what does not pass in two runs, from whether each unit passes: 1 or 0, or the share of its
    answers that do. NaN and None are gaps, and what is a gap on a side is in no share.

    The shares have the intervals of means, Wilson's where every unit is one answer; the difference that of
    paired yes and no (`paired_share_difference`). None where no unit has both.

    Worked: passed 1, 1, 0, 1 and 1, 0, 0, NaN: of three units ⅓ and ⅔ are below, the difference is ⅓.
    """
    before, after = (1 - _numbers(side) for side in (one, other))
    both = ~np.isnan(before) & ~np.isnan(after)
    if not both.any():
        return None
    before, after = before[both], after[both]
    units = np.arange(len(before))
    return BelowBar(
        one=mean_interval(before, units, limits=(0.0, 1.0), confidence=confidence),
        other=mean_interval(after, units, limits=(0.0, 1.0), confidence=confidence),
        difference=paired_share_difference(after - before, units, confidence),
    )


def _numbers(values: Floats | Sequence[float | None]) -> Floats:
    """NaN for None."""
    return np.asarray(values, dtype=np.float64)
