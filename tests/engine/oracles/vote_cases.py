"""Random votes of panels, the same on every machine."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from tests.engine.oracles.cases import CASES

Case = dict[str, Any]

RULES = {
    "binary": ("majority", "weighted", "unanimous", "any"),
    "ordinal": ("mean", "median", "weighted_mean", "mode", "min", "max"),
    "nominal": ("mode", "weighted_mode", "unanimous"),
}
JUDGE_WEIGHTS = (0.5, 1.0, 1.0, 2.0, 3.0)
"""Sums of these are exact, so that a tie is one in floating point too."""


@cache
def vote_cases(count: int = CASES, seed: int = 4) -> list[Case]:
    """One to six judges with weights, their votes on one criterion, and the rule that settles them."""
    rng = Random(seed)
    cases = []
    for _ in range(count):
        scale = rng.choice(tuple(RULES))
        options = [] if scale == "binary" else _options(rng)
        labels = [option["label"] for option in options] or ["MET", "UNMET", "CANNOT_ASSESS"]
        judges = rng.randint(1, 6)
        cases.append(
            {
                "scale": scale,
                "rule": rng.choice(RULES[scale]),
                "weight": rng.choice((10.0, 1.0, -1.0, -5.0, 0.0)),
                "options": options,
                "votes": [[rng.choice(labels), rng.choice(JUDGE_WEIGHTS)] for _ in range(judges)],
            }
        )
    return cases


def _options(rng: Random) -> list[Case]:
    steps = rng.randint(2, 5)
    values = rng.sample([k / 8 for k in range(9)], steps)  # eighths: means and their distances are exact
    options = [
        {"label": f"Option {k}", "value": value, "na": False} for k, value in enumerate(sorted(values))
    ]
    if rng.random() < 0.6:
        options.append({"label": "Not applicable", "value": 0.0, "na": True})
    return options
