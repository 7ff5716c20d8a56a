"""How many points of the score each criterion moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeGuard


def score_points(
    weights: Sequence[float | None], spans: Sequence[float] | None = None
) -> tuple[float | None, ...]:
    """How far the answers to each criterion move the score, in points of 100; negative for an error.

    The score divides by the sum of the positive weights, or by that of the negative ones where a rubric has
    no others, so a criterion moves w · span / sum · 100. A span is how far apart its best and its worst
    answer are worth, 0 to 1 (``Criterion.span``; 1 for all without ``spans``). The limits 0 and 1 of a score
    are not taken into account: an error may take more than 100 points. A weight that is None or not finite
    has no points (None) and is left out of the sum; where all weights are 0 each has 0 points. Raises
    ValueError for another number of spans than weights.

    Weights (10, 16, −6): 10/26, 16/26 and −6/26 are 38.5, 61.5 and −23.1 points. Weights (10, 5) with spans
    (0.5, 1): 33.3 and 33.3. Weights (−2, −1): −66.7 and −33.3.
    """
    spans = [1.0] * len(weights) if spans is None else spans
    known = [weight for weight in weights if _is_known(weight)]
    total = math.fsum(weight for weight in known if weight > 0) or -math.fsum(known)
    return tuple(
        None if not _is_known(weight) or not math.isfinite(total)
        # A sum of 0 means that every weight is 0: whatever divides it, nothing is moved.
        else 100 * weight * span / (total or 1.0)
        for weight, span in zip(weights, spans, strict=True)
    )  # fmt: skip


def _is_known(weight: float | None) -> TypeGuard[float]:
    return weight is not None and math.isfinite(weight)
