"""The rules by which votes settle a criterion.

A tie goes to the **score-minimising side**: the lower value when the criterion's weight is positive or zero,
the higher one when it is negative (MET, for an error to avoid). A mean or median is snapped to the nearest
option; a point halfway between two is such a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

Scale: TypeAlias = Literal["binary", "ordinal", "nominal"]
"""What a vote rule has to know of a criterion: two verdicts, ordered options, or unordered ones."""


@dataclass(frozen=True, slots=True)
class Ballots:
    """Votes counted per candidate, in the rubric's order of the options (UNMET, MET for a binary one).

    ``values`` lie in 0 to 1, ``counts`` are votes, ``weights`` the same votes' weights summed; ``sign`` is
    −1 for a negative criterion, else 1. At least one count and one weight are above 0: when every vote
    weighs nothing, all weigh the same.
    """

    values: tuple[Fraction, ...]
    counts: tuple[int, ...]
    weights: tuple[Fraction, ...]
    sign: int

    @property
    def chosen(self) -> list[int]:
        """The candidates with at least one vote."""
        return [i for i, count in enumerate(self.counts) if count]

    def minimising(self, candidates: Iterable[int]) -> int:
        """The score-minimising candidate; of equal values the one with more votes, then the first."""
        return min(candidates, key=lambda i: (self.sign * self.values[i], -self.counts[i], i))

    def nearest(self, point: Fraction) -> int:
        """The candidate whose value is nearest to ``point``; halfway goes to the score-minimising side."""
        distances = [abs(value - point) for value in self.values]
        return self.minimising(i for i, distance in enumerate(distances) if distance == min(distances))


VoteRule: TypeAlias = Callable[[Ballots], int]
"""From the ballots to the position of the winner."""


def most_votes(ballots: Ballots) -> int:
    """The candidate with the most votes. MET MET UNMET → MET; MET UNMET → UNMET, with weight −5 → MET."""
    return ballots.minimising(i for i, n in enumerate(ballots.counts) if n == max(ballots.counts))


def most_weight(ballots: Ballots) -> int:
    """The candidate whose votes weigh most. MET of weight 3 against two UNMET of weight 1 each → MET."""
    return ballots.minimising(i for i, w in enumerate(ballots.weights) if w == max(ballots.weights))


def unanimous(ballots: Ballots) -> int:
    """What every vote says; without unanimity the score-minimising side of what was said.

    MET MET → MET. MET UNMET → UNMET when the weight is positive or 0, MET when it is negative: praise needs
    everyone, an error one witness.
    """
    return ballots.minimising(ballots.chosen)


def any_met(ballots: Ballots) -> int:
    """MET as soon as one vote says so, whatever the sign of the weight. UNMET MET UNMET → MET."""
    return 1 if ballots.counts[1] else 0


def mean_value(ballots: Ballots) -> int:
    """The option nearest to the mean of the values. 0, 0, 1 among 0, ½, 1: mean 0.333 → ½."""
    return ballots.nearest(_mean(ballots.values, [Fraction(count) for count in ballots.counts]))


def weighted_mean_value(ballots: Ballots) -> int:
    """The option nearest to the weighted mean. 0 of weight 1, 1 of weight 4 among 0, ½, 1: 0.8 → 1."""
    return ballots.nearest(_mean(ballots.values, ballots.weights))


def median_value(ballots: Ballots) -> int:
    """The option nearest to the median, for an even number the mean of the middle two. 0, ½, 1 → ½."""
    votes = sorted(value for value, n in zip(ballots.values, ballots.counts, strict=True) for _ in range(n))
    middle = len(votes) // 2
    point = votes[middle] if len(votes) % 2 else (votes[middle - 1] + votes[middle]) / 2
    return ballots.nearest(point)


def lowest_value(ballots: Ballots) -> int:
    """The lowest option anyone chose, whatever the sign of the weight. ½, 1 → ½."""
    return ballots.nearest(min(ballots.values[i] for i in ballots.chosen))


def highest_value(ballots: Ballots) -> int:
    """The highest option anyone chose, whatever the sign of the weight. ½, 0 → ½."""
    return ballots.nearest(max(ballots.values[i] for i in ballots.chosen))


VOTE_RULES: Final[Mapping[Scale, Mapping[str, VoteRule]]] = {
    "binary": {
        "majority": most_votes,
        "weighted": most_weight,
        "unanimous": unanimous,
        "any": any_met,
    },
    "ordinal": {
        "mean": mean_value,
        "median": median_value,
        "weighted_mean": weighted_mean_value,
        "mode": most_votes,
        "min": lowest_value,
        "max": highest_value,
    },
    "nominal": {
        "mode": most_votes,
        "weighted_mode": most_weight,
        "unanimous": unanimous,
    },
}
"""The rules by the scale they settle and the name they are stored under."""

DEFAULT_RULES: Final[Mapping[Scale, str]] = {"binary": "majority", "ordinal": "mean", "nominal": "mode"}
"""The rule of each scale when neither the criterion nor the panel names one."""


def _mean(values: Sequence[Fraction], weights: Sequence[Fraction]) -> Fraction:
    total = sum((value * weight for value, weight in zip(values, weights, strict=True)), Fraction(0))
    return total / sum(weights, Fraction(0))
