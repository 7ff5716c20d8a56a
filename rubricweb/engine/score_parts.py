"""What each criterion adds to a score, in units of the score."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rubricweb.engine.outcomes import Failed, Outcome
from rubricweb.engine.scoring import Abstention, OnError, contributions


def score_parts(
    weights: Sequence[float],
    outcomes: Sequence[Outcome],
    *,
    worst: Sequence[float] | None = None,
    normalize: bool = True,
    abstention: Abstention = "skip",
    on_error: OnError = "exclude",
) -> list[float | None]:
    """One part per criterion, None where it leaves the score alone; all None when there is no score.

    A part is the contribution to the raw score over the sum the score divides by: positive weights, or the
    negative ones of a rubric that has no others. Parts add up to the score before it is kept within 0 and 1
    (less 1 for a rubric of negative weights only), and to the raw score when not normalised. Arguments and
    errors as for ``score_verdicts``.

    Worked: weights (10, 5, −3) with MET, UNMET, MET: P = 15, parts 0.667, 0, −0.2, score 0.467. Weights
    (10, 5, −3) with MET, CANNOT_ASSESS skipped, UNMET: P = 10, parts 1, None, 0.
    """
    worth = contributions(weights, outcomes, worst=worst, abstention=abstention, on_error=on_error)
    if on_error == "fail_item" and any(isinstance(outcome, Failed) for outcome in outcomes):
        return [None] * len(worth)
    if not normalize or not any(weights):
        return worth
    sign = 1.0 if any(weight > 0 for weight in weights) else -1.0
    whole = math.fsum(
        abs(weight)
        for weight, part in zip(weights, worth, strict=True)
        if part is not None and math.copysign(1.0, weight) == sign
    )
    if whole == 0:
        return [None] * len(worth)
    return [None if part is None else part / whole for part in worth]
