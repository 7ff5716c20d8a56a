"""Measuring coverage over a grid of worlds, and holding it against what is promised."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.coverage import (
    clone_worlds,
    criteria_worlds,
    labelled_worlds,
    population_worlds,
    rare_worlds,
    worlds,
)
from benchmarks.coverage.worlds import World

SIZES = (20, 30, 50, 100)
RATES = (0.5, 0.2, 0.05)
PEOPLE = (2, 3, 5)

LEAST_MEAN = 0.94
LEAST = 0.92
LEAST_AT_20 = 0.90
MOST_DRIFT = 0.02
MOST_DRIFT_AT_20 = 0.03
"""κ is a quotient: of few items the mean of differences of two is off 0 by about 1/2n."""

LEAST_SHOWN = 100
"""Draws in which a figure was defined, below which its coverage is not judged."""

AGAIN = 10
"""A cell that looks too low is measured so many times as long before it counts: of many, some will."""


@dataclass(frozen=True)
class Found:
    """One figure in one world: how many draws had an interval, and the share of those with the truth."""

    family: str
    figure: str
    name: str
    n: int
    shown: int
    coverage: float
    width: float
    drift: float | None
    drift_error: float = 0.0
    promised: float | None = None

    @property
    def judged(self) -> bool:
        return self.shown >= LEAST_SHOWN

    @property
    def most_drift(self) -> float:
        return MOST_DRIFT if self.n >= 30 else MOST_DRIFT_AT_20

    @property
    def least(self) -> float:
        if self.promised is not None:
            return self.promised
        return LEAST if self.n >= 30 else LEAST_AT_20


def every_world(
    sizes: tuple[int, ...] = SIZES,
    rates: tuple[float, ...] = RATES,
    people: tuple[int, ...] = PEOPLE,
) -> Iterator[World]:
    """The whole grid."""
    yield from worlds.people_mean_worlds(sizes, rates)
    yield from labelled_worlds.labelled_worlds()
    yield from population_worlds.population_worlds()
    yield from rare_worlds.rare_worlds()
    yield from criteria_worlds.criteria_worlds()
    yield from clone_worlds.clone_worlds()
    yield from worlds.judge_worlds(sizes, rates)
    yield from worlds.option_worlds(sizes)
    yield from worlds.people_worlds(sizes, rates, people)
    yield from worlds.seat_worlds(sizes, rates, people)
    yield from worlds.step_worlds(sizes)
    yield from worlds.score_worlds(sizes)
    yield from worlds.raw_score_worlds(sizes)
    yield from worlds.difference_worlds(sizes, rates)


def covered(world: World, repetitions: int, *, seed: int = 0) -> list[Found]:
    """Every figure of one world over so many draws; again, for longer, where one looks too low."""
    first = _covered(world, repetitions, seed)
    if all(one.coverage >= one.least for one in first if one.judged):
        return first
    return _covered(world, repetitions * AGAIN, seed + 1)


def _covered(world: World, repetitions: int, seed: int) -> list[Found]:
    random = np.random.default_rng([seed, zlib.crc32(f"{world.family} {world.name}".encode())])
    truths = world.known(random)
    tallies = {name: np.zeros(5) for name in truths}
    for _ in range(repetitions):
        for name, figure in world.sample(random, world.n).items():
            if name not in truths or figure.value is None or figure.low is None or figure.high is None:
                continue
            holds = figure.low - 1e-9 <= truths[name] <= figure.high + 1e-9
            assert figure.high > figure.low, f"{world}, {name}: no width {figure}"
            off = figure.value - truths[name]
            tallies[name] += (1, holds, figure.high - figure.low, off, off * off)
    return [
        Found(
            family=world.family,
            figure=name,
            name=world.name,
            n=world.n,
            shown=int(shown),
            coverage=holds / max(1, shown),
            width=width / max(1, shown),
            drift=off / max(1, shown) if name in world.drift else None,
            drift_error=squares**0.5 / max(1, shown),
            promised=world.least,
        )
        for name, (shown, holds, width, off, squares) in tallies.items()
    ]


def held(found: Iterable[Found]) -> Iterator[str]:
    """What breaks the promise, a sentence each; nothing when it is kept."""
    judged = [one for one in found if one.judged]
    for family, figure in dict.fromkeys((one.family, one.figure) for one in judged):
        some = [one for one in judged if (one.family, one.figure) == (family, figure)]
        mean = sum(one.coverage for one in some) / len(some)
        if mean < LEAST_MEAN:
            yield f"{family}: {figure} covers {mean:.1%} on average; promised are {LEAST_MEAN:.0%}."
        for one in some:
            if one.coverage < one.least:
                covers = f"covers {one.coverage:.1%} with {one.name}"
                yield f"{family}: {figure} {covers}; promised are {one.least:.0%}."
            if one.drift is not None and abs(one.drift) > one.most_drift + 3 * one.drift_error:
                yield f"{family}: {figure} is off by {one.drift:+.3f} on average with {one.name}."
