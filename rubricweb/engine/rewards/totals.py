"""Rewards and weights brought into the one scoring of ``engine/scoring/scoring.py``."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rubricweb.engine.scoring import Failed, score_verdicts


def total_reward(weights: Sequence[float], rewards: Sequence[float | Failed]) -> float:
    """The weighted sum of the rewards, any finite numbers; a failed function is worth 0. Nothing: 0.0.

    Weights (1, 0.5, 0.1) with 1.0, FAILED, −2.0: 1·1 + 0.5·0 + 0.1·(−2) = 0.8.
    """
    terms = [_in_unit_range(weight, reward) for weight, reward in zip(weights, rewards, strict=True)]
    score = score_verdicts(
        [weight for weight, _ in terms],
        [reward for _, reward in terms],
        normalize=False,
        on_error="zero",
    )
    return score.raw_score or 0.0


def reward_coverage(weights: Sequence[float], rewards: Sequence[float | Failed]) -> float:
    """The share (0 to 1) of Σ|w| whose function gave a number; of the functions when all weights are 0."""
    given = [reward if isinstance(reward, Failed) else 0.0 for reward in rewards]
    return score_verdicts(weights, given, normalize=False, on_error="zero").coverage


def _in_unit_range(weight: float, reward: float | Failed) -> tuple[float, float | Failed]:
    """The same product with a value from 0 to 1, as scoring wants it.

    Only a sign and powers of two change sides, so that nothing is rounded: 0.1 · −2 becomes −0.4 · 0.5.
    """
    if isinstance(reward, Failed) or 0.0 <= reward <= 1.0:
        return weight, reward
    fraction, exponent = math.frexp(reward)
    return math.copysign(1.0, fraction) * math.ldexp(weight, exponent), abs(fraction)
