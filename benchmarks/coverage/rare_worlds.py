"""Made-up worlds in which an outright failure is rare: means of scores, and the difference of two runs."""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.coverage.worlds import Figures, Floats, Random, World
from rubricweb.engine.agreement import Labelling, estimate_people_mean, mean_figure
from rubricweb.engine.agreement.scores.scores import mean_difference

RARE = (0.03, 0.04, 0.05)
"""How often a case fails outright: its score is 0, those of the others are 0.9 ± 0.03."""
RARE_SIZES = (20, 30, 50, 100, 200)
LEAST_OF_NEW_FAILURES = 0.88
"""What the interval of a difference promises where a case in twenty to thirty newly fails.

What n cases did not show is told in words beside it: appending ±1 would hold more, and halve the power."""

WEIGHTS = np.array([5, 4, 3, 3, 2, 2, 1, 1, 1, 1]) / 23


def rare_worlds() -> Iterator[World]:
    for n in RARE_SIZES:
        for rate in RARE:
            yield World(
                family="mean score, rare failures",
                name=f"{rate} fail, n {n}",
                n=n,
                sample=_scores(rate),
                truths=dict.fromkeys(("mean", "people's mean"), 0.9 * (1 - rate)),
                least=0.94,
            )
            yield World(
                family="Δ of scores, new failures",
                name=f"{rate} newly fail, n {n}",
                n=n,
                sample=_new_failures(rate),
                truths={"Δ": -0.9 * rate},
                least=LEAST_OF_NEW_FAILURES,
            )
        for rate in (0.5, 0.9, 0.97):
            yield World(
                family="mean score, ten weights",
                name=f"{rate} met, n {n}",
                n=n,
                sample=_ten_weights(rate),
                truths={"mean": rate, "Δ of two like it": 0.0},
            )


def _rarely_failing(random: Random, n: int, rate: float) -> Floats:
    return np.where(random.random(n) < rate, 0.0, np.clip(0.9 + 0.03 * random.normal(size=n), 0.0, 1.0))


def _scores(rate: float) -> Callable[[Random, int], Figures]:
    def sample(random: Random, n: int) -> Figures:
        scores = _rarely_failing(random, n, rate)
        by_one = [{0: score} for score in scores.tolist()]
        people = estimate_people_mean(np.full(n, np.nan), scores, np.ones(n), Labelling(by_rater=by_one))
        return {"mean": mean_figure(scores.tolist()), "people's mean": people}

    return sample


def _new_failures(rate: float) -> Callable[[Random, int], Figures]:
    def sample(random: Random, n: int) -> Figures:
        return {"Δ": mean_difference(_rarely_failing(random, n, 0.0), _rarely_failing(random, n, rate))}

    return sample


def _ten_weights(rate: float) -> Callable[[Random, int], Figures]:
    """Weighted shares of ten criteria, each met as often as the others."""

    def sample(random: Random, n: int) -> Figures:
        one, other = (random.random((2, n, 10)) < rate) @ WEIGHTS
        return {"mean": mean_figure(one.tolist()), "Δ of two like it": mean_difference(one, other)}

    return sample
