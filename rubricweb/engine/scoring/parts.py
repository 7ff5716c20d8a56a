"""What each criterion adds to a score, in units of the score."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.scoring import Abstention, OnError, contributions
from rubricweb.engine.scoring.outcomes import FAILED, Outcome
from rubricweb.engine.verdict import Verdict

Floats = NDArray[np.float64]


def score_part_columns(
    weights: Sequence[float],
    values: Floats,
    failed: NDArray[np.bool_],
    *,
    worst: Sequence[float] | None = None,
    normalize: bool = True,
    abstention: Abstention = "skip",
    on_error: OnError = "exclude",
) -> Floats:
    """What each criterion adds to the score of each submission: (submissions × criteria), NaN where it leaves
    the score alone and all along a row without a score.

    `values` are (submissions × criteria), NaN for an abstention and wherever `failed` is true. A part is the
    contribution to the raw score over the sum the score divides by: positive weights, or the negative ones of
    a rubric that has no others. Parts add up to the score before it is kept within 0 and 1 (less 1 for a
    rubric of negative weights only), and to the raw score when not normalised. Policies and `worst` are as
    for ``score_verdicts``. Raises ValueError for an unknown policy, and unless each criterion has a weight
    and a column of both tables.

    Worked: weights (10, 5, −3), nothing failed: values 1, 0, 1 have P = 15, parts 0.667, 0, −0.2 and score
    0.467; values 1, NaN, 0 with the abstention skipped have P = 10 and parts 1, NaN, 0.
    """
    criteria = values.shape[1]
    if failed.shape != values.shape or len(weights) != criteria:
        raise ValueError(
            f"{values.shape} values, {failed.shape} failures and {len(weights)} weights; "
            f"allowed: a column of each per criterion"
        )

    def of_all(outcome: Outcome) -> Floats:
        """What each criterion adds where this came of it."""
        added = contributions(
            weights, [outcome] * criteria, worst=worst, abstention=abstention, on_error=on_error
        )
        return np.array(added, dtype=np.float64)

    worth: Floats = np.where(np.isnan(values), of_all(Verdict.CANNOT_ASSESS), of_all(1.0) * values + 0.0)
    worth = np.where(failed, of_all(FAILED), worth)
    no_score = np.asarray(failed.any(axis=1)) & (on_error == "fail_item")
    return _divided(worth, weights, no_score, normalize)


def score_columns(
    weights: Sequence[float],
    values: Floats,
    failed: NDArray[np.bool_],
    *,
    worst: Sequence[float] | None = None,
    normalize: bool = True,
    abstention: Abstention = "skip",
    on_error: OnError = "exclude",
) -> Floats:
    """The score that `score_verdicts` gives each of many submissions: (submissions,), NaN where it says None.

    `values` and `failed` are as for `score_part_columns`.

    Worked: weights (10, 5, −3), nothing failed: values 1, 0, 1 give 7/15, NaN three times gives NaN.
    """
    parts = score_part_columns(
        weights,
        values,
        failed,
        worst=worst,
        normalize=normalize,
        abstention=abstention,
        on_error=on_error,
    )
    scores: Floats = np.where(np.isnan(parts).all(axis=1), np.nan, np.nansum(parts, axis=1))
    if not normalize:
        return scores
    negative = not any(weight > 0 for weight in weights) and any(weights)
    clipped: Floats = np.clip(scores + negative, 0.0, 1.0)
    return clipped


def _divided(worth: Floats, weights: Sequence[float], no_score: NDArray[np.bool_], normalize: bool) -> Floats:
    """(submissions × criteria): contributions over the sum that the score of each submission divides by."""
    worth = np.where(no_score[:, None], np.nan, worth)
    if not normalize or not any(weights):
        return worth
    sign = 1.0 if any(weight > 0 for weight in weights) else -1.0
    sizes = np.array([abs(weight) if math.copysign(1.0, weight) == sign else 0.0 for weight in weights])
    whole = np.where(np.isnan(worth), 0.0, sizes).sum(axis=1, keepdims=True)
    parts: Floats = worth / np.where(whole == 0, np.nan, whole)
    return parts
