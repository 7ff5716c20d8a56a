"""How much of a rubric's weight each criterion carries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeGuard


def weight_shares(weights: Sequence[float | None]) -> tuple[float | None, ...]:
    """The share, 0 to 1, of Σ|w| that each weight is: what coverage counts, whatever the sign.

    Weights (10, 5, −15) give (10/30, 5/30, 15/30). A weight that is None or not finite has no share and is
    left out of the sum; when only zero weights remain nobody has one.
    """
    total = math.fsum(abs(weight) for weight in weights if _counts(weight))
    if not total or not math.isfinite(total):
        return (None,) * len(weights)
    return tuple(abs(weight) / total if _counts(weight) else None for weight in weights)


def _counts(weight: float | None) -> TypeGuard[float]:
    return weight is not None and math.isfinite(weight)
